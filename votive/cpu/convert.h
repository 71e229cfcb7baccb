// Runs of one dtype as runs of another: every pair of dtypes through one of four compute types (f32, f64, i64, u64), so that the table grows with the
// number of dtypes and not with its square. Which compute type is chosen never rounds twice (CONTRACT.md section 6).
#pragma once

#include "votive/cpu/types.h"

namespace votive::cpu::VOTIVE_ISA {

/// Elements in a tile: 4 KiB of f32, so that the tiles of three operands stay in L1.
inline constexpr Size tile_size = 1024;

using ConvertRun = void (*)(const std::byte* from, std::byte* to, Size n);

/// A conversion of n elements, by one step or by two with a tile between. Quantised sources: the start and n are whole blocks.
class Conversion {
 public:
  Conversion() = default;
  Conversion(DType from, DType to, bool saturate = true);

  bool is_identity() const { return first_ == nullptr; }
  void operator()(const std::byte* from, std::byte* to, Size n) const {
    if (second_ == nullptr) {
      first_(from, to, n);
    } else {
      through_tile(from, to, n);
    }
  }

 private:
  void through_tile(const std::byte* from, std::byte* to, Size n) const;

  ConvertRun first_ = nullptr, second_ = nullptr;
  DType from_ = DType::f32, to_ = DType::f32;
};

/// dtype → compute type in one step, and back; null where there is none.
ConvertRun load_run(DType from, DType compute);
ConvertRun store_run(DType compute, DType to, bool saturate);
/// f32 → dtype or dtype → f32 with stores that bypass the caches, for runs beyond them; stream_fence() is the caller's to call. Null for all others.
ConvertRun streamed_run(DType from, DType to, bool saturate);
/// quantised → f32; whole blocks.
ConvertRun dequantise_run(DType from);

/// The compute type that holds every value of a dtype.
DType exact_compute(DType dtype);

}  // namespace votive::cpu::VOTIVE_ISA
