// The text of an error, composed from its fields so that it reads the same on every device and in every build.
#include "votive/base/error.h"

#include <utility>

namespace votive {

std::string_view to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::DTypeMismatch: return "dtype mismatch";
    case ErrorKind::LiteralOutOfRange: return "literal out of range";
    case ErrorKind::Unsupported: return "unsupported";
    case ErrorKind::ShapeMismatch: return "shape mismatch";
    case ErrorKind::InvalidAxis: return "invalid axis";
    case ErrorKind::InvalidArgument: return "invalid argument";
    case ErrorKind::DeviceMismatch: return "device mismatch";
    case ErrorKind::SizeOverflow: return "size overflow";
    case ErrorKind::OutOfMemory: return "out of memory";
    case ErrorKind::EmptyReduction: return "empty reduction";
    case ErrorKind::IndexOutOfRange: return "index out of range";
    case ErrorKind::DivisionByZero: return "division by zero";
    case ErrorKind::Domain: return "outside the domain";
    case ErrorKind::IntegerOverflow: return "integer overflow";
    case ErrorKind::NonFinite: return "not finite";
    case ErrorKind::PoisonedTensor: return "poisoned tensor";
    case ErrorKind::NumericCapability: return "numeric capability";
    case ErrorKind::InvalidFile: return "invalid file";
    case ErrorKind::Io: return "input/output";
    case ErrorKind::Internal: return "internal error";
  }
  return "unknown";
}

Error::Error(ErrorKind kind, std::string_view op) : kind_(kind), op_(op) { compose(); }

Error& Error::in(std::string_view op) {
  op_ = op;
  compose();
  return *this;
}
Error& Error::arg(std::string_view name, int number) {
  arg_name_ = name;
  arg_number_ = number;
  return *this;
}
Error& Error::detail(std::string text) {
  detail_ = std::move(text);
  compose();
  return *this;
}
Error& Error::hint(std::string text) {
  hint_ = std::move(text);
  compose();
  return *this;
}
Error& Error::accepted(std::string text) {
  accepted_ = std::move(text);
  compose();
  return *this;
}
Error& Error::value(std::string text) {
  value_ = std::move(text);
  return *this;
}
Error& Error::position(std::vector<Size> index) {
  position_ = std::move(index);
  return *this;
}
Error& Error::limit(std::string text) {
  limit_ = std::move(text);
  return *this;
}
Error& Error::dtype(std::string_view name) {
  dtypes_.emplace_back(name);
  return *this;
}
Error& Error::shape(std::vector<Size> sizes) {
  shapes_.push_back(std::move(sizes));
  return *this;
}
Error& Error::device(std::string_view name) {
  devices_.emplace_back(name);
  return *this;
}

void Error::compose() {
  text_ = op_;
  text_ += ": ";
  text_ += to_string(kind_);
  if (!detail_.empty()) text_ += ": " + detail_;
  if (!accepted_.empty()) text_ += ". Accepted: " + accepted_;
  if (!hint_.empty()) text_ += ". " + hint_;
  if (text_.back() != '.' && text_.back() != '?') text_ += '.';
}

}  // namespace votive
