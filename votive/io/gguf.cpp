// Reading GGUF: a cursor that cannot leave the file, one pass that checks every length, an index sorted by name.
// Facts of the format: ggml's docs/gguf.md (versions 2 and 3, little-endian) and ggml's table of type sizes.
#include "votive/io/gguf.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>

#include "votive/base/refuse_memory.h"
#include "votive/base/text.h"

namespace votive::io {

namespace {

// More of either than any model has; they bound what the index can take beside the file's own length.
constexpr std::uint64_t most_values = 4096, most_tensors = 8192;
constexpr std::uint64_t longest_name = 65535;

[[noreturn]] void refuse(std::size_t at, const std::string& detail) {
  throw Error(ErrorKind::InvalidFile, "GGUF").position({static_cast<Size>(at)}).detail(text::format("{} (byte {})", detail, at));
}
/// For a key or tensor that the file has: its name lies in the mapping, so its place is known.
[[noreturn]] void refuse_name(std::span<const std::byte> file, std::string_view name, const std::string& detail) {
  const auto at = reinterpret_cast<const std::byte*>(name.data()) - file.data();
  throw Error(ErrorKind::InvalidFile, "GGUF")
      .value(text::shown(name))
      .position({at})
      .detail(text::format("'{}' {} (byte {})", text::shown(name), detail, at));
}
[[noreturn]] void refuse_missing(std::string_view name, const char* where) {
  throw Error(ErrorKind::InvalidFile, "GGUF")
      .value(text::shown(name))
      .detail(text::format("'{}' is missing from the {}", text::shown(name), where));
}

/// Reads forward through the file and refuses to go past its end.
class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::size_t at() const { return at_; }
  std::size_t left() const { return bytes_.size() - at_; }
  const std::byte* here() const { return bytes_.data() + at_; }

