// What this machine can do at most, measured: the multiply-add rate of each kind of number and the streams of each kind of memory access.
// Every benchmark is a ratio to one of these, taken in the same second on the same cores. Not here: Votive; nothing of it is called.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace votive::bench {

enum class Limit {
  none,
  fma_f32,  ///< operations (2 per multiply-add) of independent vector fma
  fma_f64,
  dot_bf16,  ///< vdpbf16ps where the processor has it, else fma_f32
  dot_int8,  ///< vpdpbusd where the processor has it, else vpmaddubsw + vpmaddwd + vpaddd
  read,      ///< bytes of a plain read of 256 MiB on huge pages
  copy,      ///< bytes read and written, non-temporal stores, 128 MiB to 128 MiB
  triad,     ///< bytes of two arrays read and one written, non-temporal stores
  copy_l2,   ///< bytes read and written, 96 KiB to 96 KiB per thread
};

std::string_view name_of(Limit limit);

/// Which vectors the limits use: what VOTIVE_ISA names ("v3" is 256 bits without dot instructions), else the widest this processor has.
struct Vectors {
  bool avx512 = false, avx2 = false, bf16 = false, vnni = false;
};
const Vectors& vectors();
/// Whether the goals of the AVX-512 machine hold.
inline bool is_avx512_machine() { return vectors().avx512; }

/// Threads of the harness alone, each pinned to a core, that run one piece of work at the same time.
class Crew {
 public:
  explicit Crew(int threads);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  int threads() const { return threads_; }
  /// Operations or bytes per second of about `seconds` of this limit on all threads of the crew.
  double rate(Limit limit, double seconds);

 private:
  struct State;
  double run(const std::function<void(int)>& piece);
  int threads_;
  std::unique_ptr<State> state_;
};

/// The processors this process may run on, in order.
const std::vector<int>& processors();
/// Pins the calling thread, or the thread `id` of this process.
void pin(int processor, int id = 0);

}  // namespace votive::bench
