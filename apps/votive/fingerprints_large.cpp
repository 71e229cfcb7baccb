// Fingerprints of tensors that are large enough for every kernel to hand out to seven threads: where a split could show, if it did.
#include "fingerprint_list.h"

namespace votive::app {

void add_large(Collector& c) {
  const Device d = c.device();
  const auto x = [d](const Shape& shape, DType t = f32) { return normal(shape, t, 701, d); };
  const auto y = [d](const Shape& shape, DType t = f32) { return normal(shape, t, 702, d); };
  const auto at = [d](const Shape& shape, Size n) { return positions(shape, n, i64, 703, d); };
  const Shape line{100003}, rows{331, 307}, views{307, 331};
  const auto of = [&](const std::string& name, const std::function<Outputs()>& compute) { c.one(name + " large f32", compute); };
  of("exp", [&] { return Outputs{exp(x(line)), exp(transpose(x(rows)))}; });
  of("add", [&] { return Outputs{add(x({262144}), y({262144})), add(x(rows), transpose(y(views)))}; });
  of("fma", [&] { return Outputs{fma(x({262144}), y({262144}), x({262144}))}; });
  of("where", [&] { return Outputs{where(gt(x(rows), 0), y(rows), transpose(x(views)))}; });
  of("cast", [&] { return Outputs{cast(x(line), bf16), cast(x(line), f16), cast(x(line, bf16), f64), cast(x(line), i8)}; });
  of("contiguous", [&] { return Outputs{contiguous(transpose(x(rows))), contiguous(flip(x(line)))}; });
  of("concat", [&] { return Outputs{concat({x(rows), y(rows)}, 1)}; });
  of("sum", [&] { return Outputs{sum(x({600011})), sum(x(rows), {.axis = 0}), sum(x(rows), {.axis = 1})}; });
  of("max", [&] { return Outputs{max(x({600011})), argmax(x(rows), {.axis = 0}), argmax(x({600011}), {.axis = std::nullopt})}; });
  of("var", [&] { return Outputs{var(x(rows), {.axis = 1, .correction = 1}), norm(x({600011}))}; });
  of("cumsum", [&] { return Outputs{cumsum(x(line)), cumsum(x(rows), 0), cummax(x(rows)).indices}; });
  of("softmax", [&] { return Outputs{softmax(x(rows)), softmax(x(rows), {.axis = 0}), log_softmax(x({3, 40000}))}; });
  of("layer_norm", [&] { return Outputs{layer_norm(x(rows)), rms_norm(x(rows, bf16))}; });
  of("sort", [&] { return Outputs{sort(x(rows)).indices, topk(x(rows), 9).indices, sort(x({20011})).indices}; });
  of("matmul", [&] { return Outputs{matmul(x({131, 257}), y({257, 193})), matmul(x({1, 2051}), y({2051, 131}))}; });
  of("matmul of bf16", [&] { return Outputs{matmul(x({131, 257}, bf16), y({257, 193}, bf16))}; });
  of("linear", [&] {
    return Outputs{linear(x({33, 512}), random_weight(131, 512, DType::q4_1, d)),
                   linear(x({1, 1024}), random_weight(257, 1024, DType::q4_k, d))};
  });
  of("conv2d", [&] { return Outputs{conv2d(x({3, 9, 17, 19}), y({21, 9, 3, 3}), {}, {.padding = 1})}; });
  of("conv_transpose2d", [&] { return Outputs{conv_transpose2d(x({2, 9, 11, 9}), y({9, 13, 3, 3}), {}, {.stride = 2})}; });
  of("avg_pool2d", [&] { return Outputs{avg_pool2d(x({3, 7, 67, 71}), 3, {.stride = 1}), max_pool2d(x({3, 7, 67, 71}), 2)}; });
  of("interpolate", [&] { return Outputs{interpolate(x({2, 5, 41, 43}), {97, 91}, {.mode = Interpolation::linear})}; });
  of("attention", [&] { return Outputs{attention(x({1, 6, 33, 32}), y({1, 3, 131, 32}), x({1, 3, 131, 32}), {}, {.causal = true})}; });
  of("rope", [&] { return Outputs{rope(x({2, 9, 131, 64}), at({131}, 9000), rope_frequencies(64, 10000.0, {.device = d}))}; });
  of("gather", [&] {
    return Outputs{gather(x(rows), at({331, 307}, 307), 1), index_select(x(rows), at({500}, 331)), embedding(x(rows), at({700}, 331))};
  });
  of("scatter", [&] {
    return Outputs{scatter(x(rows), at({331, 307}, 331), y(rows), {.mode = ScatterMode::add}),
                   index_add(x(rows), at({900}, 331), y({900, 307}))};
  });
  of("nonzero", [&] { return Outputs{nonzero(gt(x(rows), 1)), masked_select(x(rows), gt(y(rows), 0))}; });
  of("randn", [&] { return Outputs{randn({262147}, {.seed = 704, .device = d}), rand({262147}, {.seed = 705, .device = d})}; });
}

}  // namespace votive::app
