// What a call says when the operating system has no memory for the lists and records beside its result: nobody meets std::bad_alloc.
#pragma once

#include <string_view>

namespace votive::detail {

/// Throws Error{OutOfMemory} naming `op`. For `catch (const std::bad_alloc&)`.
[[noreturn]] void refuse_memory(std::string_view op);

}  // namespace votive::detail
