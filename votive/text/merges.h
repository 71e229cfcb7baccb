// Byte-pair merging: which neighbours join, and in what order. Both kinds of tokenizer end here; they differ in the rules they bring.
// Not here: text. A merge sees ids only.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace votive::text {

class Merges {
 public:
  struct Rule {
    int left, right;  ///< tokens that stand side by side …
    int rank;         ///< … and join before every pair of higher rank …
    int token;        ///< … to become this one
  };

  Merges() = default;
  /// Of two rules for one pair, the first counts. Ids are below `tokens`.
  Merges(const std::vector<Rule>& rules, int tokens);

  /// Joins until no rule applies, always the pair of lowest rank and among equals the leftmost.   O(n log n).
  void apply(std::vector<int>& ids) const;

 private:
  static constexpr int never = std::numeric_limits<int>::max();
  struct Entry {
    int right, rank, token;
  };
  struct Found {
    int rank, token;
  };

  Found find(int left, int right) const;
  void apply_short(std::vector<int>& ids) const;
  void apply_long(std::vector<int>& ids) const;

  std::vector<std::uint32_t> first_;  // entries of `left` are first_[left] .. first_[left + 1], sorted by `right`
  std::vector<Entry> entries_;
};

}  // namespace votive::text
