// Attention and rotary positions: masks of both kinds, grouped heads, windows, slopes and soft caps; keys around the block of 1024.
#include "tests/contract/operations.h"
#include "votive/ops/ops.h"

namespace votive::contract {

namespace {

using Outputs = std::vector<Tensor>;

std::vector<Case> attentions(Rng& rng, DType d) {
  std::vector<Case> all;
  enum class Mask { none, boolean, additive };
  struct Extras {
    float softcap = 0;
    Size window = 0;
    bool slopes = false;
  };
  const auto add = [&](Size B, Size H, Size K, Size T, Size S, Size D, Size E, Mask mask, bool causal, Values values, bool layouts,
                       Extras extras = {}) {
    const Shape mask_shape = rng.one_in(2) ? Shape{B, H, T, S} : rng.one_in(2) ? Shape{T, S} : Shape{B, 1, 1, S};
    const auto call = [causal, extras](std::span<const Tensor> in, Device) {
      return Outputs{
          attention(in[0], in[1], in[2], in[3], {.causal = causal, .softcap = extras.softcap, .window = extras.window, .slopes = in[4]})};
    };
    const bool is_bool = mask == Mask::boolean;
    all.push_back({{{.dtype = d, .shape = {B, H, T, D}, .values = values},
                    {.dtype = d, .shape = {B, K, S, D}, .values = values},
                    {.dtype = d, .shape = {B, K, S, E}, .values = values},
                    {.dtype = is_bool         ? DType::boolean
                              : rng.one_in(2) ? DType::f32
                                              : d,
                     .shape = mask_shape,
                     .values = is_bool                 ? Values::truth
                               : values == Values::any ? Values::any
                                                       : Values::moderate,
                     .present = mask != Mask::none},
                    {.dtype = d, .shape = {H}, .values = Values::moderate, .present = extras.slopes}},
                   call,
                   std::string(is_bool                  ? "bool mask"
                               : mask == Mask::additive ? "additive mask"
                                                        : "") +
                       (causal ? " causal" : "") + (extras.window > 0 ? " window" : "") + (extras.softcap > 0 ? " softcap" : ""),
                   layouts});
  };
  for (const Values values : {Values::moderate, Values::any}) {
    for (const Mask mask : {Mask::none, Mask::boolean, Mask::additive}) {
      for (const bool causal : {false, true}) {
        const Size K = rng.between(1, 3), H = K * rng.between(1, 3);
        add(rng.between(1, 2), H, K, rng.between(1, 9), rng.between(1, 40), rng.between(1, 20), rng.between(1, 20), mask, causal, values,
            true);
        add(1, H, K, 1, rng.between(1, 70), 64, 64, mask, causal, values, false);
        add(1, 1, 1, 33, 33, 32, 32, mask, causal, values, false);
        add(1, 2, 1, 5, 3, 8, 8, mask, causal, values, true);  // more queries than keys: the first see none
      }
    }
  }
  for (const Mask mask : {Mask::none, Mask::boolean, Mask::additive}) {
    add(1, 3, 1, 2, 1025, 16, 5, mask, false, Values::moderate, false);
    add(1, 1, 1, 3, 2100, 8, 8, mask, true, Values::moderate, false);
  }
  for (const Mask mask : {Mask::none, Mask::boolean, Mask::additive}) {
    for (const bool causal : {false, true}) {
      add(1, 4, 2, 7, 11, 8, 8, mask, causal, Values::any, true, {.softcap = 5, .window = 3, .slopes = true});
      add(2, 2, 1, rng.between(1, 30), rng.between(1, 70), 16, 9, mask, causal, Values::moderate, false, {.window = rng.between(1, 20)});
      add(1, 2, 1, rng.between(1, 30), rng.between(1, 70), 16, 9, mask, causal, Values::moderate, false, {.softcap = 2, .slopes = true});
      add(1, 1, 1, 40, 1500, 8, 8, mask, causal, Values::moderate, false, {.window = 100});
    }
  }
  add(1, 2, 1, 3, 0, 8, 8, Mask::none, false, Values::moderate, false);
  add(1, 2, 1, 0, 4, 8, 8, Mask::none, false, Values::moderate, false);
  add(1, 2, 1, 3, 4, 0, 8, Mask::none, false, Values::moderate, false);
  return all;
}

}  // namespace

void add_attention(std::vector<Operation>& all) { all.push_back({"attention", every_floating, attentions}); }

}  // namespace votive::contract
