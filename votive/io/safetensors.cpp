// Reading safetensors: one pass over the header counts, the second fills, hence the index is allocated once and is never longer than the header:
// an entry has 40 bytes, the shortest text of one 49 without name and sizes.
// Facts of the format: huggingface/safetensors, README "Format".
#include "votive/io/safetensors.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "votive/base/refuse_memory.h"
#include "votive/base/text.h"
#include "votive/io/json_cursor.h"

namespace votive::io {

namespace {

constexpr std::uint64_t longest_header = 100'000'000;  // the format's own limit
constexpr std::size_t most_metadata = 4096;            // 96 bytes each beside their text

[[noreturn]] void refuse(std::size_t at, const std::string& detail) {
  throw Error(ErrorKind::InvalidFile, "safetensors").position({static_cast<Size>(at)}).detail(text::format("{} (byte {})", detail, at));
}
[[noreturn]] void refuse_name(std::string_view name, std::size_t at, const std::string& detail) {
  throw Error(ErrorKind::InvalidFile, "safetensors")
      .value(text::shown(name))
      .position({static_cast<Size>(at)})
      .detail(text::format("'{}' {} (byte {})", text::shown(name), detail, at));
}

std::optional<DType> dtype_of(const JsonCursor::Text& name) {
  constexpr std::pair<std::string_view, DType> names[] = {
      {"BOOL", DType::boolean}, {"U8", DType::u8},   {"I8", DType::i8},   {"U16", DType::u16},      {"I16", DType::i16},
      {"U32", DType::u32},      {"I32", DType::i32}, {"U64", DType::u64}, {"I64", DType::i64},      {"F16", DType::f16},
      {"BF16", DType::bf16},    {"F32", DType::f32}, {"F64", DType::f64}, {"F8_E4M3", DType::e4m3}, {"F8_E5M2", DType::e5m2},
  };
  for (const auto& [known, dtype] : names) {
    if (name.is(known)) return dtype;
  }
  return std::nullopt;
}

/// Of the format, but without a dtype of Votive.
bool is_unsupported(const JsonCursor::Text& name) {
  constexpr std::string_view names[] = {"C64", "F4", "F6_E2M3", "F6_E3M2", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"};
  return std::any_of(std::begin(names), std::end(names), [&](std::string_view n) { return name.is(n); });
}

/// For an error: decoded when short, as it stands in the file when long.
std::string readable(const JsonCursor::Text& text) {
  std::string plain;
  if (text.raw.size() > 1000) return std::string(text.raw.substr(0, 1000));
  text.append_to(plain);
  return plain;
}

}  // namespace

/// Reads  { name: { "dtype": s, "shape": [n…], "data_offsets": [begin, end] }…, "__metadata__": { s: s… } }  once, to count or to fill.
class SafetensorsHeader {
 public:
  SafetensorsHeader(SafetensorsFile& file, std::string_view json, std::size_t data_start, bool fill)
      : file_(file), json_("safetensors", json, 8), data_start_(data_start), fill_(fill) {
    json_.expect('{', "the header's brace");
    if (!json_.take('}')) {
      do read_member();
      while (json_.take(','));
      json_.expect('}', "a comma or the header's last brace");
    }
    json_.expect_end();
  }

  std::size_t tensors = 0, name_bytes = 0, size_bytes = 0, metadata = 0;

 private:
  void read_member() {
    name_ = json_.text("a name");
    json_.speak_of(name_.raw);
    name_at_ = json_.at() - name_.raw.size() - 1;
    json_.expect(':', "a colon");
    if (name_.is("__metadata__")) {
      read_metadata();
    } else {
      read_tensor();
    }
    json_.speak_of({});
  }

  void read_metadata() {
    if (has_metadata_) refuse("is there twice");
    has_metadata_ = true;
    json_.expect('{', "the brace of __metadata__");
    if (json_.take('}')) return;
    do {
      const JsonCursor::Text key = json_.text("a key of __metadata__");
      json_.expect(':', "a colon");
      const JsonCursor::Text value = json_.text("a text of __metadata__");
      if (++metadata > most_metadata) {
        throw Error(ErrorKind::Unsupported, "safetensors")
            .position({static_cast<Size>(name_at_)})
            .limit(std::to_string(most_metadata))
            .detail(text::format("'__metadata__' has more than {} texts", most_metadata));
      }
      if (!fill_) continue;
      auto& [kept_key, kept_value] = file_.metadata_.emplace_back();
      keep(key, kept_key);
      keep(value, kept_value);
    } while (json_.take(','));
    json_.expect('}', "a comma or the last brace of __metadata__");
  }

