// Reading safetensors: the header is parsed as events (nlohmann-json's SAX interface), so no tree of it is ever built; the first pass counts,
// the second fills, hence the index is allocated once and is never longer than the header.
// Facts of the format: huggingface/safetensors, README "Format".
#include "votive/io/safetensors.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "votive/base/text.h"

namespace votive::io {

namespace {

constexpr std::uint64_t longest_header = 100'000'000;  // the format's own limit

[[noreturn]] void refuse(std::size_t at, std::string detail) {
  throw Error(ErrorKind::InvalidFile, "safetensors").position({static_cast<Size>(at)}).detail(text::format("{} (byte {})", detail, at));
}
[[noreturn]] void refuse_name(std::string_view name, std::string detail) {
  throw Error(ErrorKind::InvalidFile, "safetensors")
      .value(std::string(name.substr(0, 200)))
      .detail(text::format("'{}' {}", name.substr(0, 200), detail));
}

std::optional<DType> dtype_of(std::string_view name) {
  constexpr std::pair<std::string_view, DType> names[] = {
      {"BOOL", DType::boolean}, {"U8", DType::u8},   {"I8", DType::i8},   {"U16", DType::u16},      {"I16", DType::i16},
      {"U32", DType::u32},      {"I32", DType::i32}, {"U64", DType::u64}, {"I64", DType::i64},      {"F16", DType::f16},
      {"BF16", DType::bf16},    {"F32", DType::f32}, {"F64", DType::f64}, {"F8_E4M3", DType::e4m3}, {"F8_E5M2", DType::e5m2},
  };
  for (const auto& [known, dtype] : names) {
    if (known == name) return dtype;
  }
  return std::nullopt;
}

}  // namespace

/// Follows the header's events:  { name: { "dtype": s, "shape": [n…], "data_offsets": [begin, end] }…, "__metadata__": { s: s… } }.
class SafetensorsHeader : public nlohmann::json_sax<nlohmann::json> {
 public:
  SafetensorsHeader(SafetensorsFile& file, std::size_t data_start, bool fill) : file_(file), data_start_(data_start), fill_(fill) {}

  std::size_t tensors = 0, name_bytes = 0, size_bytes = 0;

  bool start_object(std::size_t) override {
    ++depth_;
    if (depth_ == 2) {
      if (name_ == "__metadata__") {
        in_metadata_ = true;
      } else {
        begin_tensor();
      }
    } else if (depth_ > 2) {
      refuse_name(name_, "holds an object");
    }
    return true;
  }
  bool end_object() override {
    --depth_;
    if (depth_ == 1) {
      if (in_metadata_) {
        in_metadata_ = false;
      } else {
        end_tensor();
      }
    }
    return true;
  }
  bool key(string_t& text) override {
    (depth_ == 1 ? name_ : field_) = text;
    if (depth_ == 2 && !in_metadata_) {
      const int bit = text == "dtype" ? 1 : text == "shape" ? 2 : text == "data_offsets" ? 4 : 0;
      if (bit == 0) refuse_name(name_, text::format("has the field '{}', which the format does not know", text.substr(0, 100)));
      if ((seen_ & bit) != 0) refuse_name(name_, text::format("has '{}' twice", text));
      seen_ |= bit;
    }
    return true;
  }
  bool string(string_t& value) override {
    if (depth_ == 2 && in_metadata_) {
      if (fill_) file_.metadata_.emplace_back(field_, value);
      return true;
    }
    if (depth_ != 2 || in_list_ || field_ != "dtype") unexpected("a string");
    const std::optional<DType> dtype = dtype_of(value);
    if (!dtype.has_value()) refuse_name(name_, text::format("has dtype '{}', which is not known", value.substr(0, 40)));
    entry_.dtype = *dtype;
    return true;
  }
  bool start_array(std::size_t) override {
    if (depth_ != 2 || in_metadata_ || in_list_ || (field_ != "shape" && field_ != "data_offsets")) unexpected("a list");
    in_list_ = true;
    return true;
  }
  bool end_array() override {
    in_list_ = false;
    if (field_ == "data_offsets" && offsets_ != 2) refuse_name(name_, text::format("has {} data_offsets, not 2", offsets_));
    return true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (!in_list_) unexpected("a number");
    if (field_ == "shape") {
      if (entry_.rank == max_rank) refuse_name(name_, text::format("has more than {} axes", max_rank));
      if (value > static_cast<std::uint64_t>(std::numeric_limits<Size>::max()) || __builtin_mul_overflow(count_, value, &count_)) {
        zero_ = zero_ || value == 0;
        overflowed_ = true;
      }
      zero_ = zero_ || value == 0;
      ++entry_.rank;
      push_size(value);
    } else {
      if (offsets_ == 2) refuse_name(name_, "has more than 2 data_offsets");
      (offsets_ == 0 ? entry_.begin : entry_.end) = value;
      ++offsets_;
    }
    return true;
  }
  bool number_integer(number_integer_t value) override {
    refuse_name(name_, text::format("has the number {} in '{}'", value, field_.substr(0, 40)));
  }
  bool number_float(number_float_t, const string_t&) override { unexpected("a fraction"); }
  bool null() override { unexpected("null"); }
  bool boolean(bool) override { unexpected("a bool"); }
  bool binary(binary_t&) override { unexpected("binary data"); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    refuse(8 + position, "the header is not valid JSON");
  }

