// Llama and Qwen2 files small enough to be checked by hand: two layers of width 64 from a fixed generator, put together byte by byte.
// Holds the weights as the doubles that the file's numbers mean. Not here: what a model makes of them, tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tests/io/file_bytes.h"

namespace votive::models {

/// What the file says of its model, and what it may say beside the common.
struct Recipe {
  std::string architecture = "llama";
  std::size_t layers = 2, width = 64, heads = 4, key_heads = 2, head = 16, hidden = 96, vocabulary = 50;
  std::size_t rotated = 0;  // 0: the whole head, and no key says so
  double base = 10000;      // 10000: no key says so
  double scale = 1;         // of the positions
  bool halves = false, own_output = false, factors = false, biases = false, quantised = false;

  std::size_t turning() const { return rotated == 0 ? head : rotated; }
};

/// SplitMix64 (Steele, Lea, Flood 2014).
class Generator {
 public:
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// In [low, high), a multiple of (high − low)·2⁻¹²: exact in f32 for the bounds used here.
  double between(double low, double high) { return low + (high - low) * static_cast<double>(next() >> 52) * 0x1p-12; }

 private:
  std::uint64_t state_ = 2024;
};

struct TinyTensor {
  std::vector<std::uint64_t> sizes;  // slowest first, as a matrix is written
  std::uint32_t type = io::gguf::F32;
  std::vector<double> values;
  std::string bytes;
};

struct TinyFile {
  using Value = std::variant<std::uint32_t, float, std::string>;
  std::map<std::string, Value> keys;
  std::map<std::string, TinyTensor> tensors;

  explicit TinyFile(const Recipe& r) {
    const std::string prefix = r.architecture + ".";
    const auto whole = [&](const char* key, std::size_t value) { keys[prefix + key] = static_cast<std::uint32_t>(value); };
    keys["general.architecture"] = r.architecture;
    keys[prefix + "attention.layer_norm_rms_epsilon"] = 1e-5f;
    whole("block_count", r.layers);
    whole("context_length", 32);
    whole("embedding_length", r.width);
    whole("feed_forward_length", r.hidden);
    whole("attention.head_count", r.heads);
    whole("attention.head_count_kv", r.key_heads);
    if (r.head != r.width / r.heads) whole("attention.key_length", r.head);
    if (r.rotated != 0) whole("rope.dimension_count", r.rotated);
    if (r.base != 10000) keys[prefix + "rope.freq_base"] = static_cast<float>(r.base);
    if (r.scale != 1) {
      keys[prefix + "rope.scaling.type"] = "linear";
      keys[prefix + "rope.scaling.factor"] = static_cast<float>(r.scale);
    }

    matrix("token_embd.weight", r.vocabulary, r.width, r.quantised);
    vector("output_norm.weight", r.width, 0.5, 1.5);
    if (r.own_output) matrix("output.weight", r.vocabulary, r.width, r.quantised);
    if (r.factors) vector("rope_freqs.weight", r.turning() / 2, 1, 8);
    for (std::size_t layer = 0; layer < r.layers; ++layer) {
      const std::string at = "blk." + std::to_string(layer) + ".";
      vector(at + "attn_norm.weight", r.width, 0.5, 1.5);
      vector(at + "ffn_norm.weight", r.width, 0.5, 1.5);
      matrix(at + "attn_q.weight", r.heads * r.head, r.width, r.quantised);
      matrix(at + "attn_k.weight", r.key_heads * r.head, r.width, r.quantised);
      matrix(at + "attn_v.weight", r.key_heads * r.head, r.width, r.quantised);
      matrix(at + "attn_output.weight", r.width, r.heads * r.head, r.quantised);
      matrix(at + "ffn_gate.weight", r.hidden, r.width, r.quantised);
      matrix(at + "ffn_up.weight", r.hidden, r.width, r.quantised);
      matrix(at + "ffn_down.weight", r.width, r.hidden, r.quantised);
      if (!r.biases) continue;
      vector(at + "attn_q.bias", r.heads * r.head, -1, 1);
      vector(at + "attn_k.bias", r.key_heads * r.head, -1, 1);
      vector(at + "attn_v.bias", r.key_heads * r.head, -1, 1);
    }
  }

  std::string bytes() const {
    io::GgufBytes file(tensors.size(), keys.size());
    for (const auto& [name, value] : keys) {
      if (const auto* whole = std::get_if<std::uint32_t>(&value)) file.key(name, io::gguf::u32, *whole);
      if (const auto* real = std::get_if<float>(&value)) file.key(name, io::gguf::f32, *real);
      if (const auto* text = std::get_if<std::string>(&value)) file.key(name, io::gguf::string).text(*text);
    }
    io::Bytes data;
    for (const auto& [name, tensor] : tensors) {
      file.text(name).put(static_cast<std::uint32_t>(tensor.sizes.size()));
      for (auto size = tensor.sizes.rbegin(); size != tensor.sizes.rend(); ++size) file.put(*size);
      file.put(tensor.type).put<std::uint64_t>(data.data.size());
      data.raw(tensor.bytes).pad();
    }
    return file.pad().raw(data.data).data;
  }

  void vector(const std::string& name, std::uint64_t n, double low, double high) {
    tensors[name] = {.sizes = {n}, .values = {}, .bytes = {}};
    fill(tensors[name], n, low, high);
  }
  /// Elements of a standard deviation about 1/√k, so that activations keep their size and attention is far from uniform.
  void matrix(const std::string& name, std::uint64_t n, std::uint64_t k, bool quantised = false) {
    tensors[name] = {.sizes = {n, k}, .values = {}, .bytes = {}};
    if (quantised) {
      fill_q8_0(tensors[name], n * k);
    } else {
      fill(tensors[name], n * k, -0.25, 0.25);
    }
  }

 private:
  void fill(TinyTensor& tensor, std::uint64_t count, double low, double high) {
    io::Bytes bytes;
    for (std::uint64_t i = 0; i < count; ++i) {
      tensor.values.push_back(generator_.between(low, high));
      bytes.put(static_cast<float>(tensor.values.back()));
    }
    tensor.bytes = bytes.data;
  }
  /// Blocks of an f16 scale d in [2⁻¹⁰, 2⁻⁹) and 32 signed bytes q; an element is d·q.
  void fill_q8_0(TinyTensor& tensor, std::uint64_t count) {
    tensor.type = io::gguf::Q8_0;
    io::Bytes bytes;
    for (std::uint64_t block = 0; block < count / 32; ++block) {
      const auto fraction = static_cast<std::uint16_t>(generator_.next() >> 54);
      bytes.put(static_cast<std::uint16_t>(5u << 10 | fraction));
      const double d = (1 + fraction * 0x1p-10) * 0x1p-10;
      for (int i = 0; i < 32; ++i) {
        const int q = static_cast<int>(generator_.next() >> 32) % 128;
        bytes.put(static_cast<std::int8_t>(q));
        tensor.values.push_back(d * q);
      }
    }
    tensor.bytes = bytes.data;
  }

  Generator generator_;
};

}  // namespace votive::models
