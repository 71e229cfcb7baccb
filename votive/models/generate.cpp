// Prompt in pieces, then a token at a time. The cut of the prompt changes no bit (CONTRACT.md D14), so its size is for memory alone.
#include "votive/models/generate.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <future>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

#include "votive/base/refuse_memory.h"
#include "votive/base/text.h"
#include "votive/base/thread_pool.h"
#include "votive/models/vocabulary.h"
#include "votive/ops/ops.h"

namespace votive::models {

namespace {

constexpr Size prompt_piece = 512;

double seconds_now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

Tensor ids_tensor(std::span<const int> ids, Device device) {
  return from_host<std::int32_t>(ids, {1, static_cast<Size>(ids.size())}, i32, {.device = device});
}

}  // namespace

std::string_view to_string(Finish finish) {
  switch (finish) {
    case Finish::running: return "running";
    case Finish::end_of_text: return "end of text";
    case Finish::max_tokens: return "max tokens";
    case Finish::stop_string: return "stop string";
    case Finish::context_full: return "context full";
  }
  return "unknown";
}

/// Text that has been decoded but may yet turn out to be the beginning of a stop string is held back.
struct Generation::State {
  LanguageModel model;
  GenerateOptions options;
  Sampler sampler;
  KvCache cache;
  StreamDecoder decoder;
  std::vector<int> ids;
  std::string held;
  Finish finish = Finish::running;
  GenerationStatistics statistics;
  bool flushed = false;

  State(const LanguageModel& from, std::vector<int> prompt, GenerateOptions with)
      : model(from),
        options(std::move(with)),
        sampler({.temperature = options.temperature,
                 .top_k = options.top_k,
                 .top_p = options.top_p,
                 .min_p = options.min_p,
                 .repetition_penalty = options.repetition_penalty,
                 .repetition_window = options.repetition_window,
                 .seed = options.seed}),
        decoder(model.tokenizer(), {.begins_text = false}),
        ids(std::move(prompt)) {
    const Size context = model.network().config().context, n = static_cast<Size>(ids.size());
    if (n == 0)
      throw Error(ErrorKind::InvalidArgument, "generate")
          .arg("prompt", 1)
          .detail("the prompt has no tokens")
          .hint("Write a word to begin with");
    if (options.max_tokens < 0) {
      throw Error(ErrorKind::InvalidArgument, "generate").arg("max_tokens", 2).detail(text::format("max_tokens is {}", options.max_tokens));
    }
    if (n > context) {
      throw Error(ErrorKind::InvalidArgument, "generate")
          .arg("prompt", 1)
          .limit(text::format("{}", context))
          .detail(text::format("the prompt has {} tokens, the model's context {}", n, context));
    }
    cache = model.network().make_cache(1, std::min(context, n + options.max_tokens));
    statistics.prompt_tokens = n;
  }

  Tensor forward(std::span<const int> piece) { return model.network()(ids_tensor(piece, model.network().device()), cache, true); }

  Tensor read_prompt() {
    const double start = seconds_now();
    Tensor logits;
    for (Size at = 0; at < statistics.prompt_tokens; at += prompt_piece) {
      const Size n = std::min(prompt_piece, statistics.prompt_tokens - at);
      logits = forward(std::span(ids).subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(n)));
    }
    statistics.prompt_seconds = seconds_now() - start;
    return logits;
  }

  /// One more token into `held`; false at the end.
  bool step() {
    if (statistics.generated_tokens >= options.max_tokens) return end(Finish::max_tokens);
    Tensor logits;
    const double start = seconds_now();
    if (statistics.generated_tokens == 0) {
      logits = read_prompt();
    } else {
      if (cache.length() >= model.network().config().context) return end(Finish::context_full);
      logits = forward(std::span(ids).last(1));
      statistics.decode_seconds += seconds_now() - start;
    }
    const int id = sampler(reshape(logits, {logits.shape().back()}), ids);
    ids.push_back(id);
    ++statistics.generated_tokens;
    if (model.tokenizer().is_end_of_generation(id)) return end(Finish::end_of_text);
    held += decoder.push(id);
    return true;
  }

  bool end(Finish how) {
    finish = how;
    return false;
  }

  /// Cuts `held` at the first stop string, if one is there.
  bool cut_at_stop() {
    std::size_t first = std::string::npos;
    for (const std::string& stop : options.stop) {
      if (!stop.empty()) first = std::min(first, held.find(stop));
    }
    if (first == std::string::npos) return false;
    held.resize(first);
    finish = Finish::stop_string;
    return true;
  }