 private:
  [[noreturn]] void unexpected(const char* what) {
    if (depth_ == 0) refuse(8, text::format("the header is {}, not an object", what));
    refuse_name(name_, text::format("holds {} where the format has none", what));
  }

  void begin_tensor() {
    entry_ = {};
    entry_.name_at = static_cast<std::uint32_t>(name_bytes);
    entry_.name_bytes = static_cast<std::uint32_t>(name_.size());
    entry_.sizes_at = static_cast<std::uint32_t>(size_bytes);
    seen_ = 0;
    offsets_ = 0;
    count_ = 1;
    zero_ = overflowed_ = false;
    name_bytes += name_.size();
    if (fill_) file_.names_ += name_;
  }

  void end_tensor() {
    if (seen_ != 7) refuse_name(name_, "lacks dtype, shape or data_offsets");
    const std::size_t data_bytes = file_.file_.bytes().size() - data_start_;
    std::uint64_t bytes = 0;
    if (overflowed_ || __builtin_mul_overflow(count_, static_cast<std::uint64_t>(block_bytes(entry_.dtype)), &bytes)) {
      refuse_name(name_, "has sizes whose product exceeds 2^64");
    }
    if (entry_.begin > entry_.end || entry_.end > data_bytes) {
      refuse_name(name_, text::format("lies at {}..{} of {} bytes of data", entry_.begin, entry_.end, data_bytes));
    }
    if (entry_.end - entry_.begin != bytes) {
      refuse_name(name_, text::format("has {} bytes where its shape and dtype need {}", entry_.end - entry_.begin, bytes));
    }
    entry_.begin += data_start_;
    entry_.end += data_start_;
    ++tensors;
    if (fill_) file_.entries_.push_back(entry_);
  }

  void push_size(std::uint64_t value) {
    do {
      const auto low = static_cast<std::uint8_t>(value & 127);
      value >>= 7;
      if (fill_) file_.sizes_.push_back(static_cast<std::uint8_t>(value != 0 ? low | 128 : low));
      ++size_bytes;
    } while (value != 0);
  }

