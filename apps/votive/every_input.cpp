// How every_input.h is computed: workers take blocks, each on its own thread, with a pool of one.
#include "every_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "fingerprint_list.h"

namespace votive::app {

namespace {

template <class Word>
void count_up(std::byte* to, Size n, std::uint32_t first) {
  for (Size i = 0; i < n; ++i) {
    const auto bits = static_cast<Word>(first + static_cast<std::uint32_t>(i));
    std::memcpy(to + i * static_cast<Size>(sizeof bits), &bits, sizeof bits);
  }
}

Tensor inputs_of(const InputFunction& function, Device device, int block) {
  const bool narrow = function.dtype != f32;
  const Size n = narrow ? 65536 : inputs_per_block;
  Tensor x = Tensor::allocate("verify", {function.dtype, {n}});
  (narrow ? count_up<std::uint16_t> : count_up<std::uint32_t>)(x.mutable_buffer(), n, static_cast<std::uint32_t>(block * inputs_per_block));
  return x.to(device);
}

template <class Word>
Word with_one_nan(Word bits, Word infinity) {
  const Word magnitude = bits & static_cast<Word>(static_cast<Word>(~Word{0}) >> 1);
  return magnitude > infinity ? static_cast<Word>(infinity | (infinity >> 1)) : bits;
}

/// Makes the NaNs of a stretch of results alike.
void make_nans_alike(DType dtype, std::uint64_t* words, std::size_t n) {
  auto* bytes = reinterpret_cast<std::uint8_t*>(words);
  const auto each = [&]<class Word>(Word infinity) {
    for (std::size_t i = 0; i < n * 8; i += sizeof(Word)) {
      Word w;
      std::memcpy(&w, bytes + i, sizeof w);
      w = with_one_nan(w, infinity);
      std::memcpy(bytes + i, &w, sizeof w);
    }
  };
  switch (dtype) {
    case DType::f64: return each(std::uint64_t{0x7ff0000000000000u});
    case DType::f32: return each(std::uint32_t{0x7f800000u});
    case DType::f16: return each(std::uint16_t{0x7c00u});
    case DType::bf16: return each(std::uint16_t{0x7f80u});
    case DType::e5m2: return each(std::uint8_t{0x7cu});
    case DType::e4m3: return each(std::uint8_t{0x7eu});
    default: return;
  }
}

/// Four chains, so that a multiplication need not wait for the last; the rotation brings every bit of a word into the product.
class Hasher {
 public:
  void operator()(const std::uint64_t* words, std::size_t n) {
    for (std::size_t i = 0; i < n; i += 4) {
      for (std::size_t lane = 0; lane < 4; ++lane) lanes_[lane] = std::rotl(lanes_[lane] ^ words[i + lane], 31) * factor;
    }
  }
  std::uint64_t hash() const {
    std::uint64_t hash = 0;
    for (const std::uint64_t lane : lanes_) hash = std::rotl(hash ^ lane, 27) * factor;
    return hash;
  }
  static constexpr std::uint64_t factor = 0x9e3779b97f4a7c15u;

