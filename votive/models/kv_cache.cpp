// Buffers [B, K, room, D] per layer; `room` doubles until the capacity.
#include "votive/models/kv_cache.h"

#include <algorithm>

#include "votive/base/text.h"
#include "votive/ops/ops.h"

namespace votive::models {

KvCache::KvCache(const KvCacheShape& shape, Device device) : shape_(shape), device_(device) {
  if (shape.layers < 1 || shape.batch < 1 || shape.key_heads < 1 || shape.head_size < 1 || shape.capacity < 1) {
    throw Error(ErrorKind::InvalidArgument, "KvCache").detail("layers, batch, key_heads, head_size and capacity must be at least 1");
  }
  keys_.resize(static_cast<std::size_t>(shape.layers));
  values_.resize(static_cast<std::size_t>(shape.layers));
}

void KvCache::reserve(int layer, Size positions) {
  const auto at = static_cast<std::size_t>(layer);
  const Size room = keys_[at].defined() ? keys_[at].shape()[2] : 0;
  if (positions <= room) return;
  const Size wanted = std::min(shape_.capacity, std::max({positions, 2 * room, Size{256}}));
  for (Tensor* buffer : {&keys_[at], &values_[at]}) {
    Tensor larger = zeros({shape_.batch, shape_.key_heads, wanted, shape_.head_size}, f32, {.device = device_});
    if (length_ > 0) {
      Tensor held = narrow(larger, 2, 0, length_);
      copy_into(held, narrow(*buffer, 2, 0, length_));
    }
    *buffer = larger;
  }
}

KvCache::Layer KvCache::write(int layer, const Tensor& k, const Tensor& v) {
  if (layer < 0 || layer >= shape_.layers) {
    throw Error(ErrorKind::InvalidArgument, "KvCache::write").arg("layer", 1).detail(text::format("layer {} of {}", layer, shape_.layers));
  }
  const Size added = k.rank() == 4 ? k.shape()[2] : 0;
  const Shape expected = {shape_.batch, shape_.key_heads, added, shape_.head_size};
  if (k.shape() != expected || v.shape() != expected) {
    throw Error(ErrorKind::ShapeMismatch, "KvCache::write")
        .detail(text::format("keys {} and values {} should both be {}", to_string(k.shape()), to_string(v.shape()), to_string(expected)));
  }
  if (added > shape_.capacity - length_) {
    throw Error(ErrorKind::InvalidArgument, "KvCache::write")
        .detail(text::format("{} positions after {} exceed the capacity of {}", added, length_, shape_.capacity))
        .hint("Make the cache larger, or shorten the text");
  }
  reserve(layer, length_ + added);
  Tensor& keys = keys_[static_cast<std::size_t>(layer)];
  Tensor& values = values_[static_cast<std::size_t>(layer)];
  Tensor key_place = narrow(keys, 2, length_, added), value_place = narrow(values, 2, length_, added);
  copy_into(key_place, k);
  copy_into(value_place, v);
  return {narrow(keys, 2, 0, length_ + added), narrow(values, 2, 0, length_ + added)};
}

void KvCache::truncate(Size length) {
  if (length < 0 || length > length_) {
    throw Error(ErrorKind::InvalidArgument, "KvCache::truncate")
        .arg("length", 1)
        .detail(text::format("{} is not in 0..{}", length, length_));
  }
  length_ = length;
}

}  // namespace votive::models
