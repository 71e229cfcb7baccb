// What the programs of this folder compute: for every operation of the contract's table and every dtype a few cases, and their gradients.
// The answer to each is one line, so that two programs are compared by comparing what they print.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/contract/operations.h"
#include "tests/environment/surroundings.h"

namespace votive::environment {

struct Item {
  std::string name;
  contract::Case source;
  std::uint64_t seed;
  contract::LayoutKind layout;
  bool gradient;
};

class Sample {
 public:
  Sample();

  std::size_t size() const { return items_.size(); }
  const std::string& name(std::size_t i) const { return items_[i].name; }
  /// A hash of the bits that item i gives under these surroundings, or the text of the Error it throws; "out of memory" for that one,
  /// and what else is thrown under its own name. The inputs are made in the environment of the contract.
  std::string answer(std::size_t i, Surroundings kind) const {
    return answer(
        i, kind, [] {}, [] {});
  }
  /// With something done just before the call and just after it.
  std::string answer(std::size_t i, Surroundings kind, const std::function<void()>& before, const std::function<void()>& after) const;
  /// Under whatever the process has.
  std::string answer(std::size_t i) const { return answer(i, Surroundings::plain); }

 private:
  std::vector<Item> items_;
};

}  // namespace votive::environment
