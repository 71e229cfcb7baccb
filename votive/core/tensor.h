// A tensor: dtype, layout, device and a buffer, behind a handle of one pointer. Tensors are values and immutable: copying a handle shares
// everything, and operations (ops/ops.h) give new tensors. Tensor has no operations of its own, so it does not grow with their number.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "votive/core/device.h"
#include "votive/core/dtype.h"
#include "votive/core/layout.h"
#include "votive/core/memory.h"
#include "votive/core/record.h"

namespace votive {

/// How the bytes of a weight are arranged. prepack() makes `rows16` of quantised weights and `panels` of floats, for the matmul of this machine's CPU;
/// only matmul, linear, embedding and to(dtype) read them.
enum class Packing : std::uint8_t { none, rows16, panels };

/// What an operation's rules need to know of a tensor. `present` is false for an optional argument that was left out.
struct Meta {
  DType dtype = DType::f32;
  Shape shape = {};
  Device device = Device::cpu;
  Packing packing = Packing::none;
  bool present = true;
};

/// Header and data together up to here: one allocation instead of two, and the first elements are in cache when the header is.
inline constexpr std::size_t small_and_dense_bytes = 2048;

class Tensor {
 public:
  /// No tensor: an optional argument left out, or a handle that was moved from. What asks for its contents throws Error{InvalidArgument} that names the call.
  Tensor() noexcept = default;
  Tensor(const Tensor& other) noexcept : body_(other.body_) { retain(); }
  Tensor(Tensor&& other) noexcept : body_(std::exchange(other.body_, nullptr)) {}
  Tensor& operator=(Tensor other) noexcept {
    std::swap(body_, other.body_);
    return *this;
  }
  ~Tensor() { release(); }

  /// A new buffer with undefined contents, row-major. Throws Error{SizeOverflow}, Error{OutOfMemory}, naming `op`.
  static Tensor allocate(const char* op, const Meta& meta);
  /// The same with x's dtype, shape and device, of which nothing has to be asked: x is small and row-major (is_small_and_dense).
  static Tensor allocate_like(const Tensor& x);
  /// A view: other layout (and possibly dtype of the same size) over the same buffer, which it must not leave: Error{InvalidArgument}.
  static Tensor view(const Tensor& base, const Layout& layout);
  /// A view of another shape with as many elements, row-major as the base, which must be (is_row_major) and is neither quantised nor packed.
  static Tensor view_row_major(const Tensor& base, const Shape& shape);
  /// Memory that someone else owns (a mapped file); `owner` keeps it alive. Row-major. Error{InvalidArgument} of null, misaligned or too little of it.
  static Tensor borrow(const Meta& meta, const std::byte* address, std::size_t bytes, std::shared_ptr<const void> owner);

  bool defined() const { return body_ != nullptr; }
  DType dtype() const { return body("dtype").kind.dtype(); }
  Device device() const { return body("device").kind.device(); }
  Packing packing() const { return body("packing").kind.packing(); }
  const Layout& layout() const { return body("layout").layout; }
  const Shape& shape() const { return body("shape").layout.shape; }
  const Strides& strides() const { return body("strides").layout.strides; }
  Size offset() const { return body("offset").layout.offset; }
  int rank() const { return shape().rank(); }
  Size size(int axis) const { return shape()[normalise_axis("size", axis, rank())]; }
  Size count() const { return body("count").count; }
  /// Strides as allocate() gives them, also along axes of size 1.
  bool is_row_major() const { return body("is_row_major").row_major; }
  bool is_contiguous() const {
    const Body& own = body("is_contiguous");
    return own.row_major || own.layout.is_contiguous();
  }
  Meta meta() const;
  /// Some elements, small_and_dense_bytes at most, row-major, neither quantised nor packed: what apply() may compute without asking for more.
  bool is_small_and_dense() const { return body_ != nullptr && body_->small_and_dense; }

  /// Another dtype (CONTRACT.md section 6; ops/cast.cpp) or another device. The same tensor when nothing changes.
  Tensor to(DType dtype) const;
  Tensor to(Device device) const;

  /// This tensor as a leaf whose gradient backward() will give; shares the memory. Throws Error{DTypeMismatch} unless floating.
  Tensor require_grad() const;
  /// Whether backward() can reach a leaf from here.
  bool requires_grad() const { return body_ != nullptr && body_->record.get() != nullptr; }
  /// The same values without their history; shares the memory.
  Tensor detach() const;

  /// Elements in row-major order, as T, which must match the dtype exactly (bool, [u]int8_t … int64_t, float, double; f16, bf16 and f8 as
  /// their bits in uint16_t or uint8_t). Synchronises. Throws Error{DTypeMismatch}.
  template <class T>
  std::vector<T> to_host() const;
  /// The one element of a tensor of count 1, converted to T exactly or Error{DTypeMismatch}; floats of any width come as float or double.
  template <class T>
  T item() const;

