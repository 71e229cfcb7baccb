// Activations: their text, their true value and the bounds of CONTRACT.md 2.3 and of numerics/activations.h.
#include <mpfr.h>

#include "tests/numerics/accuracy.h"
#include "tests/numerics/exact.h"
#include "tests/numerics/oracle.h"
#include "votive/numerics/math.h"

namespace votive::numerics {
namespace {

#define BOTH(name) [](float x) { return name##_f32(x); }, [](double x) { return name##_f64(x); }, oracle::name, exact_##name

const Row rows[] = {
    {"sigmoid", BOTH(sigmoid), 5, 5, -760, 760},
    {"silu", BOTH(silu), 6, 6, -770, 770},
    {"gelu", BOTH(gelu), 6, 6, -39, 39, nullptr, nullptr, 5'000},
    {"gelu_tanh", BOTH(gelu_tanh), 6, 6, -24, 24, oracle::gelu_tanh_slack},
    {"quick_gelu", BOTH(quick_gelu), 6, 6, -450, 450},
    {"logit", BOTH(logit), 4, 4, 0, 1},
    {"logit_near_half", BOTH(logit), 4, 4, 0.25, 0.75},
    {"softplus", BOTH(softplus), 5, 5, -760, 760},
    {"log_sigmoid", BOTH(log_sigmoid), 5, 5, -760, 760},
    {"mish", BOTH(mish), 6, 6, -760, 760},
    {"elu", [](float x) { return elu_f32(x, 1); }, [](double x) { return elu_f64(x, 1); }, oracle::elu, exact_elu, 2, 1.5, -760, 760},
    {"celu", [](float x) { return celu_f32(x, 1.25f); }, [](double x) { return celu_f64(x, 1.25); }, oracle::celu, exact_celu, 6, 6, -760,
     760},
    {"selu", BOTH(selu), 4, 4, -760, 760},
    {"softsign", BOTH(softsign), 1.5, 1.5, -0x1p80, 0x1p80},
    {"hardsigmoid", BOTH(hardsigmoid), 2, 2, -8, 8},
    {"hardswish", BOTH(hardswish), 2.5, 2.5, -8, 8},
    {"tanhshrink", BOTH(tanhshrink), 4, 4, -30, 30},
    {"tanhshrink_near_0", BOTH(tanhshrink), 4, 4, -2, 2},
    {"rad2deg", [](float x) { return rad2deg_f32(x); }, [](double x) { return rad2deg_f64(x); }, oracle::rad2deg, exact_degrees, 1, 1,
     -0x1p100, 0x1p100},
    {"deg2rad", [](float x) { return deg2rad_f32(x); }, [](double x) { return deg2rad_f64(x); }, oracle::deg2rad, exact_radians, 1, 1,
     -0x1p100, 0x1p100},
};

#undef BOTH

}  // namespace

std::span<const Row> activation_rows() { return rows; }

}  // namespace votive::numerics
