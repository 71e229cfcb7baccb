// The loops behind limits.h, one build of each per width of vectors by target attributes, so that this file is compiled for any x86-64 or AArch64.
#include "bench/limits.h"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace votive::bench {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

void keep(const void* p) { asm volatile("" : : "r"(p) : "memory"); }

// ---- arithmetic: twelve chains, since an fma takes four cycles and two may start in each -----------------------------------------------------

constexpr int chains = 12;

#if defined(__x86_64__)
// One asm statement for the twelve, so that the compiler keeps them in registers and in order.
#define VOTIVE_CHAINS(type, zero, operand, step)                                                                                  \
  type s0 = zero, s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0, s8 = s0, s9 = s0, s10 = s0, s11 = s0;            \
  const type a = operand;                                                                                                         \
  for (long i = 0; i < steps; ++i) {                                                                                              \
    asm volatile(step " %12, %12, %0\n\t" step " %12, %12, %1\n\t" step " %12, %12, %2\n\t" step " %12, %12, %3\n\t" step         \
                      " %12, %12, %4\n\t" step " %12, %12, %5\n\t" step " %12, %12, %6\n\t" step " %12, %12, %7\n\t" step         \
                      " %12, %12, %8\n\t" step " %12, %12, %9\n\t" step " %12, %12, %10\n\t" step " %12, %12, %11"                \
                 : "+v"(s0), "+v"(s1), "+v"(s2), "+v"(s3), "+v"(s4), "+v"(s5), "+v"(s6), "+v"(s7), "+v"(s8), "+v"(s9), "+v"(s10), \
                   "+v"(s11)                                                                                                      \
                 : "v"(a));                                                                                                       \
  }

__attribute__((target("avx512f"))) void fma_f32_512(long steps) {
  VOTIVE_CHAINS(__m512, _mm512_setzero_ps(), _mm512_set1_ps(0.5f), "vfmadd231ps");
}
__attribute__((target("avx512f"))) void fma_f64_512(long steps) {
  VOTIVE_CHAINS(__m512d, _mm512_setzero_pd(), _mm512_set1_pd(0.5), "vfmadd231pd");
}
__attribute__((target("avx512f,avx512bf16"))) void dot_bf16_512(long steps) {
  VOTIVE_CHAINS(__m512i, _mm512_setzero_si512(), _mm512_set1_epi32(0x3f003f00), "vdpbf16ps");
}
__attribute__((target("avx512f,avx512vnni"))) void dot_int8_512(long steps) {
  VOTIVE_CHAINS(__m512i, _mm512_setzero_si512(), _mm512_set1_epi8(1), "vpdpbusd");
}
__attribute__((target("avx2,fma"))) void fma_f32_256(long steps) {
  VOTIVE_CHAINS(__m256, _mm256_setzero_ps(), _mm256_set1_ps(0.5f), "vfmadd231ps");
}
__attribute__((target("avx2,fma"))) void fma_f64_256(long steps) {
  VOTIVE_CHAINS(__m256d, _mm256_setzero_pd(), _mm256_set1_pd(0.5), "vfmadd231pd");
}
__attribute__((target("avx2"))) void dot_int8_256(long steps) {
  const __m256i a = _mm256_set1_epi8(1), ones = _mm256_set1_epi16(1);
  __m256i s0 = _mm256_setzero_si256(), s1 = s0, s2 = s0, s3 = s0, t0, t1, t2, t3;
  for (long i = 0; i < steps; ++i) {
    asm volatile(
        "vpmaddubsw %8, %8, %4\n\tvpmaddubsw %8, %8, %5\n\tvpmaddubsw %8, %8, %6\n\tvpmaddubsw %8, %8, %7\n\t"
        "vpmaddwd %9, %4, %4\n\tvpmaddwd %9, %5, %5\n\tvpmaddwd %9, %6, %6\n\tvpmaddwd %9, %7, %7\n\t"
        "vpaddd %4, %0, %0\n\tvpaddd %5, %1, %1\n\tvpaddd %6, %2, %2\n\tvpaddd %7, %3, %3"
        : "+x"(s0), "+x"(s1), "+x"(s2), "+x"(s3), "=&x"(t0), "=&x"(t1), "=&x"(t2), "=&x"(t3)
        : "x"(a), "x"(ones));
  }
}
#undef VOTIVE_CHAINS
#endif

