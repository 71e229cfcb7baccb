// Many numbers to one, by dtype: what reductions and scatters of the reference device share. The order is numerics/reduce.h's.
#pragma once

#include <vector>

#include "votive/numerics/pointwise.h"
#include "votive/numerics/reduce.h"

namespace votive::reference {

using numerics::f32, numerics::f64, numerics::i64, numerics::u64;

inline f32 total(const std::vector<f32>& x) { return numerics::tree_sum_f32(x.data(), static_cast<i64>(x.size()), 1); }
inline f64 total(const std::vector<f64>& x) { return numerics::tree_sum_f64(x.data(), static_cast<i64>(x.size()), 1); }
inline f32 product(const std::vector<f32>& x) { return numerics::tree_prod_f32(x.data(), static_cast<i64>(x.size()), 1); }
inline f64 product(const std::vector<f64>& x) { return numerics::tree_prod_f64(x.data(), static_cast<i64>(x.size()), 1); }

inline f32 smallest(f32 a, f32 b) { return numerics::minimum_f32(a, b); }
inline f64 smallest(f64 a, f64 b) { return numerics::minimum_f64(a, b); }
inline i64 smallest(i64 a, i64 b) { return numerics::minimum_i64(a, b); }
inline u64 smallest(u64 a, u64 b) { return numerics::minimum_u64(a, b); }
inline f32 largest(f32 a, f32 b) { return numerics::maximum_f32(a, b); }
inline f64 largest(f64 a, f64 b) { return numerics::maximum_f64(a, b); }
inline i64 largest(i64 a, i64 b) { return numerics::maximum_i64(a, b); }
inline u64 largest(u64 a, u64 b) { return numerics::maximum_u64(a, b); }

}  // namespace votive::reference
