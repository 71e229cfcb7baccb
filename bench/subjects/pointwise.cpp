// Operations element by element: beyond the caches into a fresh output, in L2, and the cost of the functions per element.
#include "bench/harness.h"

using namespace votive;
using namespace votive::bench;

namespace {

constexpr Size large = Size{16} << 20;  // elements
constexpr Size near = 8192;             // elements whose operands fit L2

Tensor numbers(DType dtype, Size n) {
  if (dtype == DType::i64 || dtype == DType::u8) return randint(0, 100, {n}, {.seed = 1, .dtype = dtype});
  return randn({n}, {.seed = 1}).to(dtype);
}

void addition(DType dtype) {
  const auto width = static_cast<double>(block_bytes(dtype));
  add({.name = "add " + std::string(to_string(dtype)) + " 16M",
       .unit = "GB/s",
       .amount = 3 * width * large,
       .limit = Limit::triad,
       .goal = {0.95, 0.95},
       .make = [=] {
         const Tensor a = numbers(dtype, large), b = numbers(dtype, large);
         return call([=] { return add(a, b); });
       }});
  const Size n = near * 4 / block_bytes(dtype);
  add({.name = "add " + std::string(to_string(dtype)) + " in L2",
       .unit = "GB/s",
       .amount = 3 * width * static_cast<double>(n),
       .limit = Limit::copy_l2,
       .goal = {0.95, 0.90},
       .most_threads = 1,
       .make = [=] {
         const Tensor a = numbers(dtype, n), b = numbers(dtype, n);
         return call([=] { return add(a, b); });
       }});
}

void addition_across() {
  add({.name = "add f32 of a transposed operand 4096x4096", .unit = "GB/s", .amount = 3.0 * 4 * large, .limit = Limit::triad, .make = [] {
         const Tensor a = numbers(f32, large), b = numbers(f32, large);
         const Tensor rows = reshape(a, {4096, 4096}), across = transpose(reshape(b, {4096, 4096}));
         return call([=] { return add(rows, across); });
       }});
}

void cast(DType from, DType to) {
  add({.name = "cast " + std::string(to_string(from)) + " to " + std::string(to_string(to)) + " 16M",
       .unit = "GB/s",
       .amount = static_cast<double>(block_bytes(from) + block_bytes(to)) * large,
       .limit = Limit::copy,
       .goal = {0.95, 0.95},
       .make = [=] {
         const Tensor x = numbers(from, large);
         return call([=] { return x.to(to); });
       }});
}

void function(const char* name, Tensor (*f)(const Tensor&), DType dtype, Goal ns, Goal share) {
  const std::string title = std::string(name) + " " + std::string(to_string(dtype));
  add({.name = title + " cached", .unit = "ns/element", .amount = near, .goal = ns, .most_threads = 1, .make = [=] {
         const Tensor x = numbers(dtype, near);
         return call([=] { return f(x); });
       }});
  add({.name = title + " 16M",
       .unit = "GB/s",
       .amount = 2.0 * static_cast<double>(block_bytes(dtype)) * large,
       .limit = Limit::copy,
       .goal = share,
       .make = [=] {
         const Tensor x = numbers(dtype, large);
         return call([=] { return f(x); });
       }});
}

}  // namespace

int main(int argc, char** argv) {
  for (DType dtype : {f32, i64, bf16, f16}) addition(dtype);
  addition_across();
  cast(f32, bf16);
  cast(f32, f16);
  cast(bf16, f32);
  cast(f16, f32);
  cast(u8, f32);
  function("neg", neg, f32, {}, {0.95, 0.95});
  function("relu", relu, bf16, {}, {0.95, 0.95});
  function("exp", exp, f32, {0.20, 0.5}, {});
  function("tanh", tanh, f32, {0.40, 1.0}, {});
  function("gelu", [](const Tensor& x) { return gelu_tanh(x); }, f32, {0.35, 0.95}, {});
  function("silu", silu, f32, {0.28, 0.8}, {});
  function("sigmoid", sigmoid, f32, {}, {});
  function("log", log, f32, {}, {});
  function("sin", sin, f32, {}, {});
  function("erf", erf, f32, {}, {});
  function("gelu (erf)", gelu, f32, {}, {});
  function("gelu", [](const Tensor& x) { return gelu_tanh(x); }, bf16, {}, {});
  return run(argc, argv);
}