void fma_f32_any(long steps) {
  typedef float V __attribute__((vector_size(16)));
  V sum[chains] = {};
  V a = {0.5f, 0.5f, 0.5f, 0.5f};
  for (long i = 0; i < steps; ++i) {
    asm volatile("" : "+m"(a));
    for (auto& s : sum) s += a * a;
  }
  keep(sum);
}
void fma_f64_any(long steps) {
  typedef double V __attribute__((vector_size(16)));
  V sum[chains] = {};
  V a = {0.5, 0.5};
  for (long i = 0; i < steps; ++i) {
    asm volatile("" : "+m"(a));
    for (auto& s : sum) s += a * a;
  }
  keep(sum);
}

struct Arithmetic {
  void (*loop)(long);
  double operations_per_step;  // 2 per multiply-add
};

Arithmetic arithmetic(Limit limit) {
  const Vectors& v = vectors();
#if defined(__x86_64__)
  if (limit == Limit::dot_bf16 && v.bf16) return {dot_bf16_512, chains * 64.0};
  if (limit == Limit::dot_int8 && v.vnni) return {dot_int8_512, chains * 128.0};
  if (limit == Limit::dot_int8 && v.avx2) return {dot_int8_256, 4 * 64.0};
  if (limit == Limit::fma_f64) {
    if (v.avx512) return {fma_f64_512, chains * 16.0};
    if (v.avx2) return {fma_f64_256, chains * 8.0};
    return {fma_f64_any, chains * 4.0};
  }
  if (v.avx512) return {fma_f32_512, chains * 32.0};
  if (v.avx2) return {fma_f32_256, chains * 16.0};
#else
  if (limit == Limit::fma_f64) return {fma_f64_any, chains * 4.0};
  static_cast<void>(v);
#endif
  return {fma_f32_any, chains * 8.0};
}

// ---- memory ----------------------------------------------------------------------------------------------------------------------------------

constexpr std::size_t arena_bytes = std::size_t{256} << 20;

/// 256 MiB on huge pages, written once so that its pages are there.
std::byte* arena() {
  static std::byte* const memory = [] {
    constexpr std::size_t huge = std::size_t{2} << 20;
    void* p = mmap(nullptr, arena_bytes + huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) std::abort();
    auto* at = reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(p) + huge - 1) / huge * huge);
    madvise(at, arena_bytes, MADV_HUGEPAGE);
    std::memset(at, 1, arena_bytes);
    return at;
  }();
  return memory;
}

