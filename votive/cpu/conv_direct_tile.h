// The innermost part of a direct convolution: up to two runs of neighbouring output positions times N vectors of output channels, in registers over the taps.
// The weights of a step lie side by side, the input's numbers are read where they are, a step of the positions apart.
// Not here: how image and weights come to lie so (conv_direct.h).
#pragma once

#include "votive/cpu/matmul_tile.h"

namespace votive::cpu::VOTIVE_ISA {

#if defined(VOTIVE_ISA_v3)
inline constexpr int run_positions = 3;  // two runs times two vectors leave room for two vectors of weights and a number
#elif defined(VOTIVE_ISA_baseline)
inline constexpr int run_positions = 2;
#else
inline constexpr int run_positions = 7;
#endif
inline constexpr int direct_vectors = 2;

/// Steps of the sum whose numbers lie side by side in every window.
struct WindowRun {
  Size at, units;  // from the start of a window
};

template <class Dot>
struct WindowOperands {
  const WindowRun *runs, *runs_end;
  const typename Dot::Packed* x[2];  // the window of the first position of each run of positions
  Size step;                         // from one position's window to the next
  const typename Dot::Packed* weights;
};

/// Per run of positions, rows of N vectors: the chain so far, or null to start at +0, and where it is put.
template <class Acc>
struct WindowEnds {
  const Acc* resume[2];
  Acc* c[2];
};

/// `runs` runs of P positions, N vectors. Between the constructor and the destructor of Dot::Environment.
template <class Dot, int P, int runs, int N>
void window_tile(const WindowOperands<Dot>& x, const WindowEnds<typename Dot::Acc>& ends) {
  using Vector = typename Dot::Vector;
  using Operand = typename Dot::Operand;
  using Packed = typename Dot::Packed;
  constexpr int lanes = Vector::lanes;
  Vector acc[runs * P * N];
  if (ends.resume[0] != nullptr) {
    unroll<runs * P * N>([&](auto i)
                             __attribute__((always_inline)) { acc[i] = Vector::load(ends.resume[i / (P * N)] + i % (P * N) * lanes); });
  } else {
    unroll<runs * P * N>([&](auto i) __attribute__((always_inline)) { acc[i] = Vector::zero(); });
  }
  const Packed* w = x.weights;
  const Size step = x.step, step3 = 3 * step, step5 = 5 * step;
  for (const WindowRun* run = x.runs; run != x.runs_end; ++run) {
    const Packed *x0 = x.x[0] + run->at, *x1 = runs == 2 ? x.x[1] + run->at : nullptr;
    const Packed* const end = x0 + run->units;
    do {
      Operand w_u[N];
      unroll<N>([&](auto j) __attribute__((always_inline)) { w_u[j] = Operand::load(w + j * lanes); });
      unroll<runs * P>([&](auto i) __attribute__((always_inline)) {
        constexpr int p = i % P;
        const Packed* at = (i < P ? x0 : x1) + (p == 3 || p == 6 ? p / 3 * step3 : p == 5 ? step5 : p * step);
        Operand x_ui;
        broadcast_from(at, x_ui);
        unroll<N>([&](auto j) __attribute__((always_inline)) { Dot::step(acc[i * N + j], x_ui, w_u[j]); });
      });
      w += N * lanes;
      ++x0;
      if constexpr (runs == 2) ++x1;
    } while (x0 != end);
  }
  typename Dot::Acc* const c[2] = {ends.c[0], ends.c[1]};
  unroll<runs * P * N>([&](auto i) __attribute__((always_inline)) { store(c[i / (P * N)] + i % (P * N) * lanes, acc[i]); });
}

template <class Dot>
using WindowFunction = void (*)(const WindowOperands<Dot>&, const WindowEnds<typename Dot::Acc>&);

/// window_tile<Dot, positions, runs, vectors> for 1 ≤ positions ≤ run_positions, 1 ≤ runs ≤ 2, 1 ≤ vectors ≤ direct_vectors.
template <class Dot>
WindowFunction<Dot> window_function(int positions, int runs, int vectors) {
  struct Table {
    WindowFunction<Dot> at[direct_vectors][2][run_positions] = {};
    constexpr Table() {
      unroll_constant<direct_vectors>([this](auto v) {
        unroll_constant<2>([this, v](auto r) {
          unroll_constant<run_positions>([this, v, r](auto p) { at[v][r][p] = window_tile<Dot, p + 1, r + 1, v + 1>; });
        });
      });
    }
  };
  static constexpr Table table;
  return table.at[vectors - 1][runs - 1][positions - 1];
}

}  // namespace votive::cpu::VOTIVE_ISA
