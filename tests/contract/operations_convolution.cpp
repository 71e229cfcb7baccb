// Convolutions and their transposes in one to three dimensions, im2col and col2im: every attribute alone and together, sizes around the tiles of the
// product, one channel per group, inner sizes past one block of 1024.
#include "tests/contract/operations.h"
#include "votive/ops/ops.h"

namespace votive::contract {

namespace {

using Outputs = std::vector<Tensor>;
using Conv = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, const ConvOptions&);
using ConvTranspose = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, const ConvTransposeOptions&);

struct Adder {
  std::vector<Case>& all;
  DType d;

  template <class Call>
  void operator()(Call call, const Shape& x, const Shape& w, Size rows, Values values, bool bias, const std::string& note,
                  bool layouts) const {
    all.push_back({{{.dtype = d, .shape = x, .values = values},
                    {.dtype = d, .shape = w, .values = values},
                    {.dtype = d, .shape = {rows}, .values = Values::moderate, .present = bias}},
                   call,
                   note,
                   layouts});
  }
};

std::vector<Case> convolutions(Rng& rng, DType d, int axes) {
  std::vector<Case> all;
  const Adder add{all, d};
  const Conv function = axes == 1 ? conv1d : axes == 2 ? conv2d : conv3d;
  const auto calls = [function](const ConvOptions& options) {
    return [=](std::span<const Tensor> in, Device) { return Outputs{function(in[0], in[1], in[2], options)}; };
  };
  const auto shape = [&](Size a, Size b, Size low, Size high) {
    Shape s{a, b};
    for (int i = 0; i < axes; ++i) s.push_back(rng.between(low, high));
    return s;
  };
  const std::vector<std::pair<std::string, ConvOptions>> options{
      {"plain", {}},
      {"stride", {.stride = 2}},
      {"padding", {.padding = 2}},
      {"dilation", {.padding = 2, .dilation = 2}},
      {"same", {.padding = "same"}},
      {"same, stride and dilation", {.stride = 3, .padding = "same", .dilation = 2}},
      {"all", {.stride = 2, .padding = 3, .dilation = 2}},
  };
  for (const auto& [note, o] : options) {
    for (const Values values : {Values::moderate, Values::any, Values::wide}) {
      const Size n = rng.between(1, 3), c = rng.between(1, 5), m = rng.between(1, axes == 3 ? 5 : 20);
      add(calls(o),
          shape(n, c, 4,
                axes == 1   ? 40
                : axes == 2 ? 9
                            : 6),
          shape(m, c, 1, 3), m, values, rng.one_in(2), note, values != Values::wide);
    }
    ConvOptions grouped = o;
    grouped.groups = 3;
    add(calls(grouped), shape(2, 6, 5, 8), shape(9, 2, 1, 3), 9, Values::moderate, true, note + ", groups", true);
    grouped.groups = 4;
    add(calls(grouped), shape(2, 4, 5, axes == 1 ? 70 : 11), shape(4, 1, 2, 3), 4, Values::any, true, note + ", one channel each", true);
    add(calls(grouped), shape(1, 4, 5, axes == 1 ? 70 : 11), shape(8, 1, 2, 3), 8, Values::moderate, false, note + ", two rows each",
        false);
  }
  add(calls({}), shape(2, 70, 3, 6), shape(33, 70, 1, 1), 33, Values::wide, true, "one tap", true);
  const Size many = axes == 1 ? 380 : axes == 2 ? 125 : 42;  // times the taps: past a block of 1024
  add(calls({.padding = 1}), shape(1, many, 3, 3), shape(17, many, 3, 3), 17, Values::wide, true, "long", false);
  add(calls({}), shape(0, 2, 3, 4), shape(5, 2, 2, 2), 5, Values::moderate, false, "no images", false);
  add(calls({}), shape(2, 0, 3, 4), shape(5, 0, 2, 2), 5, Values::moderate, true, "no channels", false);
  add(calls({.padding = 2}), shape(1, 2, 0, 0), shape(5, 2, 2, 2), 5, Values::moderate, false, "nothing but padding", false);
  add(calls({}), shape(1, 2, 3, 3), shape(5, 2, 4, 4), 5, Values::moderate, false, "too large a kernel", false);
  add(calls({}), shape(1, 3, 3, 3), shape(5, 2, 2, 2), 5, Values::moderate, false, "channels that do not fit", false);
  const Size long_axis = axes == 1 ? 1100 : axes == 2 ? 35 : 12;
  add(calls({.padding = 1, .groups = 3}), shape(2, 3, long_axis, long_axis), shape(3, 1, long_axis, long_axis), 3, Values::wide, true,
      "many taps", false);
  add(calls({.stride = 2, .padding = 2, .dilation = 2, .groups = 2}), shape(1, 10, 17, 18), shape(2, 5, 9, 9), 2, Values::wide, true,
      "many taps of several channels", false);
  if (axes == 2) {
    add(calls({.stride = {2, 1}, .padding = {{1, 0}, {2, 3}}, .dilation = {1, 2}}), {2, 3, 7, 9}, {5, 3, 2, 3}, 5, Values::moderate, true,
        "each axis its own", true);
    add(calls({.padding = 1}), {1, 16, 20, 33}, {24, 16, 3, 3}, 24, Values::moderate, true, "tiles", true);
    add(calls({.padding = 1}), {3, 9, 14, 14}, {120, 9, 3, 3}, 120, Values::wide, false, "many rows", false);
    add(calls({.padding = 1}), {3, 7, 5, 9}, {2, 3, 3}, 7, Values::moderate, false, "a weight of three axes", false);
    add(calls({.padding = 1}), {2, 9, 8}, {4, 2, 3, 3}, 4, Values::moderate, false, "without images", true);
  }
  return all;
}