  void skip(std::uint64_t n, const char* what) {
    if (n > left()) refuse(at_, text::format("{} of {} bytes does not fit into the {} that are left", what, n, left()));
    at_ += static_cast<std::size_t>(n);
  }
  template <class T>
  T read(const char* what) {
    T value;
    const std::byte* from = here();
    skip(sizeof(T), what);
    std::memcpy(&value, from, sizeof(T));
    return value;
  }
  std::string_view string(const char* what) {
    const auto length = read<std::uint64_t>(what);
    const auto* from = reinterpret_cast<const char*>(here());
    skip(length, what);
    return {from, static_cast<std::size_t>(length)};
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

GgufType read_type(Cursor& cursor, std::string_view key) {
  const std::size_t at = cursor.at();
  const auto type = cursor.read<std::uint32_t>("a value's type");
  if (type > static_cast<std::uint32_t>(GgufType::f64))
    refuse(at, text::format("the value of '{}' has type {}, which does not exist", text::shown(key), type));
  return static_cast<GgufType>(type);
}

void check_booleans(const std::byte* data, std::size_t n, std::size_t at, std::string_view key) {
  for (std::size_t i = 0; i < n; ++i) {
    if (std::to_integer<unsigned>(data[i]) > 1)
      refuse(at + i, text::format("'{}' holds the bool {}, neither 0 nor 1", text::shown(key), std::to_integer<unsigned>(data[i])));
  }
}

/// A ggml tensor type. Types without dtype are known by their size, so that a file with them can still be looked at.
struct TensorType {
  std::uint32_t id;
  std::string_view name;
  std::optional<DType> dtype;
  std::uint32_t block, bytes;
};
constexpr TensorType tensor_types[] = {
    {0, "F32", DType::f32, 1, 4},        {1, "F16", DType::f16, 1, 2},
    {2, "Q4_0", DType::q4_0, 32, 18},    {3, "Q4_1", DType::q4_1, 32, 20},
    {6, "Q5_0", DType::q5_0, 32, 22},    {7, "Q5_1", DType::q5_1, 32, 24},
    {8, "Q8_0", DType::q8_0, 32, 34},    {9, "Q8_1", {}, 32, 36},
    {10, "Q2_K", {}, 256, 84},           {11, "Q3_K", {}, 256, 110},
    {12, "Q4_K", DType::q4_k, 256, 144}, {13, "Q5_K", DType::q5_k, 256, 176},
    {14, "Q6_K", DType::q6_k, 256, 210}, {15, "Q8_K", {}, 256, 292},
    {16, "IQ2_XXS", {}, 256, 66},        {17, "IQ2_XS", {}, 256, 74},
    {18, "IQ3_XXS", {}, 256, 98},        {19, "IQ1_S", {}, 256, 50},
    {20, "IQ4_NL", {}, 32, 18},          {21, "IQ3_S", {}, 256, 110},
    {22, "IQ2_S", {}, 256, 82},          {23, "IQ4_XS", {}, 256, 136},
    {24, "I8", DType::i8, 1, 1},         {25, "I16", DType::i16, 1, 2},
    {26, "I32", DType::i32, 1, 4},       {27, "I64", DType::i64, 1, 8},
    {28, "F64", DType::f64, 1, 8},       {29, "IQ1_M", {}, 256, 56},
    {30, "BF16", DType::bf16, 1, 2},     {34, "TQ1_0", {}, 256, 54},
    {35, "TQ2_0", {}, 256, 66},          {39, "MXFP4", {}, 32, 17},
};

const TensorType* find_type(std::uint32_t id) {
  const auto* found = std::find_if(std::begin(tensor_types), std::end(tensor_types), [&](const TensorType& t) { return t.id == id; });
  return found == std::end(tensor_types) ? nullptr : found;
}

GgufTensor read_tensor(Cursor& cursor) {
  GgufTensor tensor{};
  const std::size_t start = cursor.at();
  tensor.name = cursor.string("a tensor's name");
  if (tensor.name.empty() || tensor.name.size() > longest_name) refuse(start, "a tensor's name is empty or longer than 65535 bytes");
  const std::string name = text::shown(tensor.name);
  const std::size_t at = cursor.at();
  const auto rank = cursor.read<std::uint32_t>("a tensor's number of axes");
  if (rank > 4) refuse(at, text::format("tensor '{}' has {} axes; GGUF has at most 4", name, rank));
  tensor.rank = static_cast<int>(rank);
  // A size of 0 counts as 1 here, so that strides, which are products of the other sizes, cannot overflow either (CONTRACT.md section 8).
  Size extent = 1;
  bool empty = false, overflow = false;
  for (int axis = tensor.rank - 1; axis >= 0; --axis) {  // the file has the fastest axis first
    const auto size = cursor.read<std::uint64_t>("a tensor's size");
    empty |= size == 0;
    overflow |= __builtin_mul_overflow(extent, std::max<std::uint64_t>(size, 1), &extent);
    tensor.sizes[axis] = static_cast<Size>(size);
  }
  const auto id = cursor.read<std::uint32_t>("a tensor's type");
  const TensorType* type = find_type(id);
  if (type == nullptr) refuse(at, text::format("tensor '{}' has type {}, which is not known", name, id));
  tensor.type_name = type->name;
  tensor.dtype = type->dtype;
  Size bytes = 0;
  if (overflow || __builtin_mul_overflow((extent - 1) / type->block + 1, type->bytes, &bytes))
    refuse(at, text::format("the sizes of tensor '{}' multiply to more than 2⁶³−1 bytes", name));
  const Size row = rank == 0 ? 1 : tensor.sizes[tensor.rank - 1];
  if (row % type->block != 0) {
    refuse(at, text::format("rows of {} elements of tensor '{}' are not whole {} blocks of {}", row, name, type->name, type->block));
  }
  tensor.bytes = empty ? 0 : static_cast<std::size_t>(bytes);
  tensor.offset = static_cast<std::size_t>(cursor.read<std::uint64_t>("a tensor's offset"));
  return tensor;
}

/// Positions of `items` in the order of `key`; a doubled key is refused.
template <class Item, class Key>
std::vector<std::uint32_t> order_by(std::span<const std::byte> file, const std::vector<Item>& items, Key key, const char* what) {
  std::vector<std::uint32_t> order(items.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return key(items[a]) < key(items[b]); });
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (key(items[order[i]]) == key(items[order[i - 1]]))
      refuse_name(file, key(items[order[i]]), text::format("is there twice as a {}", what));
  }
  return order;
}

template <class Item, class Key>
const Item* find_by(const std::vector<Item>& items, const std::vector<std::uint32_t>& order, Key key, std::string_view wanted) {
  const auto at =
      std::lower_bound(order.begin(), order.end(), wanted, [&](std::uint32_t i, std::string_view w) { return key(items[i]) < w; });
  return at != order.end() && key(items[*at]) == wanted ? &items[*at] : nullptr;
}

constexpr auto key_of = [](const GgufValue& value) { return value.key(); };
constexpr auto name_of = [](const GgufTensor& tensor) { return tensor.name; };

/// Data of tensors lies inside the file, aligned, and no two overlap. Makes offsets within the data offsets within the file.
void check_places(std::span<const std::byte> file, std::size_t alignment, std::size_t data_start, std::vector<GgufTensor>& tensors) {
  const std::size_t room = file.size() > data_start ? file.size() - data_start : 0;
  for (GgufTensor& tensor : tensors) {
    if (tensor.offset % alignment != 0)
      refuse_name(file, tensor.name, text::format("has offset {}, not a multiple of the alignment {}", tensor.offset, alignment));
    if (data_start > file.size() || tensor.offset > room || tensor.bytes > room - tensor.offset)
      refuse_name(file, tensor.name, text::format("needs bytes {} + {} of the data, which has {}", tensor.offset, tensor.bytes, room));
    tensor.offset += data_start;
  }
  std::vector<std::uint32_t> order(tensors.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return tensors[a].offset < tensors[b].offset; });
  std::size_t reached = 0;
  for (std::uint32_t i : order) {
    if (tensors[i].bytes == 0) continue;
    if (tensors[i].offset < reached) refuse_name(file, tensors[i].name, "shares bytes with another tensor");
    reached = tensors[i].offset + tensors[i].bytes;
  }
}

