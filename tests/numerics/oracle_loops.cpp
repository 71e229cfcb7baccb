// Loops over oracle.h for the exhaustive run. Not here: what is judged, and by which bound (exhaustive_rows.cpp).
#include "tests/numerics/oracle_loops.h"

#include "tests/numerics/oracle.h"

namespace votive::numerics_oracle::VOTIVE_ISA {
namespace {

using namespace votive::numerics;

template <auto function>
void loop(const double* x, double* y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] = function(x[i]);
}

#define OF(name, text)                                             \
  {                                                                \
#name, loop < [](double x) { return text; }>, nullptr, nullptr \
  }

constexpr OracleLoop all[] = {
    OF(exp, ::exp(x)),
    OF(exp2, ::exp2(x)),
    OF(expm1, ::expm1(x)),
    OF(log, ::log(x)),
    OF(log2, ::log2(x)),
    OF(log10, ::log10(x)),
    OF(log1p, ::log1p(x)),
    OF(sin, ::sin(x)),
    OF(cos, ::cos(x)),
    OF(tan, ::tan(x)),
    OF(asin, ::asin(x)),
    OF(acos, ::acos(x)),
    OF(atan, ::atan(x)),
    OF(sinh, ::sinh(x)),
    OF(cosh, ::cosh(x)),
    OF(tanh, ::tanh(x)),
    OF(asinh, ::asinh(x)),
    OF(acosh, ::acosh(x)),
    OF(atanh, ::atanh(x)),
    OF(erf, ::erf(x)),
    OF(erfc, ::erfc(x)),
    OF(erfinv, oracle::erfinv(x)),
    OF(sinc, oracle::sinc(x)),
    OF(sigmoid, oracle::sigmoid(x)),
    OF(logit, oracle::logit(x)),
    OF(log_sigmoid, oracle::log_sigmoid(x)),
    OF(softplus, oracle::softplus(x)),
    OF(softsign, oracle::softsign(x)),
    OF(tanhshrink, oracle::tanhshrink(x)),
    OF(selu, oracle::selu(x)),
    OF(elu, oracle::elu_of_five_quarters(x)),
    OF(celu, oracle::celu(x)),
    OF(mish, oracle::mish(x)),
    OF(silu, oracle::silu(x)),
    OF(gelu, oracle::gelu(x)),
    OF(quick_gelu, oracle::quick_gelu(x)),
    OF(hardsigmoid, oracle::hardsigmoid(x)),
    OF(hardswish, oracle::hardswish(x)),
    OF(rad2deg, oracle::rad2deg(x)),
    OF(deg2rad, oracle::deg2rad(x)),
    OF(recip, oracle::recip(x)),
    OF(rsqrt, oracle::rsqrt(x)),
    {"gelu_tanh", loop<[](double x) { return oracle::gelu_tanh(x); }>, loop<[](double x) { return oracle::gelu_tanh_slack(x); }>, nullptr},
    {"lgamma", loop<[](double x) { return oracle::lgamma(x); }>, loop<[](double x) { return oracle::one_left_of_0(x); }>,
     loop<[](double x) { return oracle::size_of_lgamma(x); }>},
    {"digamma", loop<[](double x) { return oracle::digamma(x); }>, loop<[](double x) { return oracle::four_left_of_0(x); }>,
     loop<[](double x) { return oracle::size_of_digamma(x); }>},
    {"trigamma", loop<[](double x) { return oracle::trigamma(x); }>, loop<[](double x) { return oracle::two_left_of_0(x); }>, nullptr},
};

#undef OF

/// As nearly_error_in_ulp of accuracy.h, without branches.
double error_of(float result, double want, double scale) {
  const double got = result, size = fabs(want) > scale ? fabs(want) : scale;
  const i64 above = (i64)(bits_f64(size) >> 52), least = 1023 - 126, most = 1023 + 127;
  const i64 exponent = above < least ? least : above > most ? most : above;
  const double per_ulp = f64_from_bits((u64)(2 * 1023 + 23 - exponent) << 52);
  const bool infinite = fabs(got) == INFINITY, alike = (got > 0) == (want > 0);
  const double value = infinite ? (got > 0 ? 0x1p128 : -0x1p128) : got;
  const double error = infinite && fabs(want) >= 0x1p128 && alike ? 0 : fabs(value - want) * per_ulp;
  const bool no_got = got != got, no_want = want != want;
  return no_got || no_want ? (no_got && no_want ? 0 : INFINITY) : error;
}

void errors(const float* got, const double* want, const double* scale, double* error, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) error[i] = error_of(got[i], want[i], scale[i]);
}

double largest(const double* error, const double* bound, std::size_t n) {
  constexpr std::size_t lanes = 16;
  double most[lanes] = {};
  for (std::size_t i = 0; i + lanes <= n; i += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const double ratio = error[i + lane] / bound[i + lane];
      most[lane] = ratio > most[lane] ? ratio : most[lane];
    }
  }
  double whole = 0;
  for (const double m : most) whole = m > whole ? m : whole;
  return whole;
}

void widen(const float* x, double* y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] = x[i];
}

}  // namespace

OracleSet set() { return {all, errors, largest, widen}; }

}  // namespace votive::numerics_oracle::VOTIVE_ISA
