// The checks that result() functions share. Each throws an Error that names the operation, the argument by name and number, what was given
// and what is accepted. Checks run in the order dtype → device → shape → values (CONTRACT.md section 9).
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "votive/ops/op.h"

namespace votive {

/// An argument as an error shows it: its name, its number (from 1) and its meta.
struct Argument {
  std::string_view name;
  int number;
  const Meta& meta;
};

std::string describe(const Meta& meta);          ///< "f32[8, 576]"; with " on reference" where it is not the CPU
std::string describe(const Argument& argument);  ///< "x f32[8, 576]"

/// An error about these arguments: their dtypes, shapes and devices are in its fields; of a single one also the name and number.
Error error_about(ErrorKind kind, std::string_view op, std::initializer_list<Argument> arguments);

// What is right is seen where it is asked, since every operation asks; what to say of the rest is out of line (measured: 9 ns of 80 in a sum, 2-core Zen 4).

namespace detail {
inline bool is_unblocked(const Meta& x) { return x.present && x.packing == Packing::none && !is_quantised(x.dtype); }
inline bool are_both(const Meta& x, const Meta& y) { return x.present && y.present; }
[[noreturn, gnu::cold]] void refuse_absent(std::string_view op, const Argument& x);
[[noreturn, gnu::cold]] void refuse_packed(std::string_view op, const Argument& x);
[[noreturn, gnu::cold]] void refuse_blocked(std::string_view op, const Argument& x);
[[noreturn, gnu::cold]] void refuse_not_plain(std::string_view op, const Argument& x);
[[noreturn, gnu::cold]] void refuse_not_floating(std::string_view op, const Argument& x);
[[noreturn, gnu::cold]] void refuse_not_number(std::string_view op, const Argument& x);
[[noreturn, gnu::cold]] void refuse_not_integer(std::string_view op, const Argument& x);
[[noreturn, gnu::cold]] void refuse_not_index(std::string_view op, const Argument& x);
[[noreturn, gnu::cold]] void refuse_not_bool(std::string_view op, const Argument& x);
[[noreturn, gnu::cold]] void refuse_dtypes(std::string_view op, const Argument& x, const Argument& y);
[[noreturn, gnu::cold]] void refuse_devices(std::string_view op, const Argument& x, const Argument& y);
[[noreturn, gnu::cold]] void refuse_rank(std::string_view op, const Argument& x, int at_least, int at_most);
[[noreturn, gnu::cold]] void refuse_shape(std::string_view op, const Argument& x, const Shape& shape);
}  // namespace detail

/// A Tensor() where the argument is not optional → InvalidArgument.
inline void require_present(std::string_view op, const Argument& x) {
  if (!x.meta.present) [[unlikely]]
    detail::refuse_absent(op, x);
}
/// Any dtype, Packing::none → else Unsupported.
inline void require_unpacked(std::string_view op, const Argument& x) {
  if (!(x.meta.present && x.meta.packing == Packing::none)) [[unlikely]]
    detail::refuse_packed(op, x);
}
/// Not quantised, not packed → else DTypeMismatch with the cure.
inline void require_unblocked(std::string_view op, const Argument& x) {
  if (!detail::is_unblocked(x.meta)) [[unlikely]]
    detail::refuse_blocked(op, x);
}
/// Not quantised, not packed, not f8 → else DTypeMismatch with the cure.
inline void require_plain(std::string_view op, const Argument& x) {
  if (!(detail::is_unblocked(x.meta) && !is_float8(x.meta.dtype))) [[unlikely]]
    detail::refuse_not_plain(op, x);
}
/// f16 bf16 f32 f64.
inline void require_floating(std::string_view op, const Argument& x) {
  if (!(detail::is_unblocked(x.meta) && is_floating(x.meta.dtype))) [[unlikely]]
    detail::refuse_not_floating(op, x);
}
/// Integer or floating.
inline void require_number(std::string_view op, const Argument& x) {
  if (!(detail::is_unblocked(x.meta) && (is_floating(x.meta.dtype) || is_integer(x.meta.dtype)))) [[unlikely]]
    detail::refuse_not_number(op, x);
}
inline void require_integer(std::string_view op, const Argument& x) {
  if (!(detail::is_unblocked(x.meta) && is_integer(x.meta.dtype))) [[unlikely]]
    detail::refuse_not_integer(op, x);
}
/// Any integer dtype; bool and float are refused with the hint.
inline void require_index(std::string_view op, const Argument& x) {
  if (!(detail::is_unblocked(x.meta) && is_integer(x.meta.dtype))) [[unlikely]]
    detail::refuse_not_index(op, x);
}
/// Masks; hint x.ne(0).
inline void require_bool(std::string_view op, const Argument& x) {
  if (!(detail::is_unblocked(x.meta) && x.meta.dtype == DType::boolean)) [[unlikely]]
    detail::refuse_not_bool(op, x);
}
/// Absent arguments pass, here and below.
inline void require_same_dtype(std::string_view op, const Argument& x, const Argument& y) {
  if (detail::are_both(x.meta, y.meta) && x.meta.dtype != y.meta.dtype) [[unlikely]]
    detail::refuse_dtypes(op, x, y);
}
inline void require_same_device(std::string_view op, const Argument& x, const Argument& y) {
  if (detail::are_both(x.meta, y.meta) && x.meta.device != y.meta.device) [[unlikely]]
    detail::refuse_devices(op, x, y);
}
inline void require_rank(std::string_view op, const Argument& x, int at_least, int at_most = max_rank) {
  if (x.meta.shape.rank() < at_least || x.meta.shape.rank() > at_most) [[unlikely]]
    detail::refuse_rank(op, x, at_least, at_most);
}
inline void require_shape(std::string_view op, const Argument& x, const Shape& shape) {
  if (!(x.meta.shape == shape)) [[unlikely]]
    detail::refuse_shape(op, x, shape);
}
/// The shape two operands broadcast to, or Error{ShapeMismatch} with the axis at which they differ.
Shape require_broadcast(std::string_view op, const Argument& x, const Argument& y);
/// common_dtype or Error{DTypeMismatch} with the cast to write.
DType require_common_dtype(std::string_view op, const Argument& x, const Argument& y);

}  // namespace votive
