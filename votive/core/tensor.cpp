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

/// Also the number of elements.
std::size_t data_bytes_of(const char* op, const Meta& meta, Size& count) {
  const Size block = block_size(meta.dtype), bytes = block_bytes(meta.dtype);
  count = checked_count(op, meta.shape, bytes, block);
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
void set_row_major(Layout& layout) {
  Size stride = 1;
  for (int axis = layout.shape.rank() - 1; axis >= 0; --axis) {
    layout.strides[axis] = stride;
    stride *= std::max<Size>(layout.shape[axis], 1);
  }
}

bool has_row_major_strides(const Layout& layout) {
  Size stride = 1;
  bool is = true;
  for (int axis = layout.rank() - 1; axis >= 0; --axis) {
    is &= layout.strides[axis] == stride;
    stride *= std::max<Size>(layout.shape[axis], 1);
  }
  return is;
}

/// Of a row-major tensor.
bool is_small(DType dtype, Packing packing, Size count) {
  return !is_quantised(dtype) && packing == Packing::none && count > 0 &&
         count <= static_cast<Size>(small_and_dense_bytes) / block_bytes(dtype);
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
  throw Error(ErrorKind::InvalidArgument, "view")
      .dtype(to_string(dtype))
      .shape(layout.shape.to_vector())
      .detail(text::format("shape {}, strides {}, offset {} leave the buffer of {} bytes of {}", to_string(layout.shape),
                           to_string(layout.strides), layout.offset, bytes, to_string(dtype)));
}

}  // namespace

Tensor::Body* Tensor::new_row_major(std::size_t inline_bytes, const Meta& meta, Size count, std::size_t data_bytes) {
  Body* const body = new_body(inline_bytes, meta.shape, meta.shape, 0);
  body->kind = Kind(meta.dtype, meta.device, meta.packing);
  set_row_major(body->layout);
  body->row_major = true;
  body->small_and_dense = is_small(meta.dtype, meta.packing, count);
  body->count = count;
  body->memory_bytes = data_bytes;
  return body;
}

/// The header of a view of all of the base's elements, which has yet to be counted as a reference to the root.
inline Tensor::Body* Tensor::new_view(Body* base, const Shape& shape, const Strides& strides) {
  Body* const body = new_body(0, shape, strides, base->layout.offset);
  body->kind = base->kind;
  body->row_major = base->row_major;
  body->small_and_dense = base->small_and_dense;
  body->count = base->count;
  body->root = base->root;
  body->memory_address = base->root->memory_address;
  body->memory_bytes = base->root->memory_bytes;
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
  Size count;
  const std::size_t bytes = data_bytes_of(op, meta, count);
  Tensor tensor;
  if (bytes <= small_and_dense_bytes) {
    tensor.body_ = new_row_major(std::max(bytes, data_alignment), meta, count, bytes);
  } else {
    // The header first: when there is no memory for the data, the tensor's own end returns it.
    tensor.body_ = new_row_major(0, meta, count, bytes);
    const Memory memory = allocate_for(op, bytes);
    tensor.body_->owns_memory = true;
    tensor.body_->memory_address = memory.address;
    tensor.body_->capacity_bytes = memory.bytes;
  }
  return tensor;
}

void Tensor::refuse_no_tensor(const char* call) {
  throw Error(ErrorKind::InvalidArgument, call).detail("no tensor was given").hint("Ask defined() first where a tensor may be left out");
}

Tensor Tensor::view(const Tensor& base, const Layout& layout) {
  Body* const root = base.body("view").root;
  const DType dtype = base.body_->kind.dtype();
  if (layout.strides.rank() != layout.rank()) refuse_view(layout, dtype, root->memory_bytes);
  const Size count = checked_count("view", layout.shape, block_bytes(dtype), block_size(dtype));
  if (base.body_->kind.packing() != Packing::none) {
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
  Tensor tensor(new_body(0, layout.shape, layout.strides, layout.offset));
  Body& body = *tensor.body_;
  body.kind = base.body_->kind;
  body.row_major = has_row_major_strides(layout);
  body.small_and_dense = body.row_major && is_small(dtype, body.kind.packing(), count);
  body.count = count;
  body.root = root;
  body.memory_address = root->memory_address;
  body.memory_bytes = root->memory_bytes;
  root->references.fetch_add(1, std::memory_order_relaxed);
  return tensor;
}

Tensor Tensor::view_row_major(const Tensor& base, const Shape& shape) {
  Body* const body = new_view(&base.body("view_row_major"), shape, shape);
  set_row_major(body->layout);
  body->root->references.fetch_add(1, std::memory_order_relaxed);
  return Tensor(body);
}

Tensor Tensor::borrow(const Meta& meta, const std::byte* address, std::size_t bytes, std::shared_ptr<const void> owner) {
  Size count;
  const std::size_t needed = data_bytes_of("borrow", meta, count);
  const Size alignment = is_quantised(meta.dtype) ? 1 : block_bytes(meta.dtype);
  if (meta.packing == Packing::none && bytes < needed)
    throw Error(ErrorKind::InvalidArgument, "borrow")
        .shape(meta.shape.to_vector())
        .detail(text::format("{} bytes are less than the {} of {}{}", bytes, needed, to_string(meta.dtype), to_string(meta.shape)));
  if (address == nullptr && needed != 0) throw Error(ErrorKind::InvalidArgument, "borrow").detail("the address is null");
  if (reinterpret_cast<std::uintptr_t>(address) % static_cast<std::uintptr_t>(alignment) != 0)
    throw Error(ErrorKind::InvalidArgument, "borrow")
        .detail(text::format("the address is not a multiple of the {} bytes of a {}", alignment, to_string(meta.dtype)));
  Tensor tensor(new_row_major(0, meta, count, bytes));
  tensor.body_->memory_address = address;
  tensor.body_->owner = std::move(owner);
  return tensor;
}

Tensor Tensor::with_record(RecordPtr record, int output) const& {
  body("with_record");
  Tensor tensor(new_view(body_, body_->layout.shape, body_->layout.strides));
  tensor.body_->record = std::move(record);
  tensor.body_->output = output;
  body_->root->references.fetch_add(1, std::memory_order_relaxed);
  return tensor;
}

Tensor Tensor::with_record(RecordPtr record, int output) && {
  const bool alone = body("with_record").references.load(std::memory_order_acquire) == 1;
  if (body_->root == body_) {
    // Never in the root's own header: views of it, such as detach() makes, keep that alive, and would keep the history with it.
    Body* const body = new_view(body_, body_->layout.shape, body_->layout.strides);
    body_ = body;  // and the root's reference, which was this handle's, is the new header's
  } else if (!alone || body_->record) {
    *this = static_cast<const Tensor&>(*this).with_record({}, 0);
  }
  body_->record = std::move(record);
  body_->output = output;
  return std::move(*this);
}

Tensor Tensor::require_grad() const try {
  if (!is_floating(body("require_grad").kind.dtype())) {
    throw Error(ErrorKind::DTypeMismatch, "require_grad")
        .dtype(to_string(body_->kind.dtype()))
        .shape(shape().to_vector())
        .detail(text::format("{} has no gradient", to_string(body_->kind.dtype())))
        .accepted("f16, bf16, f32, f64");
  }
  if (body_->kind.packing() != Packing::none) {
    throw Error(ErrorKind::Unsupported, "require_grad")
        .dtype(to_string(body_->kind.dtype()))
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
  return {body_->kind.dtype(), body_->layout.shape, body_->kind.device(), body_->kind.packing(), true};
}

}  // namespace votive
