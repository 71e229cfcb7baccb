// A tensor as text: what a person wants to see of it, shortened in the middle when long.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "votive/base/float_environment.h"
#include "votive/base/text.h"
#include "votive/ops/apply.h"
#include "votive/ops/ops.h"

namespace votive {

namespace {

constexpr Size shown_at_each_end = 3;
constexpr Size shown_whole = 1000;  // elements of a tensor that is not shortened

/// The fewest digits that only this element reads back from.
std::string shortest(double value, DType dtype) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  if (dtype == DType::f64) return text::format("{}", value);
  if (dtype == DType::f32) return text::format("{}", static_cast<float>(value));
  // bf16's 4096 reads back from 4.1e+03 as well, but nobody would know it again
  if (value == std::trunc(value) && value != 0 && std::fabs(value) < 1e6) return text::format("{}", static_cast<std::int64_t>(value));
  const auto same = [&](double candidate) { return full({}, candidate, DType::f64).to(dtype).to(DType::f64).item<double>() == value; };
  for (int digits = 1; digits < 9; ++digits) {
    const std::string text = text::format("{:.{}g}", value, digits);
    double candidate = 0;  // from_chars, unlike stod, knows no locale
    std::from_chars(text.data(), text.data() + text.size(), candidate);
    if (same(candidate)) return text;
  }
  return text::format("{}", value);
}

std::string element(const Tensor& x) {
  if (x.dtype() == DType::boolean) return x.item<bool>() ? "true" : "false";
  if (x.dtype() == DType::u64) return text::format("{}", x.item<std::uint64_t>());
  if (is_integer(x.dtype())) return text::format("{}", x.item<std::int64_t>());
  return shortest(x.item<double>(), x.dtype());
}

void append(const Tensor& x, bool shorten, std::string& text) {
  if (x.rank() == 0) {
    text += element(x);
    return;
  }
  const Size n = x.size(0);
  text += '[';
  for (Size i = 0; i < n; ++i) {
    if (i != 0) text += ", ";
    if (shorten && n > 2 * shown_at_each_end && i == shown_at_each_end) {
      text += "...";
      i = n - shown_at_each_end - 1;
    } else {
      append(select(x, 0, i), shorten, text);
    }
  }
  text += ']';
}

}  // namespace

std::string to_string(const Tensor& x) {
  const FloatEnvironment environment;
  if (!x.defined()) return "no tensor";
  const Meta meta = x.meta();
  std::string text = text::format("tensor {}{} on {}", to_string(meta.dtype), to_string(meta.shape), to_string(meta.device));
  if (meta.packing != Packing::none) return text + " (packed)";
  if (is_quantised(meta.dtype)) return text + " (quantised)";
  text += ": ";
  Size rows = 1;  // brackets are shown even where an axis is empty
  for (int axis = 0; axis < x.rank() && rows <= shown_whole; ++axis) rows *= std::max<Size>(x.shape()[axis], 1);
  append(x, rows > shown_whole, text);
  return text;
}

std::ostream& operator<<(std::ostream& out, const Tensor& x) { return out << to_string(x); }

}  // namespace votive
