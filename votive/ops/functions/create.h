// Tensors from nothing but numbers: constants, ranges, host data. Random ones are in random.h.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "votive/core/tensor.h"
#include "votive/ops/create.h"

namespace votive {

struct CreateOptions {
  Device device = Device::cpu;
};
Tensor zeros(const Shape& shape, DType dtype = f32, CreateOptions options = {});
Tensor ones(const Shape& shape, DType dtype = f32, CreateOptions options = {});
/// Every element `value`, by the rules of a literal: an integer must fit, a float is rounded once.
Tensor full(const Shape& shape, Literal value, DType dtype = f32, CreateOptions options = {});
Tensor eye(Size n, DType dtype = f32, CreateOptions options = {});
/// start, start + step, … below stop. Integers give i64 unless a dtype is given. Throws Error{InvalidArgument} for step 0, NaN or infinity.
Tensor arange(Literal start, Literal stop, Literal step = 1, std::optional<DType> dtype = {}, CreateOptions options = {});
Tensor linspace(double start, double stop, Size n, DType dtype = f32, CreateOptions options = {});

Tensor zeros_like(const Tensor& x);
Tensor ones_like(const Tensor& x);

/// Nested braces: tensor({{1, 2, 3}, {4, 5, 6}}, f32). Ragged lists are Error{ShapeMismatch}.
class Nested {
 public:
  Nested(Literal value) : value_(value) {}  // NOLINT(google-explicit-constructor)
  template <class T>
  requires std::is_arithmetic_v<T> Nested(T value) : value_(value) {}  // NOLINT(google-explicit-constructor)
  Nested(std::initializer_list<Nested> list) : value_(0), list_(list), is_list_(true) {}
  const Literal& value() const { return value_; }
  const std::vector<Nested>& list() const { return list_; }
  bool is_list() const { return is_list_; }

 private:
  Literal value_;
  std::vector<Nested> list_;
  bool is_list_ = false;
};
Tensor tensor(const Nested& values, DType dtype = f32, CreateOptions options = {});
/// From a flat list in row-major order; T must be the dtype's own type (std::uint16_t carries the bits of f16 and bf16).
template <class T>
Tensor from_host(std::span<const T> values, const Shape& shape, DType dtype, CreateOptions options = {});

/// "tensor f32[2, 3] on cpu: [[1, 2, 3], [4, 5, 6]]", shortened in the middle when long.
std::string to_string(const Tensor& x);

}  // namespace votive