  SafetensorsFile& file_;
  std::size_t data_start_;
  bool fill_;
  int depth_ = 0, seen_ = 0, offsets_ = 0;
  bool in_metadata_ = false, in_list_ = false, zero_ = false, overflowed_ = false;
  std::uint64_t count_ = 1;
  std::string name_, field_;
  SafetensorsFile::Entry entry_{};
};

SafetensorsFile::SafetensorsFile(MappedFile file) : file_(std::move(file)) {
  const std::span<const std::byte> bytes = file_.bytes();
  if (bytes.size() < 8) refuse(0, text::format("the file has {} bytes; the header's length alone takes 8", bytes.size()));
  std::uint64_t length;
  std::memcpy(&length, bytes.data(), 8);
  if (length > longest_header || length > bytes.size() - 8)
    refuse(0, text::format("a header of {} bytes does not fit into the file", length));
  const auto* text = reinterpret_cast<const char*>(bytes.data()) + 8;
  if (length == 0 || text[0] != '{') refuse(8, "the header does not begin with '{'");
  const std::size_t data_start = 8 + static_cast<std::size_t>(length);

  SafetensorsHeader counted(*this, data_start, false);
  nlohmann::json::sax_parse(text, text + length, &counted);
  entries_.reserve(counted.tensors);
  names_.reserve(counted.name_bytes);
  sizes_.reserve(counted.size_bytes);
  SafetensorsHeader filled(*this, data_start, true);
  nlohmann::json::sax_parse(text, text + length, &filled);

  // The tensors tile the data: sorted by place, each begins where the one before ends.
  std::sort(entries_.begin(), entries_.end(),
            [](const Entry& a, const Entry& b) { return a.begin != b.begin ? a.begin < b.begin : a.end < b.end; });
  std::uint64_t reached = data_start;
  for (Size i = 0; i < size(); ++i) {
    const Entry& entry = entries_[static_cast<std::size_t>(i)];
    if (entry.begin != reached) refuse_name(name(i), entry.begin < reached ? "shares bytes with another tensor" : "leaves a gap before it");
    reached = entry.end;
  }
  if (reached != bytes.size()) refuse(reached, text::format("{} bytes after the last tensor belong to none", bytes.size() - reached));
  std::sort(entries_.begin(), entries_.end(), [this](const Entry& a, const Entry& b) {
    const auto named = [this](const Entry& e) { return std::string_view(names_).substr(e.name_at, e.name_bytes); };
    return named(a) < named(b);
  });
  for (Size i = 1; i < size(); ++i) {
    if (name(i) == name(i - 1)) refuse_name(name(i), "is there twice");
  }
}

std::string_view SafetensorsFile::name(Size i) const {
  const Entry& entry = entries_[static_cast<std::size_t>(i)];
  return std::string_view(names_).substr(entry.name_at, entry.name_bytes);
}

Meta SafetensorsFile::meta(Size i) const {
  const Entry& entry = entries_[static_cast<std::size_t>(i)];
  Meta meta{entry.dtype, {}};
  std::size_t at = entry.sizes_at;
  for (int axis = 0; axis < entry.rank; ++axis) {
    std::uint64_t value = 0;
    int shift = 0;
    std::uint8_t byte;
    do {
      byte = sizes_[at++];
      value |= static_cast<std::uint64_t>(byte & 127) << shift;
      shift += 7;
    } while ((byte & 128) != 0);
    meta.shape.push_back(static_cast<Size>(value));
  }
  return meta;
}

std::size_t SafetensorsFile::bytes(Size i) const {
  const Entry& entry = entries_[static_cast<std::size_t>(i)];
  return static_cast<std::size_t>(entry.end - entry.begin);
}

Size SafetensorsFile::find(std::string_view wanted) const {
  Size low = 0, high = size();
  while (low < high) {
    const Size middle = (low + high) / 2;
    if (name(middle) < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < size() && name(low) == wanted ? low : -1;
}

Tensor SafetensorsFile::tensor(std::string_view wanted) const {
  const Size i = find(wanted);
  if (i < 0) refuse_name(wanted, "is not in the file");
  const Meta meta_of_tensor = meta(i);
  const std::byte* data = file_.bytes().data() + entries_[static_cast<std::size_t>(i)].begin;
  if (meta_of_tensor.dtype == DType::boolean) {
    for (std::size_t j = 0; j < bytes(i); ++j) {
      if (std::to_integer<unsigned>(data[j]) > 1)
        refuse_name(wanted, text::format("holds the bool {} at element {}", std::to_integer<unsigned>(data[j]), j));
    }
  }
  if (reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(block_bytes(meta_of_tensor.dtype)) == 0) {
    return Tensor::borrow(meta_of_tensor, data, bytes(i), file_.owner());
  }
  Tensor copy = Tensor::allocate("safetensors", meta_of_tensor);
  std::memcpy(copy.mutable_buffer(), data, bytes(i));
  return copy;
}

}  // namespace votive::io
