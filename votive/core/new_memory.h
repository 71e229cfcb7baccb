// What new memory holds. Not here: the memory (memory.h).
#pragma once

namespace votive {

/// From now on every block of memory.h is handed out with all its bytes set so; −1: as it comes, which is often what the same call left there before. For
/// whoever compares results, since a kernel that leaves elements unwritten would pass.
void fill_new_memory(int byte);

}  // namespace votive
