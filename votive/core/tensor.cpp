// Making, sharing and ending tensors. A small tensor is one block: header, then data; a larger one has its data in a block of its own.
// Not here: reading elements (tensor_host.cpp), casting and moving to a device (ops/).
#include "votive/core/tensor.h"

#include <algorithm>
#include <limits>
#include <new>

#include "votive/base/text.h"
#include "votive/core/memory.h"

namespace votive {

namespace {

constexpr std::size_t data_alignment = 64;
// Header and data together: one allocation instead of two, and the first elements are in cache when the header is.
constexpr std::size_t inline_limit = 2048;

/// Whether element `last` lies in `bytes`; a quantised dtype counts whole blocks.
bool holds(std::size_t bytes, DType dtype, Size last) {
  const Size blocks = (is_quantised(dtype) ? last / block_size(dtype) : last) + 1;
  Size needed;
  return !__builtin_mul_overflow(blocks, block_bytes(dtype), &needed) && needed <= static_cast<Size>(bytes);
}

// Out of line, as in shape.cpp.
[[noreturn, gnu::cold, gnu::noinline]] void refuse_blocks(const char* op, const Meta& meta) {
  throw Error(ErrorKind::ShapeMismatch, op)
      .dtype(to_string(meta.dtype))
      .shape(meta.shape.to_vector())
      .detail(text::format("the last axis of {}{} is not a multiple of its block of {} elements", to_string(meta.dtype),
                           to_string(meta.shape), block_size(meta.dtype)));
}

[[gnu::noinline]] std::size_t packed_bytes_of(const char* op, const Meta& meta) {
  if (meta.shape.rank() != 2) throw Error(ErrorKind::Internal, op).shape(meta.shape.to_vector()).detail("a packed weight has two axes");
  if (meta.packing == Packing::panels) {  // bf16 in pairs of k; 128 bytes past the end may be read
    const Size even = meta.dtype == DType::bf16 ? meta.shape[1] + meta.shape[1] % 2 : meta.shape[1];
    return static_cast<std::size_t>(checked_count(op, {meta.shape[0], even}, block_bytes(meta.dtype), 1) * block_bytes(meta.dtype) + 128);
  }
  const Shape padded = {(meta.shape[0] + 15) / 16 * 16, meta.shape[1]};
  const Size block = block_size(meta.dtype), bytes = packed_block_bytes(meta.dtype);
  return static_cast<std::size_t>(checked_count(op, padded, bytes, block) / block * bytes);
}

std::size_t data_bytes_of(const char* op, const Meta& meta) {
  const Size block = block_size(meta.dtype), bytes = block_bytes(meta.dtype);
  const Size count = checked_count(op, meta.shape, bytes, block);
  if (block > 1 && (meta.shape.empty() || meta.shape.back() % block != 0)) [[unlikely]]
    refuse_blocks(op, meta);
  if (meta.packing != Packing::none) [[unlikely]]
    return packed_bytes_of(op, meta);
  return static_cast<std::size_t>((block > 1 ? count / block : count) * bytes);
}

[[gnu::noinline]] Memory allocate_for(const char* op, std::size_t bytes) {
  try {
    return allocate_memory(bytes);
  } catch (const Error& error) {
    throw Error(error.kind(), op)
        .value(error.value())
        .limit(error.limit())
        .detail(text::format("no memory for {} bytes", bytes))
        .hint("trim_memory() returns cached blocks");
  }
}

/// In place: a copy of strides that were just computed waits for their stores (measured: 4 ns of 16, Zen 5).
void set_row_major(const Shape& shape, Layout& layout) {
  layout.shape = layout.strides = shape;
  Size stride = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    layout.strides[axis] = stride;
    stride *= std::max<Size>(shape[axis], 1);
  }
}

/// Lowest and highest element that a layout with elements reaches; false when they do not fit into 64 bits.
bool reach_of(const Layout& layout, Size& low, Size& high) {
  low = high = layout.offset;
  for (int axis = 0; axis < layout.rank(); ++axis) {
    Size step;
    if (__builtin_mul_overflow(layout.shape[axis] - 1, layout.strides[axis], &step)) return false;
    Size& end = step < 0 ? low : high;
    if (__builtin_add_overflow(end, step, &end)) return false;
  }
  return true;
}

/// A quantised view takes whole blocks: they lie along one of the two last axes (the other after a transpose), with stride 1, and start and end between blocks.
bool keeps_blocks(const Layout& layout, Size block) {
  if (block == 1) return true;
  const int last = layout.rank() - 1;
  if (last < 0 || layout.offset % block != 0) return false;
  const auto along = [&](int axis) { return axis >= 0 && layout.shape[axis] % block == 0 && layout.strides[axis] == 1; };
  const int blocks_axis = along(last) ? last : last - 1;
  if (!along(blocks_axis)) return false;
  for (int axis = 0; axis <= last; ++axis)
    if (axis != blocks_axis && layout.shape[axis] > 1 && layout.strides[axis] % block != 0) return false;
  return true;
}

/// A packed weight is read as a whole, [n, k] or transposed.
bool is_whole_weight(const Layout& layout, const Layout& base) {
  if (layout.rank() != 2 || layout.offset != base.offset) return false;
  const auto same = [&](int a, int b) {
    return layout.shape[0] == base.shape[a] && layout.shape[1] == base.shape[b] && layout.strides[0] == base.strides[a] &&
           layout.strides[1] == base.strides[b];
  };
  return same(0, 1) || same(1, 0);
}

[[noreturn, gnu::cold, gnu::noinline]] void refuse_view(const Layout& layout, DType dtype, std::size_t bytes) {
  throw Error(ErrorKind::Internal, "view")
      .dtype(to_string(dtype))
      .shape(layout.shape.to_vector())
      .detail(text::format("shape {}, strides {}, offset {} leave the buffer of {} bytes of {}", to_string(layout.shape),
                           to_string(layout.strides), layout.offset, bytes, to_string(dtype)));
}

}  // namespace

