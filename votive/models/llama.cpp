// Llama 2 and 3, Mistral, SmolLM2, Qwen2: pre-norm blocks, rotary positions, gated MLP. The paper's formulas in the paper's order;
// reading the file comes after the mathematics.
// B batch · T positions · C width · H query heads · K key heads · D head size · V vocabulary
#include "votive/models/llama.h"

#include <cmath>

#include "votive/base/text.h"
#include "votive/ops/ops.h"

namespace votive::models {

namespace {

/// [B, T, N·D] → [B, N, T, D].
Tensor split_heads(const Tensor& x, Size head_size) {
  const Size B = x.shape()[0], T = x.shape()[1], N = x.shape()[2] / head_size;
  return permute(reshape(x, {B, T, N, head_size}), {0, 2, 1, 3});
}

/// [B, N, T, D] → [B, T, N·D].
Tensor join_heads(const Tensor& x) {
  const Size B = x.shape()[0], N = x.shape()[1], T = x.shape()[2], D = x.shape()[3];
  return reshape(permute(x, {0, 2, 1, 3}), {B, T, N * D});
}

}  // namespace

Tensor Llama::Projection::operator()(const Tensor& x) const { return linear(x, w, bias); }

Tensor Llama::attention(const Block& block, int layer, const Tensor& x_btc, const Tensor& positions, KvCache& cache) const {
  const RopeOptions rotation{.pairing = config_.rope_pairing};
  const Tensor q = rope(split_heads(block.query(x_btc), config_.head_size), positions, rope_frequencies_, rotation);
  const Tensor k = rope(split_heads(block.key(x_btc), config_.head_size), positions, rope_frequencies_, rotation);
  const Tensor v = split_heads(block.value(x_btc), config_.head_size);
  const KvCache::Layer seen = cache.write(layer, k, v);
  return block.output(join_heads(votive::attention(q, seen.keys, seen.values, {}, {.causal = true})));
}

Tensor Llama::mlp(const Block& block, const Tensor& x_btc) const { return block.down(swiglu(block.gate(x_btc), block.up(x_btc))); }

Tensor Llama::operator()(const Tensor& ids, KvCache& cache, bool last_only) const {
  if (ids.rank() != 2 || ids.shape()[0] != cache.batch() || ids.shape()[1] < 1) {
    throw Error(ErrorKind::ShapeMismatch, "Llama")
        .arg("ids", 1)
        .detail(text::format("ids {} should be [{}, T] with T ≥ 1, for a cache of batch {}", to_string(ids.shape()), cache.batch(),
                             cache.batch()));
  }
  const Size T = ids.shape()[1];
  const Tensor positions = arange(cache.length(), cache.length() + T, 1, i64, {.device = device_});
  const NormOptions norm{.epsilon = config_.norm_epsilon};

  Tensor x_btc = embedding(embedding_, ids).to(f32);
  for (int layer = 0; layer < config_.layers; ++layer) {
    const Block& block = blocks_[static_cast<std::size_t>(layer)];
    const Tensor h_btc = x_btc + attention(block, layer, rms_norm(x_btc, block.attention_norm, norm), positions, cache);
    x_btc = h_btc + mlp(block, rms_norm(h_btc, block.mlp_norm, norm));
  }
  cache.advance(T);
  if (last_only) x_btc = narrow(x_btc, 1, T - 1, 1);
  return output_(rms_norm(x_btc, output_norm_, norm));
}

KvCache Llama::make_cache(Size batch, Size capacity) const {
  return KvCache({.layers = config_.layers,
                  .batch = batch,
                  .key_heads = config_.key_heads,
                  .head_size = config_.head_size,
                  .capacity = capacity > 0 ? capacity : config_.context},
                 device_);
}

// ---- reading the file ---------------------------------------------------------------------------------------------------------------------

namespace {

[[noreturn]] void refuse(std::string detail) { throw Error(ErrorKind::InvalidFile, "Llama").detail(std::move(detail)); }

Size positive(const io::GgufFile& file, const std::string& key) {
  const Size value = file.at(key).integer();
  if (value < 1 || value > (Size{1} << 31)) refuse(text::format("{} is {}", key, value));
  return value;
}

Size positive_or(const io::GgufFile& file, const std::string& key, Size otherwise) {
  return file.find(key) != nullptr ? positive(file, key) : otherwise;
}

double number_or(const io::GgufFile& file, const std::string& key, double otherwise) {
  const io::GgufValue* value = file.find(key);
  if (value == nullptr) return otherwise;
  const double number = value->number();
  if (!std::isfinite(number) || number <= 0) refuse(text::format("{} is {}", key, number));
  return number;
}

LlamaConfig read_config(const io::GgufFile& file) {
  LlamaConfig config;
  config.architecture = file.at("general.architecture").string();
  if (config.architecture != "llama" && config.architecture != "qwen2") {
    throw Error(ErrorKind::Unsupported, "Llama").detail(text::format("architecture '{}'", config.architecture)).accepted("llama, qwen2");
  }
  if (const io::GgufValue* name = file.find("general.name")) config.name = name->string();
  const std::string prefix = config.architecture + ".";
  const Size layers = positive(file, prefix + "block_count");
  if (layers > 4096) refuse(text::format("{}block_count is {}", prefix, layers));
  config.layers = static_cast<int>(layers);
  config.width = positive(file, prefix + "embedding_length");
  config.heads = positive(file, prefix + "attention.head_count");
  config.key_heads = positive_or(file, prefix + "attention.head_count_kv", config.heads);
  if (config.heads % config.key_heads != 0)
    refuse(text::format("{} query heads do not divide among {} key heads", config.heads, config.key_heads));
  if (file.find(prefix + "attention.key_length") == nullptr && config.width % config.heads != 0)
    refuse(text::format("{}embedding_length {} does not divide among {} heads", prefix, config.width, config.heads));
  config.head_size = positive_or(file, prefix + "attention.key_length", config.width / config.heads);
  config.context = positive(file, prefix + "context_length");
  // Beyond its sliding window Mistral 7B 0.1 would need another mask; within it the two are the same.
  config.context = std::min(config.context, positive_or(file, prefix + "attention.sliding_window", config.context));
  config.norm_epsilon = static_cast<float>(number_or(file, prefix + "attention.layer_norm_rms_epsilon", 1e-5));
  config.rope_base = number_or(file, prefix + "rope.freq_base", 10000.0);
  config.rope_size = positive_or(file, prefix + "rope.dimension_count", config.head_size);
  if (config.rope_size % 2 != 0 || config.rope_size > config.head_size)
    refuse(text::format("rope.dimension_count is {}", config.rope_size));
  // Llama's weights were permuted for neighbouring pairs when the file was made; Qwen2's were not.
  config.rope_pairing = config.architecture == "llama" ? RopePairing::interleaved : RopePairing::halves;
  if (const io::GgufValue* scaling = file.find(prefix + "rope.scaling.type"); scaling != nullptr && scaling->string() != "none") {
    if (scaling->string() != "linear") {
      throw Error(ErrorKind::Unsupported, "Llama").detail(text::format("rope scaling '{}'", scaling->string())).accepted("none, linear");
    }
    config.rope_scale = number_or(file, prefix + "rope.scaling.factor", 1.0);
  }
  const io::GgufTensor* embedding = file.find_tensor("token_embd.weight");
  if (embedding == nullptr) refuse("tensor 'token_embd.weight' is missing");
  if (embedding->rank != 2 || embedding->shape()[0] < 1)
    refuse(text::format("tensor 'token_embd.weight' is {}, not [vocabulary, {}]", to_string(embedding->shape()), config.width));
  config.vocabulary = embedding->shape()[0];
  return config;
}

/// Tensors of one file by name, with their shapes checked and arranged for the machine.
class WeightReader {
 public:
  WeightReader(const io::GgufFile& file, const LoadOptions& options) : file_(file), options_(options) {}

