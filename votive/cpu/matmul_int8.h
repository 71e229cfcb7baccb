// Exact products of 8-bit matrices on the CPU (CONTRACT.md 4.6), which matmul_integer.cpp hands over. Any order of additions gives the same bits.
#pragma once

#include "votive/cpu/types.h"

namespace votive::cpu::VOTIVE_ISA {

/// An 8-bit matrix where it lies: element (i, j) is at data + i·row + j·column.
struct Int8Matrix {
  const u8* data;
  Size row, column;
  bool is_unsigned;
};

/// y = a·b, y [m, n] row-major of i32, or of i64 when `wide`.
struct Int8Product {
  Size m, n, k;
  Int8Matrix a, b;
  void* y;
  bool wide;
};

void multiply_int8(const Int8Product& product);

}  // namespace votive::cpu::VOTIVE_ISA