#if defined(__x86_64__)
__attribute__((target("avx512f"))) void read_512(const std::byte* p, std::size_t n) {
  __m512i s[8];
  for (auto& x : s) x = _mm512_setzero_si512();
  for (std::size_t i = 0; i + 512 <= n; i += 512) {
    _Pragma("GCC unroll 8") for (std::size_t j = 0; j < 8; ++j) s[j] = _mm512_xor_si512(s[j], _mm512_load_si512(p + i + 64 * j));
  }
  keep(s);
}
__attribute__((target("avx2"))) void read_256(const std::byte* p, std::size_t n) {
  __m256i s[8];
  for (auto& x : s) x = _mm256_setzero_si256();
  for (std::size_t i = 0; i + 256 <= n; i += 256) {
    _Pragma("GCC unroll 8") for (std::size_t j = 0; j < 8; ++j) {
      s[j] = _mm256_xor_si256(s[j], _mm256_load_si256(reinterpret_cast<const __m256i*>(p + i + 32 * j)));
    }
  }
  keep(s);
}
__attribute__((target("avx512f"))) void copy_512(std::byte* to, const std::byte* from, std::size_t n, bool past_caches) {
  if (past_caches) {
    for (std::size_t i = 0; i + 256 <= n; i += 256) {
      _Pragma("GCC unroll 4") for (std::size_t j = 0; j < 256; j += 64) {
        _mm512_stream_si512(reinterpret_cast<__m512i*>(to + i + j), _mm512_load_si512(from + i + j));
      }
    }
    _mm_sfence();
  } else {
    for (std::size_t i = 0; i + 256 <= n; i += 256) {
      _Pragma("GCC unroll 4") for (std::size_t j = 0; j < 256; j += 64) { _mm512_store_si512(to + i + j, _mm512_load_si512(from + i + j)); }
    }
  }
}
__attribute__((target("avx2"))) void copy_256(std::byte* to, const std::byte* from, std::size_t n, bool past_caches) {
  const auto in = [from](std::size_t i) { return reinterpret_cast<const __m256i*>(from + i); };
  const auto out = [to](std::size_t i) { return reinterpret_cast<__m256i*>(to + i); };
  if (past_caches) {
    for (std::size_t i = 0; i + 32 <= n; i += 32) _mm256_stream_si256(out(i), _mm256_load_si256(in(i)));
    _mm_sfence();
  } else {
    for (std::size_t i = 0; i + 32 <= n; i += 32) _mm256_store_si256(out(i), _mm256_load_si256(in(i)));
  }
}
__attribute__((target("avx512f"))) void triad_512(std::byte* to, const std::byte* a, const std::byte* b, std::size_t n) {
  for (std::size_t i = 0; i + 128 <= n; i += 128) {
    _Pragma("GCC unroll 2") for (std::size_t j = 0; j < 128; j += 64) {
      _mm512_stream_si512(reinterpret_cast<__m512i*>(to + i + j),
                          _mm512_add_epi32(_mm512_load_si512(a + i + j), _mm512_load_si512(b + i + j)));
    }
  }
  _mm_sfence();
}
__attribute__((target("avx2"))) void triad_256(std::byte* to, const std::byte* a, const std::byte* b, std::size_t n) {
  for (std::size_t i = 0; i + 32 <= n; i += 32) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to + i), _mm256_add_epi32(_mm256_load_si256(reinterpret_cast<const __m256i*>(a + i)),
                                                                             _mm256_load_si256(reinterpret_cast<const __m256i*>(b + i))));
  }
  _mm_sfence();
}
#endif

void read_any(const std::byte* p, std::size_t n) {
  std::uint64_t s[8] = {};
  for (std::size_t i = 0; i + 64 <= n; i += 64) {
    for (std::size_t j = 0; j < 8; ++j) {
      std::uint64_t x;
      std::memcpy(&x, p + i + 8 * j, 8);
      s[j] ^= x;
    }
  }
  keep(s);
}

void read(const std::byte* p, std::size_t n) {
#if defined(__x86_64__)
  if (vectors().avx512) return read_512(p, n);
  if (vectors().avx2) return read_256(p, n);
#endif
  read_any(p, n);
}

void copy(std::byte* to, const std::byte* from, std::size_t n, bool past_caches) {
#if defined(__x86_64__)
  if (vectors().avx512) return copy_512(to, from, n, past_caches);
  if (vectors().avx2) return copy_256(to, from, n, past_caches);
#endif
  static_cast<void>(past_caches);
  std::memcpy(to, from, n);
}

void triad(std::byte* to, const std::byte* a, const std::byte* b, std::size_t n) {
#if defined(__x86_64__)
  if (vectors().avx512) return triad_512(to, a, b, n);
  if (vectors().avx2) return triad_256(to, a, b, n);
#endif
  for (std::size_t i = 0; i < n; ++i) to[i] = a[i] ^ b[i];
}

constexpr std::size_t l2_bytes = std::size_t{96} << 10;

}  // namespace

std::string_view name_of(Limit limit) {
  switch (limit) {
    case Limit::none: return "";
    case Limit::fma_f32: return "f32 fma";
    case Limit::fma_f64: return "f64 fma";
    case Limit::dot_bf16: return vectors().bf16 ? "vdpbf16ps" : "f32 fma";
    case Limit::dot_int8: return vectors().vnni ? "vpdpbusd" : "vpmaddubsw";
    case Limit::read: return "read";
    case Limit::copy: return "copy";
    case Limit::triad: return "triad";
    case Limit::copy_l2: return "L2 copy";
  }
  return "";
}

const Vectors& vectors() {
  static const Vectors found = [] {
    Vectors v;
#if defined(__x86_64__)
    const char* wish = std::getenv("VOTIVE_ISA");
    const std::string set = wish != nullptr ? wish : "";
    const bool narrow = set == "v3" || set == "v4emulated" || set == "v4-emulated" || set == "baseline";
    v.avx2 = set != "baseline" && __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
    v.avx512 = !narrow && __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0;
    v.bf16 = v.avx512 && set != "v4" && __builtin_cpu_supports("avx512bf16") != 0;
    v.vnni = v.avx512 && set != "v4" && __builtin_cpu_supports("avx512vnni") != 0;
#endif
    return v;
  }();
  return found;
}

