// Inverse trigonometry and the hyperbolic functions: their text, their true value and their bound (CONTRACT.md 2.3).
#include <mpfr.h>

#include "tests/numerics/accuracy.h"
#include "votive/numerics/math.h"

namespace votive::numerics {
namespace {

constexpr double most_f64 = 0x1.fffffffffffffp1023;

#define BOTH(name) [](float x) { return name##_f32(x); }, [](double x) { return name##_f64(x); }, std::name, exact<mpfr_##name>

const Row rows[] = {
    {"asin", BOTH(asin), 2, 2, -1, 1},
    {"acos", BOTH(acos), 2, 2, -1, 1},
    {"atan", BOTH(atan), 2, 2, -most_f64, most_f64},
    {"atan_near_1", BOTH(atan), 2, 2, -4, 4},
    {"sinh", BOTH(sinh), 2, 2, -715, 715},
    {"sinh_near_0", BOTH(sinh), 2, 2, -3, 3},
    {"cosh", BOTH(cosh), 2, 2, -715, 715},
    {"tanh", BOTH(tanh), 2, 2, -25, 25},
    {"asinh", BOTH(asinh), 3, 3, -most_f64, most_f64},
    {"asinh_near_0", BOTH(asinh), 3, 3, -8, 8},
    {"acosh", BOTH(acosh), 3, 3, 1, most_f64},
    {"acosh_near_1", BOTH(acosh), 3, 3, 1, 1.25},
    {"atanh", BOTH(atanh), 3, 3, -1, 1},
};

#undef BOTH

}  // namespace

std::span<const Row> inverse_rows() { return rows; }

}  // namespace votive::numerics
