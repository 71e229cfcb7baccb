// Llama 2 and 3, Mistral, SmolLM2, Qwen2: pre-norm blocks, rotary positions, grouped heads, gated MLP. One architecture, read from GGUF.
// Not here: tokens and text (generate.h), other architectures.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "votive/core/tensor.h"
#include "votive/io/gguf.h"
#include "votive/models/kv_cache.h"
#include "votive/ops/attention.h"

namespace votive::models {

/// Hyper-parameters, named as in the letters of ARCHITECTURE.md.
struct LlamaConfig {
  std::string architecture;  // "llama", "qwen2", …
  std::string name;
  int layers = 0;
  Size context = 0;               // positions the model was made for
  Size width = 0;                 // C
  Size heads = 0, key_heads = 0;  // H, K
  Size head_size = 0;             // D
  Size vocabulary = 0;            // V
  float norm_epsilon = 1e-5f;
  double rope_base = 10000.0, rope_scale = 1.0;
  Size rope_size = 0;  // elements of a head that rotate
  RopePairing rope_pairing = RopePairing::interleaved;
};

struct LoadOptions {
  bool prepack = true;  ///< arrange quantised weights for this machine; bits of no result change
  Device device = Device::cpu;
  std::function<void(double)> progress = {};  ///< called with 0 … 1 while loading
};

class Llama {
 public:
  /// Throws Error{InvalidFile} for missing or contradicting keys and tensors, Error{Unsupported} for another architecture.
  explicit Llama(const io::GgufFile& file, const LoadOptions& options = {});

  const LlamaConfig& config() const { return config_; }
  Device device() const { return device_; }
  /// An empty cache for `batch` sequences of up to `capacity` positions (0: the model's context).
  KvCache make_cache(Size batch = 1, Size capacity = 0) const;

  /// Logits f32 [B, T, V] (or [B, 1, V] of the last position) for ids [B, T] that follow what the cache holds.
  Tensor operator()(const Tensor& ids, KvCache& cache, bool last_only = false) const;

 private:
  struct Projection {
    Tensor w, bias;
    Tensor operator()(const Tensor& x) const;
  };
  struct Block {
    Tensor attention_norm, mlp_norm;
    Projection query, key, value, output, gate, up, down;
  };
  Tensor attention(const Block& block, int layer, const Tensor& x_btc, const Tensor& positions, KvCache& cache) const;
  Tensor mlp(const Block& block, const Tensor& x_btc) const;

  LlamaConfig config_;
  Device device_ = Device::cpu;
  Tensor embedding_, output_norm_, rope_frequencies_;
  Projection output_;
  std::vector<Block> blocks_;
};

}  // namespace votive::models