const std::vector<int>& processors() {
  static const std::vector<int> all = [] {
    std::vector<int> found;
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
      for (int i = 0; i < CPU_SETSIZE; ++i) {
        if (CPU_ISSET(i, &set)) found.push_back(i);
      }
    }
    return found;
  }();
  return all;
}

void pin(int processor, int id) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  sched_setaffinity(id, sizeof set, &set);
}

/// Workers wait on `generation`; the caller is thread 0. All of them meet before the work begins, so that the clock measures all at once.
struct Crew::State {
  std::atomic<int> generation{0}, arrived{0}, done{0};
  std::atomic<bool> ends{false};
  const std::function<void(int)>* piece = nullptr;
  std::vector<std::thread> workers;
};

Crew::Crew(int threads) : threads_(threads), state_(std::make_unique<State>()) {
  for (int t = 1; t < threads; ++t) {
    state_->workers.emplace_back([this, t] {
      pin(processors()[static_cast<std::size_t>(t) % processors().size()]);
      for (int seen = 0;;) {
        state_->generation.wait(seen);
        ++seen;
        if (state_->ends) return;
        state_->arrived.fetch_add(1);
        while (state_->arrived.load() < threads_) {}
        (*state_->piece)(t);
        state_->done.fetch_add(1);
      }
    });
  }
}

Crew::~Crew() {
  state_->ends = true;
  state_->generation.fetch_add(1);
  state_->generation.notify_all();
  for (std::thread& worker : state_->workers) worker.join();
}

double Crew::run(const std::function<void(int)>& piece) {
  State& s = *state_;
  s.piece = &piece;
  s.arrived = 1;
  s.done = 1;
  s.generation.fetch_add(1);
  s.generation.notify_all();
  while (s.arrived.load() < threads_) {}
  const auto start = Clock::now();
  piece(0);
  while (s.done.load() < threads_) {}
  return seconds_since(start);
}

double Crew::rate(Limit limit, double seconds) {
  if (limit == Limit::none) return 0;
  if (limit == Limit::fma_f32 || limit == Limit::fma_f64 || limit == Limit::dot_bf16 || limit == Limit::dot_int8) {
    const Arithmetic a = arithmetic(limit);
    const auto steps = static_cast<long>(seconds * 3e9 / chains);
    const double spent = run([&](int) { a.loop(steps); });
    return a.operations_per_step * static_cast<double>(steps) * threads_ / spent;
  }
  const auto share = [this](std::size_t bytes) { return bytes / static_cast<std::size_t>(threads_) / 512 * 512; };
  std::byte* memory = arena();
  double bytes = 0;
  double spent = 0;
  while (spent < seconds) {
    if (limit == Limit::read) {
      const std::size_t n = share(arena_bytes);
      spent += run([&](int t) { read(memory + static_cast<std::size_t>(t) * n, n); });
      bytes += static_cast<double>(n) * threads_;
    } else if (limit == Limit::copy) {
      const std::size_t half = arena_bytes / 2, n = share(half);
      spent += run([&](int t) {
        const std::size_t at = static_cast<std::size_t>(t) * n;
        copy(memory + half + at, memory + at, n, true);
      });
      bytes += 2.0 * static_cast<double>(n) * threads_;
    } else if (limit == Limit::triad) {
      const std::size_t third = arena_bytes / 3 / 4096 * 4096, n = share(third);
      spent += run([&](int t) {
        const std::size_t at = static_cast<std::size_t>(t) * n;
        triad(memory + 2 * third + at, memory + at, memory + third + at, n);
      });
      bytes += 3.0 * static_cast<double>(n) * threads_;
    } else {
      constexpr int times = 200;
      spent += run([&](int t) {
        std::byte* mine = memory + static_cast<std::size_t>(t) * 2 * l2_bytes;
        for (int i = 0; i < times; ++i) copy(mine + l2_bytes, mine, l2_bytes, false);
      });
      bytes += 2.0 * times * static_cast<double>(l2_bytes) * threads_;
    }
  }
  return bytes / spent;
}

}  // namespace votive::bench
