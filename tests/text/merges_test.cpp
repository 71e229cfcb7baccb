// The merge engine against the definition, carried out literally.
#include "votive/text/merges.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace votive::text {
namespace {

// The definition: look at all neighbours, join the pair of lowest rank, leftmost first; again until nothing joins.
std::vector<int> joined_by_definition(const std::map<std::pair<int, int>, std::pair<int, int>>& rules, std::vector<int> ids) {
  for (;;) {
    std::size_t best = ids.size();
    int best_rank = 0, best_token = 0;
    for (std::size_t i = 0; i + 1 < ids.size(); ++i)
      if (const auto rule = rules.find({ids[i], ids[i + 1]}); rule != rules.end() && (best == ids.size() || rule->second.first < best_rank))
        best = i, best_rank = rule->second.first, best_token = rule->second.second;
    if (best == ids.size()) return ids;
    ids[best] = best_token;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
}

TEST(Merges, FollowTheDefinitionOnRandomRulesAtEveryLength) {
  std::mt19937 random(1);
  for (int round = 0; round < 400; ++round) {
    const int tokens = 4 + static_cast<int>(random() % 12);
    std::vector<Merges::Rule> rules;
    std::map<std::pair<int, int>, std::pair<int, int>> definition;
    for (int i = 0; i < 40; ++i) {
      const Merges::Rule rule{static_cast<int>(random() % static_cast<unsigned>(tokens)),
                              static_cast<int>(random() % static_cast<unsigned>(tokens)), static_cast<int>(random() % 20),
                              static_cast<int>(random() % static_cast<unsigned>(tokens))};
      rules.push_back(rule);
      definition.emplace(std::pair(rule.left, rule.right), std::pair(rule.rank, rule.token));  // of two for one pair, the first counts
    }
    const Merges merges(rules, tokens);
    std::vector<int> ids(random() % 150);
    for (int& id : ids) id = static_cast<int>(random() % static_cast<unsigned>(tokens));
    const std::vector<int> expected = joined_by_definition(definition, ids);
    merges.apply(ids);
    ASSERT_EQ(ids, expected) << "round " << round;
  }
}

TEST(Merges, JoinAMillionEqualLettersByDoubling) {
  // 0 is "a", 1 is "aa", 2 is "aaaa", … 10 is 1024 letters. 2²⁰ letters are 1024 of those. A quadratic way would take hours.
  std::vector<Merges::Rule> rules;
  for (int i = 0; i < 10; ++i) rules.push_back({i, i, i, i + 1});
  std::vector<int> ids(1 << 20, 0);
  Merges(rules, 11).apply(ids);
  EXPECT_EQ(ids, std::vector<int>(1024, 10));
}

TEST(Merges, GrowOneTokenThroughAMillionLettersInTheWorstOrder) {
  // The only rule eats one letter at a time from the left: a million merges, each next to the last.
  std::vector<int> ids(1'000'000, 1);
  ids[0] = 0;
  Merges({{0, 1, 0, 0}}, 2).apply(ids);
  EXPECT_EQ(ids, std::vector<int>{0});
}

TEST(Merges, WithoutRulesChangeNothing) {
  std::vector<int> ids{3, 1, 2};
  Merges({}, 4).apply(ids);
  EXPECT_EQ(ids, (std::vector<int>{3, 1, 2}));
}

}  // namespace
}  // namespace votive::text
