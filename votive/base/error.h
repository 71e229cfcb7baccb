// The one exception of Votive: a kind, the fields a program may read, and a text made from them (CONTRACT.md section 9).
// Not here: dtypes, shapes and devices as types; an error holds them as text and numbers, so that every floor can throw it.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace votive {

using Size = std::int64_t;

enum class ErrorKind : std::uint8_t {
  DTypeMismatch,
  LiteralOutOfRange,
  Unsupported,
  ShapeMismatch,
  InvalidAxis,
  InvalidArgument,
  DeviceMismatch,
  SizeOverflow,
  OutOfMemory,
  EmptyReduction,
  IndexOutOfRange,
  DivisionByZero,
  Domain,
  IntegerOverflow,
  NonFinite,
  PoisonedTensor,
  NumericCapability,
  InvalidFile,  ///< a file is malformed, truncated or of an unsupported version; `position` is the byte offset where it shows
  Io,           ///< the operating system refused to open, map or read; `value` is its errno text
  Internal,
};

std::string_view to_string(ErrorKind kind);  ///< "dtype mismatch", "index out of range", …

/// What every call of Votive throws. Text: "op: kind: detail. hint".
/// Built by chaining:  throw Error(ErrorKind::InvalidAxis, "softmax").arg("axis", 2).value("3").detail("…").hint("…");
class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string_view op);

  Error& in(std::string_view op);                 ///< the call that the program wrote, where a part of it found the fault
  Error& arg(std::string_view name, int number);  ///< the argument at fault, counted from 1
  Error& detail(std::string text);                ///< what is wrong, in numbers
  Error& hint(std::string text);                  ///< the one-line cure, a full sentence without its period
  Error& accepted(std::string text);
  Error& value(std::string text);
  Error& position(std::vector<Size> index);
  Error& limit(std::string text);
  Error& dtype(std::string_view name);  ///< call once per argument, in order
  Error& shape(std::vector<Size> sizes);
  Error& device(std::string_view name);

  ErrorKind kind() const noexcept { return kind_; }
  const std::string& op() const noexcept { return op_; }
  const std::string& arg_name() const noexcept { return arg_name_; }
  int arg_number() const noexcept { return arg_number_; }
  const std::string& accepted() const noexcept { return accepted_; }
  const std::string& value() const noexcept { return value_; }
  const std::vector<Size>& position() const noexcept { return position_; }
  const std::string& limit() const noexcept { return limit_; }
  const std::string& hint() const noexcept { return hint_; }
  const std::vector<std::string>& dtypes() const noexcept { return dtypes_; }
  const std::vector<std::vector<Size>>& shapes() const noexcept { return shapes_; }
  const std::vector<std::string>& devices() const noexcept { return devices_; }

  const char* what() const noexcept override { return text_.c_str(); }

 private:
  void compose();

  ErrorKind kind_;
  int arg_number_ = 0;
  std::string op_, arg_name_, detail_, hint_, accepted_, value_, limit_, text_;
  std::vector<Size> position_;
  std::vector<std::string> dtypes_, devices_;
  std::vector<std::vector<Size>> shapes_;
};

}  // namespace votive