/// A count of entries, each at least `shortest` bytes long, that the rest of the file can hold and the index wants to.
std::size_t read_count(Cursor& cursor, const char* what, std::size_t behind, std::size_t shortest, std::uint64_t most) {
  const std::size_t at = cursor.at();
  const auto count = cursor.read<std::uint64_t>(what);
  if (count > (cursor.left() > behind ? cursor.left() - behind : 0) / shortest)
    refuse(at, text::format("{} is {}, more than the file can hold", what, count));
  if (count > most) {
    throw Error(ErrorKind::Unsupported, "GGUF")
        .value(std::to_string(count))
        .limit(std::to_string(most))
        .position({static_cast<Size>(at)})
        .detail(text::format("{} is {}; Votive reads up to {}", what, count, most));
  }
  return static_cast<std::size_t>(count);
}

}  // namespace

std::string_view to_string(GgufType type) {
  constexpr std::string_view names[] = {"u8", "i8", "u16", "i16", "u32", "i32", "f32", "bool", "string", "array", "u64", "i64", "f64"};
  return names[static_cast<std::size_t>(type)];
}

GgufFile::GgufFile(MappedFile file) try : file_(std::move(file)) {
  Cursor cursor(file_.bytes());
  const auto magic = cursor.read<std::uint32_t>("the magic number");
  if (magic != 0x46554747u) refuse(0, "the file does not begin with 'GGUF'");
  version_ = cursor.read<std::uint32_t>("the version");
  if (version_ != 2 && version_ != 3) {
    refuse(4, version_ != 0 && (version_ & 0xffffu) == 0 ? "the file is big-endian; only little-endian files are read"
                                                         : text::format("version {} is not 2 or 3", version_));
  }
  // The shortest entries are 24 and 13 bytes long: a count that the rest of the file cannot hold is refused before anything is allocated.
  const std::size_t tensor_count = read_count(cursor, "the number of tensors", 8, 24, most_tensors);
  const std::size_t value_count = read_count(cursor, "the number of keys", 24 * tensor_count, 13, most_values);

  values_.reserve(value_count);
  for (std::size_t i = 0; i < value_count; ++i) {
    GgufValue value;
    const std::size_t at = cursor.at();
    value.at_ = static_cast<Size>(at + 8);
    value.key_ = cursor.string("a key");
    if (value.key_.empty() || value.key_.size() > longest_name) refuse(at, "a key is empty or longer than 65535 bytes");
    value.type_ = read_type(cursor, value.key_);
    GgufType element = value.type_;
    std::uint64_t count = 1;
    if (value.type_ == GgufType::array) {
      element = read_type(cursor, value.key_);
      if (element == GgufType::array) refuse(cursor.at(), text::format("'{}' is an array of arrays", text::shown(value.key_)));
      count = cursor.read<std::uint64_t>("an array's length");
      const std::uint64_t least = element == GgufType::string ? 8 : bytes_of(element);
      if (count > cursor.left() / least)
        refuse(cursor.at(), text::format("'{}' has {} elements, more than the file can hold", text::shown(value.key_), count));
    }
    value.element_type_ = element;
    value.count_ = static_cast<Size>(count);
    value.data_ = cursor.here();
    if (element == GgufType::string) {
      for (std::uint64_t j = 0; j < count; ++j) cursor.string("a string");
    } else {
      const std::size_t before = cursor.at();
      cursor.skip(count * bytes_of(element), "a value");
      if (element == GgufType::boolean) check_booleans(value.data_, static_cast<std::size_t>(count), before, value.key_);
    }
    values_.push_back(value);
  }
  value_order_ = order_by(file_.bytes(), values_, key_of, "key");

  if (const GgufValue* alignment = find("general.alignment")) {
    alignment_ = alignment->integer();
    if (alignment_ < 1 || alignment_ > (Size{1} << 20) || !std::has_single_bit(static_cast<std::uint64_t>(alignment_))) {
      refuse_name(file_.bytes(), alignment->key(), text::format("is {}, not a power of two up to 2^20", alignment_));
    }
  }

  tensors_.reserve(tensor_count);
  for (std::size_t i = 0; i < tensor_count; ++i) tensors_.push_back(read_tensor(cursor));
  tensor_order_ = order_by(file_.bytes(), tensors_, name_of, "tensor");
  const auto step = static_cast<std::size_t>(alignment_);
  check_places(file_.bytes(), step, (cursor.at() + step - 1) / step * step, tensors_);
} catch (const std::bad_alloc&) { detail::refuse_memory("gguf"); }

