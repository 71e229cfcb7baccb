// Activations against MPFR, in f32 and f64: the bounds of CONTRACT.md 2.3 and of numerics/activations.h.
#include <mpfr.h>

#include "tests/numerics/accuracy.h"
#include "tests/numerics/exact.h"
#include "votive/numerics/math.h"

namespace votive::numerics {
namespace {

double sigmoid(double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
double softplus(double x) { return (x > 0 ? x : 0) + std::log1p(std::exp(-std::abs(x))); }
double log_sigmoid(double x) { return -softplus(-x); }
double silu(double x) { return x * sigmoid(x); }
double quick_gelu(double x) { return x * sigmoid(1.702 * x); }
double mish(double x) { return x * std::tanh(softplus(x)); }
double gelu(double x) { return 0.5 * x * std::erfc(-x * 0.70710678118654752440); }
double gelu_tanh_inner(double x) { return 2 * 0.79788456080286535588 * (x + 0.044715 * x * x * x); }
double gelu_tanh(double x) { return x * sigmoid(gelu_tanh_inner(x)); }
double gelu_tanh_slack(double x) { return 2 * std::abs(gelu_tanh_inner(x)); }
double elu(double x) { return x < 0 ? std::expm1(x) : x; }
double celu(double x) { return x < 0 ? 1.25 * std::expm1(x / 1.25) : x; }
double selu(double x) { return 1.0507009873554804934 * (x < 0 ? 1.6732632423543772848 * std::expm1(x) : x); }
double softsign(double x) { return x / (1 + std::abs(x)); }
double hardsigmoid(double x) { return std::min(std::max(x + 3, 0.0), 6.0) / 6; }
double hardswish(double x) { return x * hardsigmoid(x); }
double tanhshrink(double x) { return std::abs(x) < 0.1 ? tanhshrink_f64(x) : x - std::tanh(x); }
double rad2deg(double x) { return x * 57.29577951308232087680; }
double deg2rad(double x) { return x * 0.01745329251994329577; }

#define BOTH(name) [](float x) { return name##_f32(x); }, [](double x) { return name##_f64(x); }, name, exact_##name

const Row rows[] = {
    {"sigmoid", BOTH(sigmoid), 5, 5, -760, 760},
    {"silu", BOTH(silu), 6, 6, -770, 770},
    {"gelu", BOTH(gelu), 6, 6, -39, 39, nullptr, nullptr, 5'000},
    {"gelu_tanh", BOTH(gelu_tanh), 6, 6, -24, 24, gelu_tanh_slack},
    {"quick_gelu", BOTH(quick_gelu), 6, 6, -450, 450},
    {"softplus", BOTH(softplus), 5, 5, -760, 760},
    {"log_sigmoid", BOTH(log_sigmoid), 5, 5, -760, 760},
    {"mish", BOTH(mish), 6, 6, -760, 760},
    {"elu", [](float x) { return elu_f32(x, 1); }, [](double x) { return elu_f64(x, 1); }, elu, exact_elu, 2, 1.5, -760, 760},
    {"celu", [](float x) { return celu_f32(x, 1.25f); }, [](double x) { return celu_f64(x, 1.25); }, celu, exact_celu, 6, 6, -760, 760},
    {"selu", BOTH(selu), 4, 4, -760, 760},
    {"softsign", BOTH(softsign), 1.5, 1.5, -0x1p80, 0x1p80},
    {"hardsigmoid", BOTH(hardsigmoid), 2, 2, -8, 8},
    {"hardswish", BOTH(hardswish), 2.5, 2.5, -8, 8},
    {"tanhshrink", BOTH(tanhshrink), 4, 4, -30, 30},
    {"tanhshrink_near_0", BOTH(tanhshrink), 4, 4, -2, 2},
    {"rad2deg", [](float x) { return rad2deg_f32(x); }, [](double x) { return rad2deg_f64(x); }, rad2deg, exact_degrees, 1, 1, -0x1p100,
     0x1p100},
    {"deg2rad", [](float x) { return deg2rad_f32(x); }, [](double x) { return deg2rad_f64(x); }, deg2rad, exact_radians, 1, 1, -0x1p100,
     0x1p100},
};

#undef BOTH

class Activation : public testing::TestWithParam<Row> {};
TEST_P(Activation, StaysWithinItsBound) { judge_both(GetParam()); }
INSTANTIATE_TEST_SUITE_P(All, Activation, testing::ValuesIn(rows), name_of);

}  // namespace
}  // namespace votive::numerics