Tensor::Body* Tensor::new_body(DType dtype, Device device, Packing packing, std::size_t data_bytes, std::size_t inline_bytes) {
  constexpr std::size_t header_bytes = (sizeof(Body) + data_alignment - 1) / data_alignment * data_alignment;
  const Memory block = allocate_memory(inline_bytes > 0 ? header_bytes + inline_bytes : sizeof(Body));
  Body* const body = new (block.address) Body;
  body->dtype = dtype;
  body->device = device;
  body->packing = packing;
  body->root = body;
  body->block_bytes = block.bytes;
  body->memory_bytes = data_bytes;
  body->memory_address = block.address + header_bytes;
  return body;
}

void Tensor::destroy(Body* body) noexcept {
  Body* const root = body->root;
  const Memory block{reinterpret_cast<std::byte*>(body), body->block_bytes};
  if (body->owns_memory) free_memory({const_cast<std::byte*>(body->memory_address), body->capacity_bytes});
  body->~Body();
  free_memory(block);
  if (root != body && is_last(root)) destroy(root);
}

Tensor Tensor::allocate(const char* op, const Meta& meta) {
  const std::size_t bytes = data_bytes_of(op, meta);
  Tensor tensor;
  if (bytes <= inline_limit) {
    tensor.body_ = new_body(meta.dtype, meta.device, meta.packing, bytes, std::max(bytes, data_alignment));
  } else {
    // The header first: when there is no memory for the data, the tensor's own end returns it.
    tensor.body_ = new_body(meta.dtype, meta.device, meta.packing, bytes, 0);
    const Memory memory = allocate_for(op, bytes);
    tensor.body_->owns_memory = true;
    tensor.body_->memory_address = memory.address;
    tensor.body_->capacity_bytes = memory.bytes;
  }
  set_row_major(meta.shape, tensor.body_->layout);
  return tensor;
}

