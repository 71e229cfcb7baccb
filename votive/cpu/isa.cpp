// Detection asks the CPU (cpuid) and the operating system (xgetbv: which registers it saves), because either alone may lack AVX.
#include "votive/cpu/isa.h"

#include <array>
#include <cstdlib>
#include <string>

#include "votive/base/error.h"
#include "votive/base/text.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace votive::cpu {
namespace {

#if defined(__x86_64__)
struct Found {
  bool v3 = false, v4 = false, v4n = false;
};

bool all_set(unsigned word, std::initializer_list<int> bits) {
  for (int bit : bits) {
    if ((word >> bit & 1) == 0) return false;
  }
  return true;
}

Found detect() {
  Found found;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return found;
  const bool first = all_set(c, {12 /*fma*/, 22 /*movbe*/, 27 /*osxsave*/, 28 /*avx*/, 29 /*f16c*/});
  if (!first) return found;
  unsigned saved = 0, saved_high = 0;
  __asm__("xgetbv" : "=a"(saved), "=d"(saved_high) : "c"(0));
  if (__get_cpuid(0x80000001, &a, &b, &c, &d) == 0) return found;
  const bool lzcnt = all_set(c, {5});
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return found;
  const unsigned leaves = a;
  found.v3 = lzcnt && all_set(b, {3 /*bmi1*/, 5 /*avx2*/, 8 /*bmi2*/}) && all_set(saved, {1, 2});
  found.v4 = found.v3 && all_set(b, {16 /*f*/, 17 /*dq*/, 28 /*cd*/, 30 /*bw*/, 31 /*vl*/}) && all_set(saved, {5, 6, 7});
  const bool vnni = all_set(c, {11});
  if (found.v4 && vnni && leaves >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0) found.v4n = all_set(a, {5 /*avx512_bf16*/});
  return found;
}
#endif

std::string choices() {
  std::string text;
  for (const IsaDescription& isa : isa_descriptions()) {
    if (!isa.available) continue;
    if (!text.empty()) text += ", ";
    text += isa.name;
  }
  return text;
}

}  // namespace

std::span<const IsaDescription> isa_descriptions() {
#if defined(__x86_64__)
  static const std::array<IsaDescription, 5> descriptions = [] {
    const Found found = detect();
    const auto set = [](std::string_view name, std::string_view meaning, bool built, bool found_here, std::string_view what) {
      const std::string_view missing = !built ? "kernels that this build left out" : found_here ? std::string_view{} : what;
      return IsaDescription{name, meaning, built && found_here, missing};
    };
    return std::array<IsaDescription, 5>{{
        {"baseline", "x86-64: SSE2, fma in software", true, {}},
        set("v3", "x86-64-v3: AVX2 and FMA", VOTIVE_HAS_v3, found.v3, "AVX2, FMA or F16C"),
        set("v4emulated", "the text of v4 on AVX2", VOTIVE_HAS_v4emulated, found.v3, "AVX2, FMA or F16C"),
        set("v4", "x86-64-v4: AVX-512", VOTIVE_HAS_v4, found.v4, "AVX-512 F, BW, CD, DQ or VL"),
        set("v4n", "v4 with VNNI and BF16", VOTIVE_HAS_v4n, found.v4n, "AVX-512 VNNI or BF16"),
    }};
  }();
#else
  static const std::array<IsaDescription, 1> descriptions{{{"baseline", "the compiler's default for this processor", true, {}}}};
#endif
  return descriptions;
}

const IsaDescription& find_isa(std::string_view name, std::string_view asker) {
  // "v4-emulated" reads better in a shell; the set's own name is also a C++ namespace.
  if (name == "v4-emulated") name = "v4emulated";
  for (const IsaDescription& isa : isa_descriptions()) {
    if (isa.name != name) continue;
    if (isa.available) return isa;
    throw Error(ErrorKind::Unsupported, asker)
        .arg("name", 1)
        .value(std::string(name))
        .detail(text::format("instruction set '{}' cannot run here without {}", name, isa.missing))
        .accepted(choices());
  }
  throw Error(ErrorKind::InvalidArgument, asker)
      .arg("name", 1)
      .value(std::string(name))
      .detail(text::format("there is no instruction set '{}'", text::shown(name, 80)))
      .accepted(choices());
}

const IsaDescription& default_isa() {
  const char* wish = std::getenv("VOTIVE_ISA");
  if (wish != nullptr && *wish != '\0') return find_isa(wish, "VOTIVE_ISA");
  const IsaDescription* best = nullptr;
  for (const IsaDescription& isa : isa_descriptions()) {
    if (isa.available && isa.name != "v4emulated") best = &isa;
  }
  return *best;
}

}  // namespace votive::cpu
