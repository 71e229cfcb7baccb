// Rules are sorted, not hashed: a look-up is a binary search within one left token, whose worst case no vocabulary can worsen.
#include "votive/text/merges.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <queue>

namespace votive::text {

Merges::Merges(const std::vector<Rule>& rules, int tokens) : first_(static_cast<std::size_t>(tokens) + 1) {
  // Counted into place by their left token, then sorted by the right one where rules share the left: one pass, and sorts of a few rules each.
  std::vector<std::uint32_t> next(first_.size());
  for (const Rule& rule : rules) ++next[static_cast<std::size_t>(rule.left) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  const std::vector<std::uint32_t> begin = next;
  std::vector<Entry> all(rules.size());
  for (const Rule& rule : rules) all[next[static_cast<std::size_t>(rule.left)]++] = {rule.right, rule.rank, rule.token};
  entries_.reserve(rules.size());
  for (std::size_t left = 0; left < static_cast<std::size_t>(tokens); ++left) {
    const auto from = all.begin() + begin[left], to = all.begin() + begin[left + 1];
    std::stable_sort(from, to, [](const Entry& a, const Entry& b) { return a.right < b.right; });
    std::unique_copy(from, to, std::back_inserter(entries_), [](const Entry& a, const Entry& b) { return a.right == b.right; });
    first_[left + 1] = static_cast<std::uint32_t>(entries_.size());
  }
}

Merges::Found Merges::find(int left, int right) const {
  const auto begin = entries_.begin() + first_[static_cast<std::size_t>(left)];
  const auto end = entries_.begin() + first_[static_cast<std::size_t>(left) + 1];
  const auto at = std::lower_bound(begin, end, right, [](const Entry& entry, int id) { return entry.right < id; });
  return at != end && at->right == right ? Found{at->rank, at->token} : Found{never, -1};
}

// Up to here the scan for the lowest rank is cheaper than a heap (2-core Zen 5).
constexpr std::size_t short_length = 48;

void Merges::apply(std::vector<int>& ids) const {
  if (ids.size() < 2 || entries_.empty()) return;
  ids.size() <= short_length ? apply_short(ids) : apply_long(ids);
}

void Merges::apply_short(std::vector<int>& ids) const {
  std::array<Found, short_length> pair;  // pair[i] joins ids[i] and ids[i + 1]
  std::size_t count = ids.size();
  for (std::size_t i = 0; i + 1 < count; ++i) pair[i] = find(ids[i], ids[i + 1]);
  while (count > 1) {
    const auto least = std::min_element(pair.begin(), pair.begin() + static_cast<std::ptrdiff_t>(count - 1),
                                        [](const Found& a, const Found& b) { return a.rank < b.rank; });
    if (least->rank == never) break;
    const auto i = static_cast<std::size_t>(least - pair.begin());
    ids[i] = least->token;
    std::copy(ids.begin() + static_cast<std::ptrdiff_t>(i + 2), ids.begin() + static_cast<std::ptrdiff_t>(count),
              ids.begin() + static_cast<std::ptrdiff_t>(i + 1));
    std::copy(pair.begin() + static_cast<std::ptrdiff_t>(i + 1), pair.begin() + static_cast<std::ptrdiff_t>(count - 1), least);
    --count;
    if (i > 0) pair[i - 1] = find(ids[i - 1], ids[i]);
    if (i + 1 < count) pair[i] = find(ids[i], ids[i + 1]);
  }
  ids.resize(count);
}

void Merges::apply_long(std::vector<int>& ids) const {
  constexpr int gone = -1;
  struct Candidate {
    int rank, at, left, right;
    bool operator>(const Candidate& other) const { return rank != other.rank ? rank > other.rank : at > other.at; }
  };
  const int count = static_cast<int>(ids.size());
  std::vector<int> next(ids.size()), previous(ids.size());
  std::iota(next.begin(), next.end(), 1);
  std::iota(previous.begin(), previous.end(), -1);
  const auto id = [&](int at) -> int& { return ids[static_cast<std::size_t>(at)]; };
  const auto after = [&](int at) -> int& { return next[static_cast<std::size_t>(at)]; };
  const auto before = [&](int at) -> int& { return previous[static_cast<std::size_t>(at)]; };

  std::vector<Candidate> pairs;
  pairs.reserve(ids.size());
  for (int at = 0; at + 1 < count; ++at)
    if (const Found found = find(id(at), id(at + 1)); found.rank != never) pairs.push_back({found.rank, at, id(at), id(at + 1)});
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> heap(std::greater<>(), std::move(pairs));
  const auto offer = [&](int at) {
    if (at < 0 || after(at) >= count) return;
    if (const Found found = find(id(at), id(after(at))); found.rank != never) heap.push({found.rank, at, id(at), id(after(at))});
  };

  while (!heap.empty()) {
    const Candidate pair = heap.top();
    heap.pop();
    const int right = after(pair.at);
    if (id(pair.at) != pair.left || right >= count || id(right) != pair.right) continue;  // one of the two has joined another meanwhile
    id(pair.at) = find(pair.left, pair.right).token;
    id(right) = gone;
    after(pair.at) = after(right);
    if (after(right) < count) before(after(right)) = pair.at;
    offer(before(pair.at));
    offer(pair.at);
  }
  std::erase(ids, gone);
}

}  // namespace votive::text
