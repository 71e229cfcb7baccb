// Sizes of a tensor: up to 16 axes of 64-bit sizes, stored in place, so that a shape never allocates (CONTRACT.md section 8).
#pragma once

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "votive/base/error.h"

namespace votive {

inline constexpr int max_rank = 16;

/// A short list of sizes or strides. The first four always have values, 0 past the rank, so that copying or comparing up to four is a few moves and no loop.
class Sizes {
 public:
  Sizes() noexcept { std::fill_n(size_, few, 0); }
  Sizes(std::initializer_list<Size> sizes) : Sizes(std::span(sizes.begin(), sizes.size())) {}
  explicit Sizes(std::span<const Size> sizes);  ///< Throws Error{InvalidArgument} past 16 axes.
  Sizes(const Sizes& other) noexcept { copy(other); }
  Sizes& operator=(const Sizes& other) noexcept {
    copy(other);
    return *this;
  }
  static Sizes filled(int rank, Size value);

  int rank() const { return rank_; }
  bool empty() const { return rank_ == 0; }
  Size operator[](int axis) const { return size_[axis]; }
  Size& operator[](int axis) { return size_[axis]; }
  Size back() const { return size_[rank_ - 1]; }
  Size& back() { return size_[rank_ - 1]; }
  const Size* begin() const { return size_; }
  const Size* end() const { return size_ + rank_; }
  Size* begin() { return size_; }
  Size* end() { return size_ + rank_; }
  void push_back(Size size);
  void insert(int axis, Size size);  ///< before `axis`
  void erase(int axis);
  std::vector<Size> to_vector() const { return {begin(), end()}; }

  friend bool operator==(const Sizes& a, const Sizes& b) {
    if (a.rank_ != b.rank_) return false;
    Size difference = 0;
    for (int i = 0; i < few; ++i) difference |= a.size_[i] ^ b.size_[i];
    return difference == 0 && (a.rank_ <= few || std::equal(a.size_ + few, a.end(), b.size_ + few));
  }

 private:
  static constexpr int few = 4;
  void copy(const Sizes& other) noexcept {
    rank_ = other.rank_;
    std::memcpy(size_, other.size_, few * sizeof(Size));  // copy_n would call memmove
    if (rank_ > few) [[unlikely]]
      std::copy_n(other.size_ + few, rank_ - few, size_ + few);
  }

  int rank_ = 0;
  Size size_[max_rank];
};

using Shape = Sizes;
using Strides = Sizes;  // in elements; negative and zero are allowed

std::string to_string(const Sizes& sizes);  ///< "[8, 576]"

/// The number of elements. Shapes in tensors have been checked, so the product cannot overflow.
inline Size count(const Shape& shape) {
  Size n = 1;
  for (Size s : shape) n *= s;
  return n;
}

/// Throws Error{InvalidArgument} for a negative size and Error{SizeOverflow} when the bytes of `shape` exceed 2⁶³−1, naming `op`.
Size checked_count(std::string_view op, const Shape& shape, Size bytes_per_block = 1, Size elements_per_block = 1);

/// Axis in [−rank, rank) to [0, rank). Throws Error{InvalidAxis}.
int normalise_axis(std::string_view op, int axis, int rank);

/// NumPy's broadcasting of two shapes (also 1 against 0 → 0). Throws Error{ShapeMismatch}.
Shape broadcast_shape(std::string_view op, const Shape& a, const Shape& b);

/// Row-major strides of a shape.
Strides contiguous_strides(const Shape& shape);

}  // namespace votive
