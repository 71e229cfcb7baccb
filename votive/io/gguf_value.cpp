// Metadata values of GGUF, read where they lie. The reader has checked every length behind a value, so nothing here can leave the file.
#include <cstring>
#include <limits>

#include "votive/base/text.h"
#include "votive/io/gguf.h"

namespace votive::io {

namespace {

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

std::string_view load_string(const std::byte*& from) {
  const auto length = static_cast<std::size_t>(load<std::uint64_t>(from));
  const std::string_view value(reinterpret_cast<const char*>(from) + 8, length);
  from += 8 + length;
  return value;
}

constexpr Size most_exact = Size{1} << 53;  // every integer up to here is a double

bool is_integer(GgufType type) {
  return type != GgufType::f32 && type != GgufType::f64 && type != GgufType::boolean && type != GgufType::string && type != GgufType::array;
}

bool load_integer(GgufType type, const std::byte* from, Size& value) {
  switch (type) {
    case GgufType::u8: value = load<std::uint8_t>(from); return true;
    case GgufType::i8: value = load<std::int8_t>(from); return true;
    case GgufType::u16: value = load<std::uint16_t>(from); return true;
    case GgufType::i16: value = load<std::int16_t>(from); return true;
    case GgufType::u32: value = load<std::uint32_t>(from); return true;
    case GgufType::i32: value = load<std::int32_t>(from); return true;
    case GgufType::i64: value = load<std::int64_t>(from); return true;
    case GgufType::u64: {
      const auto wide = load<std::uint64_t>(from);
      value = static_cast<Size>(wide);
      return wide <= static_cast<std::uint64_t>(std::numeric_limits<Size>::max());
    }
    default: return false;
  }
}

bool load_number(GgufType type, const std::byte* from, double& value) {
  if (type == GgufType::f32)
    value = load<float>(from);
  else if (type == GgufType::f64)
    value = load<double>(from);
  else {
    Size integer = 0;
    if (!load_integer(type, from, integer) || integer > most_exact || integer < -most_exact) return false;
    value = static_cast<double>(integer);
  }
  return true;
}

std::string element_text(GgufType type, const std::byte*& from) {
  if (type == GgufType::string) return '"' + text::shown(load_string(from), 200) + '"';
  const std::byte* at = from;
  from += bytes_of(type);
  if (type == GgufType::boolean) return load<std::uint8_t>(at) != 0 ? "true" : "false";
  if (type == GgufType::u64) return text::format("{}", load<std::uint64_t>(at));
  if (type == GgufType::f32) return text::format("{}", load<float>(at));
  if (type == GgufType::f64) return text::format("{}", load<double>(at));
  Size integer = 0;
  load_integer(type, at, integer);
  return text::format("{}", integer);
}

}  // namespace

void GgufValue::refuse(std::string_view wanted) const {
  const std::string_view type = to_string(type_ == GgufType::array ? element_type_ : type_);
  throw Error(ErrorKind::InvalidFile, "GGUF")
      .value(text::shown(key_))
      .position({at_})
      .detail(text::format("'{}' is {}{}, not {} (byte {})", text::shown(key_), type_ == GgufType::array ? "an array of " : "", type,
                           wanted, at_));
}

Size GgufValue::integer() const {
  Size value;
  if (type_ == GgufType::array || !load_integer(type_, data_, value)) refuse("an integer below 2^63");
  return value;
}

double GgufValue::number() const {
  double value;
  if (type_ == GgufType::array || !load_number(type_, data_, value)) refuse("a number that a double holds");
  return value;
}

bool GgufValue::boolean() const {
  if (type_ != GgufType::boolean) refuse("a bool");
  return load<std::uint8_t>(data_) != 0;
}

std::string_view GgufValue::string() const {
  if (type_ != GgufType::string) refuse("a string");
  const std::byte* from = data_;
  return load_string(from);
}

std::vector<Size> GgufValue::integers() const {
  if (type_ != GgufType::array || !is_integer(element_type_)) refuse("an array of integers");
  std::vector<Size> values(static_cast<std::size_t>(count_));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!load_integer(element_type_, data_ + i * bytes_of(element_type_), values[i])) refuse("an array of integers below 2^63");
  }
  return values;
}

std::vector<double> GgufValue::numbers() const {
  if (type_ != GgufType::array || element_type_ == GgufType::boolean || element_type_ == GgufType::string) refuse("an array of numbers");
  std::vector<double> values(static_cast<std::size_t>(count_));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!load_number(element_type_, data_ + i * bytes_of(element_type_), values[i])) refuse("an array of numbers that a double holds");
  }
  return values;
}

std::vector<std::string_view> GgufValue::strings() const {
  if (type_ != GgufType::array || element_type_ != GgufType::string) refuse("an array of strings");
  std::vector<std::string_view> values;
  values.reserve(static_cast<std::size_t>(count_));
  const std::byte* from = data_;
  for (Size i = 0; i < count_; ++i) values.push_back(load_string(from));
  return values;
}

std::string GgufValue::text(Size limit) const {
  const std::byte* from = data_;
  if (type_ != GgufType::array) return element_text(type_, from);
  std::string shown = "[";
  for (Size i = 0; i < count_ && i < limit; ++i) shown += (i > 0 ? ", " : "") + element_text(element_type_, from);
  if (count_ > limit) shown += text::format(", … {} in all", count_);
  return shown + "]";
}

}  // namespace votive::io
