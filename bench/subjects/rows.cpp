// Softmax and the norms, row by row: per element in the caches, as a share of copy bandwidth beyond them.
#include "bench/harness.h"

using namespace votive;
using namespace votive::bench;

namespace {

using RowOperation = Tensor (*)(const Tensor&);

void operation(const char* name, RowOperation f, DType dtype, Goal ns) {
  add({.name = std::string(name) + " " + std::string(to_string(dtype)) + " 4x2048 cached",
       .unit = "ns/element",
       .amount = 4 * 2048,
       .goal = ns,
       .most_threads = 1,
       .make = [=] {
         const Tensor x = randn({4, 2048}, {.seed = 1}).to(dtype);
         return call([=] { return f(x); });
       }});
  add({.name = std::string(name) + " " + std::string(to_string(dtype)) + " 4096x4096",
       .unit = "GB/s",
       .amount = 2.0 * 4096 * 4096 * static_cast<double>(block_bytes(dtype)),
       .limit = Limit::copy,
       .goal = {0.65, 0.65},
       .make = [=] {
         const Tensor x = randn({4096, 4096}, {.seed = 1}).to(dtype);
         return call([=] { return f(x); });
       }});
}

}  // namespace

int main(int argc, char** argv) {
  operation("softmax", [](const Tensor& x) { return softmax(x); }, f32, {0.23, 0.72});
  operation("softmax", [](const Tensor& x) { return softmax(x); }, bf16, {0.21, 0.72});
  for (DType dtype : {f32, bf16}) {
    operation("layer_norm", [](const Tensor& x) { return layer_norm(x); }, dtype, {});
    operation("rms_norm", [](const Tensor& x) { return rms_norm(x); }, dtype, {});
  }
  return run(argc, argv);
}
