// Keys and values of the positions a model has seen, per layer: buffers of fixed capacity that grow in place, so that a token costs a write and
// no copy. Beside copy_into the only thing in Votive that writes into a tensor.
#pragma once

#include <vector>

#include "votive/core/tensor.h"

namespace votive::models {

struct KvCacheShape {
  int layers = 0;
  Size batch = 1, key_heads = 0, head_size = 0, capacity = 0;
};

class KvCache {
 public:
  KvCache() = default;
  /// Memory grows by doubling up to `capacity` positions. Throws Error{InvalidArgument}, Error{SizeOverflow}.
  explicit KvCache(const KvCacheShape& shape, Device device = Device::cpu);

  Size length() const { return length_; }  ///< positions that every layer holds
  Size capacity() const { return shape_.capacity; }
  Size batch() const { return shape_.batch; }

  struct Layer {
    Tensor keys, values;  ///< [B, K, length + T, D], views of the buffers
  };
  /// Writes k and v [B, K, T, D] after the positions held and returns all of them. Throws Error{ShapeMismatch}, Error{InvalidArgument} when full.
  Layer write(int layer, const Tensor& k, const Tensor& v);
  /// To be called once every layer was written.
  void advance(Size positions) { length_ += positions; }
  /// Forgets all positions from `length` on.
  void truncate(Size length);

 private:
  void reserve(int layer, Size positions);

  KvCacheShape shape_;
  Device device_ = Device::cpu;
  Size length_ = 0;
  std::vector<Tensor> keys_, values_;
};

}  // namespace votive::models
