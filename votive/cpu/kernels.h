// The table of contents of the CPU's kernel files. Each is compiled once per instruction set into a namespace of its own (votive::cpu::v3::…) and
// registers its kernels in one function, declared here for every set.
#pragma once

#include "votive/ops/registry.h"

// One line per kernel file.
#define VOTIVE_CPU_KERNEL_FILES(X) \
  X(pointwise)                     \
  X(dense)                         \
  X(cast)                          \
  X(copy)                          \
  X(movement)                      \
  X(create)                        \
  X(reduce)                        \
  X(softmax)                       \
  X(statistics)                    \
  X(norm)                          \
  X(index)                         \
  X(scatter)                       \
  X(rope)                          \
  X(scan)                          \
  X(sort)                          \
  X(search)                        \
  X(matmul)                        \
  X(matmul_integer)                \
  X(conv)                          \
  X(unfold)                        \
  X(pool)                          \
  X(resample)                      \
  X(attention)                     \
  X(quantised)

#define VOTIVE_DECLARE(file) void register_##file(Kernels& kernels);

namespace votive::cpu {

namespace baseline {
VOTIVE_CPU_KERNEL_FILES(VOTIVE_DECLARE)
}
#if defined(__x86_64__)
namespace v3 {
VOTIVE_CPU_KERNEL_FILES(VOTIVE_DECLARE)
}
namespace v4emulated {
VOTIVE_CPU_KERNEL_FILES(VOTIVE_DECLARE)
}
namespace v4 {
VOTIVE_CPU_KERNEL_FILES(VOTIVE_DECLARE)
}
namespace v4n {
VOTIVE_CPU_KERNEL_FILES(VOTIVE_DECLARE)
}
#endif

}  // namespace votive::cpu

#undef VOTIVE_DECLARE