  void read_tensor() {
    entry_ = {};
    unsigned seen = 0;
    json_.expect('{', "a tensor's brace");
    if (json_.take('}')) refuse("lacks dtype, shape or data_offsets");
    do {
      const JsonCursor::Text field = json_.text("a tensor's field");
      json_.expect(':', "a colon");
      const unsigned bit = field.is("dtype") ? 1 : field.is("shape") ? 2 : field.is("data_offsets") ? 4 : 0;
      if (bit == 0) refuse(text::format("has the field '{}', which the format does not know", text::shown(readable(field))));
      if ((seen & bit) != 0) refuse(text::format("has '{}' twice", readable(field)));
      seen |= bit;
      if (bit == 1) {
        read_dtype();
      } else if (bit == 2) {
        read_shape();
      } else {
        read_offsets();
      }
    } while (json_.take(','));
    json_.expect('}', "a comma or a tensor's last brace");
    if (seen != 7) refuse("lacks dtype, shape or data_offsets");
    check();
    keep_entry();
  }

  void read_dtype() {
    const JsonCursor::Text name = json_.text("a dtype");
    const std::optional<DType> dtype = dtype_of(name);
    if (!dtype.has_value() && is_unsupported(name)) {
      throw Error(ErrorKind::Unsupported, "safetensors")
          .value(text::shown(readable(name_)))
          .position({static_cast<Size>(name_at_)})
          .detail(text::format("tensor '{}' is {}", text::shown(readable(name_)), readable(name)))
          .accepted("BOOL, U8 … U64, I8 … I64, F16, BF16, F32, F64, F8_E4M3, F8_E5M2");
    }
    if (!dtype.has_value()) refuse(text::format("has dtype '{}', which is not known", text::shown(readable(name), 40)));
    entry_.dtype = *dtype;
  }

  void read_shape() {
    shape_ = Shape();
    json_.expect('[', "a list");
    if (json_.take(']')) return;
    do {
      const std::uint64_t size = json_.number("a size");
      if (shape_.rank() == max_rank) refuse(text::format("has more than {} axes", max_rank));
      if (size > static_cast<std::uint64_t>(std::numeric_limits<Size>::max())) refuse(text::format("has the size {}", size));
      shape_.push_back(static_cast<Size>(size));
    } while (json_.take(','));
    json_.expect(']', "a comma or the list's end");
  }

  void read_offsets() {
    json_.expect('[', "a list");
    entry_.begin = json_.number("an offset");
    json_.expect(',', "a comma and the second offset");
    entry_.end = json_.number("an offset");
    json_.expect(']', "the end of two offsets");
  }

  /// The three fields against each other and against the file.
  void check() const {
    const std::size_t data_bytes = file_.file_.bytes().size() - data_start_;
    // A size of 0 counts as 1 here, so that strides, which are products of the other sizes, cannot overflow either (CONTRACT.md section 8).
    Size bytes = block_bytes(entry_.dtype);
    bool empty = false;
    for (Size size : shape_) {
      empty = empty || size == 0;
      if (__builtin_mul_overflow(bytes, std::max<Size>(size, 1), &bytes)) refuse("has sizes that multiply to more than 2⁶³−1 bytes");
    }
    if (entry_.begin > entry_.end || entry_.end > data_bytes)
      refuse(text::format("lies at {}..{} of {} bytes of data", entry_.begin, entry_.end, data_bytes));
    const std::uint64_t needed = empty ? 0 : static_cast<std::uint64_t>(bytes);
    if (entry_.end - entry_.begin != needed)
      refuse(text::format("has {} bytes where its shape and dtype need {}", entry_.end - entry_.begin, needed));
  }

  void keep_entry() {
    entry_.header_at = static_cast<std::uint32_t>(name_at_);
    entry_.name_at = static_cast<std::uint32_t>(name_bytes);
    entry_.name_bytes = static_cast<std::uint32_t>(name_.decoded_bytes());
    entry_.sizes_at = static_cast<std::uint32_t>(size_bytes);
    entry_.rank = static_cast<std::uint8_t>(shape_.rank());
    entry_.begin += data_start_;
    entry_.end += data_start_;
    ++tensors;
    name_bytes += entry_.name_bytes;
    for (Size size : shape_) push_size(static_cast<std::uint64_t>(size));
    if (!fill_) return;
    file_.entries_.push_back(entry_);
    name_.append_to(file_.names_);
  }

