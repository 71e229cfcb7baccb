// What the modes look for, written with Votive's operations, so that it is the same on every device.
#include "votive/ops/modes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "votive/base/text.h"
#include "votive/ops/apply.h"
#include "votive/ops/ops.h"
#include "votive/ops/pointwise.h"

namespace votive {

namespace detail {
constinit thread_local bool checks_integers VOTIVE_INITIAL_EXEC = false;
constinit thread_local bool traps_non_finite VOTIVE_INITIAL_EXEC = false;
}  // namespace detail

namespace {

/// The first true element, row-major.
struct Place {
  Size flat;
  std::vector<Size> position;
  std::string text() const { return to_string(Shape(std::span<const Size>(position))); }
};

Place first_true(const Tensor& bad) {
  Place place;
  place.flat = argmax(flatten(bad).to(DType::u8)).item<std::int64_t>();
  place.position.resize(static_cast<std::size_t>(bad.rank()));
  Size rest = place.flat;
  for (int axis = bad.rank() - 1; axis >= 0; --axis) {
    place.position[static_cast<std::size_t>(axis)] = rest % bad.shape()[axis];
    rest /= bad.shape()[axis];
  }
  return place;
}

std::string element(const Tensor& x, const Shape& shape, Size flat) {
  const Tensor one = select(flatten(broadcast_to(x, shape)), 0, flat);
  if (is_unsigned_integer(x.dtype())) return text::format("{}", one.to(DType::u64).item<std::uint64_t>());
  if (is_integer(x.dtype())) return text::format("{}", one.to(DType::i64).item<std::int64_t>());
  return text::format("{}", one.to(DType::f64).item<double>());
}

/// MIN and MAX + 1 of an integer dtype, both exact.
std::pair<double, double> range_of(DType dtype) {
  const int width = static_cast<int>(8 * block_bytes(dtype));
  const bool is_signed = is_signed_integer(dtype);
  return {is_signed ? -std::ldexp(1.0, width - 1) : 0.0, std::ldexp(1.0, is_signed ? width - 1 : width)};
}

Tensor outside(const Tensor& x, DType dtype) {
  const auto [low, high] = range_of(dtype);
  return logical_or(lt(x, low), ge(x, high));
}

}  // namespace

void detail::trap_non_finite(std::string_view op, const Tensor& y) {
  constexpr std::array movers{"full", "copy", "copy_into", "where", "concat", "stack", "index_select", "gather", "embedding", "pad"};
  if (!is_floating(y.dtype()) || std::find(movers.begin(), movers.end(), op) != movers.end()) return;
  const Unchecked off;
  const Tensor values = y.detach();
  if (all(isfinite(values)).item<bool>()) return;
  const Place place = first_true(logical_not(isfinite(values)));
  const std::string value = element(values, y.shape(), place.flat);
  throw error_about(ErrorKind::NonFinite, op, {})
      .value(value)
      .position(place.position)
      .detail(text::format("the result {} has {} at position {}", describe(y.meta()), value, place.text()));
}

void require_no_overflow(std::string_view op, const Tensor& lost, std::initializer_list<const Tensor*> operands, const Tensor& y) {
  const Unchecked off;
  if (!any(lost).item<bool>()) return;
  const Place place = first_true(broadcast_to(lost, y.shape()));
  std::string numbers;
  for (const Tensor* x : operands) numbers += (numbers.empty() ? "" : " and ") + element(*x, y.shape(), place.flat);
  const Tensor& a = **operands.begin();
  const Meta p = a.meta(), q = (*std::prev(operands.end()))->meta();
  const bool one = operands.size() == 1;
  throw(one ? error_about(ErrorKind::IntegerOverflow, op, {{"x", 1, p}})
            : error_about(ErrorKind::IntegerOverflow, op, {{"a", 1, p}, {"b", 2, q}}))
      .position(place.position)
      .detail(text::format("the result of {} at position {} is not in {}", numbers, place.text(), to_string(y.dtype())))
      .hint(one ? "Cast the operand, e.g. x.to(i64)" : "Cast the operands, e.g. a.to(i64)");
}

void require_fits(std::string_view op, const Tensor& x, DType dtype) {
  const Unchecked off;
  const DType from = x.dtype();
  const Tensor values = x.detach();
  const auto refuse_where = [&](const Tensor& bad, ErrorKind kind) {
    if (!any(bad).item<bool>()) return;
    const Place place = first_true(bad);
    const std::string value = element(values, x.shape(), place.flat);
    const Meta meta = x.meta();
    throw error_about(kind, op, {{"x", 1, meta}})
        .value(value)
        .position(place.position)
        .detail(text::format("argument 'x' (#1, {}) has {} at position {}, which is not in {}", describe(meta), value, place.text(),
                             to_string(dtype)));
  };
  if (from == dtype || from == DType::boolean) return;
  if (dtype == DType::boolean) return refuse_where(logical_and(ne(values, 0), ne(values, 1)), ErrorKind::Domain);
  if (is_integer(dtype)) {
    if (is_integer(from)) return refuse_where(outside(values, dtype), ErrorKind::IntegerOverflow);
    refuse_where(isnan(values), ErrorKind::Domain);
    return refuse_where(outside(trunc(values.to(DType::f64)), dtype), ErrorKind::IntegerOverflow);
  }
  const ErrorKind kind = is_integer(from) ? ErrorKind::IntegerOverflow : ErrorKind::Domain;
  const Tensor beyond = logical_not(isfinite(cast(values, dtype, {.saturate = false})));
  // an f8 saturates infinities, other floats keep them
  refuse_where(logical_and(beyond, is_float8(dtype) ? logical_not(isnan(values)) : isfinite(values)), kind);
}

}  // namespace votive
