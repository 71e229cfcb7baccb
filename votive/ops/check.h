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

void require_present(std::string_view op, const Argument& x);  ///< a Tensor() where the argument is not optional → InvalidArgument

void require_unpacked(std::string_view op, const Argument& x);   ///< any dtype, Packing::none → else Unsupported
void require_unblocked(std::string_view op, const Argument& x);  ///< not quantised, not packed → else DTypeMismatch with the cure
void require_plain(std::string_view op, const Argument& x);      ///< not quantised, not packed, not f8 → else DTypeMismatch with the cure
void require_floating(std::string_view op, const Argument& x);   ///< f16 bf16 f32 f64
void require_number(std::string_view op, const Argument& x);     ///< integer or floating
void require_integer(std::string_view op, const Argument& x);
void require_index(std::string_view op, const Argument& x);  ///< any integer dtype; bool and float are refused with the hint
void require_bool(std::string_view op, const Argument& x);   ///< masks; hint x.ne(0)
void require_same_dtype(std::string_view op, const Argument& x, const Argument& y);
void require_same_device(std::string_view op, const Argument& x, const Argument& y);  ///< absent arguments pass
void require_rank(std::string_view op, const Argument& x, int at_least, int at_most = max_rank);
void require_shape(std::string_view op, const Argument& x, const Shape& shape);
/// The shape two operands broadcast to, or Error{ShapeMismatch} with the axis at which they differ.
Shape require_broadcast(std::string_view op, const Argument& x, const Argument& y);
/// common_dtype or Error{DTypeMismatch} with the cast to write.
DType require_common_dtype(std::string_view op, const Argument& x, const Argument& y);

}  // namespace votive
