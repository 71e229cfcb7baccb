// What the lists of fingerprints are written with: inputs, and the collector that computes and hashes.
#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "fingerprints.h"

namespace votive::app {

using Outputs = std::vector<Tensor>;

inline constexpr DType every_dtype[] = {boolean, u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64, e4m3, e5m2};

/// Elements of `dtype` whose bits are random; bool is 0 or 1.
Tensor random_bits(const Shape& shape, DType dtype, std::uint64_t seed, Device device);
Tensor normal(const Shape& shape, DType dtype, std::uint64_t seed, Device device);
/// Normal numbers of float dtypes, random bits of the others.
Tensor numbers(const Shape& shape, DType dtype, std::uint64_t seed, Device device);
/// Whole numbers from -8 (0 where there is no sign) to 8, so with many ties.
Tensor small(const Shape& shape, DType dtype, std::uint64_t seed, Device device);
/// Whole numbers from 0 to n - 1.
Tensor positions(const Shape& shape, Size n, DType dtype, std::uint64_t seed, Device device);
/// A quantised weight with scales of ordinary size: random blocks whose f16 scales are cleared of infinities and NaN.
Tensor random_weight(Size n, Size k, DType dtype, Device device);

class Collector {
 public:
  explicit Collector(Device device) : device_(device) {}
  Device device() const { return device_; }

  /// One of the first 423, hashed by hash_of.
  void add(const std::string& name, const std::function<Tensor()>& compute);
  template <class Function>
  void add_for(std::string_view name, std::initializer_list<DType> dtypes, Function function) {
    for (DType dtype : dtypes) add(std::string(name) + " " + std::string(to_string(dtype)), [&] { return function(dtype); });
  }

  /// Hashed by hash_of_all. A name that is there already is not computed again.
  void one(const std::string& name, const std::function<Outputs()>& compute, NanBits nan_bits = NanBits::alike);
  /// The same, or nothing where the operation refuses these dtypes.
  void one_if_taken(const std::string& name, const std::function<Outputs()>& compute, NanBits nan_bits = NanBits::alike);
  /// "name dtype" for each dtype that the operation takes.
  void all(const std::string& name, const std::function<Outputs(DType)>& compute, NanBits nan_bits = NanBits::alike);

  std::vector<Fingerprint> take() { return std::move(list_); }

 private:
  void keep(std::string name, std::uint64_t hash);

  Device device_;
  std::vector<Fingerprint> list_;
  std::set<std::string> known_;
};

/// The pointwise functions of one tensor and nothing else.
struct UnaryFunction {
  const char* name;
  Tensor (*function)(const Tensor&);
};
std::span<const UnaryFunction> functions_of_one();

void add_first(Collector& c);
void add_unary(Collector& c);
void add_binary(Collector& c);
void add_reductions(Collector& c);
void add_orders(Collector& c);
void add_norms(Collector& c);
void add_products(Collector& c);
void add_windows(Collector& c);
void add_attention(Collector& c);
void add_creation(Collector& c);
void add_movement(Collector& c);
void add_indexing(Collector& c);
void add_losses(Collector& c);
void add_gradients(Collector& c);
void add_large(Collector& c);

}  // namespace votive::app