std::vector<Case> transposed(Rng& rng, DType d, int axes) {
  std::vector<Case> all;
  const Adder add{all, d};
  const ConvTranspose function = axes == 1 ? conv_transpose1d : axes == 2 ? conv_transpose2d : conv_transpose3d;
  const auto calls = [function](const ConvTransposeOptions& options) {
    return [=](std::span<const Tensor> in, Device) { return Outputs{function(in[0], in[1], in[2], options)}; };
  };
  const auto shape = [&](Size a, Size b, Size low, Size high) {
    Shape s{a, b};
    for (int i = 0; i < axes; ++i) s.push_back(rng.between(low, high));
    return s;
  };
  const std::vector<std::pair<std::string, ConvTransposeOptions>> options{
      {"plain", {}},
      {"stride", {.stride = 2}},
      {"padding", {.padding = 1}},
      {"stride past the kernel", {.stride = 4, .output_padding = 2}},
      {"dilation", {.dilation = 2}},
      {"stride and dilation", {.stride = 4, .padding = 1, .output_padding = 3, .dilation = 6}},
      {"all", {.stride = 3, .padding = 2, .output_padding = 1, .dilation = 2}},
  };
  for (const auto& [note, o] : options) {
    for (const Values values : {Values::moderate, Values::any, Values::wide}) {
      const Size n = rng.between(1, 3), c = rng.between(1, 5), m = rng.between(1, axes == 3 ? 5 : 20);
      add(calls(o),
          shape(n, c, 3,
                axes == 1   ? 30
                : axes == 2 ? 5
                            : 4),
          shape(c, m, 2, 3), m, values, rng.one_in(2), note, values != Values::wide);
    }
    ConvTransposeOptions grouped = o;
    grouped.groups = 3;
    add(calls(grouped), shape(2, 6, 3, 5), shape(6, 2, 2, 3), 6, Values::moderate, true, note + ", groups", true);
    add(calls(grouped), shape(2, 3, 3, 5), shape(3, 1, 2, 3), 3, Values::any, true, note + ", one channel each", true);
  }
  const Size many = axes == 1 ? 530 : axes == 2 ? 270 : 140;  // times the taps of a residue: past a block of 1024
  add(calls({.stride = 2}), shape(1, many, 2, 2), shape(many, 5, 4, 4), 5, Values::wide, true, "long", false);
  add(calls({}), shape(0, 2, 3, 4), shape(2, 5, 2, 2), 5, Values::moderate, false, "no images", false);
  add(calls({}), shape(2, 0, 3, 4), shape(0, 5, 2, 2), 5, Values::moderate, true, "no channels", false);
  add(calls({.padding = 4}), shape(1, 2, 2, 2), shape(2, 5, 2, 2), 5, Values::moderate, false, "all cut away", false);
  add(calls({.output_padding = 1}), shape(1, 2, 2, 2), shape(2, 5, 2, 2), 5, Values::moderate, false, "too much output padding", false);
  return all;
}

std::vector<Case> unfolded(Rng& rng, DType d) {
  std::vector<Case> all;
  const auto add = [&](const Shape& x, const PerAxis& kernel, const UnfoldOptions& options, bool layouts) {
    all.push_back({{{.dtype = d, .shape = x}},
                   [=](std::span<const Tensor> in, Device) { return Outputs{im2col(in[0], kernel, options)}; },
                   "",
                   layouts});
  };
  add({2, 3, rng.between(5, 40)}, 3, {}, true);
  add({2, 3, 7, 8}, {2, 3}, {.stride = {1, 2}, .padding = {{1, 0}, {2, 1}}, .dilation = {2, 1}}, true);
  add({1, 2, 4, 5, 6}, {2, 1, 3}, {.padding = 1}, true);
  add({1, 2, 30, 31}, 3, {.padding = "same"}, false);
  add({0, 2, 4}, 2, {}, false);
  add({1, 2, 4}, 5, {}, false);
  return all;
}

std::vector<Case> folded(Rng& rng, DType d) {
  std::vector<Case> all;
  const auto add = [&](const Shape& x, const Shape& size, const PerAxis& kernel, const UnfoldOptions& options, bool layouts) {
    for (const Values values : {Values::moderate, Values::any}) {
      all.push_back({{{.dtype = d, .shape = x, .values = values}},
                     [=](std::span<const Tensor> in, Device) { return Outputs{col2im(in[0], size, kernel, options)}; },
                     "",
                     layouts});
    }
  };
  const Size n = rng.between(5, 20);
  add({2, 9, n - 2}, {n}, 3, {}, true);
  add({2, 12, 24}, {7, 5}, {2, 3}, {.stride = {1, 1}, .padding = {{1, 0}, {1, 0}}, .dilation = {1, 1}}, false);
  add({2, 12, 6}, {6, 6}, {2, 3}, {.stride = {2, 2}}, true);
  add({1, 8, 8}, {4, 3, 2}, 2, {.padding = {{0, 0}, {0, 0}, {0, 1}}, .dilation = {2, 1, 1}}, true);
  add({0, 4, 3}, {4}, 2, {}, false);
  add({1, 5, 3}, {4}, 2, {}, false);
  return all;
}

}  // namespace

void add_convolutions(std::vector<Operation>& all) {
  for (int axes = 1; axes <= 3; ++axes) {
    const std::string number = std::to_string(axes) + "d";
    all.push_back({"conv" + number, every_floating, [axes](Rng& rng, DType d) { return convolutions(rng, d, axes); }});
    all.push_back({"conv_transpose" + number, every_floating, [axes](Rng& rng, DType d) { return transposed(rng, d, axes); }});
  }
  all.push_back({"im2col", every_plain, unfolded, true});
  all.push_back({"col2im", every_floating, folded});
}

}  // namespace votive::contract