 private:
  std::uint64_t lanes_[4] = {1, 2, 3, 4};
};

/// Calls visit(words, n) with the results of a block, NaNs alike, a stretch at a time.
template <class Visit>
void each_stretch(const InputFunction& function, Device device, int block, Visit visit) {
  const Tensor given = function.call(inputs_of(function, device, block));
  const Tensor y = contiguous(given.device() == Device::cpu ? given : given.to(Device::cpu));
  const std::byte* from = y.buffer() + y.offset() * block_bytes(y.dtype());
  const Size bytes = y.count() * block_bytes(y.dtype());
  std::uint64_t words[1024];
  for (Size at = 0; at < bytes; at += static_cast<Size>(sizeof words)) {
    const auto n = static_cast<std::size_t>(std::min<Size>(bytes - at, sizeof words));
    std::memcpy(words, from + at, n);
    make_nans_alike(y.dtype(), words, n / 8);
    visit(words, n / 8);
  }
}

std::vector<std::uint64_t> words_of_block(const InputFunction& function, Device device, int block) {
  std::vector<std::uint64_t> all;
  each_stretch(function, device, block, [&](const std::uint64_t* words, std::size_t n) { all.insert(all.end(), words, words + n); });
  return all;
}

}  // namespace

std::vector<InputFunction> functions_of_every_input() {
  std::vector<InputFunction> all;
  for (const DType dtype : {f16, bf16, f32}) {
    const auto add = [&](const std::string& name, std::function<Tensor(const Tensor&)> call) {
      all.push_back({name + " " + std::string(to_string(dtype)), dtype, std::move(call)});
    };
    for (const auto& [name, function] : functions_of_one()) {
      if (function != static_cast<Tensor (*)(const Tensor&)>(bitwise_not)) add(name, function);
    }
    add("leaky_relu", [](const Tensor& x) { return leaky_relu(x, 0.1); });
    add("elu", [](const Tensor& x) { return elu(x, 0.7); });
    add("celu", [](const Tensor& x) { return celu(x, 0.7); });
    add("hardshrink", [](const Tensor& x) { return hardshrink(x); });
    add("softshrink", [](const Tensor& x) { return softshrink(x); });
    add("hardtanh", [](const Tensor& x) { return hardtanh(x); });
    add("threshold", [](const Tensor& x) { return threshold(x, 0.3, -0.6); });
    add("affine", [](const Tensor& x) { return affine(x, 1.7, -0.3); });
    add("nan_to_num", [](const Tensor& x) { return nan_to_num(x); });
    for (const DType to : every_dtype) {
      if (to != dtype) add("cast to " + std::string(to_string(to)) + " from", [to](const Tensor& x) { return cast(x, to); });
    }
  }
  return all;
}

std::uint64_t hash_of_block(const InputFunction& function, Device device, int block) {
  Hasher hasher;
  each_stretch(function, device, block, [&](const std::uint64_t* words, std::size_t n) { hasher(words, n); });
  return hasher.hash();
}

std::uint64_t hash_of_slice(const InputFunction& function, Device device, int slice, int threads) {
  const int blocks = function.dtype == f32 ? blocks_per_slice : 1;
  std::vector<std::uint64_t> hashes(static_cast<std::size_t>(blocks));
  std::atomic<int> next{0};
  std::exception_ptr failed;
  std::once_flag first_failure;
  const auto work = [&] {
    try {
      for (int i; (i = next++) < blocks;)
        hashes[static_cast<std::size_t>(i)] = hash_of_block(function, device, slice * blocks_per_slice + i);
    } catch (...) {
      next = blocks;
      std::call_once(first_failure, [&] { failed = std::current_exception(); });
    }
  };
  const int before = votive::threads();
  set_threads(1);
  std::vector<std::jthread> workers;
  try {
    for (int i = 1; i < threads && i < blocks; ++i) workers.emplace_back(work);
  } catch (const std::system_error&) {
    // the system gives no more threads: those there are do the work
  }
  work();
  workers.clear();  // joins
  set_threads(before);
  if (failed) std::rethrow_exception(failed);
  std::uint64_t hash = 0;
  for (const std::uint64_t h : hashes) hash = std::rotl(hash ^ h, 27) * Hasher::factor;
  return hash;
}

std::string first_difference(const InputFunction& function, int slice) {
  const int blocks = function.dtype == f32 ? blocks_per_slice : 1;
  for (int i = 0; i < blocks; ++i) {
    const int block = slice * blocks_per_slice + i;
    const std::vector<std::uint64_t> a = words_of_block(function, Device::cpu, block),
                                     b = words_of_block(function, Device::reference, block);
    if (a == b) continue;
    const Size n = function.dtype == f32 ? inputs_per_block : 65536;
    const auto width = static_cast<Size>(a.size() * 8) / n;
    for (Size k = 0; k < n; ++k) {
      std::uint64_t p = 0, q = 0;
      std::memcpy(&p, reinterpret_cast<const char*>(a.data()) + k * width, static_cast<std::size_t>(width));
      std::memcpy(&q, reinterpret_cast<const char*>(b.data()) + k * width, static_cast<std::size_t>(width));
      if (p == q) continue;
      const auto input = static_cast<std::uint64_t>(block) * static_cast<std::uint64_t>(inputs_per_block) + static_cast<std::uint64_t>(k);
      return fmt::format("{}(0x{:0{}x}): cpu 0x{:x}, reference 0x{:x}", function.name, input, function.dtype == f32 ? 8 : 4, p, q);
    }
  }
  return {};
}

}  // namespace votive::app
