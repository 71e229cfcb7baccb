// Exponentials, logarithms and trigonometry: their text, their true value and their bound (CONTRACT.md 2.3).
#include <mpfr.h>

#include "tests/numerics/accuracy.h"
#include "votive/numerics/math.h"

namespace votive::numerics {
namespace {

double of_pi(double x, double (*even)(double), double sign_of_quarter[4], double (*odd)(double)) {
  const double quadrant = std::rint(2 * x);
  const double r = 3.14159265358979323846 * (x - quadrant / 2);
  const int turn = int(std::int64_t(quadrant) & 3);
  return sign_of_quarter[turn] * (turn % 2 == 0 ? even : odd)(r);
}
double sinpi(double x) {
  double signs[] = {1, 1, -1, -1};
  return of_pi(x, std::sin, signs, std::cos);
}
double cospi(double x) {
  double signs[] = {1, -1, -1, 1};
  return of_pi(x, std::cos, signs, std::sin);
}

constexpr double most_f32 = 0x1.fffffep127, most_f64 = 0x1.fffffffffffffp1023;

#define BOTH(name) [](float x) { return name##_f32(x); }, [](double x) { return name##_f64(x); }
#define ONLY_F32(name) [](float x) { return name##_f32(x); }, nullptr
#define ONLY_F64(name) nullptr, [](double x) { return name##_f64(x); }

const Row rows[] = {
    {"exp", BOTH(exp), std::exp, exact<mpfr_exp>, 1.5, 1, -760, 760},
    {"exp2", BOTH(exp2), std::exp2, exact<mpfr_exp2>, 1.5, 1, -1080, 1080},
    {"expm1", BOTH(expm1), std::expm1, exact<mpfr_expm1>, 1.5, 1, -760, 760},
    {"log", BOTH(log), std::log, exact<mpfr_log>, 1, 1, 0x1p-1074, most_f64},
    {"log_near_1", BOTH(log), std::log, exact<mpfr_log>, 1, 1, 0.5, 2},
    {"log2", BOTH(log2), std::log2, exact<mpfr_log2>, 1, 1, 0x1p-1074, most_f64},
    {"log2_near_1", BOTH(log2), std::log2, exact<mpfr_log2>, 1, 1, 0.5, 2},
    {"log10", BOTH(log10), std::log10, exact<mpfr_log10>, 1, 1, 0x1p-1074, most_f64},
    {"log10_near_1", BOTH(log10), std::log10, exact<mpfr_log10>, 1, 1, 0.5, 2},
    {"log1p", BOTH(log1p), std::log1p, exact<mpfr_log1p>, 1.5, 1, -1, most_f64},
    {"log1p_near_0", BOTH(log1p), std::log1p, exact<mpfr_log1p>, 1.5, 1, -0.9, 2},
    {"sin", BOTH(sin), std::sin, exact<mpfr_sin>, 1.5, 1, -most_f32, most_f32},
    {"cos", BOTH(cos), std::cos, exact<mpfr_cos>, 1.5, 1, -most_f32, most_f32},
    {"tan", BOTH(tan), std::tan, exact<mpfr_tan>, 2, 2, -most_f32, most_f32},
    {"sin_huge", ONLY_F64(sin), std::sin, exact<mpfr_sin>, 1.5, 1, 0x1p60, most_f64},
    {"cos_huge", ONLY_F64(cos), std::cos, exact<mpfr_cos>, 1.5, 1, 0x1p60, most_f64},
    {"tan_huge", ONLY_F64(tan), std::tan, exact<mpfr_tan>, 2, 2, 0x1p60, most_f64},
    {"sin_moderate", BOTH(sin_moderate), std::sin, exact<mpfr_sin>, 1.5, 1, -65536, 65536},
    {"cos_moderate", BOTH(cos_moderate), std::cos, exact<mpfr_cos>, 1.5, 1, -65536, 65536},
    {"tan_moderate", BOTH(tan_moderate), std::tan, exact<mpfr_tan>, 2, 2, -65536, 65536},
    {"sinpi", [](float x) { return sincospi_f32(x).sin; }, [](double x) { return sincospi_f64(x).sin; }, sinpi, exact<mpfr_sinpi>, 1.5, 1.5,
     -0x1p20, 0x1p20},
    {"cospi", [](float x) { return sincospi_f32(x).cos; }, [](double x) { return sincospi_f64(x).cos; }, cospi, exact<mpfr_cospi>, 1.5, 1.5,
     -0x1p20, 0x1p20},
};

#undef BOTH
#undef ONLY_F32
#undef ONLY_F64

}  // namespace

std::span<const Row> elementary_rows() { return rows; }

}  // namespace votive::numerics
