// The first 423 fingerprints, which stand in the golden file since the beginning: their names, inputs and order stay as they are. Sizes cross the edges of
// vectors, tiles, chunks of 4096 and blocks of 1024. The reference device computes the same list, so sizes stay modest.
#include "fingerprint_list.h"

namespace votive::app {

namespace {

void add_first_pointwise(Collector& c) {
  const Device d = c.device();
  const auto floats = {f16, bf16, f32, f64};
  const auto numbers = {u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64};
  const auto halves = {f16, bf16, f32};
  using Unary = Tensor (*)(const Tensor&);
  const std::pair<const char*, Unary> functions[] = {
      {"exp", exp}, {"log", log},         {"sin", sin},   {"cos", cos},   {"tanh", tanh},
      {"erf", erf}, {"sigmoid", sigmoid}, {"silu", silu}, {"gelu", gelu}, {"gelu_tanh", gelu_tanh}};
  for (const auto& [name, function] : functions) {
    c.add_for(name, halves, [&, f = function](DType t) { return f(random_bits({40000}, t, 1, d)); });
    c.add(std::string(name) + " f32 normal", [&, f = function] { return f(normal({40000}, f32, 2, d)); });
  }
  const std::pair<const char*, Unary> exact[] = {{"sqrt", sqrt}, {"rsqrt", rsqrt}, {"recip", recip}, {"floor", floor}, {"round", round}};
  for (const auto& [name, function] : exact)
    c.add_for(name, floats, [&, f = function](DType t) { return f(random_bits({20000}, t, 3, d)); });
  const std::pair<const char*, Unary> arithmetic[] = {{"neg", neg}, {"abs", abs}, {"sign", sign}, {"relu", relu}};
  for (const auto& [name, function] : arithmetic)
    c.add_for(name, numbers, [&, f = function](DType t) { return f(random_bits({10000}, t, 4, d)); });
  using Binary = Tensor (*)(const Tensor&, const Tensor&);
  const std::pair<const char*, Binary> binaries[] = {{"add", add},         {"sub", sub},         {"mul", mul}, {"div", div},
                                                     {"minimum", minimum}, {"maximum", maximum}, {"lt", lt},   {"eq", eq}};
  for (const auto& [name, function] : binaries) {
    c.add_for(name, numbers, [&, f = function](DType t) { return f(random_bits({97, 1, 31}, t, 5, d), random_bits({5, 31}, t, 6, d)); });
  }
  c.add_for("swiglu", halves, [&](DType t) { return swiglu(normal({5000}, t, 7, d), normal({5000}, t, 8, d)); });
  c.add("where f32",
        [&] { return where(random_bits({5000}, boolean, 9, d), random_bits({5000}, f32, 10, d), random_bits({5000}, f32, 11, d)); });
  for (DType from : {boolean, i8, u8, i32, u64, i64, f16, bf16, f32, f64, e4m3, e5m2}) {
    for (DType to : {boolean, u8, i8, i32, i64, u64, f16, bf16, f32, f64, e4m3, e5m2}) {
      if (from == to) continue;
      c.add("cast " + std::string(to_string(from)) + " to " + std::string(to_string(to)),
            [&] { return random_bits({6000}, from, 12, d).to(to); });
    }
  }
}

void add_first_rows(Collector& c) {
  const Device d = c.device();
  const auto halves = {f16, bf16, f32};
  const auto floats = {f16, bf16, f32, f64};
  using Reduction = Tensor (*)(const Tensor&, const ReduceOptions&);
  const std::pair<const char*, Reduction> reductions[] = {{"sum", sum}, {"mean", mean}, {"max", max}, {"min", min}};
  for (const auto& [name, function] : reductions) {
    c.add_for(name, {i32, f16, bf16, f32, f64}, [&, f = function](DType t) { return f(normal({13, 4099}, t, 20, d), {.axis = -1}); });
    c.add(std::string(name) + " f32 columns", [&, f = function] { return f(normal({1031, 37}, f32, 21, d), {.axis = 0}); });
    c.add(std::string(name) + " f32 long", [&, f = function] { return f(normal({100003}, f32, 22, d), {}); });
  }
  c.add_for("argmax", {i32, f32, bf16}, [&](DType t) { return argmax(random_bits({7, 999}, t, 23, d)); });
  c.add_for("softmax", floats, [&](DType t) { return t == f64 ? exp(normal({3, 33}, f32, 24, d)) : softmax(normal({9, 1237}, t, 24, d)); });
  c.add_for("log_softmax", halves, [&](DType t) { return log_softmax(normal({9, 1237}, t, 25, d)); });
  c.add_for("rms_norm", halves, [&](DType t) { return rms_norm(normal({9, 577}, t, 26, d), normal({577}, t, 27, d)); });
  c.add_for("layer_norm", halves, [&](DType t) {
    return layer_norm(normal({9, 577}, t, 28, d), normal({577}, t, 29, d), normal({577}, t, 30, d));
  });
  c.add_for("sort", {i32, f16, f32}, [&](DType t) { return sort(random_bits({5, 513}, t, 31, d)).indices; });
  c.add("topk f32", [&] { return topk(random_bits({5, 3000}, f32, 32, d), 40).indices; });
  c.add("randn f32", [&] { return randn({30001}, {.seed = 33, .device = d}); });
  c.add("rand f32", [&] { return rand({30001}, {.seed = 34, .device = d}); });
}

void add_first_products(Collector& c) {
  const Device d = c.device();
  const auto floats = {f16, bf16, f32, f64};
  c.add_for("matmul", floats, [&](DType t) { return matmul(normal({19, 1100}, t, 40, d), normal({1100, 45}, t, 41, d)); });
  c.add_for("matmul one row", floats, [&](DType t) { return matmul(normal({1, 2050}, t, 42, d), normal({2050, 37}, t, 43, d)); });
  c.add_for("linear", floats, [&](DType t) {
    return linear(normal({3, 7, 257}, t, 44, d), normal({67, 257}, t, 45, d), normal({67}, t, 46, d));
  });
  for (DType q : {DType::q4_0, DType::q4_1, DType::q5_0, DType::q5_1, DType::q8_0, DType::q4_k, DType::q5_k, DType::q6_k}) {
    c.add("linear " + std::string(to_string(q)), [&] { return linear(normal({11, 768}, f32, 47, d), random_weight(53, 768, q, d)); });
    c.add("dequantise " + std::string(to_string(q)), [&] { return random_weight(5, 512, q, d).to(f32); });
  }
  c.add_for("attention causal", {f16, bf16, f32}, [&](DType t) {
    return attention(normal({2, 6, 21, 64}, t, 48, d), normal({2, 2, 85, 64}, t, 49, d), normal({2, 2, 85, 64}, t, 50, d), {},
                     {.causal = true});
  });
  for (const auto& [name, pairing] : {std::pair{"rope halves", RopePairing::halves}, {"rope interleaved", RopePairing::interleaved}}) {
    c.add(name, [&, p = pairing] {
      return rope(normal({1, 3, 50, 64}, f32, 51, d), arange(4000, 4050, 1, i64, {.device = d}),
                  rope_frequencies(64, 10000.0, {.device = d}), {.pairing = p});
    });
  }
}

}  // namespace

void add_first(Collector& c) {
  add_first_pointwise(c);
  add_first_rows(c);
  add_first_products(c);
}

}  // namespace votive::app