  /// How much of `held` cannot be the beginning of a stop string.
  std::size_t ready() const {
    std::size_t keep = 0;
    for (const std::string& stop : options.stop) {
      for (std::size_t n = std::min(stop.size(), held.size()); n > keep; --n) {
        if (held.compare(held.size() - n, n, stop, 0, n) == 0) keep = n;
      }
    }
    return held.size() - keep;
  }
};

Generation::Generation(const LanguageModel& model, std::vector<int> prompt, GenerateOptions options)
    : state_(std::make_unique<State>(model, std::move(prompt), std::move(options))) {}
Generation::~Generation() = default;
Generation::Generation(Generation&&) noexcept = default;
Generation& Generation::operator=(Generation&&) noexcept = default;

std::optional<std::string> Generation::next() try {
  if (state_ == nullptr) return std::nullopt;  // moved from
  State& s = *state_;
  while (s.finish == Finish::running) {
    if (!s.step()) break;
    if (s.cut_at_stop()) break;
    if (const std::size_t n = s.ready(); n > 0) {
      std::string piece = s.held.substr(0, n);
      s.held.erase(0, n);
      return piece;
    }
  }
  if (s.flushed) return std::nullopt;
  s.flushed = true;
  if (s.finish != Finish::stop_string) {
    s.held += s.decoder.finish();
    s.cut_at_stop();
  }
  if (s.held.empty()) return std::nullopt;
  return std::exchange(s.held, {});
} catch (const std::bad_alloc&) { detail::refuse_memory("generate"); }

Finish Generation::finish() const { return state_ != nullptr ? state_->finish : Finish::running; }
const GenerationStatistics& Generation::statistics() const {
  static const GenerationStatistics none;
  return state_ != nullptr ? state_->statistics : none;
}
std::span<const int> Generation::tokens() const { return state_ != nullptr ? std::span<const int>(state_->ids) : std::span<const int>(); }

LanguageModel::LanguageModel(Llama network, const Tokenizer& tokenizer)
    : network_(std::make_shared<const Llama>(std::move(network))), tokenizer_(tokenizer) {
  if (tokenizer_.size() > network_->config().vocabulary) {
    throw Error(ErrorKind::InvalidFile, "load")
        .detail(text::format("{} tokens but {} rows of embeddings", tokenizer_.size(), network_->config().vocabulary));
  }
}

Generation LanguageModel::generate(std::string_view prompt, const GenerateOptions& options) const try {
  return {*this, tokenizer_.encode(prompt, {.add_special = options.add_special, .parse_special = options.parse_special}), options};
} catch (const std::bad_alloc&) { detail::refuse_memory("generate"); }
Generation LanguageModel::generate(std::vector<int> prompt, const GenerateOptions& options) const try {
  return {*this, std::move(prompt), options};
} catch (const std::bad_alloc&) { detail::refuse_memory("generate"); }

Generation LanguageModel::chat(std::span<const ChatMessage> messages, const GenerateOptions& options) const try {
  return {*this, ChatTemplate(tokenizer_).encode(tokenizer_, messages), options};
} catch (const std::bad_alloc&) { detail::refuse_memory("chat"); }

namespace {

/// On a thread of its own, where the program is allowed one; else when the result is asked for.
template <class Function>
std::future<std::invoke_result_t<Function>> meanwhile(Function function) {
  if (threads() > 1) {
    try {
      return std::async(std::launch::async, function);
    } catch (const std::system_error&) {}  // the system gives no thread
  }
  return std::async(std::launch::deferred, function);
}

}  // namespace

// The vocabulary's tables are made while the weights are arranged: a third of the time on one thread (first token of SmolLM2-135M 58 -> 50 ms, 2-core Zen 4).
LanguageModel load(const std::string& path, const LoadOptions& options) try {
  const io::GgufFile file(path);
  std::future<Tokenizer> tokenizer = meanwhile([&] { return Tokenizer(read_vocabulary(file)); });
  std::optional<Llama> network;
  std::exception_ptr refused;
  try {
    network.emplace(file, options);
  } catch (...) { refused = std::current_exception(); }
  const Tokenizer text = tokenizer.get();  // of two errors always the vocabulary's, whichever came first
  if (refused) std::rethrow_exception(refused);
  return {std::move(*network), text};
} catch (const std::bad_alloc&) { detail::refuse_memory("load"); }

}  // namespace votive::models
