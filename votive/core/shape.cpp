// Checked arithmetic on shapes. A size that does not fit is refused here, before anything is allocated.
#include "votive/core/shape.h"

#include "votive/base/text.h"

namespace votive {

namespace {

// Out of line: what only an error needs would otherwise cost every call its registers.
[[noreturn, gnu::cold, gnu::noinline]] void refuse_rank(int rank) {
  throw Error(ErrorKind::InvalidArgument, "shape")
      .detail(text::format("{} axes are more than a tensor can have", rank))
      .limit(std::to_string(max_rank))
      .accepted(text::format("rank 0 … {}", max_rank));
}

[[noreturn, gnu::cold, gnu::noinline]] void refuse_negative(std::string_view op, const Shape& shape, Size size) {
  throw Error(ErrorKind::InvalidArgument, op)
      .value(std::to_string(size))
      .shape(shape.to_vector())
      .detail(text::format("shape {} has a negative size", to_string(shape)));
}

[[noreturn, gnu::cold, gnu::noinline]] void refuse_size(std::string_view op, const Shape& shape) {
  throw Error(ErrorKind::SizeOverflow, op)
      .shape(shape.to_vector())
      .limit("2⁶³−1 bytes")
      .detail(text::format("shape {} takes more than 2⁶³−1 bytes", to_string(shape)));
}

}  // namespace

Sizes::Sizes(std::span<const Size> sizes) : Sizes() {
  if (sizes.size() > max_rank) refuse_rank(static_cast<int>(std::min<std::size_t>(sizes.size(), 1u << 30)));
  rank_ = static_cast<int>(sizes.size());
  std::copy(sizes.begin(), sizes.end(), size_);
}

Sizes Sizes::filled(int rank, Size value) {
  if (rank < 0 || rank > max_rank) refuse_rank(rank);
  Sizes sizes;
  sizes.rank_ = rank;
  std::fill_n(sizes.size_, rank, value);
  return sizes;
}

void Sizes::push_back(Size size) {
  if (rank_ == max_rank) refuse_rank(rank_ + 1);
  size_[rank_++] = size;
}

void Sizes::insert(int axis, Size size) {
  if (rank_ == max_rank) refuse_rank(rank_ + 1);
  std::copy_backward(size_ + axis, size_ + rank_, size_ + rank_ + 1);
  size_[axis] = size;
  ++rank_;
}

void Sizes::erase(int axis) {
  std::copy(size_ + axis + 1, size_ + rank_, size_ + axis);
  size_[--rank_] = 0;
}

std::string to_string(const Sizes& sizes) {
  std::string text = "[";
  for (int axis = 0; axis < sizes.rank(); ++axis) {
    if (axis > 0) text += ", ";
    text += std::to_string(sizes[axis]);
  }
  return text + "]";
}

Size checked_count(std::string_view op, const Shape& shape, Size bytes_per_block, Size elements_per_block) {
  // Sizes of zero are left out of the check, so that strides, which are products of some of the sizes, cannot overflow either.
  Size count = 1, product = 1;
  bool overflow = false;
  for (const Size size : shape) {
    if (size < 0) [[unlikely]]
      refuse_negative(op, shape, size);
    count = size == 0 ? 0 : count;
    overflow |= __builtin_mul_overflow(product, std::max<Size>(size, 1), &product);
  }
  Size blocks = product, bytes;
  if (elements_per_block > 1) blocks = product / elements_per_block + (product % elements_per_block != 0);
  overflow |= __builtin_mul_overflow(blocks, bytes_per_block, &bytes);
  if (overflow) [[unlikely]]
    refuse_size(op, shape);
  return count == 0 ? 0 : product;
}

int normalise_axis(std::string_view op, int axis, int rank) {
  if (axis < -rank || axis >= rank) [[unlikely]] {
    Error error(ErrorKind::InvalidAxis, op);
    error.value(std::to_string(axis));
    if (rank == 0) throw error.detail(text::format("axis {} of a tensor without axes", axis));
    throw error.detail(text::format("axis {} of a tensor with {} axes", axis, rank)).accepted(text::format("{} … {}", -rank, rank - 1));
  }
  return axis < 0 ? axis + rank : axis;
}

Shape broadcast_shape(std::string_view op, const Shape& a, const Shape& b) {
  if (a == b) return a;
  const Shape& longer = a.rank() >= b.rank() ? a : b;
  const Shape& shorter = a.rank() >= b.rank() ? b : a;
  Shape result = longer;
  const int ahead = longer.rank() - shorter.rank();
  for (int axis = 0; axis < shorter.rank(); ++axis) {
    const Size one = longer[axis + ahead], other = shorter[axis];
    if (one != other && one != 1 && other != 1)
      throw Error(ErrorKind::ShapeMismatch, op)
          .shape(a.to_vector())
          .shape(b.to_vector())
          .detail(text::format("{} and {} do not broadcast: {} against {} at axis {}", to_string(a), to_string(b),
                               a.rank() >= b.rank() ? one : other, a.rank() >= b.rank() ? other : one, axis + ahead));
    result[axis + ahead] = one == 1 ? other : one;
  }
  return result;
}

Strides contiguous_strides(const Shape& shape) {
  Strides strides = shape;
  Size stride = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    strides[axis] = stride;
    stride *= std::max<Size>(shape[axis], 1);
  }
  return strides;
}

}  // namespace votive
