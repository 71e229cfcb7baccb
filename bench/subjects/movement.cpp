// Copies that move, gathers and sorts.
#include "bench/harness.h"

using namespace votive;
using namespace votive::bench;

namespace {

/// A copy of 4096² elements; what lies between them in the same lines passes by as well.
void copy_of(const std::string& name, DType dtype, Goal goal, Tensor (*make)(DType), double between = 0) {
  add({.name = name + " " + std::string(to_string(dtype)),
       .unit = "GB/s",
       .amount = (2.0 + between) * 4096 * 4096 * static_cast<double>(block_bytes(dtype)),
       .limit = Limit::copy,
       .goal = goal,
       .make = [=] {
         const Tensor x = make(dtype);
         return call([=] { return contiguous(x); });
       }});
}

}  // namespace

int main(int argc, char** argv) {
  const Goal goal{0.70, 0.70};
  copy_of("transpose 4096x4096", f32, goal, [](DType d) { return transpose(rand({4096, 4096}).to(d)); });
  copy_of("transpose 4096x4096", bf16, {}, [](DType d) { return transpose(rand({4096, 4096}).to(d)); });
  copy_of("permute [64, 64, 64, 64] 0 2 1 3", f32, goal, [](DType d) { return permute(rand({64, 64, 64, 64}).to(d), {0, 2, 1, 3}); });
  copy_of("permute [16, 1024, 1024] 2 0 1", f32, goal, [](DType d) { return permute(rand({16, 1024, 1024}).to(d), {2, 0, 1}); });
  copy_of(
      "every other column 4096x4096, all lines", f32, goal,
      [](DType d) {
        return slice(rand({4096, 8192}).to(d), {.axis = 1, .step = 2});
      },
      1);
  add({.name = "embedding f32 4096 of 32000x1024", .unit = "GB/s", .amount = 2.0 * 4096 * 1024 * 4, .limit = Limit::copy, .make = [] {
         const Tensor table = rand({32000, 1024}), ids = randint(0, 32000, {4096}, {.seed = 3, .dtype = i64});
         return call([=] { return embedding(table, ids); });
       }});
  add({.name = "index_add f32 16384x256 to 1000", .unit = "GB/s", .amount = 2.0 * 16384 * 256 * 4, .limit = Limit::copy, .make = [] {
         const Tensor x = zeros({1000, 256}), ids = randint(0, 1000, {16384}, {.seed = 3, .dtype = i64}), s = rand({16384, 256});
         return call([=] { return index_add(x, ids, s); });
       }});
  add({.name = "sort f32 1M", .unit = "ns/element", .amount = 1 << 20, .make = [] {
         const Tensor x = rand({Size{1} << 20});
         return call([=] { return sort(x).values; });
       }});
  add({.name = "topk 50 of f32 1M", .unit = "ns/element", .amount = 1 << 20, .make = [] {
         const Tensor x = rand({Size{1} << 20});
         return call([=] { return topk(x, 50).values; });
       }});
  add({.name = "cumsum f32 16M", .unit = "GB/s", .amount = 2.0 * 4 * (16 << 20), .limit = Limit::copy, .make = [] {
         const Tensor x = rand({Size{16} << 20});
         return call([=] { return cumsum(x); });
       }});
  add({.name = "cumsum f32 4096x4096 axis 0", .unit = "GB/s", .amount = 2.0 * 4 * (16 << 20), .limit = Limit::copy, .make = [] {
         const Tensor x = rand({4096, 4096});
         return call([=] { return cumsum(x, 0); });
       }});
  return run(argc, argv);
}
