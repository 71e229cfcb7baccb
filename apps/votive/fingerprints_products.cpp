// Fingerprints of sums of products and of windows: matmul and its relatives, convolutions, pools, interpolation, attention. Inner sizes pass the block of 1024
// once; the other sizes leave a rest in every tile.
#include <cmath>

#include "fingerprint_list.h"

namespace votive::app {

namespace {

constexpr DType every_quantised[] = {DType::q4_0, DType::q4_1, DType::q5_0, DType::q5_1,
                                     DType::q8_0, DType::q4_k, DType::q5_k, DType::q6_k};

Shape image(int axes, Size n, Size channels, Size size) {
  Shape s{n, channels};
  for (int i = 0; i < axes; ++i) s.push_back(size + i);
  return s;
}

template <class Function>
using Named = std::pair<const char*, Function>;

void add_convolutions(Collector& c) {
  const Device d = c.device();
  const Named<decltype(&conv1d)> forward[] = {{"conv1d", conv1d}, {"conv2d", conv2d}, {"conv3d", conv3d}};
  const Named<decltype(&conv_transpose1d)> back[] = {
      {"conv_transpose1d", conv_transpose1d}, {"conv_transpose2d", conv_transpose2d}, {"conv_transpose3d", conv_transpose3d}};
  for (int axes = 1; axes <= 3; ++axes) {
    const Size size = axes == 1 ? 70 : axes == 2 ? 12 : 4;
    c.all(forward[axes - 1].first, [=](DType t) {
      const auto f = forward[axes - 1].second;
      const Tensor x = normal(image(axes, 2, 6, size), t, 301, d), w = normal(image(axes, 9, 6, 3), t, 302, d),
                   bias = normal({9}, t, 303, d);
      return Outputs{f(x, w, bias, {.padding = 1}), f(x, w, {}, {.stride = 2, .padding = 2, .dilation = 2}),
                     f(x, normal(image(axes, 9, 2, 2), t, 304, d), bias, {.padding = "same", .groups = 3}),
                     f(x, normal(image(axes, 6, 1, 3), t, 305, d), {}, {.groups = 6})};
    });
    c.all(back[axes - 1].first, [=](DType t) {
      const auto f = back[axes - 1].second;
      const Tensor x = normal(image(axes, 2, 6, size / 2), t, 306, d), w = normal(image(axes, 6, 5, 3), t, 307, d);
      return Outputs{f(x, w, normal({5}, t, 308, d), {}), f(x, w, {}, {.stride = 2, .padding = 1, .output_padding = 1}),
                     f(x, normal(image(axes, 6, 2, 2), t, 309, d), {}, {.dilation = 2, .groups = 3})};
    });
  }
  c.all("conv2d of every kind of number", [=](DType t) {
    return Outputs{conv2d(random_bits({1, 2, 9, 35}, t, 314, d), normal({17, 2, 1, 3}, t, 315, d), {}, {.padding = {0, 1}}),
                   conv2d(random_bits({1, 4, 9, 35}, t, 316, d), normal({4, 1, 3, 3}, t, 317, d), {}, {.padding = 1, .groups = 4})};
  });
  c.all("conv2d past a block", [=](DType t) {
    return Outputs{conv2d(normal({1, 125, 5, 6}, t, 310, d), normal({17, 125, 3, 3}, t, 311, d))};
  });
  c.all(
      "im2col",
      [=](DType t) {
        return Outputs{im2col(random_bits({2, 3, 7, 8}, t, 312, d), {2, 3}, {.stride = {1, 2}, .padding = 1, .dilation = {2, 1}})};
      },
      NanBits::exact);
  c.all("col2im", [=](DType t) { return Outputs{col2im(numbers({2, 12, 20}, t, 313, d), {6, 6}, {2, 3})}; });
}

void add_pools(Collector& c) {
  const Device d = c.device();
  const Named<decltype(&max_pool1d)> largest[] = {{"max_pool1d", max_pool1d}, {"max_pool2d", max_pool2d}, {"max_pool3d", max_pool3d}};
  const Named<decltype(&max_pool1d_with_indices)> places[] = {{"max_pool1d_with_indices", max_pool1d_with_indices},
                                                              {"max_pool2d_with_indices", max_pool2d_with_indices},
                                                              {"max_pool3d_with_indices", max_pool3d_with_indices}};
  const Named<decltype(&avg_pool1d)> average[] = {{"avg_pool1d", avg_pool1d}, {"avg_pool2d", avg_pool2d}, {"avg_pool3d", avg_pool3d}};
  const Named<decltype(&adaptive_avg_pool1d)> adaptive[][2] = {
      {{"adaptive_avg_pool1d", adaptive_avg_pool1d}, {"adaptive_max_pool1d", adaptive_max_pool1d}},
      {{"adaptive_avg_pool2d", adaptive_avg_pool2d}, {"adaptive_max_pool2d", adaptive_max_pool2d}},
      {{"adaptive_avg_pool3d", adaptive_avg_pool3d}, {"adaptive_max_pool3d", adaptive_max_pool3d}}};
  const Named<decltype(&lp_pool1d)> powers[] = {{"lp_pool1d", lp_pool1d}, {"lp_pool2d", lp_pool2d}, {"lp_pool3d", lp_pool3d}};
  for (int axes = 1; axes <= 3; ++axes) {
    const Shape shape = image(axes, 2, 3, axes == 1 ? 60 : axes == 2 ? 11 : 6);
    const auto x = [=](DType t) { return numbers(shape, t, 321, d); };
    c.all(largest[axes - 1].first, [=](DType t) {
      const auto f = largest[axes - 1].second;
      return Outputs{f(x(t), 3, {.stride = 2, .padding = 1, .ceil = true}),
                     f(random_bits(shape, t, 322, d), 2, {.stride = 3, .dilation = 2})};
    });
    c.all(places[axes - 1].first, [=](DType t) {
      const auto [y, indices] = places[axes - 1].second(small(shape, t, 323, d), 3, {.stride = 1, .padding = 1});
      return Outputs{y, indices};
    });
    c.all(average[axes - 1].first, [=](DType t) {
      const auto f = average[axes - 1].second;
      return Outputs{f(x(t), 3, {.stride = 2, .padding = 1, .ceil = true}), f(x(t), 2, {.padding = 1, .count_padding = false}),
                     f(x(t), 2, {.divisor = 3})};
    });
    for (const auto& [name, function] : adaptive[axes - 1]) c.all(name, [=, f = function](DType t) { return Outputs{f(x(t), 4)}; });
    c.all(powers[axes - 1].first, [=](DType t) {
      const auto f = powers[axes - 1].second;
      return Outputs{f(x(t), 2, 3, {}), f(x(t), 3, 2, {.stride = 1})};
    });
  }
  c.all("max_unpool", [=](DType t) {
    const auto [y, indices] = max_pool2d_with_indices(small({2, 3, 8, 10}, t, 324, d), 2);
    return Outputs{max_unpool(y, indices, {8, 10})};
  });
  c.all("adaptive_max_pool_with_indices", [=](DType t) {
    const auto [y, indices] = adaptive_max_pool_with_indices(small({2, 3, 8, 10}, t, 324, d), {3, 4});
    return Outputs{y, indices};
  });
  c.all("global_avg_pool", [=](DType t) { return Outputs{global_avg_pool(numbers({2, 3, 8, 10}, t, 325, d))}; });
  c.all("global_max_pool", [=](DType t) { return Outputs{global_max_pool(numbers({2, 3, 8, 10}, t, 325, d))}; });
}

void add_resampling(Collector& c) {
  const Device d = c.device();
  const auto x = [d](DType t) { return numbers({2, 3, 7, 9}, t, 331, d); };
  for (const auto& [name, mode] : {std::pair{"nearest", Interpolation::nearest},
                                   {"nearest_exact", Interpolation::nearest_exact},
                                   {"linear", Interpolation::linear},
                                   {"cubic", Interpolation::cubic},
                                   {"area", Interpolation::area}}) {
    c.all(std::string("interpolate ") + name, [=, mode = mode](DType t) { return Outputs{interpolate(x(t), {13, 5}, {.mode = mode})}; });
    if (mode == Interpolation::area) continue;
    c.all(std::string("interpolate_by ") + name, [=, mode = mode](DType t) {
      return Outputs{interpolate_by(x(t), {1.7, 0.6}, {.mode = mode})};
    });
  }
  for (const auto& [name, mode] : {std::pair{"linear", Interpolation::linear}, {"cubic", Interpolation::cubic}}) {
    c.all(std::string("interpolate with corners ") + name, [=, mode = mode](DType t) {
      return Outputs{interpolate(x(t), {13, 5}, {.mode = mode, .align_corners = true})};
    });
    c.all(std::string("interpolate with antialias ") + name, [=, mode = mode](DType t) {
      return Outputs{interpolate(x(t), {4, 5}, {.mode = mode, .antialias = true})};
    });
  }
  for (const auto& [name, padding] :
       {std::pair{"zeros", GridPadding::zeros}, {"border", GridPadding::border}, {"reflection", GridPadding::reflection}}) {
    c.all(std::string("grid_sample ") + name, [=, padding = padding](DType t) {
      const Tensor grid = normal({2, 5, 6, 2}, t, 332, d);
      return Outputs{grid_sample(x(t), grid, {.padding = padding}),
                     grid_sample(x(t), grid, {.mode = Interpolation::cubic, .padding = padding, .align_corners = true}),
                     grid_sample(x(t), grid, {.mode = Interpolation::nearest, .padding = padding})};
    });
  }
  c.all("affine_grid", [=](DType t) { return Outputs{affine_grid(normal({2, 2, 3}, t, 333, d), {2, 1, 4, 5})}; });
  const auto channels = [d](DType t) { return random_bits({2, 12, 4, 6}, t, 334, d); };
  c.all(
      "pixel_shuffle", [=](DType t) { return Outputs{pixel_shuffle(channels(t), 2)}; }, NanBits::exact);
  c.all(
      "pixel_unshuffle", [=](DType t) { return Outputs{pixel_unshuffle(channels(t), 2)}; }, NanBits::exact);
  c.all(
      "channel_shuffle", [=](DType t) { return Outputs{channel_shuffle(channels(t), 3)}; }, NanBits::exact);
}

}  // namespace

void add_products(Collector& c) {
  const Device d = c.device();
  const auto m = [d](const Shape& shape, DType t, std::uint64_t seed) { return numbers(shape, t, seed, d); };
  c.all("matmul", [=](DType t) { return Outputs{matmul(m({19, 130}, t, 341), m({130, 45}, t, 342))}; });
  // Infinities and NaN: sums so short that many of them stay finite, f16's too, whose bits are special once in 32.
  const auto wild = [d](const Shape& shape, DType t, std::uint64_t seed) { return random_bits(shape, t, seed, d); };
  c.all("matmul of every kind of number", [=](DType t) {
    return Outputs{matmul(wild({67, 3}, t, 391), wild({3, 70}, t, 392)), matmul(wild({1, 3}, t, 393), wild({3, 70}, t, 392)),
                   matmul(wild({67, 1}, t, 394), m({1, 70}, t, 395))};
  });
  c.all("matmul of batches", [=](DType t) {
    return Outputs{matmul(m({2, 1, 5, 67}, t, 343), m({3, 67, 9}, t, 344)), matmul(m({67}, t, 345), m({67, 9}, t, 346))};
  });
  for (const DType t : {f16, bf16})
    c.one("matmul to f32 " + std::string(to_string(t)), [&] {
      return Outputs{matmul(m({5, 1100}, t, 347), m({1100, 9}, t, 348), {.out = f32})};
    });
  for (const DType t : {i8, u8})
    c.one("matmul to i64 " + std::string(to_string(t)), [&] {
      return Outputs{matmul(m({5, 1100}, t, 347), m({1100, 9}, t, 348), {.out = i64})};
    });
  c.all("linear", [=](DType t) { return Outputs{linear(m({3, 7, 67}, t, 349), m({17, 67}, t, 350), m({17}, t, 351))}; });
  for (const DType q : every_quantised) {
    c.one("linear of one row " + std::string(to_string(q)), [&] {
      return Outputs{linear(normal({1, 768}, f32, 352, d), random_weight(53, 768, q, d))};
    });
    c.one("linear of halves " + std::string(to_string(q)), [&] {
      return Outputs{linear(normal({5, 512}, bf16, 353, d), random_weight(53, 512, q, d))};
    });
    // `reference` has no packed weights: they are one cpu's way to the same bits
    c.one("prepack " + std::string(to_string(q)), [&] {
      const Tensor w = random_weight(53, 512, q, d);
      return Outputs{linear(normal({5, 512}, f32, 354, d), d == Device::cpu ? prepack(w) : w)};
    });
  }
  for (const DType t : {f16, bf16, f32, f64}) {
    c.one("prepack " + std::string(to_string(t)), [&] {
      const Tensor w = normal({53, 512}, t, 355, d);
      return Outputs{linear(normal({5, 512}, t, 356, d), d == Device::cpu ? prepack(w) : w)};
    });
  }
  c.all("dot", [=](DType t) { return Outputs{dot(m({1031}, t, 357), m({1031}, t, 358))}; });
  c.all("mv", [=](DType t) { return Outputs{mv(m({9, 131}, t, 359), m({131}, t, 360))}; });
  c.all("vecdot", [=](DType t) { return Outputs{vecdot(m({9, 131}, t, 361), m({9, 131}, t, 362))}; });
  c.all("inner", [=](DType t) { return Outputs{inner(m({9, 67}, t, 363), m({5, 67}, t, 364))}; });
  c.all("outer", [=](DType t) { return Outputs{outer(m({31}, t, 365), m({17}, t, 366))}; });
  c.all("kron", [=](DType t) { return Outputs{kron(m({5, 3}, t, 367), m({4, 7}, t, 368))}; });
  c.all("tensordot", [=](DType t) {
    return Outputs{tensordot(m({3, 4, 5}, t, 369), m({4, 5, 6}, t, 370), 2),
                   tensordot(m({3, 4, 5}, t, 369), m({5, 3, 6}, t, 371), {0, 2}, {1, 0})};
  });
  c.all("addmm", [=](DType t) {
    return Outputs{addmm(m({9}, t, 372), m({5, 67}, t, 373), m({67, 9}, t, 374), {.alpha = 0.7f, .beta = 1.3f}),
                   addmm(m({5, 9}, t, 375), m({5, 67}, t, 373), m({67, 9}, t, 374), {.beta = 0})};
  });
  c.all("baddbmm", [=](DType t) {
    return Outputs{baddbmm(m({2, 5, 9}, t, 376), m({2, 5, 67}, t, 377), m({2, 67, 9}, t, 378), {.alpha = 0.7f})};
  });
  c.all("bilinear", [=](DType t) { return Outputs{bilinear(m({5, 7}, t, 379), m({5, 9}, t, 380), m({3, 7, 9}, t, 381), m({3}, t, 382))}; });
  c.all("trace", [=](DType t) { return Outputs{trace(m({67, 71}, t, 383)), trace(m({67, 71}, t, 383), -3)}; });
  c.all("einsum", [=](DType t) {
    return Outputs{einsum("bij,bjk->bik", {m({2, 5, 7}, t, 384), m({2, 7, 3}, t, 385)}), einsum("ii->i", {m({7, 7}, t, 386)}),
                   einsum("i,j,ij->", {m({5}, t, 387), m({7}, t, 388), m({5, 7}, t, 389)})};
  });
}

void add_windows(Collector& c) {
  add_convolutions(c);
  add_pools(c);
  add_resampling(c);
}

void add_attention(Collector& c) {
  const Device d = c.device();
  const auto q = [d](DType t) { return normal({1, 4, 9, 32}, t, 401, d); };
  const auto k = [d](DType t) { return normal({1, 2, 35, 32}, t, 402, d); };
  const auto v = [d](DType t) { return normal({1, 2, 35, 20}, t, 403, d); };
  const Tensor keys = random_bits({1, 1, 9, 35}, boolean, 404, d);
  c.all("attention", [=](DType t) { return Outputs{attention(q(t), k(t), v(t)), attention(q(t), k(t), v(t), {}, {.causal = true})}; });
  c.all("attention masked", [=](DType t) {
    return Outputs{attention(q(t), k(t), v(t), keys),
                   attention(q(t), k(t), v(t), where(keys, 0.5f, full({}, -HUGE_VAL, f32, {.device = d})))};
  });
  c.all("attention near", [=](DType t) {
    return Outputs{attention(q(t), k(t), v(t), {}, {.causal = true, .window = 5}),
                   attention(q(t), k(t), v(t), keys, {.scale = 0.3f, .causal = true, .softcap = 5, .slopes = normal({4}, t, 405, d)})};
  });
  c.all("attention past a block", [=](DType t) {
    return Outputs{attention(normal({1, 1, 3, 8}, t, 406, d), normal({1, 1, 1500, 8}, t, 407, d), normal({1, 1, 1500, 8}, t, 408, d))};
  });
  const auto places = [d] { return arange(4000, 4050, 1, i64, {.device = d}); };
  for (const auto& [name, pairing] : {std::pair{"rope halves", RopePairing::halves}, {"rope interleaved", RopePairing::interleaved}}) {
    c.all(name, [=, p = pairing](DType t) {
      return Outputs{rope(normal({1, 3, 50, 70}, t, 409, d), places(), rope_frequencies(64, 10000.0, {.device = d}), {.pairing = p})};
    });
  }
  const CreateOptions here{.device = d};
  c.one("rope_frequencies", [&] { return Outputs{rope_frequencies(64, 10000.0, here), rope_frequencies(128, 500000.0, here)}; });
  c.one("rope_frequencies_linear", [&] { return Outputs{rope_frequencies_linear(64, 4, 10000.0, here)}; });
  c.one("rope_frequencies_ntk", [&] { return Outputs{rope_frequencies_ntk(64, 4, 10000.0, here)}; });
  c.one("rope_frequencies_dynamic", [&] { return Outputs{rope_frequencies_dynamic(64, {.factor = 4, .length = 5000}, 10000.0, here)}; });
  c.one("rope_frequencies_llama3", [&] { return Outputs{rope_frequencies_llama3(128, {}, 500000.0, here)}; });
  c.one("rope_frequencies_yarn", [&] {
    return Outputs{rope_frequencies_yarn(64, {.factor = 4}, 10000.0, here), full({}, yarn_attention_factor(4), f64, here)};
  });
  c.one("yarn_attention_factor", [&] { return Outputs{full({}, yarn_attention_factor(32), f64, here)}; });
}

}  // namespace votive::app
