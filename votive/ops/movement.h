// Operations that move elements: views, which only lay them out anew, and the few that copy. The records of views stand here too: a view has no kernel,
// but it has a gradient. Not here: index_select and its kin (index.h), concat's kernel.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "votive/ops/apply.h"
#include "votive/ops/check.h"

namespace votive {

/// The same elements in row-major order under another shape: reshape, flatten, squeeze, unsqueeze and what is made of them.
struct Reshape {
  std::string_view called = "reshape";

  static constexpr OpInfo info{"reshape", Class::exact};
  std::string_view name() const { return called; }
  Saves saves() const { return {0, false}; }
  Tensors gradient(const Backward& b) const;
};

/// y's axis i is x's axis axes[i].
struct Permute {
  std::string_view called = "permute";
  std::array<std::int8_t, max_rank> axes = {};

  static constexpr OpInfo info{"permute", Class::exact};
  std::string_view name() const { return called; }
  Saves saves() const { return {0, false}; }
  Tensors gradient(const Backward& b) const;
};

/// The axes whose bit is set, from their end.
struct Flip {
  std::string_view called = "flip";
  std::uint32_t axes = 0;

  static constexpr OpInfo info{"flip", Class::exact};
  std::string_view name() const { return called; }
  Saves saves() const { return {0, false}; }
  Tensors gradient(const Backward& b) const;
};

/// Axes of size 1 repeated, and new ones in front.
struct Broadcast {
  std::string_view called = "broadcast_to";

  static constexpr OpInfo info{"broadcast_to", Class::exact};
  std::string_view name() const { return called; }
  Saves saves() const { return {0, false}; }
  Tensors gradient(const Backward& b) const;
};

/// Some elements of x, each once: those at `at`, a layout inside x as it would lie row-major. Slices, select, diagonals.
struct View {
  std::string_view called = "slice";
  Layout at = {};

  static constexpr OpInfo info{"view", Class::exact};
  std::string_view name() const { return called; }
  Saves saves() const { return {0, false}; }
  Tensors gradient(const Backward& b) const;
};

/// What View undoes: y of `shape` with x's elements at `at`, a layout inside row-major y that names no place twice, and `bits` (of one element, low bytes
/// first) everywhere else.
struct Place {
  std::string_view called = "place";
  Shape shape = {};
  Layout at = {};
  std::uint64_t bits = 0;

  static constexpr OpInfo info{"place", Class::exact};
  using Kernel = void(const Place&, const Tensor& x, Tensor& y, Stream&);
  std::string_view name() const { return called; }
  Meta result(const Meta& x) const { return {.dtype = x.dtype, .shape = shape, .device = x.device}; }
  Saves saves() const { return {0, false}; }
  Tensors gradient(const Backward& b) const;
};

/// x under what `relayout` makes of its layout, recorded as a View. No two elements of the result may be the same element of x.
template <class Relayout>
Tensor view_of(std::string_view op, const Tensor& x, const Relayout& relayout) {
  Tensor y = Tensor::view(x, relayout(x.layout()));
  if (!asks_for_gradient(x)) [[likely]]
    return y;
  return record(View{op, relayout(Layout::contiguous(x.shape()))}, std::move(y), x);
}

/// Elements start … start + n − 1 of axis `at` in [0, rank); the caller has checked them. `op` is the user's call.
Tensor narrowed(std::string_view op, const Tensor& x, int at, Size start, Size n);

}  // namespace votive
