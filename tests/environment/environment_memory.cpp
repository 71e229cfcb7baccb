// Memory that runs out at every possible place: each call is repeated with its first request refused, then its second, and so on until none is left.
// Every time it must give its bits or Error{OutOfMemory}, and afterwards its bits again. With the argument `threads`: no thread can be had.
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "tests/environment/failing_memory.h"
#include "votive/base/thread_pool.h"
#include "votive/core/memory.h"
#include "votive/votive.h"

namespace votive::environment {
namespace {

/// Calls that ask for nothing in this file, so that what is refused is the library's.
struct Call {
  const char* name;
  Tensor (*run)(const Tensor* in);
};

enum Input { x, y, row, weight, q4, ids, mask, image, filter, heads, whole, long_row, input_count };

const ReduceOptions by_column{.axis = {0}}, by_row{.axis = {1}};  // the lists in them are the caller's
const VarianceOptions unbiased_by_column{.axis = {0}, .correction = 1};

const std::vector<PadWidth> margins{{1, 2}, {3, 4}};
const Nested three_numbers{1, 2, 3};
/// Made with the first call, before any request is refused.
const std::vector<Tensor>* operands(const Tensor* in) {
  static const std::vector<Tensor> both{in[x], in[weight]};
  return &both;
}

const Call calls[] = {
    {"add", [](const Tensor* in) { return in[x] + in[y]; }},
    {"add a literal", [](const Tensor* in) { return in[x] + 0.5; }},
    {"add of dtypes", [](const Tensor* in) { return in[whole].to(i16) + in[x]; }},
    {"comparison", [](const Tensor* in) { return in[x] < in[y]; }},
    {"exp", [](const Tensor* in) { return exp(in[x]); }},
    {"exp of a view", [](const Tensor* in) { return exp(transpose(in[x])); }},
    {"where", [](const Tensor* in) { return where(in[mask], in[x], in[y]); }},
    {"fma", [](const Tensor* in) { return fma(in[x], in[y], in[row]); }},
    {"clamp", [](const Tensor* in) { return clamp(in[x], -1, 1); }},
    {"cast", [](const Tensor* in) { return in[x].to(bf16); }},
    {"sum", [](const Tensor* in) { return sum(in[long_row]); }},
    {"sum of columns", [](const Tensor* in) { return sum(in[x], by_column); }},
    {"mean", [](const Tensor* in) { return mean(in[x], by_row); }},
    {"var", [](const Tensor* in) { return var(in[x], unbiased_by_column); }},
    {"norm", [](const Tensor* in) { return norm(in[x]); }},
    {"logsumexp", [](const Tensor* in) { return logsumexp(in[x], by_column); }},
    {"argmax", [](const Tensor* in) { return argmax(in[x], {.axis = 0}); }},
    {"softmax", [](const Tensor* in) { return softmax(in[x]); }},
    {"softmax of columns", [](const Tensor* in) { return softmax(in[x], {.axis = 0}); }},
    {"layer_norm", [](const Tensor* in) { return layer_norm(in[x], in[row], in[row]); }},
    {"rms_norm", [](const Tensor* in) { return rms_norm(in[x], in[row]); }},
    {"batch_norm", [](const Tensor* in) { return batch_norm_training(in[image], {}, {}).y; }},
    {"group_norm", [](const Tensor* in) { return group_norm(in[image], 2, {}, {}); }},
    {"matmul f32", [](const Tensor* in) { return matmul(in[x], in[weight]); }},
    {"matmul bf16", [](const Tensor* in) { return matmul(in[x].to(bf16), in[weight].to(bf16)); }},
    {"matmul f64", [](const Tensor* in) { return matmul(in[x].to(f64), in[weight].to(f64)); }},
    {"matmul i8", [](const Tensor* in) { return matmul(in[whole].to(i8), transpose(in[whole]).to(i8)); }},
    {"matmul of a row", [](const Tensor* in) { return matmul(in[row], in[weight]); }},
    {"linear q4_0", [](const Tensor* in) { return linear(in[x], in[q4]); }},
    {"linear q4_0, a row", [](const Tensor* in) { return linear(in[row], in[q4]); }},
    {"prepacked", [](const Tensor* in) { return linear(in[x], prepack(in[q4])); }},
    {"attention", [](const Tensor* in) { return attention(in[heads], in[heads], in[heads], {}, {.causal = true}); }},
    {"attention f64", [](const Tensor* in) { return attention(in[heads].to(f64), in[heads].to(f64), in[heads].to(f64)); }},
    {"rope", [](const Tensor* in) { return rope(in[heads], arange(0, 40, 1), rope_frequencies(32)); }},
    {"conv2d", [](const Tensor* in) { return conv2d(in[image], in[filter], {}, {.padding = 1}); }},
    {"conv_transpose2d", [](const Tensor* in) { return conv_transpose2d(in[image], transpose(in[filter], 0, 1), {}); }},
    {"max_pool2d", [](const Tensor* in) { return max_pool2d(in[image], 2); }},
    {"avg_pool2d", [](const Tensor* in) { return avg_pool2d(in[image], 3); }},
    {"interpolate",
     [](const Tensor* in) {
       return interpolate(in[image], {17, 50}, {.mode = Interpolation::cubic});
     }},
    {"sort", [](const Tensor* in) { return sort(in[x]).values; }},
    {"argsort of columns", [](const Tensor* in) { return sort(in[x], {.axis = 0}).indices; }},
    {"sort of a long row", [](const Tensor* in) { return sort(in[long_row]).values; }},
    {"topk", [](const Tensor* in) { return topk(in[x], 5).values; }},
    {"unique", [](const Tensor* in) { return unique(in[whole]).values; }},
    {"cumsum", [](const Tensor* in) { return cumsum(in[long_row], 0); }},
    {"quantile", [](const Tensor* in) { return quantile(in[x], 0.3, {.axis = 1}); }},
    {"embedding", [](const Tensor* in) { return embedding(in[x], in[ids]); }},
    {"gather", [](const Tensor* in) { return gather(in[x], in[whole].to(i64) * 0, 0); }},
    {"scatter_add", [](const Tensor* in) { return index_add(in[x], in[ids], in[y], 0); }},
    {"nonzero", [](const Tensor* in) { return nonzero(in[mask]); }},
    {"concat",
     [](const Tensor* in) {
       return concat({in[x], in[y]}, 1);
     }},
    {"pad",
     [](const Tensor* in) {
       return pad(in[x], {{1, 2}, {3, 4}});
     }},
    {"roll", [](const Tensor* in) { return roll(in[x], 7, 0); }},
    {"einsum", [](const Tensor* in) { return einsum("ij,jk->ki", *operands(in)); }},
    {"randn",
     [](const Tensor*) {
       return randn({200, 300}, {.seed = 3});
     }},
    {"randperm", [](const Tensor*) { return randperm(3000, {.seed = 3, .dtype = i64}); }},
    {"dropout", [](const Tensor* in) { return dropout(in[x], 0.4, {.seed = 4}); }},
    {"arange", [](const Tensor*) { return arange(0, 5000, 1); }},
    {"cross_entropy", [](const Tensor* in) { return cross_entropy(in[x], in[ids]); }},
    {"tensor of a list", [](const Tensor*) { return tensor(three_numbers, f32); }},
    {"backward",
     [](const Tensor* in) {
       const Tensor w = in[weight].require_grad();
       return backward(sum(square(softmax(matmul(in[x], w)))))[w];
     }},
    {"backward of a convolution",
     [](const Tensor* in) {
       const Tensor w = in[filter].require_grad();
       return backward(sum(gelu(conv2d(in[image], w, {}, {.padding = 1}))))[w];
     }},
    {"backward of attention",
     [](const Tensor* in) {
       const Tensor w = in[heads].require_grad();
       return backward(sum(square(attention(w, w, w))))[w];
     }},
};

std::vector<std::byte> bits(const Tensor& t) {
  const Tensor dense = t.to(f64);
  const std::vector<double> values = dense.to_host<double>();
  std::vector<std::byte> bytes(values.size() * sizeof(double));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::vector<Tensor> inputs() {
  std::vector<Tensor> in(input_count);
  in[x] = randn({96, 64}, {.seed = 1});
  in[y] = randn({96, 64}, {.seed = 2});
  in[row] = randn({64}, {.seed = 3});
  in[weight] = randn({64, 80}, {.seed = 4});
  std::vector<std::uint8_t> blocks(48 * 2 * 18);
  for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i] = i % 18 == 0 ? 0 : i % 18 == 1 ? 0x2c : static_cast<std::uint8_t>(i * 37);
  in[q4] = Tensor::allocate("q4", {.dtype = DType::q4_0, .shape = {48, 64}});
  std::memcpy(in[q4].mutable_buffer(), blocks.data(), blocks.size());
  in[ids] = randint(0, 64, {96}, {.seed = 5, .dtype = i32});
  in[mask] = in[x] > 0;
  in[image] = randn({2, 4, 12, 40}, {.seed = 6});
  in[filter] = randn({6, 4, 3, 3}, {.seed = 7});
  in[heads] = randn({1, 2, 40, 32}, {.seed = 8});
  in[whole] = randint(-9, 9, {96, 64}, {.seed = 9, .dtype = i16});
  in[long_row] = randn({200000}, {.seed = 10});
  return in;
}

struct Tally {
  long requests = 0, refused = 0, wrong = 0;
};

void report(const Call& call, long n, const std::string& what, Tally& tally) {
  ++tally.wrong;
  std::printf("wrong: %s, request %ld refused: %s\n", call.name, n, what.c_str());
  std::fflush(stdout);
}

/// `cold`: the allocator's cached blocks are given back first, so that memory of tensors is asked of the system again.
void run_out_of_memory(const Call& call, const std::vector<Tensor>& in, bool cold, Tally& tally) {
  const std::vector<std::byte> want = bits(call.run(in.data()));
  for (long n = 1;; ++n) {
    if (cold) trim_memory();
    std::string what;
    Tensor result;
    arm(n);
    try {
      result = call.run(in.data());
    } catch (const Error& error) {
      what = error.kind() == ErrorKind::OutOfMemory ? "out of memory" : error.what();
    } catch (const std::exception& error) { what = error.what(); }
    if (!disarm()) break;
    ++tally.requests;
    if (what.empty()) {
      if (bits(result) != want) report(call, n, "other bits", tally);
    } else if (what == "out of memory") {
      ++tally.refused;
    } else {
      report(call, n, what, tally);
    }
    if (bits(call.run(in.data())) != want) report(call, n, "other bits in the next call", tally);
    if (n == 3000) break;
  }
}

int every_request() {
  Tally tally;
  const std::vector<Tensor> in = inputs();
  for (const int count : {1, 3}) {
    set_threads(count);
    for (const Call& call : calls) {
      for (const bool cold : {false, true}) run_out_of_memory(call, in, cold, tally);
    }
  }
  std::printf("%ld requests refused, one at a time: %ld calls said out of memory, the rest gave their bits; %ld wrong\n", tally.requests,
              tally.refused, tally.wrong);
  return tally.wrong == 0 && tally.refused > 1000 ? 0 : 1;
}

/// One call of the list: for whoever looks for the place with a debugger (catch throw std::bad_alloc).
int one_call(const std::string& name) {
  Tally tally;
  const std::vector<Tensor> in = inputs();
  set_threads(1);
  for (const Call& call : calls)
    if (name == call.name) run_out_of_memory(call, in, false, tally);
  return tally.wrong == 0 ? 0 : 1;
}

int without_threads() {
  const std::vector<Tensor> in = inputs();
  set_threads(1);
  std::vector<std::vector<std::byte>> alone;
  for (const Call& call : calls) alone.push_back(bits(call.run(in.data())));
  refuse_threads(true);
  set_threads(7);
  long wrong = 0;
  for (std::size_t i = 0; i < std::size(calls); ++i) {
    if (bits(calls[i].run(in.data())) == alone[i]) continue;
    ++wrong;
    std::printf("wrong: %s without threads\n", calls[i].name);
  }
  refuse_threads(false);
  for (std::size_t i = 0; i < std::size(calls); ++i) wrong += bits(calls[i].run(in.data())) != alone[i];
  std::printf("%zu calls without threads to be had, %ld wrong\n", std::size(calls), wrong);
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace votive::environment

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "call") == 0) return argc > 2 ? votive::environment::one_call(argv[2]) : 2;
  const bool threads = argc > 1 && std::strcmp(argv[1], "threads") == 0;
  return threads ? votive::environment::without_threads() : votive::environment::every_request();
}