const GgufValue* GgufFile::find(std::string_view key) const { return find_by(values_, value_order_, key_of, key); }

const GgufValue& GgufFile::at(std::string_view key) const {
  if (const GgufValue* value = find(key)) return *value;
  refuse_missing(key, "metadata");
}

const GgufTensor* GgufFile::find_tensor(std::string_view name) const { return find_by(tensors_, tensor_order_, name_of, name); }

Tensor GgufFile::tensor(std::string_view name) const {
  const GgufTensor* entry = find_tensor(name);
  if (entry == nullptr) refuse_missing(name, "tensors");
  if (!entry->dtype.has_value()) {
    throw Error(ErrorKind::Unsupported, "GGUF")
        .value(text::shown(name))
        .detail(text::format("tensor '{}' is {}", text::shown(name), entry->type_name))
        .accepted("F32, F16, BF16, F64, I8, I16, I32, I64, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, Q5_K, Q6_K");
  }
  const Meta meta{*entry->dtype, entry->shape()};
  const std::byte* data = file_.bytes().data() + entry->offset;
  const Size needed = is_quantised(meta.dtype) ? 1 : block_bytes(meta.dtype);
  if (reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(needed) == 0)
    return Tensor::borrow(meta, data, entry->bytes, file_.owner());
  Tensor copy = Tensor::allocate("GGUF", meta);
  std::memcpy(copy.mutable_buffer(), data, entry->bytes);
  return copy;
}

}  // namespace votive::io
