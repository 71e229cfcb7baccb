// The oracle and the measure of its distance in loops over blocks, compiled once per instruction set (oracle_loops.cpp).
#pragma once

#include <cstddef>
#include <span>

namespace votive::numerics_oracle {

struct OracleLoop {
  const char* name;
  void (*nearly)(const double* x, double* y, std::size_t n);
  void (*slack)(const double* x, double* y, std::size_t n);  ///< what the bound grows by; null: nothing
  void (*scale)(const double* x, double* y,
                std::size_t n);  ///< the ulp of this counts where it is larger than the result; null: the result's
};

/// One instruction set's: error[i] is |got - want| in ulp of f32, `largest` the largest error[i] / bound[i].
struct OracleSet {
  std::span<const OracleLoop> loops;
  void (*errors)(const float* got, const double* want, const double* scale, double* error, std::size_t n);
  double (*largest)(const double* error, const double* bound, std::size_t n);
  void (*widen)(const float* x, double* y, std::size_t n);
};

namespace baseline {
OracleSet set();
}
namespace v3 {
OracleSet set();
}
namespace v4emulated {
OracleSet set();
}
namespace v4 {
OracleSet set();
}
namespace v4n {
OracleSet set();
}

}  // namespace votive::numerics_oracle
