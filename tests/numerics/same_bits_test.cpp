// One source, one answer: the scalar text in loops gives the same bits in every instruction set it is compiled for, vectorised or not, and the fingerprints
// of fingerprints.txt in every compiler, build type and architecture. VOTIVE_WRITE_FINGERPRINTS=1 writes them anew: only when a definition has changed.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tests/numerics/inputs.h"
#include "tests/numerics/probe.h"
#include "votive/numerics/portable.h"

namespace votive::numerics {
namespace {

using numerics_probe::Input;
using numerics_probe::Loop;

using Loops = std::vector<Loop>;

Loops both(std::span<const Loop> some, std::span<const Loop> more) {
  Loops all(some.begin(), some.end());
  all.insert(all.end(), more.begin(), more.end());
  return all;
}
Loops base_loops() { return both(numerics_probe::baseline::loops(), numerics_probe::baseline::more_loops()); }

struct Build {
  const char* name;
  bool runs_here;
  Loops loops;
};

std::vector<Build> other_builds() {
  std::vector<Build> builds;
#if defined(__x86_64__)
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
#if VOTIVE_PROBE_v3
  builds.push_back({"v3", v3, both(numerics_probe::v3::loops(), numerics_probe::v3::more_loops())});
#endif
#if VOTIVE_PROBE_v4emulated
  builds.push_back({"v4emulated", v3, both(numerics_probe::v4emulated::loops(), numerics_probe::v4emulated::more_loops())});
#endif
#if VOTIVE_PROBE_v4
  builds.push_back({"v4", v4, both(numerics_probe::v4::loops(), numerics_probe::v4::more_loops())});
#endif
#if VOTIVE_PROBE_v4n
  builds.push_back(
      {"v4n", v4 && __builtin_cpu_supports("avx512bf16"), both(numerics_probe::v4n::loops(), numerics_probe::v4n::more_loops())});
#endif
#endif
  return builds;
}

const std::uint32_t telling_f32[] = {0x00000000u, 0x80000000u, 0x3f800000u, 0xbf800000u, 0x7f800000u, 0xff800000u,
                                     0x7fc00000u, 0xffc12345u, 0x7f800001u, 0x00000001u, 0x80000001u, 0x007fffffu,
                                     0x00800000u, 0x7f7fffffu, 0xff7fffffu, 0x3f000000u, 0x40490fdbu, 0x4b800000u};

const std::int64_t telling_i64[] = {0, 1, -1, 2, -2, 3, 63, 64, INT64_MAX, INT64_MIN, INT64_MIN + 1, INT64_MAX - 1, 1ll << 32, 1ll << 62};

template <class T>
void append(std::vector<unsigned char>& bytes, T value) {
  const std::size_t at = bytes.size();
  bytes.resize(at + sizeof value);
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

std::vector<unsigned char> inputs(Input kind) {
  std::vector<unsigned char> bytes;
  Random random{7};
  switch (kind) {
    case Input::f32: each_sampled_f32(512, [&](std::uint32_t u) { append(bytes, u); }); break;
    case Input::f64:
      for (std::uint64_t exponent = 0; exponent < 4096; ++exponent) {
        for (int i = 0; i < 64; ++i) append(bytes, exponent << 52 | random() >> 12);
        for (std::uint64_t i = 0; i < 4; ++i) append(bytes, (exponent << 52) + i), append(bytes, (exponent << 52 | 0xfffffffffffffu) - i);
        for (int i = 0; i < 16; ++i)
          append(bytes, exponent << 52 | (random() >> 12 & ~0ull << (i + 24)));  // near halfway cases of narrow formats
      }
      break;
    case Input::i64:
      for (int i = 0; i < 200000; ++i) append(bytes, std::uint64_t(std::int64_t(random()) >> random() % 64));
      for (int bit = 0; bit < 64; ++bit) {
        for (std::uint64_t i = 0; i < 8; ++i) append(bytes, (1ull << bit) + i), append(bytes, (1ull << bit) - i);
      }
      break;
    case Input::u16:
      for (std::uint32_t i = 0; i < 65536; ++i) append(bytes, std::uint16_t(i));
      break;
    case Input::u8:
      for (std::uint32_t i = 0; i < 256; ++i) append(bytes, std::uint8_t(i));
      break;
    case Input::word_pair:
      for (int i = 0; i < 200000; ++i) append(bytes, random());
      append(bytes, std::uint64_t{0});
      append(bytes, ~std::uint64_t{0});
      break;
    case Input::f32_pair:
      for (std::uint32_t a : telling_f32) {
        for (std::uint32_t b : telling_f32) append(bytes, a), append(bytes, b);
      }
      for (int i = 0; i < 200000; ++i) append(bytes, random());
      break;
    case Input::f64_pair:
      for (std::uint32_t a : telling_f32) {
        for (std::uint32_t b : telling_f32) append(bytes, double(f32_from_bits(a))), append(bytes, double(f32_from_bits(b)));
      }
      for (int i = 0; i < 100000; ++i) {
        // one pair of any bits, one of moderate numbers
        append(bytes, random()), append(bytes, random());
        for (int side = 0; side < 2; ++side) {
          const double digits = double(std::int64_t(random()));
          append(bytes, std::ldexp(digits, int(random() % 16) - 70));
        }
      }
      break;
    case Input::i64_pair:
      for (int i = 0; i < 200000; ++i)
        append(bytes, std::int64_t(random()) >> random() % 64), append(bytes, std::int64_t(random()) >> random() % 64);
      for (std::int64_t a : telling_i64) {
        for (std::int64_t b : telling_i64) append(bytes, a), append(bytes, b);
      }
      break;
  }
  return bytes;
}

std::size_t input_bytes(Input kind) {
  switch (kind) {
    case Input::u8: return 1;
    case Input::u16: return 2;
    case Input::f32: return 4;
    case Input::f64_pair:
    case Input::i64_pair: return 16;
    default: return 8;
  }
}

bool both_nan(const unsigned char* a, const unsigned char* b, std::size_t size) {
  if (size == 4) {
    float x, y;
    std::memcpy(&x, a, 4), std::memcpy(&y, b, 4);
    return x != x && y != y;
  }
  double x, y;
  std::memcpy(&x, a, 8), std::memcpy(&y, b, 8);
  return x != x && y != y;
}

TEST(ScalarText, HasTheSameBitsInEveryInstructionSet) {
  const Loops base = base_loops();
  const std::vector<Build> builds = other_builds();
  std::vector<std::vector<unsigned char>> data(9);
  std::size_t compared = 0;
  for (std::size_t i = 0; i < base.size(); ++i) {
    std::vector<unsigned char>& in = data[std::size_t(base[i].input)];
    if (in.empty()) in = inputs(base[i].input);
    const std::size_t n = in.size() / input_bytes(base[i].input);
    const std::size_t size = base[i].output_bytes;
    std::vector<unsigned char> want(n * size);
    base[i].run(in.data(), want.data(), n);
    for (const Build& build : builds) {
      ASSERT_EQ(build.loops.size(), base.size());
      if (!build.runs_here) continue;
      std::vector<unsigned char> got(n * size);
      build.loops[i].run(in.data(), got.data(), n);
      std::size_t different = 0;
      const bool alike = std::memcmp(got.data(), want.data(), n * size) == 0;
      for (std::size_t k = 0; k < n && !alike; ++k) {
        const unsigned char* a = got.data() + k * size;
        const unsigned char* b = want.data() + k * size;
        if (std::memcmp(a, b, size) != 0 && !(base[i].floating && both_nan(a, b, size))) ++different;
      }
      EXPECT_EQ(different, 0u) << base[i].name << " in " << build.name;
      compared += n;
    }
  }
  for (const Build& build : builds)
    std::printf("%s: %s\n", build.name, build.runs_here ? "compared" : "not compared, this machine lacks it");
  if (!builds.empty() && builds[0].runs_here) { EXPECT_GT(compared, 10'000'000u); }
}

/// FNV-1a over the bytes, NaNs made alike.
std::uint64_t fingerprint(const Loop& loop, std::vector<unsigned char> bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (std::size_t at = 0; at < bytes.size(); at += loop.output_bytes) {
    unsigned char* element = bytes.data() + at;
    if (loop.floating && both_nan(element, element, loop.output_bytes)) std::memset(element, 0xff, loop.output_bytes);
    for (std::size_t i = 0; i < loop.output_bytes; ++i) hash = (hash ^ element[i]) * 0x100000001b3u;
  }
  return hash;
}

TEST(ScalarText, HasItsFingerprintsInEveryBuild) {
  const std::string path = std::string(VOTIVE_SOURCE_DIR) + "/tests/numerics/fingerprints.txt";
  std::map<std::string, std::uint64_t> found;
  std::vector<std::vector<unsigned char>> data(9);
  for (const Loop& loop : base_loops()) {
    std::vector<unsigned char>& in = data[std::size_t(loop.input)];
    if (in.empty()) in = inputs(loop.input);
    const std::size_t n = in.size() / input_bytes(loop.input);
    std::vector<unsigned char> out(n * loop.output_bytes);
    loop.run(in.data(), out.data(), n);
    found[loop.name] = fingerprint(loop, std::move(out));
  }
  if (const char* wish = std::getenv("VOTIVE_WRITE_FINGERPRINTS"); wish != nullptr && std::string(wish) == "1") {
    std::ofstream file(path);
    file << "# function, FNV-1a of its results on the inputs of tests/numerics/same_bits_test.cpp; accuracy is judged by MPFR in "
            "accuracy_*_test.cpp\n";
    for (const auto& [name, hash] : found) file << name << " " << std::hex << hash << "\n";
    GTEST_SKIP() << "wrote " << path;
  }
  std::ifstream file(path);
  std::map<std::string, std::uint64_t> wanted;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t space = line.find(' ');
    wanted[line.substr(0, space)] = std::stoull(line.substr(space + 1), nullptr, 16);
  }
  EXPECT_EQ(wanted.size(), found.size());
  for (const auto& [name, hash] : found) EXPECT_EQ(wanted[name], hash) << name;
}

}  // namespace
}  // namespace votive::numerics
