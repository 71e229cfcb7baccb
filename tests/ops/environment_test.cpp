// A caller whose thread flushes subnormals or rounds upward, as a library linked with -ffast-math leaves it, gets the same bits (CONTRACT.md 0.3),
// also from what is computed before a kernel runs: literals, ranges, frequencies.
#include <gtest/gtest.h>

#include "tests/ops/on_devices.h"
#include "votive/ops/ops.h"

#if defined(__x86_64__)
#include <xmmintrin.h>

namespace votive {
namespace {

std::vector<std::vector<float>> computed() {
  std::vector<Tensor> y{full({1}, 1e-40),        tensor({1e-40, 0.7}),   ones({2}) * 1e-40,
                        ones({2}) * 0.7,         rope_frequencies(8),    rope_frequencies_yarn(8, {.factor = 2, .trained = 64}),
                        dropout(ones({3}), 0.3), uniform(0.1, 0.7, {4}), normal(0.1, 0.7, {4}),
                        truncated_normal({4}),   linspace(0, 0.7, 5),    arange(0.0, 1.0, 0.3),
                        logspace(0, 1, 4)};
  std::vector<std::vector<float>> bits;
  for (const Tensor& t : y) bits.push_back(t.to(f32).to_host<float>());
  return bits;
}

TEST(FloatEnvironmentOfTheCaller, ChangesNoBitOfWhatIsPreparedOnTheHost) {
  const auto expected = computed();
  const unsigned before = _mm_getcsr();
  for (const unsigned word : {0x9fc2u, 0x5f80u, 0x3f80u, 0x7f80u}) {
    _mm_setcsr(word);
    const auto found = computed();
    _mm_setcsr(before);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], expected[i]) << "call " << i << " under MXCSR " << std::hex << word;
  }
}

}  // namespace
}  // namespace votive
#endif
