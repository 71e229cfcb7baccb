// numpy's validation sets of elementary functions (tests/golden/numpy, taken from its wheel by tools/oracle/umath.py): 26 610 rows of an input and the true
// value, rounded. So a result may be our bound and half an ulp away, counted in floats between the two. Needs no MPFR, and runs wherever the text does.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "votive/numerics/math.h"

namespace votive::numerics {
namespace {

struct Ours {
  const char* numpy;
  float (*f32)(float);
  double (*f64)(double);
  double bound_f32, bound_f64;  // CONTRACT.md 2.3
};

#define OURS(numpy, name, ...)                                                                         \
  {                                                                                                    \
#numpy, [](float x) { return name##_f32(x); }, [](double x) { return name##_f64(x); }, __VA_ARGS__ \
  }
const Ours functions[] = {
    OURS(arccos, acos, 2, 2),   OURS(arccosh, acosh, 3, 3), OURS(arcsin, asin, 2, 2), OURS(arcsinh, asinh, 3, 3), OURS(arctan, atan, 2, 2),
    OURS(arctanh, atanh, 3, 3), OURS(cos, cos, 1.5, 1),     OURS(cosh, cosh, 2, 2),   OURS(exp, exp, 1.5, 1),     OURS(exp2, exp2, 1.5, 1),
    OURS(expm1, expm1, 1.5, 1), OURS(log, log, 1, 1),       OURS(log10, log10, 1, 1), OURS(log1p, log1p, 1.5, 1), OURS(log2, log2, 1, 1),
    OURS(sin, sin, 1.5, 1),     OURS(sinh, sinh, 2, 2),     OURS(tan, tan, 2, 2),     OURS(tanh, tanh, 2, 2),
};
#undef OURS

struct Set {
  std::string function, dtype;
  std::size_t rows = 0;
  int tolerance = 0;  // numpy's
};

struct Golden {
  std::vector<Set> sets;
  std::string data;
};

Golden read_golden() {
  std::ifstream file(std::string(VOTIVE_SOURCE_DIR) + "/tests/golden/numpy/umath.bin", std::ios::binary);
  Golden golden;
  for (std::string line; std::getline(file, line) && !line.empty();) {
    if (line[0] == '#') continue;
    std::istringstream words(line);
    Set& set = golden.sets.emplace_back();
    words >> set.function >> set.dtype >> set.rows >> set.tolerance;
  }
  golden.data.assign(std::istreambuf_iterator<char>(file), {});
  return golden;
}

/// Places on the line of all floats, negative ones to the left; both zeros are 0.
std::int64_t place(std::uint64_t bits, int width) {
  const std::uint64_t sign = std::uint64_t{1} << (width - 1), magnitude = bits & (sign - 1);
  return (bits & sign) != 0 ? -static_cast<std::int64_t>(magnitude) : static_cast<std::int64_t>(magnitude);
}

template <class Float, class Bits>
double floats_between(Float got, Float want) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : INFINITY;
  Bits a, b;
  std::memcpy(&a, &got, sizeof a), std::memcpy(&b, &want, sizeof b);
  const std::int64_t p = place(a, 8 * sizeof a), q = place(b, 8 * sizeof b);
  return static_cast<double>(static_cast<std::uint64_t>(p > q ? p : q) - static_cast<std::uint64_t>(p > q ? q : p));
}

template <class Float, class Bits>
void compare(const Set& set, const char* data, Float (*function)(Float), double bound) {
  double worst = 0;
  Float at = 0;
  for (std::size_t i = 0; i < set.rows; ++i) {
    Float x, want;
    std::memcpy(&x, data + 2 * i * sizeof x, sizeof x);
    std::memcpy(&want, data + (2 * i + 1) * sizeof x, sizeof x);
    const double off = floats_between<Float, Bits>(function(x), want);
    if (off > worst) worst = off, at = x;
  }
  EXPECT_LE(worst, std::floor(bound + 0.5)) << set.function << " " << set.dtype << " at " << at;
  std::printf("%-8s %s %4zu rows: at most %g floats away (bound %g ulp; numpy allows itself %d)\n", set.function.c_str(), set.dtype.c_str(),
              set.rows, worst, bound, set.tolerance);
}

TEST(NumpysValidationSets, AreMetWithinOurBounds) {
  const Golden golden = read_golden();
  std::size_t compared = 0, without = 0, at = 0;
  for (const Set& set : golden.sets) {
    const std::size_t bytes = set.rows * (set.dtype == "f32" ? 8 : 16);
    ASSERT_LE(at + bytes, golden.data.size());
    const Ours* ours = nullptr;
    for (const Ours& candidate : functions) {
      if (set.function == candidate.numpy) ours = &candidate;
    }
    if (ours == nullptr) {
      EXPECT_EQ(set.function, "cbrt") << "a function without a counterpart";
      without += set.rows;
    } else if (set.dtype == "f32") {
      compare<float, std::uint32_t>(set, golden.data.data() + at, ours->f32, ours->bound_f32);
      compared += set.rows;
    } else {
      compare<double, std::uint64_t>(set, golden.data.data() + at, ours->f64, ours->bound_f64);
      compared += set.rows;
    }
    at += bytes;
  }
  EXPECT_EQ(at, golden.data.size());
  EXPECT_EQ(compared + without, 26610u);
  std::printf("%zu rows compared; %zu of cbrt, which Votive has not\n", compared, without);
}

}  // namespace
}  // namespace votive::numerics