  Tensor weight(const std::string& name, const Shape& shape) {
    const io::GgufTensor* entry = file_.find_tensor(name);
    if (entry == nullptr) refuse(text::format("tensor '{}' is missing", name));
    if (entry->shape() != shape) {
      refuse(text::format("tensor '{}' is {}, the hyper-parameters make it {}", name, to_string(entry->shape()), to_string(shape)));
    }
    Tensor tensor = file_.tensor(name).to(options_.device);
    if (options_.prepack && shape.rank() == 2 && options_.device == Device::cpu) tensor = prepack(tensor);
    if (options_.progress) options_.progress(std::min(1.0, static_cast<double>(++read_) / static_cast<double>(file_.tensors().size())));
    return tensor;
  }
  Tensor vector(const std::string& name, Size n) { return weight(name, {n}).to(f32); }
  Tensor vector_if_present(const std::string& name, Size n) { return file_.find_tensor(name) != nullptr ? vector(name, n) : Tensor(); }
  bool has(const std::string& name) const { return file_.find_tensor(name) != nullptr; }

 private:
  const io::GgufFile& file_;
  const LoadOptions& options_;
  Size read_ = 0;
};

Tensor read_rope_frequencies(const LlamaConfig& config, WeightReader& reader, Device device) {
  Tensor frequencies = rope_frequencies(config.rope_size, config.rope_base, {.device = device});
  if (reader.has("rope_freqs.weight")) frequencies = frequencies / reader.vector("rope_freqs.weight", config.rope_size / 2);
  if (config.rope_scale != 1.0) frequencies = frequencies / config.rope_scale;
  return frequencies;
}

}  // namespace

Llama::Llama(const io::GgufFile& file, const LoadOptions& options) : config_(read_config(file)), device_(options.device) {
  WeightReader reader(file, options);
  const Size C = config_.width, V = config_.vocabulary, queries = config_.heads * config_.head_size,
             keys = config_.key_heads * config_.head_size;
  const Size hidden = positive(file, config_.architecture + ".feed_forward_length");
  embedding_ = reader.weight("token_embd.weight", {V, C});
  output_norm_ = reader.vector("output_norm.weight", C);
  output_.w = reader.has("output.weight") ? reader.weight("output.weight", {V, C}) : embedding_;  // tied in small models
  rope_frequencies_ = read_rope_frequencies(config_, reader, device_);
  blocks_.reserve(static_cast<std::size_t>(config_.layers));
  for (int layer = 0; layer < config_.layers; ++layer) {
    const std::string at = text::format("blk.{}.", layer);
    const auto projection = [&](const char* name, Size n, Size k) {
      return Projection{reader.weight(at + name + ".weight", {n, k}), reader.vector_if_present(at + name + ".bias", n)};
    };
    blocks_.push_back({
        .attention_norm = reader.vector(at + "attn_norm.weight", C),
        .mlp_norm = reader.vector(at + "ffn_norm.weight", C),
        .query = projection("attn_q", queries, C),
        .key = projection("attn_k", keys, C),
        .value = projection("attn_v", keys, C),
        .output = projection("attn_output", C, queries),
        .gate = projection("ffn_gate", hidden, C),
        .up = projection("ffn_up", hidden, C),
        .down = projection("ffn_down", C, hidden),
    });
  }
}

}  // namespace votive::models
