// Every f32 input of a function against the true value, as CONTRACT.md 11.1 asks: an f64 value first, MPFR wherever that one is within 2^-20 ulp of the
// bound, and MPFR again at the worst input. The same for all f16 and bf16 inputs, and for hard and random ones of f64.
// `./dev test exhaustive` runs it (exhaustive_main.cpp); exhaustive_test.cpp shows that it finds one wrong input among many.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/numerics/accuracy.h"
#include "tests/numerics/oracle_loops.h"

namespace votive::numerics {

/// The worst of many inputs: how far off, where, and what is allowed there.
struct Worst {
  double error = 0, bound = 0, at = 0;
  std::uint64_t inputs = 0, above = 0;  // judged; above their bound
  double ratio() const { return bound > 0 ? error / bound : 0; }
};

struct Whole {
  const Row* row;                                         // text, true value and bound
  void (*f32)(const void* in, void* out, std::size_t n);  // the f32 text in a loop, of one instruction set
  const numerics_oracle::OracleLoop* oracle;
};

/// The instruction set that is used: the best of this machine.
const char* exhaustive_instruction_set();

/// Functions of one f32 that have a true value, by name.
std::vector<Whole> whole_functions();

/// Inputs first, first + 1 … of f32 (their bits), count of them.
Worst judge_range(const Whole& function, std::uint64_t first, std::uint64_t count);
/// All 2^32 by so many threads; `progress` sees the share done.
Worst judge_every_f32(const Whole& function, int threads, const std::function<void(double)>& progress);

enum class Half { f16, bf16 };
Worst judge_every_half(const Row& row, Half format);

/// Hard cases (ends and neighbours of binades, of the domain, of 0, 1/2, 1, multiples of pi / 2 and of ln 2), then random ones.
Worst judge_f64_widely(const Row& row, int samples);

/// The f64 value itself against MPFR at sampled inputs: the largest distance in ulp of f32. It has to be far below 2^-20.
double distance_of_oracle(const Whole& function);

}  // namespace votive::numerics
