// How probe*.cpp make a loop of a scalar function. Included by them alone: everything here lives in the namespace of one instruction set.
#pragma once

#include "tests/numerics/probe.h"
#include "votive/numerics/portable.h"

namespace votive::numerics_probe::VOTIVE_ISA {
namespace {

using namespace votive::numerics;

struct WordPair {
  u32 first, second;
};
struct F32Pair {
  f32 first, second;
};
struct F64Pair {
  f64 first, second;
};
struct I64Pair {
  i64 first, second;
};

template <class T>
constexpr bool is_float = T(0.5) != T(0);

template <class In, class Out, auto function>
void run(const void* in, void* out, std::size_t n) {
  const In* x = static_cast<const In*>(in);
  Out* y = static_cast<Out*>(out);
  for (std::size_t i = 0; i < n; ++i) y[i] = function(x[i]);
}

template <auto function, class In, class Out>
constexpr Loop loop(const char* name, Input input, Out (*)(In)) {
  bool floating = false;
  if constexpr (requires { Out(0.5); }) floating = is_float<Out>;
  return {name, input, sizeof(Out), floating, run<In, Out, function>};
}

template <auto function>
constexpr Loop of_f32(const char* name) {
  return loop<function>(name, Input::f32, +function);
}
template <auto function>
constexpr Loop of_f64(const char* name) {
  return loop<function>(name, Input::f64, +function);
}
template <auto function>
constexpr Loop of_i64(const char* name) {
  return loop<function>(name, Input::i64, +function);
}
template <auto function>
constexpr Loop of_u16(const char* name) {
  return loop<function>(name, Input::u16, +function);
}
template <auto function>
constexpr Loop of_u8(const char* name) {
  return loop<function>(name, Input::u8, +function);
}
template <auto function>
constexpr Loop of_pair(const char* name) {
  return loop<function>(name, Input::f32_pair, +function);
}
template <auto function>
constexpr Loop of_f64_pair(const char* name) {
  return loop<function>(name, Input::f64_pair, +function);
}
template <auto function>
constexpr Loop of_i64_pair(const char* name) {
  return loop<function>(name, Input::i64_pair, +function);
}

}  // namespace
}  // namespace votive::numerics_probe::VOTIVE_ISA
