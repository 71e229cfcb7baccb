// Which token a spelling is. A vocabulary is read once and looked up hundreds of thousands of times while its merges are read, before the first token can
// be shown: slots of eight bytes side by side stay in the cache where the nodes of std::unordered_map miss it (five times the time, 2-core Zen 4).
#pragma once

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

  /// Adds a token by its spelling. Returns `none`, or the token that has this spelling already and keeps it.   Each id at most once.
  int add(int id) {
    const std::string_view spelling = (*spellings_)[static_cast<std::size_t>(id)];
    Slot& slot = slots_[place_of(spelling)];
    if (slot.id != none) return slot.id;
    slot = {short_hash(spelling), id};
    return none;
  }

  int find(std::string_view spelling) const { return slots_.empty() ? none : slots_[place_of(spelling)].id; }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    int id = none;
  };

  static std::uint32_t short_hash(std::string_view spelling) { return static_cast<std::uint32_t>(std::hash<std::string_view>{}(spelling)); }

  /// Where this spelling is, or the free slot where it would be: at most half of them are taken, so there is one.
  std::size_t place_of(std::string_view spelling) const {
    const std::uint32_t hash = short_hash(spelling);
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash & mask;
    while (slots_[at].id != none && !(slots_[at].hash == hash && (*spellings_)[static_cast<std::size_t>(slots_[at].id)] == spelling)) {
      at = (at + 1) & mask;
    }
    return at;
  }

  const std::vector<std::string>* spellings_ = nullptr;
  std::vector<Slot> slots_;
};

}  // namespace votive::text
