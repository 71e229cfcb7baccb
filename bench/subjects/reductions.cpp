// Reductions of 16 M elements, all at once, along rows and along columns: a share of the bandwidth of reading them.
#include "bench/harness.h"

using namespace votive;
using namespace votive::bench;

namespace {

using Reduction = Tensor (*)(const Tensor&, int axis);  // axis 2: all

void reduction(const char* name, Reduction f, DType dtype) {
  const Size rows = 4096, columns = 4096;
  for (int axis : {2, 1, 0}) {
    const char* along = axis == 2 ? "all" : axis == 1 ? "axis 1" : "axis 0";
    add({.name = std::string(name) + " " + std::string(to_string(dtype)) + " " + along,
         .unit = "GB/s",
         .amount = static_cast<double>(rows * columns * block_bytes(dtype)),
         .limit = Limit::read,
         .goal = {0.92, 0.92},
         .make = [=] {
           const Tensor x = dtype == DType::u8 ? randint(0, 255, {rows, columns}, {.seed = 1, .dtype = u8})
                                               : rand({rows, columns}, {.seed = 1}).to(dtype);
           return call([=] { return f(x, axis); });
         }});
  }
}

}  // namespace

int main(int argc, char** argv) {
  for (DType dtype : {f32, bf16, f16, u8}) {
    reduction(
        "sum", [](const Tensor& x, int axis) { return axis == 2 ? sum(x) : sum(x, {.axis = axis}); }, dtype);
    reduction(
        "max", [](const Tensor& x, int axis) { return axis == 2 ? max(x) : max(x, {.axis = axis}); }, dtype);
    reduction(
        "argmax", [](const Tensor& x, int axis) { return axis == 2 ? argmax(x) : argmax(x, {.axis = axis}); }, dtype);
    reduction(
        "mean", [](const Tensor& x, int axis) { return axis == 2 ? mean(x) : mean(x, {.axis = axis}); }, dtype);
  }
  return run(argc, argv);
}
