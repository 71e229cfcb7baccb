// Nothing of the table of operations is without a fingerprint: `votive verify` would be silent about it. Every operation, every dtype of it.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "apps/votive/fingerprints.h"
#include "tests/contract/operations.h"

namespace votive::contract {
namespace {

using Words = std::set<std::string>;

/// Names of the table that are not a public function's: the functions that stand for them.
const std::map<std::string, Words> functions_of{
    {"to", {"cast"}},
    {"to_from_blocks", {"dequantise"}},
    {"copy", {"contiguous"}},
    {"place", {"pad"}},
    {"overlay", {"slice_scatter"}},
    {"triangle", {"tril", "triu"}},
    {"repeat", {"repeat", "tile", "repeat_interleave"}},
    {"truncated", {"truncated_normal"}},
    {"ranks", {"kthvalue", "median", "nanmedian", "mode"}},
    {"masks", {"masked_select", "masked_fill", "masked_scatter", "nonzero"}},
    {"shuffles", {"pixel_shuffle", "pixel_unshuffle", "channel_shuffle"}},
    {"channel_norms", {"group_norm", "instance_norm", "batch_norm", "batch_norm_training"}},
    {"composed_norms", {"local_response_norm", "normalize", "softmin"}},
    {"losses_of_pairs", {"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div", "cosine_similarity", "soft_margin_loss"}},
    {"losses_of_classes", {"cross_entropy", "nll_loss"}},
    {"added_products", {"addmm", "baddbmm"}},
    {"named_products", {"dot", "mv", "vecdot", "inner", "outer", "kron", "tensordot", "trace", "einsum"}},
    {"adaptive_pool1d", {"adaptive_avg_pool1d", "adaptive_max_pool1d"}},
    {"adaptive_pool2d", {"adaptive_avg_pool2d", "adaptive_max_pool2d"}},
    {"adaptive_pool3d", {"adaptive_avg_pool3d", "adaptive_max_pool3d"}},
    {"lp_pool", {"lp_pool1d", "lp_pool2d", "lp_pool3d"}},
    {"linear_of_blocks", {"linear"}},
    {"matmul_of_integers", {"matmul"}},
    {"matmul_keeping_sums", {"matmul"}},
    {"scatter_min", {"scatter"}},
    {"scatter_max", {"scatter"}},
    {"scatter_mul", {"scatter"}},
    {"scatter_mean", {"scatter"}},
};

/// In the table for the sake of their refusal (CONTRACT.md 3.1).
const Words refuse_bool{"var", "std", "norm"};

/// function → the words that follow it in any of its fingerprints' names, dtypes among them.
std::map<std::string, Words> words_of_fingerprints() {
  std::map<std::string, Words> words;
  for (const app::GoldenFingerprint& print : app::golden_fingerprints) {
    std::istringstream name(print.name);
    std::string function, word;
    name >> function;
    Words& known = words[function];
    while (name >> word) known.insert(word);
  }
  return words;
}

TEST(Fingerprints, ExistForEveryOperationAndDtypeOfTheTable) {
  const std::map<std::string, Words> known = words_of_fingerprints();
  for (const Operation& op : operations()) {
    const auto named = functions_of.find(op.name);
    for (const std::string& function : named == functions_of.end() ? Words{op.name} : named->second) {
      const auto found = known.find(function);
      if (found == known.end()) {
        ADD_FAILURE() << function << " (" << op.name
                      << " of the table) has no fingerprint: give it a line in apps/votive/fingerprints_*.cpp";
        continue;
      }
      for (const DType dtype : op.dtypes) {
        if (dtype == DType::boolean && refuse_bool.contains(function)) continue;
        EXPECT_TRUE(found->second.contains(std::string(to_string(dtype)))) << function << " has no fingerprint for " << to_string(dtype);
      }
    }
  }
}

TEST(Fingerprints, HaveNamesOfTheirOwn) {
  Words names;
  for (const app::GoldenFingerprint& print : app::golden_fingerprints) EXPECT_TRUE(names.insert(print.name).second) << print.name;
  EXPECT_GT(names.size(), 5900u);
}

}  // namespace
}  // namespace votive::contract
