// Finds tokens that stand in a text by their whole spelling: control tokens ("<|im_end|>") and a vocabulary's user-defined ones.
// Leftmost first, of several the longest, as Hugging Face does. Not here: what may be read as one where; the caller says so.
#pragma once

#include <array>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace votive::text {

class SpecialTokens {
 public:
  struct Found {
    std::size_t begin, bytes;
    int id;
  };

  /// The spelling must outlive this.
  void add(std::string_view spelling, int id);

  /// The first at or after `from` that `accept(Found)` takes; `id` is −1 and `begin` the text's end where there is none.
  template <class Accept>
  Found find(std::string_view text, std::size_t from, const Accept& accept) const {
    for (std::size_t at = from; at < text.size(); ++at)
      for (const std::size_t bytes : lengths_[static_cast<unsigned char>(text[at])]) {
        const auto token = token_.find(text.substr(at, bytes));
        if (token == token_.end() || token->first.size() != bytes) continue;
        if (const Found found{at, bytes, token->second}; accept(found)) return found;
      }
    return {text.size(), 0, -1};
  }

 private:
  std::unordered_map<std::string_view, int> token_;
  std::array<std::vector<std::size_t>, 256> lengths_;  // by first byte, longest first
};

}  // namespace votive::text
