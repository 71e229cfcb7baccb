// Activations against MPFR, in f32 and f64: within the bounds that functions_activations.cpp names.
#include <mpfr.h>

#include "tests/numerics/judge.h"
#include "votive/numerics/math.h"

namespace votive::numerics {
namespace {

class Activation : public testing::TestWithParam<Row> {};
TEST_P(Activation, StaysWithinItsBound) { judge_both(GetParam()); }
INSTANTIATE_TEST_SUITE_P(All, Activation, testing::ValuesIn(activation_rows().begin(), activation_rows().end()), name_of);

}  // namespace
}  // namespace votive::numerics
