// Operations that move elements: views, which only lay them out anew, and the few that copy. The records of views stand here too: a view has no kernel,
// but it has a gradient. Not here: index_select and its kin (index.h), concat's kernel.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "votive/ops/check.h"
#include "votive/ops/gradient.h"

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

/// x with `source` over the elements at `at`, a layout inside row-major x that names no place twice; source has x's dtype and at's shape.
struct Overlay {
  std::string_view called = "slice_scatter";
  Layout at = {};

  static constexpr OpInfo info{"overlay", Class::exact};
  using Kernel = void(const Overlay&, const Tensor& x, const Tensor& source, Tensor& y, Stream&);
  std::string_view name() const { return called; }
  Meta result(const Meta& x, const Meta&) const { return {.dtype = x.dtype, .shape = x.shape, .device = x.device}; }
  Saves saves() const { return {0, false}; }
  Tensors gradient(const Backward& b) const;
};

/// The last two axes with zeros on one side of a diagonal. Columns up to row + offset stay (lower), or those from it on.
struct Triangle {
  bool lower;
  Size offset;  // in [−rows, columns]

  static constexpr OpInfo info{"triangle", Class::exact};
  using Kernel = void(const Triangle&, const Tensor& x, Tensor& y, Stream&);
  std::string_view name() const { return lower ? "tril" : "triu"; }
  Meta result(const Meta& x) const;
  Saves saves() const { return {0, false}; }
  Tensors gradient(const Backward& b) const;
};

/// The same bits as another dtype of the same size.
struct Bitcast {
  DType dtype;

  static constexpr OpInfo info{"bitcast", Class::exact};
  using Kernel = void(const Bitcast&, const Tensor& x, Tensor& y, Stream&);
  Meta result(const Meta& x) const;
};

/// Windows along an axis, their elements along a new last one.
struct Unfold {
  int axis;
  Size size, step;

  static constexpr OpInfo info{"unfold", Class::exact};
  Saves saves() const { return {0, false}; }
  Tensors gradient(const Backward& b) const;
};

}  // namespace votive
