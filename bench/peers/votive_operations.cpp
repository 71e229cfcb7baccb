// Votive as one of the peers of operations.py: reads "THREADS NAME" lines, answers each with the median seconds of a call as JSON. Outputs are fresh, as a user
// gets them. Not here: what the names mean to the others (torch_operations.py, onnx_operations.py, blas_operations.cpp, candle/src/operations.rs), nor what has
// no row of its own (votive_survey.cpp).
#include <string>

#include "offered.h"

namespace {

using namespace votive;
using votive::peers::Call;
using votive::peers::Operations;

template <class F>
Call call(F f) {
  return [f] {
    const Tensor y = f();
    asm volatile("" : : "r"(&y) : "memory");
  };
}

std::string text(DType dtype) { return std::string(to_string(dtype)); }
Tensor normal_numbers(const Shape& shape, DType dtype, std::uint64_t seed = 1) { return randn(shape, {.seed = seed}).to(dtype); }

void add_products(Operations& all) {
  for (DType dtype : {f32, bf16, f16}) {
    for (Size n : {256, 512, 1024, 2048}) {
      all["matmul " + text(dtype) + " " + std::to_string(n)] = [=] {
        const Tensor a = normal_numbers({n, n}, dtype, 1), b = normal_numbers({n, n}, dtype, 2);
        return call([=] { return matmul(a, b); });
      };
    }
    for (Size m : {1, 16, 128, 512}) {
      all["linear " + text(dtype) + " m" + std::to_string(m) + " 4096x4096"] = [=] {
        const Tensor x = normal_numbers({m, 4096}, dtype, 1), w = prepack(normal_numbers({4096, 4096}, dtype, 2));
        return call([=] { return linear(x, w); });
      };
    }
  }
  all["small matmul 4x4"] = [] {
    const Tensor a = normal_numbers({4, 4}, f32);
    return call([=] { return matmul(a, a); });
  };
}

void add_pointwise(Operations& all) {
  using Function = Tensor (*)(const Tensor&);
  const std::pair<const char*, Function> functions[] = {{"exp", exp},
                                                        {"tanh", tanh},
                                                        {"gelu", gelu},
                                                        {"silu", silu},
                                                        {"log", [](const Tensor& x) { return log(x); }},
                                                        {"sin", sin},
                                                        {"sigmoid", sigmoid},
                                                        {"erf", erf},
                                                        {"sum", [](const Tensor& x) { return sum(x); }},
                                                        {"max", [](const Tensor& x) { return max(x); }},
                                                        {"argmax", [](const Tensor& x) { return argmax(x); }},
                                                        {"cumsum", [](const Tensor& x) { return cumsum(x); }}};
  const std::pair<const char*, Size> sizes[] = {{"16k", 1 << 14}, {"1M", 1 << 20}, {"16M", 1 << 24}};
  for (const auto& [tag, n] : sizes) {
    for (DType dtype : {f32, bf16}) {
      for (const auto& [name, f] : functions) {
        all[std::string(name) + " " + text(dtype) + " " + tag] = [=, n = n, name = std::string(name), f = f] {
          const Tensor x = (name == "log" ? rand({n}, {.seed = 1}) + 0.1f : randn({n}, {.seed = 1})).to(dtype);
          return call([=] { return f(x); });
        };
      }
      all["add " + text(dtype) + " " + tag] = [=, n = n] {
        const Tensor a = normal_numbers({n}, dtype, 1), b = normal_numbers({n}, dtype, 2);
        return call([=] { return add(a, b); });
      };
    }
    all[std::string("cast f32-bf16 ") + tag] = [n = n] {
      const Tensor x = randn({n}, {.seed = 1});
      return call([=] { return x.to(bf16); });
    };
    all[std::string("add i64 ") + tag] = [n = n] {
      const Tensor x = randint(-9, 9, {n});
      return call([=] { return add(x, x); });
    };
  }
  all["small add 16"] = [] {
    const Tensor x = randn({16});
    return call([=] { return x + x; });
  };
  all["small add 16 recorded"] = [] {
    const Tensor x = randn({16}).require_grad();
    return call([=] { return x + x; });
  };
}

void add_rows(Operations& all) {
  all["sum axis0 f32 4096x4096"] = [] {
    const Tensor x = randn({4096, 4096});
    return call([=] { return sum(x, {.axis = 0}); });
  };
  all["sum axis1 f32 4096x4096"] = [] {
    const Tensor x = randn({4096, 4096});
    return call([=] { return sum(x, {.axis = 1}); });
  };
  all["transpose f32 4096x4096"] = [] {
    const Tensor x = randn({4096, 4096});
    return call([=] { return contiguous(transpose(x)); });
  };
  for (DType dtype : {f32, bf16, f16}) {
    for (const auto& [tag, shape] : {std::pair<std::string, Shape>{"4096x4096", {4096, 4096}}, {"128x1024", {128, 1024}}}) {
      all["softmax " + text(dtype) + " " + tag] = [=, shape = shape] {
        const Tensor x = normal_numbers(shape, dtype);
        return call([=] { return softmax(x); });
      };
    }
    all["layer_norm " + text(dtype) + " 4096x4096"] = [=] {
      const Tensor x = normal_numbers({4096, 4096}, dtype), w = ones({4096}, dtype);
      return call([=] { return layer_norm(x, w, w); });
    };
    all["rms_norm " + text(dtype) + " 4096x4096"] = [=] {
      const Tensor x = normal_numbers({4096, 4096}, dtype), w = ones({4096}, dtype);
      return call([=] { return rms_norm(x, w); });
    };
  }
}

void add_layers(Operations& all) {
  for (DType dtype : {f32, bf16}) {
    all["conv3x3 64-64 56x56 " + text(dtype)] = [=] {
      const Tensor x = normal_numbers({1, 64, 56, 56}, dtype), w = normal_numbers({64, 64, 3, 3}, dtype, 2);
      return call([=] { return conv2d(x, w, {}, {.padding = 1}); });
    };
    all["depthwise3x3 128 56x56 " + text(dtype)] = [=] {
      const Tensor x = normal_numbers({1, 128, 56, 56}, dtype), w = normal_numbers({128, 1, 3, 3}, dtype, 2);
      return call([=] { return conv2d(x, w, {}, {.padding = 1, .groups = 128}); });
    };
    for (Size d : {64, 128}) {
      all["attention causal 2048 h16 d" + std::to_string(d) + " " + text(dtype)] = [=] {
        const Tensor q = normal_numbers({1, 16, 2048, d}, dtype);
        return call([=] { return attention(q, q, q, {}, {.causal = true}); });
      };
    }
    all["attention decode 2048 h16 d64 " + text(dtype)] = [=] {
      const Tensor q = normal_numbers({1, 16, 1, 64}, dtype), k = normal_numbers({1, 16, 2048, 64}, dtype, 2);
      return call([=] { return attention(q, k, k); });
    };
  }
  all["embedding f32 4096 of 32000x1024"] = [] {
    const Tensor table = randn({32000, 1024}), ids = randint(0, 32000, {4096});
    return call([=] { return embedding(table, ids); });
  };
  all["sort f32 1M"] = [] {
    const Tensor x = randn({Size{1} << 20});
    return call([=] { return sort(x).values; });
  };
  all["topk50 f32 1M"] = [] {
    const Tensor x = randn({Size{1} << 20});
    return call([=] { return topk(x, 50).values; });
  };
  all["index_add f32 16384x256 to 1000"] = [] {
    const Tensor x = zeros({1000, 256}), ids = randint(0, 1000, {16384}), source = randn({16384, 256});
    return call([=] { return index_add(x, ids, source); });
  };
}

}  // namespace

int main() {
  Operations all;
  add_products(all);
  add_pointwise(all);
  add_rows(all);
  add_layers(all);
  votive::peers::add_survey(all);
  ::peers::serve([&](const std::string& name, int count) -> Call {
    const auto found = all.find(name);
    if (found == all.end()) return {};
    set_threads(count);
    return found->second();
  });
  return 0;
}
