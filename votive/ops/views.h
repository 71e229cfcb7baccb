// What the functions of movement share. `op` is the user's call: it stands in errors and in the graph. Arguments have been checked where nothing else is said.
// Not for kernels.
#pragma once

#include "votive/ops/apply.h"
#include "votive/ops/functions/movement.h"
#include "votive/ops/index.h"
#include "votive/ops/movement.h"

namespace votive {

/// x under what `relayout` makes of its layout, recorded as a View. No two elements of the result may be the same element of x.
template <class Relayout>
Tensor view_of(std::string_view op, const Tensor& x, const Relayout& relayout) {
  Tensor y = Tensor::view(x, relayout(x.layout()));
  if (!asks_for_gradient(x)) [[likely]]
    return y;
  return record(View{op, relayout(Layout::contiguous(x.shape()))}, std::move(y), x);
}

/// Throws where x is absent or lies in blocks; else its meta.
Meta elements_meta(std::string_view op, const Tensor& x);
Tensor reshaped_to(std::string_view op, const Tensor& x, const Shape& shape);
Tensor permuted_to(std::string_view op, const Tensor& x, std::span<const int> axes);
Tensor broadcasted_to(std::string_view op, const Tensor& x, const Shape& shape);
Tensor flipped(std::string_view op, const Tensor& x, std::uint32_t axes);
Tensor concatenated(Concat op, DType dtype, std::span<const Tensor> x);
/// What a slice makes of a layout.
Layout sliced_by(std::string_view op, const Meta& x, const SliceOptions& options, const Layout& layout);
/// The layout of the diagonal of axes a and b, as last axis after the others.
Layout diagonal_of(Layout layout, int a, int b, Size offset);
/// What select makes of a layout.
Layout selected_from(std::string_view op, const Meta& x, int axis, Size index, const Layout& layout);
/// x with `source`, broadcast and cast, at the elements of `at`, a layout inside row-major x.
Tensor overlaid(std::string_view op, const Tensor& x, const Tensor& source, const Layout& at);
/// Elements start … start + n − 1 of axis `at` in [0, rank); the caller has checked them. `op` is the user's call.
Tensor narrowed(std::string_view op, const Tensor& x, int at, Size start, Size n);

}  // namespace votive