  /// Start of the buffer, before the layout's offset; of the buffer's device. For kernels (F3) and readers of files.
  const std::byte* buffer() const { return body("buffer").root->memory_address; }
  std::byte* mutable_buffer() { return const_cast<std::byte*>(body("mutable_buffer").root->memory_address); }
  std::size_t buffer_bytes() const { return body("buffer_bytes").root->memory_bytes; }
  /// The first element; of dtypes without blocks.
  const std::byte* first() const {
    const Body& own = body("first");
    return own.memory_address + own.layout.offset * block_bytes(own.kind.dtype());
  }
  std::byte* mutable_first() { return const_cast<std::byte*>(first()); }
  /// Two handles of the same tensor.
  bool same_as(const Tensor& other) const { return body_ == other.body_; }
  bool shares_buffer_with(const Tensor& other) const { return body("shares_buffer_with").root == other.body("shares_buffer_with").root; }
  /// How this tensor came to be (null: nobody asks), and which of its record's outputs it is. For ops/ and autograd/.
  Record* record() const { return body_ == nullptr ? nullptr : body_->record.get(); }
  int output() const { return body("output").output; }
  /// The same values with that history: a new header over the same memory; of a view that nobody else holds, its own header.
  Tensor with_record(RecordPtr record, int output) const&;
  Tensor with_record(RecordPtr record, int output) &&;
  /// How often the memory was written after it was made (copy_into). A record that saved the tensor compares it before it reads.
  std::uint32_t version() const { return body("version").root->version; }
  void count_write() { ++body("count_write").root->version; }
  /// The memory is someone else's (borrow), such as a mapped file's, and must not be written.
  bool is_borrowed() const { return body("is_borrowed").root->owner != nullptr; }

 private:
  // Dtype, device and packing in one word: read together after they were stored one by one, they would wait for the stores (measured: 4 ns of 30, Zen 4).
  struct Kind {
    std::uint32_t word = 0;
    Kind() = default;
    Kind(DType dtype, Device device, Packing packing)
        : word(static_cast<std::uint32_t>(dtype) | static_cast<std::uint32_t>(device.kind) << 8 |
               static_cast<std::uint32_t>(packing) << 16) {}
    DType dtype() const { return static_cast<DType>(word & 0xff); }
    Device device() const { return {static_cast<Device::Kind>(word >> 8 & 0xff)}; }
    Packing packing() const { return static_cast<Packing>(word >> 16 & 0xff); }
  };
  // One block holds the header and, for small tensors, the data after it. A view points at the tensor that owns the memory (`root`).
  // What every operation reads comes first, in one cache line.
  struct Body {
    Body(const Shape& shape, const Strides& strides, Size offset) noexcept : layout{shape, strides, offset} {}

    std::atomic<std::uint32_t> references{1};
    Kind kind;
    bool owns_memory = false;
    bool row_major = false;  // strides are contiguous_strides(shape)
    bool small_and_dense = false;
    std::uint32_t version = 0;  // of the root
    int output = 0;
    Body* root = this;
    const std::byte* memory_address = nullptr;
    std::size_t memory_bytes = 0;
    Size count = 0;  // of elements
    RecordPtr record;
    std::size_t block_bytes = 0;     // of this header's own block
    std::size_t capacity_bytes = 0;  // of the block at memory_address when owns_memory
    std::shared_ptr<const void> owner;
    Layout layout;
  };
  explicit Tensor(Body* body) noexcept : body_(body) {}
  /// What asks for something of a tensor goes through here: of no tensor it is an error that names the call, not a read through null.
  Body& body(const char* call) const {
    if (body_ == nullptr) [[unlikely]]
      refuse_no_tensor(call);
    return *body_;
  }
  [[noreturn]] static void refuse_no_tensor(const char* call);
  static constexpr std::size_t data_alignment = 64, header_bytes = (sizeof(Body) + data_alignment - 1) / data_alignment * data_alignment;
  /// Of its kind, its flags and its count nothing is said yet.
  static Body* new_body(std::size_t inline_bytes, const Shape& shape, const Strides& strides, Size offset) {
    const Memory block = allocate_memory(header_bytes + inline_bytes);
    Body* const body = new (block.address) Body(shape, strides, offset);
    body->memory_address = block.address + header_bytes;
    body->block_bytes = block.bytes;
    return body;
  }
  static Body* new_row_major(std::size_t inline_bytes, const Meta& meta, Size count, std::size_t data_bytes);
  static Body* new_view(Body* base, const Shape& shape, const Strides& strides);
  static void destroy(Body* body) noexcept;
  void retain() const noexcept {
    if (body_ != nullptr) body_->references.fetch_add(1, std::memory_order_relaxed);
  }
  void release() noexcept {
    if (body_ != nullptr && is_last(body_)) destroy(body_);
  }
  // Whoever holds the only reference needs no locked instruction: nobody else can be copying it.
  static bool is_last(Body* body) noexcept {
    return body->references.load(std::memory_order_acquire) == 1 || body->references.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

  Body* body_ = nullptr;
};

// In line: where it is called, the first elements of the result are then a sum of registers.
inline Tensor Tensor::allocate_like(const Tensor& x) {
  const Body& like = *x.body_;
  const auto bytes = static_cast<std::size_t>(like.count * votive::block_bytes(like.kind.dtype()));
  Body* const body = new_body(std::max(bytes, data_alignment), like.layout.shape, like.layout.strides, 0);
  body->kind = like.kind;
  body->row_major = body->small_and_dense = true;
  body->count = like.count;
  body->memory_bytes = bytes;
  return Tensor(body);
}

}  // namespace votive
