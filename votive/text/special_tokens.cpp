// Lengths by first byte: a text is looked up only where a special token could begin, once for each length that one has.
#include "votive/text/special_tokens.h"

#include <algorithm>
#include <functional>

namespace votive::text {

void SpecialTokens::add(std::string_view spelling, int id) {
  if (spelling.empty()) return;
  token_.emplace(spelling, id);
  std::vector<std::size_t>& lengths = lengths_[static_cast<unsigned char>(spelling[0])];
  const auto at = std::lower_bound(lengths.begin(), lengths.end(), spelling.size(), std::greater<>());
  if (at == lengths.end() || *at != spelling.size()) lengths.insert(at, spelling.size());
}

}  // namespace votive::text