Tensor Tensor::view(const Tensor& base, const Layout& layout) {
  Body* const root = base.body_->root;
  const DType dtype = base.body_->dtype;
  if (layout.strides.rank() != layout.rank()) refuse_view(layout, dtype, root->memory_bytes);
  const Size count = checked_count("view", layout.shape, block_bytes(dtype), block_size(dtype));
  if (base.body_->packing != Packing::none) {
    if (!is_whole_weight(layout, base.layout()))
      throw Error(ErrorKind::Unsupported, "view")
          .detail("a packed weight has no view but its transpose; only matmul, linear and embedding read it")
          .hint("Take the view before prepack()");
  } else if (count > 0) {
    Size low, high;
    if (!reach_of(layout, low, high) || low < 0 || high == std::numeric_limits<Size>::max() || !holds(root->memory_bytes, dtype, high) ||
        !keeps_blocks(layout, block_size(dtype)))
      refuse_view(layout, dtype, root->memory_bytes);
  }
  Tensor tensor(new_body(dtype, base.device(), base.packing(), root->memory_bytes, 0));
  tensor.body_->root = root;
  tensor.body_->memory_address = root->memory_address;
  tensor.body_->layout = layout;
  root->references.fetch_add(1, std::memory_order_relaxed);
  return tensor;
}

Tensor Tensor::borrow(const Meta& meta, const std::byte* address, std::size_t bytes, std::shared_ptr<const void> owner) {
  const std::size_t needed = data_bytes_of("borrow", meta);
  const Size alignment = is_quantised(meta.dtype) ? 1 : block_bytes(meta.dtype);
  if (meta.packing == Packing::none && bytes < needed)
    throw Error(ErrorKind::Internal, "borrow")
        .shape(meta.shape.to_vector())
        .detail(text::format("{} bytes are less than the {} of {}{}", bytes, needed, to_string(meta.dtype), to_string(meta.shape)));
  if (reinterpret_cast<std::uintptr_t>(address) % static_cast<std::uintptr_t>(alignment) != 0)
    throw Error(ErrorKind::Internal, "borrow")
        .detail(text::format("the address is not a multiple of the {} bytes of a {}", alignment, to_string(meta.dtype)));
  Tensor tensor(new_body(meta.dtype, meta.device, meta.packing, bytes, 0));
  tensor.body_->memory_address = address;
  tensor.body_->owner = std::move(owner);
  set_row_major(meta.shape, tensor.body_->layout);
  return tensor;
}

Tensor Tensor::with_record(RecordPtr record, int output) const {
  Body* const root = body_->root;
  Tensor tensor(new_body(body_->dtype, body_->device, body_->packing, root->memory_bytes, 0));
  tensor.body_->root = root;
  tensor.body_->memory_address = root->memory_address;
  tensor.body_->layout = body_->layout;
  tensor.body_->record = std::move(record);
  tensor.body_->output = output;
  root->references.fetch_add(1, std::memory_order_relaxed);
  return tensor;
}

Tensor Tensor::require_grad() const try {
  if (body_ == nullptr) throw Error(ErrorKind::InvalidArgument, "require_grad").detail("no tensor was given");
  if (!is_floating(body_->dtype)) {
    throw Error(ErrorKind::DTypeMismatch, "require_grad")
        .dtype(to_string(body_->dtype))
        .shape(shape().to_vector())
        .detail(text::format("{} has no gradient", to_string(body_->dtype)))
        .accepted("f16, bf16, f32, f64");
  }
  if (body_->packing != Packing::none) {
    throw Error(ErrorKind::Unsupported, "require_grad")
        .dtype(to_string(body_->dtype))
        .shape(shape().to_vector())
        .detail("a packed weight has no gradient")
        .hint("Ask for that of the weight that was packed");
  }
  return requires_grad() ? *this : with_record(RecordPtr(new Leaf), 0);
} catch (const std::bad_alloc&) { throw Error(ErrorKind::OutOfMemory, "require_grad").detail("no memory for a record"); }

Tensor Tensor::detach() const { return requires_grad() ? with_record({}, 0) : *this; }

Meta Tensor::meta() const {
  if (body_ == nullptr) {
    Meta none;
    none.present = false;
    return none;
  }
  return {body_->dtype, body_->layout.shape, body_->device, body_->packing, true};
}

}  // namespace votive
