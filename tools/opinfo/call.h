// One call that compare_opinfo.py asks for: a name, tensors and numbers in order, attributes by name; and the table from names to Votive's functions.
// Not here: what is compared with what, and why a difference is meant.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "votive/autograd/autograd.h"
#include "votive/ops/ops.h"

namespace votive::opinfo {

class Call {
 public:
  struct Argument {
    Tensor tensor;
    std::optional<Literal> literal;  // neither: an argument that was left out
  };
  Call(std::vector<Argument> arguments, const nlohmann::json& attributes, Device device)
      : arguments_(std::move(arguments)), attributes_(attributes), device_(device) {}

  int count() const { return static_cast<int>(arguments_.size()); }
  const Tensor& x(int i = 0) const;  ///< Tensor() when it was left out
  bool is_literal(int i) const { return i < count() && arguments_[static_cast<std::size_t>(i)].literal.has_value(); }
  Literal literal(int i) const;
  Tensors tensors(int from = 0) const;  ///< all from there on
  Device device() const { return device_; }

  bool has(const char* name) const;
  Size integer(const char* name, Size otherwise = 0) const;
  int axis(const char* name = "axis", int otherwise = -1) const { return static_cast<int>(integer(name, otherwise)); }
  double real(const char* name, double otherwise = 0) const;
  float real32(const char* name, double otherwise = 0) const { return static_cast<float>(real(name, otherwise)); }
  bool flag(const char* name, bool otherwise = false) const;
  std::string text(const char* name, const char* otherwise = "") const;
  std::vector<Size> integers(const char* name) const;
  std::vector<int> axes(const char* name = "axes") const;
  std::vector<double> reals(const char* name) const;
  Shape shape(const char* name = "shape") const;
  DType dtype(const char* name = "dtype", DType otherwise = f32) const;
  std::optional<DType> optional_dtype(const char* name = "dtype") const;
  Literal number(const char* name, Literal otherwise = 0) const;  ///< an operand: integer, float or bool as it was written

 private:
  const nlohmann::json* find(const char* name) const;

  std::vector<Argument> arguments_;
  const nlohmann::json& attributes_;
  Device device_;
};

DType dtype_of(std::string_view name);
Literal literal_of(const nlohmann::json& value);

using Function = Tensors (*)(const Call& c);
using Table = std::map<std::string, Function, std::less<>>;

/// f(a, b) where either may be a number. Where Votive has no such overload the number becomes a tensor by the rules of a literal (CONTRACT.md 1.3).
template <class F>
Tensors binary(const Call& c, F f) {
  const auto widens = [](Literal v, const Tensor& x) { return v.kind() == Literal::Kind::floating && !is_floating(x.dtype()); };
  const auto as_tensor = [&](Literal v, const Tensor& x) { return full({}, v, widens(v, x) ? f32 : x.dtype(), {.device = x.device()}); };
  const auto beside = [&](Literal v, const Tensor& x) { return widens(v, x) ? x.to(f32) : x; };
  if (c.is_literal(1)) {
    if constexpr (requires { f(c.x(0), c.literal(1)); }) {
      return {f(c.x(0), c.literal(1))};
    } else {
      return {f(beside(c.literal(1), c.x(0)), as_tensor(c.literal(1), c.x(0)))};
    }
  }
  if (c.is_literal(0)) {
    if constexpr (requires { f(c.literal(0), c.x(1)); }) {
      return {f(c.literal(0), c.x(1))};
    } else {
      return {f(as_tensor(c.literal(0), c.x(1)), beside(c.literal(0), c.x(1)))};
    }
  }
  return {f(c.x(0), c.x(1))};
}

void add_pointwise(Table& table);
void add_movement(Table& table);
void add_indexing(Table& table);
void add_reductions(Table& table);
void add_products(Table& table);
void add_norms(Table& table);

}  // namespace votive::opinfo
