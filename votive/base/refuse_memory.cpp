// The one text of it.
#include "votive/base/refuse_memory.h"

#include "votive/base/error.h"

namespace votive::detail {

void refuse_memory(std::string_view op) {
  throw Error(ErrorKind::OutOfMemory, op).detail("no memory for the work beside the result").hint("trim_memory() returns cached blocks");
}

}  // namespace votive::detail
