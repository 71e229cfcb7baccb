// Rows as columns for people and as JSON for programs. The lines of --json: row, device, outcome ("value" or "error"), then dtype, shape and values, or
// the kind of error; and "text", the same for people. Values are decimal for integers and bool, and the bits in hexadecimal for floats.
#include "table.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <numeric>
#include <sstream>

using namespace votive;

namespace {

/// What came of a row on one device. Two devices agree when all but `text` is equal: an error's text names its device.
struct Outcome {
  std::string dtype, shape, values, error, text;
  bool operator==(const Outcome& other) const {
    return dtype == other.dtype && shape == other.shape && values == other.values && error == other.error;
  }
};

std::string joined(const std::vector<std::string>& parts, const char* quote = "") {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + (quote + part) + quote;
  return "[" + text + "]";
}

template <class T>
std::vector<std::string> decimals(const Tensor& y) {
  std::vector<std::string> texts;
  for (const T value : y.to_host<T>()) texts.push_back(std::to_string(value));
  return texts;
}

template <class Bits>
std::vector<std::string> hexadecimals(const Tensor& y, DType bits) {
  std::vector<std::string> texts;
  for (const Bits value : bitcast(y, bits).to_host<Bits>()) {
    std::ostringstream text;
    text << std::hex << std::setfill('0') << std::setw(2 * sizeof(Bits)) << value;
    texts.push_back(text.str());
  }
  return texts;
}

std::vector<std::string> values(const Tensor& y) {
  switch (y.dtype()) {
    case DType::boolean: return decimals<bool>(y);
    case DType::u8: return decimals<std::uint8_t>(y);
    case DType::i8: return decimals<std::int8_t>(y);
    case DType::u16: return decimals<std::uint16_t>(y);
    case DType::i16: return decimals<std::int16_t>(y);
    case DType::u32: return decimals<std::uint32_t>(y);
    case DType::i32: return decimals<std::int32_t>(y);
    case DType::u64: return decimals<std::uint64_t>(y);
    case DType::i64: return decimals<std::int64_t>(y);
    case DType::f16:
    case DType::bf16: return hexadecimals<std::uint16_t>(y, u16);
    case DType::f32: return hexadecimals<std::uint32_t>(y, u32);
    default: return hexadecimals<std::uint64_t>(y.to(f64), u64);
  }
}

Outcome outcome(const std::function<Tensor(On)>& compute, On on) {
  try {
    const Tensor y = compute(on);
    std::vector<std::string> sizes;
    for (const Size size : y.shape()) sizes.push_back(std::to_string(size));
    const std::string whole = to_string(y.dtype() == f16 || y.dtype() == bf16 ? y.to(f32) : y);  // "tensor f32[2] on cpu: [0.5, 1.5]"
    const std::string dtype(to_string(y.dtype()));
    return {dtype, joined(sizes), joined(values(y), "\""), "", dtype + joined(sizes) + " " + whole.substr(whole.find(": ") + 2)};
  } catch (const Error& error) { return {"", "", "", std::string(to_string(error.kind())), error.what()}; }
}

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '"' || c == '\\') safe += '\\';
    safe += c;
  }
  return safe;
}

void print_json(const std::string& expression, Device device, const Outcome& y) {
  std::cout << R"({"row": ")" << escaped(expression) << R"(", "device": ")" << to_string(device) << R"(", "outcome": ")";
  if (y.error.empty()) {
    std::cout << R"(value", "dtype": ")" << y.dtype << R"(", "shape": )" << y.shape << R"(, "values": )" << y.values;
  } else {
    std::cout << R"(error", "error": ")" << y.error << '"';
  }
  std::cout << R"(, "text": ")" << escaped(y.text) << "\"}\n";
}

}  // namespace

Table::Table(int argc, char** argv) : json_(argc == 2 && std::string_view(argv[1]) == "--json") {
  if (argc != 1 && !json_) {
    std::cerr << "usage: " << argv[0] << " [--json]\n";
    std::exit(2);
  }
  try {
    // Of VOTIVE_ISA and VOTIVE_THREADS: what they cannot mean is no difference between devices.
    runtime::instruction_set();
    threads();
  } catch (const Error& error) {
    std::cerr << argv[0] << ": " << error.what() << '\n';
    std::exit(2);
  }
}

void Table::heading(std::string_view title) {
  print_columns();
  lines_.push_back({std::string(title)});
  for (const Device device : runtime::devices()) lines_.back().emplace_back(to_string(device));
}

void Table::row(const std::string& expression, const std::function<Tensor(On)>& compute) {
  std::vector<Outcome> outcomes;
  for (const Device device : runtime::devices()) {
    outcomes.push_back(outcome(compute, {.device = device}));
    if (json_) print_json(expression, device, outcomes.back());
    different_ += !(outcomes.back() == outcomes.front());
  }
  ++rows_;
  lines_.push_back({expression});
  for (const Outcome& y : outcomes) lines_.back().push_back(y.error.empty() ? y.text : "error: " + y.error);
  if (!outcomes[0].error.empty()) lines_.push_back({"    " + outcomes[0].text});  // a line of its own
}

int Table::finish() {
  print_columns();
  if (!json_) std::cout << rows_ << " rows, " << different_ << " that differ between devices\n";
  if (!std::cout.flush()) {
    std::cerr << "the table cannot be written\n";
    return 2;
  }
  return different_ == 0 ? 0 : 1;
}

void Table::print_columns() {
  if (json_ || lines_.empty()) return lines_.clear();
  std::vector<std::size_t> widths(lines_[0].size(), 0);
  for (const auto& line : lines_) {
    for (std::size_t i = 0; line.size() > 1 && i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  for (const auto& line : lines_) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      std::cout << line[i] << std::string(i + 1 < line.size() ? widths[i] - line[i].size() + 2 : 0, ' ');
    }
    std::cout << '\n';
    if (&line == &lines_[0]) std::cout << std::string(std::accumulate(widths.begin(), widths.end(), 2 * (widths.size() - 1)), '-') << '\n';
  }
  std::cout << '\n';
  lines_.clear();
}
