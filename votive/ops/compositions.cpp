// Pointwise functions made of others: their bits, gradients and speed are those of the parts. Each checks what it is given first, so that an error names
// the function that was called.
#include <bit>
#include <cmath>
#include <limits>

#include "votive/base/text.h"
#include "votive/numerics/convert.h"
#include "votive/ops/apply.h"
#include "votive/ops/as_one.h"
#include "votive/ops/literal.h"
#include "votive/ops/modes.h"
#include "votive/ops/ops.h"
#include "votive/ops/pointwise.h"

namespace votive {

namespace {

double largest(DType dtype) {
  switch (dtype) {
    case DType::f16: return 65504;
    case DType::bf16: return 0x1.fep127;
    case DType::f64: return std::numeric_limits<double>::max();
    default: return std::numeric_limits<float>::max();
  }
}

/// What the bits of a floating dtype are, exactly.
double value_of(std::uint64_t bits, DType dtype) {
  switch (dtype) {
    case DType::f16: return numerics::f16_to_f32(static_cast<std::uint16_t>(bits));
    case DType::bf16: return numerics::bf16_to_f32(static_cast<std::uint16_t>(bits));
    case DType::f64: return std::bit_cast<double>(bits);
    default: return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  }
}

/// The dtype of clamp: that of every bound that is a tensor, joined with x's.
void require_clampable(const Tensor& x, const Tensor& low, const Tensor& high) {
  const Meta a = x.meta(), b = low.meta(), c = high.meta();
  require_number("clamp", {"x", 1, a});
  if (!b.present && !c.present) {
    throw Error(ErrorKind::InvalidArgument, "clamp").arg("low", 2).detail("neither low nor high is given").hint("Give one of them");
  }
  if (b.present) require_common_dtype("clamp", {"x", 1, a}, {"low", 2, b});
  if (c.present) require_common_dtype("clamp", {"x", 1, a}, {"high", 3, c});
}

}  // namespace

Tensor clamp(const Tensor& x, const Tensor& low, const Tensor& high) {
  return as_one("clamp", [&] {
    require_clampable(x, low, high);
    const Tensor above = low.defined() ? maximum(x, low) : x;
    return high.defined() ? minimum(above, high) : above;
  });
}

Tensor clamp(const Tensor& x, std::optional<Literal> low, std::optional<Literal> high) {
  return as_one("clamp", [&] {
    const Meta meta = x.meta();
    require_number("clamp", {"x", 1, meta});
    if (!low && !high) {
      throw Error(ErrorKind::InvalidArgument, "clamp").arg("low", 2).detail("neither low nor high is given").hint("Give one of them");
    }
    const auto is_float = [](const std::optional<Literal>& v) { return v && v->kind() == Literal::Kind::floating; };
    const Tensor as = is_integer(meta.dtype) && (is_float(low) || is_float(high)) ? x.to(DType::f32) : x;
    const auto bits = [&](Literal v) { return literal_bits("clamp", v, as.dtype(), "Cast the tensor, e.g. x.to(i64)"); };
    if (low && high && is_floating(as.dtype()) &&
        !asks_for_gradient(as)) {  // in one pass: hardtanh is min(max(x, low), high), but for its gradient
      const double least = value_of(bits(*low), as.dtype()), most = value_of(bits(*high), as.dtype());
      return apply(UnaryWith{UnaryWithKind::hardtanh, {least, most}}, as);
    }
    const auto bound = [&](Literal v) { return apply(Fill{{.dtype = as.dtype(), .shape = {}, .device = x.device()}, bits(v)}); };
    const Tensor least = low ? bound(*low) : Tensor(), most = high ? bound(*high) : Tensor();
    return clamp(as, least, most);
  });
}

Tensor nan_to_num(const Tensor& x, NanToNumOptions options) {
  const Meta meta = x.meta();
  require_plain("nan_to_num", {"x", 1, meta});
  if (!is_floating(meta.dtype)) return x;
  const double most = largest(meta.dtype);
  return apply(UnaryWith{UnaryWithKind::nan_to_num, {options.nan, options.posinf.value_or(most), options.neginf.value_or(-most)}}, x);
}

namespace {

Tensor close_of(std::string_view op, const Tensor& a, const Tensor& b, CloseOptions options) {
  const Meta p = a.meta(), q = b.meta();
  require_unblocked(op, {"a", 1, p});
  require_unblocked(op, {"b", 2, q});
  require_same_device(op, {"a", 1, p}, {"b", 2, q});
  require_broadcast(op, {"a", 1, p}, {"b", 2, q});
  if (!(options.rtol >= 0 && options.atol >= 0)) {
    throw Error(ErrorKind::InvalidArgument, op).detail(text::format("rtol {} and atol {} must be at least 0", options.rtol, options.atol));
  }
  const Tensor x = a.detach().to(DType::f64), y = b.detach().to(DType::f64);
  const Tensor near = logical_and(isfinite(y), le(abs(x - y), abs(y) * options.rtol + options.atol));
  const Tensor close = logical_or(eq(x, y), near);
  return options.equal_nan ? logical_or(close, logical_and(isnan(x), isnan(y))) : close;
}

}  // namespace

Tensor isclose(const Tensor& a, const Tensor& b, CloseOptions options) {
  return as_one("isclose", [&] { return close_of("isclose", a, b, options); });
}

bool allclose(const Tensor& a, const Tensor& b, CloseOptions options) {
  return as_one("allclose", [&] { return all(close_of("allclose", a, b, options)).item<bool>(); });
}

Tensor round(const Tensor& x, int decimals) {
  const Meta meta = x.meta();
  require_number("round", {"x", 1, meta});
  if (decimals < -300 || decimals > 300) {
    throw Error(ErrorKind::InvalidArgument, "round")
        .arg("decimals", 2)
        .value(text::format("{}", decimals))
        .detail(text::format("decimals is {}", decimals))
        .accepted("-300..300");
  }
  if (decimals == 0 || (is_integer(meta.dtype) && decimals > 0)) return round(x);
  return as_one("round", [&] {
    double power = 1;
    for (int i = 0; i < std::abs(decimals); ++i) power *= 10;
    return decimals > 0 ? round(x * power) / power : round(x / power) * power;
  });
}

Tensor prelu(const Tensor& x, const Tensor& weight) {
  return as_one("prelu", [&] {
    const Meta meta = x.meta(), w = weight.meta();
    require_floating("prelu", {"x", 1, meta});
    require_floating("prelu", {"weight", 2, w});
    require_common_dtype("prelu", {"x", 1, meta}, {"weight", 2, w});
    require_same_device("prelu", {"x", 1, meta}, {"weight", 2, w});
    const Size n = count(w.shape);
    const Size channels = meta.shape.rank() > 1 ? meta.shape[1] : 1;
    if (n != 1 && n != channels) {
      throw error_about(ErrorKind::ShapeMismatch, "prelu", {{"x", 1, meta}, {"weight", 2, w}})
          .detail(text::format("weight has {} elements and x {} has {} channels", n, describe(meta), channels))
          .accepted(text::format("1 or {} elements", channels));
    }
    Shape shape = Shape::filled(meta.shape.rank(), 1);
    if (n != 1) shape[1] = n;
    return where(gt(x, 0), x, reshape(weight, shape) * x);
  });
}

Tensor glu(const Tensor& x, int axis) {
  return as_one("glu", [&] {
    const Meta meta = x.meta();
    require_floating("glu", {"x", 1, meta});
    const int a = normalise_axis("glu", axis, meta.shape.rank());
    const Size n = meta.shape[a];
    if (n % 2 != 0) {
      throw error_about(ErrorKind::ShapeMismatch, "glu", {{"x", 1, meta}})
          .detail(text::format("axis {} of x {} has {} elements, which is odd", a, describe(meta), n));
    }
    return narrow(x, a, 0, n / 2) * sigmoid(narrow(x, a, n / 2, n / 2));
  });
}

Tensor relu_squared(const Tensor& x) {
  return as_one("relu_squared", [&] {
    const Meta meta = x.meta();
    require_number("relu_squared", {"x", 1, meta});
    return square(relu(x));
  });
}

Tensor cast_checked(const Tensor& x, DType dtype) {
  const Meta meta = x.meta();
  require_unblocked("cast_checked", {"x", 1, meta});
  Cast{dtype}.result(meta);
  require_fits("cast_checked", x, dtype);
  return cast(x, dtype);
}

}  // namespace votive
