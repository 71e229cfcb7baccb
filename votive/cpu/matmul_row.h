// One row times a matrix whose columns lie along k, a matrix times a vector: squares of the columns are transposed in registers and multiplied there, so that
// nothing is packed (f32 in DRAM 14 -> 27 GB/s, 2-core Zen 4). Not here: columns that are no whole group (matmul_blocks.h).
#pragma once

#include "votive/cpu/matmul_finish.h"
#include "votive/cpu/matmul_pack.h"
#include "votive/cpu/matmul_panels.h"

namespace votive::cpu::VOTIVE_ISA {

template <class Dot>
class RowProduct {
 public:
  using Acc = typename Dot::Acc;
  using Packed = typename Dot::Packed;
  using Vector = typename Dot::Vector;
  using Operand = typename Dot::Operand;
  static constexpr int lanes = Vector::lanes;
  static constexpr int together = lanes >= 16 ? 2 : 4;  // groups of columns, since a chain takes four cycles a step
  static constexpr Size width = together * lanes;

  explicit RowProduct(const MatrixProduct& p) : p_(p) {}

  static bool takes(const MatrixProduct& p) {
    return p.m == 1 && p.b.row == 1 && p.gathered == nullptr && p.n >= width && p.k >= 2 * square_k && reads_as_stored<Dot>(p.b.dtype);
  }
  Size strips() const { return p_.n / width; }
  Size columns() const { return strips() * width; }

  /// Columns [group * width, + width) of the batch's element o, whose b begins at `offset`; a holds its row as packed units.
  void run(const Packed* a, Size offset, Size o, Size group, PackFunction<Dot> pack) const {
    alignas(64) Acc total[width];
    with_stored<Dot>(p_.b.dtype, [&]<class Stored>(Stored) { multiply<Stored>(a, offset, group, pack, total); });
    finish_sums(p_, static_cast<const Acc*>(total), width, o, group * width, 1, static_cast<int>(width));
  }

 private:
  static constexpr Size square_k = Dot::pairs ? 2 * lanes : lanes;

  template <class Stored>
  void multiply(const Packed* a, Size offset, Size group, PackFunction<Dot> pack, Acc* total) const {
    using Word = typename Stored::Word;
    const Size step = p_.b.column;
    const Word* const b = reinterpret_cast<const Word*>(p_.b.data) + offset + group * width * step;
    for (Size k0 = 0; k0 < p_.k; k0 += k_block) {
      const Size k = p_.k - k0 < k_block ? p_.k - k0 : k_block, squares = k / square_k;
      Vector chain[together];
      unroll<together>([&](auto g) __attribute__((always_inline)) { chain[g] = Vector::zero(); });
      {
        const typename Dot::Environment environment;
        for (Size s = 0; s < squares; ++s) {
          unroll<together>([&](auto g) __attribute__((always_inline)) {
            multiply_square<Stored>(a + s * lanes, b + g * lanes * step + k0 + s * square_k, step, chain[g]);
          });
        }
      }
      alignas(64) Acc sums[width];
      unroll<together>([&](auto g) __attribute__((always_inline)) { store(sums + g * lanes, chain[g]); });
      if (const Size done = squares * square_k; done < k) {
        alignas(64) Packed panel[square_k * width];
        pack({reinterpret_cast<const std::byte*>(b + k0 + done), step, 1, static_cast<int>(width), true}, static_cast<int>(width), k - done,
             panel);
        for (int g = 0; g < together; ++g) {
          tile_function<Dot>(1, 1)(Dot::units(k - done), a + squares * lanes, panel + g * lanes, width,
                                   {sums + g * lanes, lanes, sums + g * lanes, lanes, false});
        }
      }
      for (Size c = 0; c < width; ++c) total[c] = k0 == 0 ? sums[c] : total[c] + sums[c];
      a += Dot::units(k);
    }
  }

  /// chain continues over the units of a square of `lanes` columns.
  template <class Stored>
  [[gnu::always_inline]] static void multiply_square(const Packed* a, const typename Stored::Word* b, Size step, Vector& chain) {
    constexpr Size ahead = 512 / static_cast<Size>(sizeof(typename Stored::Word));
    Vector r[lanes];
    unroll<lanes>([&](auto i) __attribute__((always_inline)) {
      __builtin_prefetch(b + i * step + ahead, 0, 2);
      if constexpr (Dot::pairs) {
        r[i] = as_f32(Vi32::load(b + i * step));
      } else {
        r[i] = Stored::load(b + i * step);
      }
    });
    transpose(r);
    unroll<lanes>([&](auto t) __attribute__((always_inline)) {
      Operand number;
      broadcast_from(a + t, number);
      if constexpr (Dot::pairs) {
        Dot::step(chain, number, as_i32(r[t]));
      } else {
        Dot::step(chain, number, r[Dot::swapped ? t ^ 1 : t]);
      }
    });
  }

  const MatrixProduct& p_;
};

}  // namespace votive::cpu::VOTIVE_ISA
