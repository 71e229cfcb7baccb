// Memory of a kernel for the length of a call, from the caching allocator. Not for tensors.
#pragma once

#include <utility>

#include "votive/core/memory.h"
#include "votive/cpu/types.h"

namespace votive::cpu::VOTIVE_ISA {

template <class T>
class Scratch {
 public:
  explicit Scratch(Size n) : memory_(allocate_memory(static_cast<std::size_t>(n) * sizeof(T))) {}
  ~Scratch() { free_memory(memory_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  T* data() const { return reinterpret_cast<T*>(memory_.address); }
  T& operator[](Size i) const { return data()[i]; }

 private:
  Memory memory_;
};

}  // namespace votive::cpu::VOTIVE_ISA
