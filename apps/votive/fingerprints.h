// Fingerprints: a hash of an operation's output bits on fixed inputs. One table of them serves every device, because the contract has one answer.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "votive/votive.h"

namespace votive::app {

struct Fingerprint {
  std::string name;  ///< "softmax f32"
  std::uint64_t hash;
};

/// Every operation that has a fingerprint, computed on `device` with the instruction set and threads in force.
std::vector<Fingerprint> fingerprints(Device device);

/// The committed ones (golden_fingerprints.cpp), made by `votive verify --write` and checked by every build since.
struct GoldenFingerprint {
  const char* name;
  std::uint64_t hash;
};
extern const std::span<const GoldenFingerprint> golden_fingerprints;

/// 64-bit hash of the elements in row-major order; every NaN of a float dtype counts as one. The first fingerprints are made with it.
std::uint64_t hash_of(const Tensor& x);

/// The same of several results, their dtypes and shapes too. `exact` where an operation moves bits, those of NaN among them.
enum class NanBits : std::uint8_t { alike, exact };
std::uint64_t hash_of_all(const std::vector<Tensor>& outputs, NanBits nan_bits = NanBits::alike);

}  // namespace votive::app
