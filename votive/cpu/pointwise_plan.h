// What a pointwise kernel runs: a loop over dense runs, and the dtypes it takes and gives. The plans are one per file, since each row of the tables
// becomes a loop per compute type, and those are what takes long to compile.
#pragma once

#include <type_traits>

#include "votive/cpu/tile.h"
#include "votive/numerics/checked.h"
#include "votive/numerics/math.h"
#include "votive/numerics/pointwise.h"
#include "votive/ops/pointwise.h"

namespace votive::cpu::VOTIVE_ISA {

using Loop1 = void (*)(const void* x, void* y, Size n);
using LoopWith = void (*)(const void* x, void* y, Size n, const Attributes& attributes);
using Loop2 = void (*)(const void* a, const void* b, void* y, Size n);
using LoopWhere = void (*)(const void* condition, const void* a, const void* b, void* y, Size n);
using Loop3 = void (*)(const void* a, const void* b, const void* c, void* y, Size n, double value);

/// The loop, the dtype of its operands and of its result, how much of it a thread should have at least, and where memory is what limits it the same loop
/// with stores that bypass the caches (element_loops.h).
template <class Loop>
struct PlanOf {
  Loop loop;
  DType as, result;
  Size grain;
  Loop streamed = nullptr;
};
using Plan1 = PlanOf<Loop1>;
using PlanWith = PlanOf<LoopWith>;
using Plan3 = PlanOf<Loop3>;
using PlanWhere = PlanOf<LoopWhere>;
struct Plan2 {
  Loop2 loop;
  DType a, b, result;
  Size grain;
  Loop2 streamed = nullptr;
};

Plan1 plan(UnaryKind kind, DType x);
PlanWith plan(UnaryWithKind kind, DType x);
Plan2 plan(BinaryKind kind, DType a, DType b);
Plan3 plan(TernaryKind kind, DType y);
PlanWhere plan_where(DType y);

/// make(T()), a loop, for the integer type of a dtype.
template <class Make>
auto of_integer(DType dtype, Make make) {
  switch (dtype) {
    case DType::i8: return make(i8());
    case DType::i16: return make(i16());
    case DType::i32: return make(i32());
    case DType::i64: return make(i64());
    case DType::u16: return make(u16());
    case DType::u32: return make(u32());
    case DType::u64: return make(u64());
    default: return make(u8());
  }
}

// A few microseconds of work, so that waking a thread (about 1 µs while it spins) pays.
inline constexpr Size grain_of_arithmetic = 32 * tile_size;
inline constexpr Size grain_of_functions = 4 * tile_size;

inline bool is_whole(DType dtype) { return dtype == DType::boolean || is_integer(dtype); }
inline bool is_half(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

}  // namespace votive::cpu::VOTIVE_ISA
