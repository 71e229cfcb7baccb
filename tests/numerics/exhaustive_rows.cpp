// Which functions are judged on every f32 input: those of one argument that have a true value, each with the loop of its text and of its oracle. Rows of
// functions_*.cpp serve where their bound holds for the whole axis; lgamma and its derivatives have another left of 0.
#include <mpfr.h>

#include <cstring>
#include <string_view>

#include "tests/numerics/exact.h"
#include "tests/numerics/exhaustive.h"
#include "tests/numerics/oracle.h"
#include "tests/numerics/probe.h"
#include "votive/numerics/pointwise.h"

namespace votive::numerics {
namespace {

void exact_trigamma_by_row(mpfr_t y, const mpfr_t x) {
  for (const Row& row : special_rows()) {
    if (std::strcmp(row.name, "trigamma") == 0) return row.exactly(y, x);
  }
}
void exact_recip(mpfr_t y, const mpfr_t x) { mpfr_ui_div(y, 1, x, MPFR_RNDN); }
void exact_rsqrt(mpfr_t y, const mpfr_t x) {
  mpfr_sqrt(y, x, MPFR_RNDN);
  mpfr_ui_div(y, 1, y, MPFR_RNDN);
}
void exact_elu_of_five_quarters(mpfr_t y, const mpfr_t x) {
  exact_elu(y, x);
  if (mpfr_sgn(x) < 0) mpfr_mul_d(y, y, 1.25, MPFR_RNDN);
}

#define BOTH(name) [](float x) { return name##_f32(x); }, [](double x) { return name##_f64(x); }

const Row whole_rows[] = {
    {"lgamma", BOTH(lgamma), oracle::lgamma, exact_lgamma, 3, 3, -INFINITY, INFINITY, oracle::one_left_of_0, oracle::size_of_lgamma},
    {"digamma", BOTH(digamma), oracle::digamma, exact<mpfr_digamma>, 4, 4, -INFINITY, INFINITY, oracle::four_left_of_0,
     oracle::size_of_digamma},
    {"trigamma", BOTH(trigamma), oracle::trigamma, exact_trigamma_by_row, 4, 4, -INFINITY, INFINITY, oracle::two_left_of_0},
    {"elu", [](float x) { return elu_f32(x, 1.25f); }, [](double x) { return elu_f64(x, 1.25); }, oracle::elu_of_five_quarters,
     exact_elu_of_five_quarters, 4, 4, -760, 760},
    {"recip", BOTH(recip), oracle::recip, exact_recip, 0.5, 0.5, -0x1p100, 0x1p100},
    {"rsqrt", BOTH(rsqrt), oracle::rsqrt, exact_rsqrt, 1.5, 1.5, 0x1p-100, 0x1p100},
};

#undef BOTH

const Row* row_named(std::string_view name) {
  for (const std::span<const Row> rows :
       {std::span<const Row>(whole_rows), elementary_rows(), inverse_rows(), activation_rows(), special_rows()}) {
    for (const Row& row : rows) {
      if (name == row.name) return &row;
    }
  }
  return nullptr;
}

struct Set {
  const char* name;
  numerics_oracle::OracleSet oracle;
  std::span<const numerics_probe::Loop> loops, more;
};

Set best_set() {
#if defined(__x86_64__)
  [[maybe_unused]] const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  [[maybe_unused]] const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                                   __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#if VOTIVE_HAS_v4
  if (v4) return {"v4", numerics_oracle::v4::set(), numerics_probe::v4::loops(), numerics_probe::v4::more_loops()};
#endif
#if VOTIVE_HAS_v3
  if (v3) return {"v3", numerics_oracle::v3::set(), numerics_probe::v3::loops(), numerics_probe::v3::more_loops()};
#endif
#endif
  return {"baseline", numerics_oracle::baseline::set(), numerics_probe::baseline::loops(), numerics_probe::baseline::more_loops()};
}

const Set& used_set() {
  static const Set set = best_set();
  return set;
}

}  // namespace

const char* exhaustive_instruction_set() { return used_set().name; }
const numerics_oracle::OracleSet& oracle_set() { return used_set().oracle; }

std::vector<Whole> whole_functions() {
  std::vector<Whole> all;
  for (const numerics_oracle::OracleLoop& oracle : used_set().oracle.loops) {
    const std::string loop_name = std::string(oracle.name) + "_f32";
    for (const std::span<const numerics_probe::Loop> loops : {used_set().loops, used_set().more}) {
      for (const numerics_probe::Loop& loop : loops) {
        if (loop_name == loop.name) all.push_back({row_named(oracle.name), loop.run, &oracle});
      }
    }
  }
  return all;
}

std::vector<const Row*> rows_in_f64(std::string_view name) {
  std::vector<const Row*> found;
  for (const std::span<const Row> rows : {elementary_rows(), inverse_rows(), activation_rows(), special_rows()}) {
    for (const Row& row : rows) {
      const std::string_view full = row.name;
      const std::string_view part = full.starts_with(name) ? full.substr(name.size()) : "?";
      if (row.f64 != nullptr && (part.empty() || part.starts_with("_near") || part.starts_with("_left") || part == "_huge"))
        found.push_back(&row);
    }
  }
  if (found.empty()) found.push_back(row_named(name));
  return found;
}

}  // namespace votive::numerics
