// Which token a spelling is. A vocabulary is read once and looked up hundreds of thousands of times while its merges are read, before the first token can
// be shown: slots of eight bytes side by side stay in the cache where the nodes of std::unordered_map miss it (five times the time, 2-core Zen 4).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace votive::text {

class TokenIndex {
 public:
  static constexpr int none = -1;

  TokenIndex() = default;
  /// Ids are places in `spellings`, which must outlive this and stay as they are. None is in the index before it is added.
  explicit TokenIndex(const std::vector<std::string>& spellings)
      : spellings_(&spellings), slots_(std::bit_ceil(2 * spellings.size() + 1)) {}

  /// What add() says of spellings that were made to have one hash: without a limit, a file of a megabyte would keep the reader busy for half a minute.
  static constexpr int crowded = -2;

  /// Adds a token by its spelling. Returns `none`; or the token that has this spelling already and keeps it; or `crowded`.   Each id at most once.
  int add(int id) {
    const std::string_view spelling = (*spellings_)[static_cast<std::size_t>(id)];
    const std::size_t at = place_of(spelling);
    if (at == slots_.size()) return crowded;
    if (slots_[at].id != none) return slots_[at].id;
    slots_[at] = {short_hash(spelling), id};
    return none;
  }

  int find(std::string_view spelling) const {
    const std::size_t at = place_of(spelling);
    return at == slots_.size() ? none : slots_[at].id;
  }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    int id = none;
  };

  // Half of the slots are taken at most, so of a vocabulary that nobody made for it the longest way has some 80 steps (ln(n) / 0.19 for n = 4 million).
  static constexpr std::size_t longest_way = 256;

  static std::uint32_t short_hash(std::string_view spelling) { return static_cast<std::uint32_t>(std::hash<std::string_view>{}(spelling)); }

  /// Where this spelling is, or the free slot where it would be; past the last slot where neither is near.
  std::size_t place_of(std::string_view spelling) const {
    const std::uint32_t hash = short_hash(spelling);
    for (std::size_t step = 0; step < std::min(longest_way, slots_.size()); ++step) {
      const std::size_t at = (hash + step) & (slots_.size() - 1);
      const Slot& slot = slots_[at];
      if (slot.id == none || (slot.hash == hash && (*spellings_)[static_cast<std::size_t>(slot.id)] == spelling)) return at;
    }
    return slots_.size();
  }

  const std::vector<std::string>* spellings_ = nullptr;
  std::vector<Slot> slots_;
};

}  // namespace votive::text
