// The judge of accuracy: a row of a table of functions against MPFR, asserted. What a function must give exactly is not asked here
// (special_values_*_test.cpp), nor every input of the axis (exhaustive.h).
#pragma once

#include <gtest/gtest.h>

#include "tests/numerics/accuracy.h"

namespace votive::numerics {

inline void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }
inline std::string name_of(const testing::TestParamInfo<Row>& info) { return info.param.name; }

inline void judge(const char* name, const char* format, double x, double error, double bound) {
  std::printf("%-16s %s worst %.4f of %.2f ulp at %a\n", name, format, error, bound, x);
  EXPECT_LE(error, bound) << name << " " << format << " at " << x;
}

inline void judge_f32(const Row& row) {
  double worst = -1;
  float worst_x = 0;
  const auto bound = [&](double x) { return row.bound_f32 + (row.slack != nullptr ? row.slack(x) : 0.0); };
  const auto scale = [&](double x) { return row.scale != nullptr ? std::abs(row.scale(x)) : 0.0; };
  each_sampled_f32(2048, [&](std::uint32_t bits) {
    float x;
    std::memcpy(&x, &bits, 4);
    if (!std::isfinite(x) || x < row.least || x > row.largest) return;
    const double ratio = nearly_error_in_ulp(row.f32(x), row.nearly(x), scale(x)) / bound(x);
    if (ratio > worst) worst = ratio, worst_x = x;
  });
  Big want;
  row.exactly(want.v, Big(worst_x).v);
  judge(row.name, "f32", worst_x, error_in_ulp(row.f32(worst_x), want, scale(worst_x), format_f32), bound(worst_x));
}

inline void judge_f64(const Row& row) {
  Random random{5};
  double worst = -1, worst_error = 0, worst_bound = row.bound_f64, worst_x = 0;
  Big want, argument;
  for (int i = 0; i < row.samples; ++i) {
    const double x = sample_f64(random, row.least, row.largest);
    if (x < row.least || x > row.largest) continue;
    mpfr_set_d(argument.v, x, MPFR_RNDN);
    row.exactly(want.v, argument.v);
    const double bound = row.bound_f64 + (row.slack != nullptr ? row.slack(x) : 0.0);
    const double error = error_in_ulp(row.f64(x), want, row.scale != nullptr ? std::abs(row.scale(x)) : 0.0, format_f64);
    if (error / bound > worst) worst = error / bound, worst_error = error, worst_bound = bound, worst_x = x;
  }
  EXPECT_GT(worst_error, 0.1) << "no error at all: are the samples where the function is?";
  judge(row.name, "f64", worst_x, worst_error, worst_bound);
}

/// What each file runs its table of rows through.
inline void judge_both(const Row& row) {
  if (row.f32 != nullptr) judge_f32(row);
  if (row.f64 != nullptr) judge_f64(row);
}

}  // namespace votive::numerics
