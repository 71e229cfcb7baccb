// How a speed is measured here: the case and its limit take turns on the same pinned cores, and the median of their ratios counts, because machines shared
// with others drift. A program describes cases and ends with `return run(argc, argv)`. It prints one JSON object per row; bench/report.py makes tables.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "bench/limits.h"
#include "votive/votive.h"

namespace votive::bench {

/// The goal on the two kinds of machine. A share of the limit; for cases in ns, the ns that may be spent.
struct Goal {
  double avx512 = 0, avx2 = 0;
};

struct Case {
  std::string name;
  std::string unit;  ///< "GFLOP/s", "GB/s", or "ns" and "ns/element", which are absolute
  double amount;     ///< operations, bytes or elements of one call; with "ns" how many operations one call is
  Limit limit = Limit::none;
  Goal goal = {};  ///< 0: none is set
  int most_threads = 2;
  /// Builds the operands and gives the call to be measured.
  std::function<std::function<void()>()> make = {};
};

void add(Case one);
/// Arguments: --threads 1,2  --rounds N  --seconds S  and words; only cases whose name contains one of the words are run.
int run(int argc, char** argv);
/// The limits alone: each one's median, and as its ratio the median of what a second measurement right after it gave, 1 on a steady machine.
int run_limits(int argc, char** argv);

/// Keeps the compiler from leaving a result out.
template <class T>
void use(const T& x) {
  asm volatile("" : : "r"(&x) : "memory");
}

/// The usual case: f's result is thrown away.
template <class F>
std::function<void()> call(F f) {
  return [f = std::move(f)]() mutable { use(f()); };
}

}  // namespace votive::bench