  void push_size(std::uint64_t value) {
    do {
      const auto low = static_cast<std::uint8_t>(value & 127);
      value >>= 7;
      if (fill_) file_.sizes_.push_back(static_cast<std::uint8_t>(value != 0 ? low | 128 : low));
      ++size_bytes;
    } while (value != 0);
  }

  static void keep(const JsonCursor::Text& text, std::string& kept) {
    kept.reserve(text.decoded_bytes());
    text.append_to(kept);
  }

  [[noreturn]] void refuse(const std::string& detail) const { refuse_name(readable(name_), name_at_, detail); }

  SafetensorsFile& file_;
  JsonCursor json_;
  std::size_t data_start_, name_at_ = 0;
  bool fill_, has_metadata_ = false;
  JsonCursor::Text name_;
  Shape shape_;
  SafetensorsFile::Entry entry_{};
};

SafetensorsFile::SafetensorsFile(MappedFile file) try : file_(std::move(file)) {
  const std::span<const std::byte> bytes = file_.bytes();
  if (bytes.size() < 8) refuse(0, text::format("the file has {} bytes; the header's length alone takes 8", bytes.size()));
  std::uint64_t length;
  std::memcpy(&length, bytes.data(), 8);
  if (length > longest_header) refuse(0, text::format("a header of {} bytes is longer than the format's {}", length, longest_header));
  if (length > bytes.size() - 8) refuse(0, text::format("a header of {} bytes does not fit into the file of {}", length, bytes.size()));
  const std::string_view json(reinterpret_cast<const char*>(bytes.data()) + 8, static_cast<std::size_t>(length));
  if (json.empty() || json[0] != '{') refuse(8, "the header does not begin with '{'");
  const std::size_t data_start = 8 + json.size();

  const SafetensorsHeader counted(*this, json, data_start, false);
  entries_.reserve(counted.tensors);
  names_.reserve(counted.name_bytes);
  sizes_.reserve(counted.size_bytes);
  metadata_.reserve(counted.metadata);
  const SafetensorsHeader filled(*this, json, data_start, true);

  // The tensors tile the data: sorted by place, each begins where the one before ends.
  std::sort(entries_.begin(), entries_.end(),
            [](const Entry& a, const Entry& b) { return a.begin != b.begin ? a.begin < b.begin : a.end < b.end; });
  std::uint64_t reached = data_start;
  for (Size i = 0; i < size(); ++i) {
    const Entry& entry = entries_[static_cast<std::size_t>(i)];
    if (entry.begin != reached) refuse_entry(i, entry.begin < reached ? "shares bytes with another tensor" : "leaves a gap before it");
    reached = entry.end;
  }
  if (reached != bytes.size()) refuse(reached, text::format("{} bytes after the last tensor belong to none", bytes.size() - reached));
  std::sort(entries_.begin(), entries_.end(), [this](const Entry& a, const Entry& b) {
    const auto named = [this](const Entry& e) { return std::string_view(names_).substr(e.name_at, e.name_bytes); };
    return named(a) < named(b);
  });
  for (Size i = 1; i < size(); ++i) {
    if (name(i) == name(i - 1)) refuse_entry(i, "is there twice");
  }
  std::sort(metadata_.begin(), metadata_.end());
  for (std::size_t i = 1; i < metadata_.size(); ++i) {
    if (metadata_[i].first == metadata_[i - 1].first) refuse_name(metadata_[i].first, 8, "is there twice in __metadata__");
  }
} catch (const std::bad_alloc&) { detail::refuse_memory("safetensors"); }

void SafetensorsFile::refuse_entry(Size i, const std::string& detail) const {
  refuse_name(name(i), entries_[static_cast<std::size_t>(i)].header_at, detail);
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
  if (i < 0)
    throw Error(ErrorKind::InvalidFile, "safetensors")
        .value(text::shown(wanted))
        .detail(text::format("'{}' is not in the file", text::shown(wanted)));
  const Meta meta_of_tensor = meta(i);
  const std::byte* data = file_.bytes().data() + entries_[static_cast<std::size_t>(i)].begin;
  if (meta_of_tensor.dtype == DType::boolean) {
    for (std::size_t j = 0; j < bytes(i); ++j) {
      if (std::to_integer<unsigned>(data[j]) > 1)
        refuse_entry(i, text::format("holds the bool {} at element {}", std::to_integer<unsigned>(data[j]), j));
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
