// Arguments and attributes of a call, as compare_opinfo.py wrote them. A missing or mistyped one is the script's fault and throws std::exception.
#include "tools/opinfo/call.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace votive::opinfo {

DType dtype_of(std::string_view name) {
  for (int i = 0; i < dtype_count; ++i) {
    if (to_string(static_cast<DType>(i)) == name) return static_cast<DType>(i);
  }
  throw std::runtime_error("no dtype is called " + std::string(name));
}

// JSON has no infinity and no NaN, so the script writes those floats as strings.
static double real_of(const nlohmann::json& value) { return value.is_string() ? std::stod(value.get<std::string>()) : value.get<double>(); }

Literal literal_of(const nlohmann::json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) return value.get<std::uint64_t>();
  if (value.is_number_integer()) return value.get<std::int64_t>();
  return real_of(value);
}

const Tensor& Call::x(int i) const {
  static const Tensor absent;
  if (i >= count()) return absent;
  const Argument& argument = arguments_[static_cast<std::size_t>(i)];
  if (argument.literal) throw std::runtime_error("argument " + std::to_string(i + 1) + " is a number where a tensor is read");
  return argument.tensor;
}

Literal Call::literal(int i) const { return *arguments_.at(static_cast<std::size_t>(i)).literal; }

Tensors Call::tensors(int from) const {
  Tensors all;
  for (int i = from; i < count(); ++i) all.push_back(x(i));
  return all;
}

const nlohmann::json* Call::find(const char* name) const {
  const auto at = attributes_.find(name);
  return at == attributes_.end() || at->is_null() ? nullptr : &*at;
}

bool Call::has(const char* name) const { return find(name) != nullptr; }

Size Call::integer(const char* name, Size otherwise) const {
  const nlohmann::json* const v = find(name);
  return v == nullptr ? otherwise : v->get<Size>();
}
double Call::real(const char* name, double otherwise) const {
  const nlohmann::json* const v = find(name);
  return v == nullptr ? otherwise : real_of(*v);
}
bool Call::flag(const char* name, bool otherwise) const {
  const nlohmann::json* const v = find(name);
  return v == nullptr ? otherwise : v->get<bool>();
}
std::string Call::text(const char* name, const char* otherwise) const {
  const nlohmann::json* const v = find(name);
  return v == nullptr ? otherwise : v->get<std::string>();
}
std::vector<Size> Call::integers(const char* name) const { return attributes_.at(name).get<std::vector<Size>>(); }
std::vector<int> Call::axes(const char* name) const { return attributes_.at(name).get<std::vector<int>>(); }
std::vector<double> Call::reals(const char* name) const {
  std::vector<double> all;
  for (const nlohmann::json& v : attributes_.at(name)) all.push_back(real_of(v));
  return all;
}
Shape Call::shape(const char* name) const { return Shape(std::span<const Size>(integers(name))); }
DType Call::dtype(const char* name, DType otherwise) const { return optional_dtype(name).value_or(otherwise); }
std::optional<DType> Call::optional_dtype(const char* name) const {
  const nlohmann::json* const v = find(name);
  return v == nullptr ? std::optional<DType>() : dtype_of(v->get<std::string>());
}
Literal Call::number(const char* name, Literal otherwise) const {
  const nlohmann::json* const v = find(name);
  return v == nullptr ? otherwise : literal_of(*v);
}

}  // namespace votive::opinfo
