// Changing what a tensor is or where it is: casts, moves between devices, row-major copies.
#include "votive/base/text.h"
#include "votive/ops/apply.h"
#include "votive/ops/modes.h"
#include "votive/ops/ops.h"
#include "votive/ops/pointwise.h"

namespace votive {

Tensors Cast::gradient(const Backward& b) const { return {b.dy().to(b.meta().dtype)}; }

Meta Cast::result(const Meta& x) const {
  const Argument argument{"x", 1, x};
  require_present(name(), argument);
  if (is_quantised(dtype) && x.dtype != dtype) {
    throw error_about(ErrorKind::Unsupported, name(), {argument})
        .detail(text::format("{} to {}", describe(argument), to_string(dtype)))
        .accepted("dtypes of single elements");
  }
  if (x.device == Device::reference) require_unpacked(name(), argument);
  return {.dtype = dtype, .shape = x.shape, .device = x.device};
}

Tensor cast(const Tensor& x, DType dtype, CastOptions options) {
  const Cast op{dtype, options.saturate};
  require_present("cast", {"x", 1, x.meta()});
  op.result(x.meta());
  if (x.dtype() == dtype && (x.packing() == Packing::none || is_quantised(dtype))) return x;  // a packed weight of floats is unpacked
  if (is_checked() && is_integer(x.dtype()) && is_integer(dtype)) [[unlikely]]
    require_fits("to", x, dtype);
  return apply(op, x);
}

Tensor Tensor::to(DType to_dtype) const {
  if (body_ != nullptr && is_floating(to_dtype) && dtype() == to_dtype && packing() == Packing::none) return *this;
  require_present("to", {"x", 1, meta()});
  return cast(*this, to_dtype);
}

Tensor contiguous(const Tensor& x) {
  require_present("contiguous", {"x", 1, x.meta()});
  if (x.is_contiguous()) return x;
  if (is_quantised(x.dtype()) || x.packing() != Packing::none) {
    throw error_about(ErrorKind::Unsupported, "contiguous", {{"x", 1, x.meta()}})
        .detail(text::format("x {} is a view whose blocks do not follow each other", describe(x.meta())))
        .hint("Dequantise it, e.g. x.to(f32)");
  }
  return apply(Copy{}, x);
}

namespace {

/// What the copy to another device is to the graph: its gradient travels back.
struct Transfer {
  static constexpr OpInfo info{"to", Class::exact};
  Saves saves() const { return {0, false}; }
  Tensors gradient(const Backward& b) const { return {b.dy().to(b.meta().device)}; }
};

}  // namespace

// Every device of today computes in host memory, so the device a tensor comes from can write the copy itself.
Tensor Tensor::to(Device to_device) const {
  const Meta from = meta();
  require_present("to", {"x", 1, from});
  if (from.device == to_device) return *this;
  if (from.packing != Packing::none) {
    throw error_about(ErrorKind::Unsupported, "to", {{"x", 1, from}})
        .detail(text::format("x {}: a packed weight is made for its own device", describe(from)))
        .hint("Move the weight that was packed");
  }
  const Tensor source = is_quantised(from.dtype) ? votive::contiguous(*this) : *this;
  Meta meta = from;
  meta.device = to_device;
  Tensor y = Tensor::allocate("to", meta);
  if (y.count() != 0) {
    const FloatEnvironment environment;
    Stream stream(from.device);
    find_kernel<Copy>("to", from.device)(Copy{}, source, y, stream);
  }
  return votive::record(Transfer{}, std::move(y), *this);
}

}  // namespace votive
