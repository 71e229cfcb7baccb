// Interpolation by every mode and option, sampling at points inside and outside, shuffles.
#include "tests/contract/operations.h"
#include "votive/ops/ops.h"

namespace votive::contract {

namespace {

using Outputs = std::vector<Tensor>;

Shape shape_of(Rng& rng, int axes) {
  Shape s{rng.between(1, 2), rng.between(1, 3)};
  for (int i = 0; i < axes; ++i) s.push_back(rng.between(1, 11));
  return s;
}

std::vector<Case> interpolations(Rng& rng, DType d) {
  std::vector<Case> all;
  const auto add = [&](int axes, InterpolateOptions options, Values values, const std::string& note) {
    Shape size;
    std::vector<double> scale;
    for (int a = 0; a < axes; ++a) {
      size.push_back(rng.between(1, 25));
      scale.push_back(0.3 + 0.1 * static_cast<double>(rng.between(1, 25)));
    }
    const bool scales = rng.one_in(3) && options.mode != Interpolation::area;
    all.push_back({{{.dtype = d, .shape = shape_of(rng, axes), .values = values}},
                   [=](std::span<const Tensor> in, Device) {
                     return Outputs{scales ? interpolate_by(in[0], scale, options) : interpolate(in[0], size, options)};
                   },
                   note,
                   true});
  };
  for (const Values values : {Values::moderate, Values::any}) {
    for (int axes = 1; axes <= 3; ++axes) {
      add(axes, {}, values, "nearest");
      add(axes, {.mode = Interpolation::nearest_exact}, values, "nearest_exact");
      add(axes, {.mode = Interpolation::linear}, values, "linear");
      add(axes, {.mode = Interpolation::linear, .align_corners = true}, values, "linear, corners");
      add(axes, {.mode = Interpolation::linear, .antialias = true}, values, "linear, antialias");
      add(axes, {.mode = Interpolation::cubic}, values, "cubic");
      add(axes, {.mode = Interpolation::cubic, .align_corners = true, .antialias = true}, values, "cubic, corners, antialias");
      add(axes, {.mode = Interpolation::area}, values, "area");
    }
  }
  return all;
}

std::vector<Case> samplings(Rng& rng, DType d) {
  std::vector<Case> all;
  for (const Interpolation mode : {Interpolation::nearest, Interpolation::linear, Interpolation::cubic}) {
    for (const GridPadding padding : {GridPadding::zeros, GridPadding::border, GridPadding::reflection}) {
      for (const bool corners : {false, true}) {
        for (int axes = 2; axes <= (mode == Interpolation::cubic ? 2 : 3); ++axes) {
          Shape x = shape_of(rng, axes), grid{x[0]};
          for (int i = 0; i < axes; ++i) grid.push_back(rng.between(1, 6));
          grid.push_back(axes);
          const GridSampleOptions options{.mode = mode, .padding = padding, .align_corners = corners};
          all.push_back({{{.dtype = d, .shape = x, .values = Values::moderate}, {.dtype = d, .shape = grid, .values = Values::moderate}},
                         [=](std::span<const Tensor> in, Device) { return Outputs{grid_sample(in[0], in[1] * 0.4, options)}; },
                         "",
                         axes == 2});
        }
      }
    }
  }
  all.push_back({{{.dtype = d, .shape = {2, 2, 3}, .values = Values::moderate}},
                 [](std::span<const Tensor> in, Device) {
                   return Outputs{affine_grid(in[0], {2, 1, 4, 5}), affine_grid(in[0], {2, 1, 4, 1}, {.align_corners = true})};
                 },
                 "affine grid",
                 true});
  return all;
}

std::vector<Case> shuffles(Rng&, DType d) {
  return {{{{.dtype = d, .shape = {2, 12, 4, 6}}},
           [](std::span<const Tensor> in, Device) {
             return Outputs{pixel_shuffle(in[0], 2), pixel_unshuffle(in[0], 2), channel_shuffle(in[0], 3)};
           },
           "",
           true}};
}

}  // namespace

void add_resampling(std::vector<Operation>& all) {
  all.push_back({"interpolate", every_floating, interpolations});
  all.push_back({"grid_sample", every_floating, samplings});
  all.push_back({"shuffles", every_plain, shuffles, true});
}

}  // namespace votive::contract
