// One row times a matrix whose rows lie dense: sums of a strip of columns stay in L1 while the matrix passes by once, as it lies, some of its rows at a time
// (f32 in DRAM 7 -> 26 GB/s, 2-core Zen 4). Not here: columns that lie along k (matmul_row.h), columns that fill no vector (matmul_blocks.h).
#pragma once

#include <algorithm>

#include "votive/cpu/matmul_finish.h"
#include "votive/cpu/matmul_pack.h"
#include "votive/cpu/matmul_panels.h"

namespace votive::cpu::VOTIVE_ISA {

template <class Dot>
class RowSweep {
 public:
  using Acc = typename Dot::Acc;
  using Packed = typename Dot::Packed;
  using Vector = typename Dot::Vector;
  using Operand = typename Dot::Operand;
  static constexpr Size lanes = Vector::lanes;

  explicit RowSweep(const MatrixProduct& p) : p_(p) {
    const Size whole = p.n / lanes * lanes, threads_share = up(up(whole, threads()), lanes) * lanes;
    strip_ = smaller_size(larger_size(threads_share, least_strip), most_strip);
  }

  /// Smaller matrices are in the caches already, and packing them costs less than a chain that waits for its sums.
  static bool takes(const MatrixProduct& p) {
    constexpr Size least_elements = Size{1} << 16;
    return p.m == 1 && p.b.column == 1 && p.gathered == nullptr && p.n >= least_strip && p.k * p.n >= least_elements &&
           reads_as_stored<Dot>(p.b.dtype);
  }
  Size strips() const { return up(columns(), strip_); }
  /// Whole vectors of them; the rest is left.
  Size columns() const { return p_.n / lanes * lanes; }

  /// Strip `strip` of the batch's element o, whose b begins at `offset`; a holds its row as packed units.
  void run(const Packed* a, Size offset, Size o, Size strip, PackFunction<Dot> pack) const {
    const Size column = strip * strip_, width = smaller_size(strip_, columns() - column);
    const Scratch<Acc> sums(2 * width);
    with_stored<Dot>(p_.b.dtype, [&]<class Stored>(Stored) { multiply<Stored>(a, offset + column, width, pack, sums.data()); });
    finish_sums(p_, static_cast<const Acc*>(sums.data()), width, o, column, 1, width);
  }

 private:
  static constexpr Size least_strip = 16 * lanes, most_strip = 16384 / Size{sizeof(Acc)};
  static constexpr int together = 4;  // units of k, so that sums pass through L1 once for all of them

  /// total[width], and behind it the chain of the block in work.
  template <class Stored>
  void multiply(const Packed* a, Size first, Size width, PackFunction<Dot> pack, Acc* total) const {
    using Word = typename Stored::Word;
    const Word* const b = reinterpret_cast<const Word*>(p_.b.data) + first;
    Acc* const chain = total + width;
    for (Size k0 = 0; k0 < p_.k; k0 += k_block) {
      const Size k = smaller_size(p_.k - k0, k_block), whole = Dot::pairs ? k / 2 : k;
      const Rows<Word> rows{b + k0 * p_.b.row, p_.b.row, k};
      std::fill_n(chain, width, Acc{0});
      {
        const typename Dot::Environment environment;
        Size u = 0;
        for (; u + together <= whole; u += together) sweep<Stored, together>(a + u, rows, u, chain, width);
        for (; u < whole; ++u) sweep<Stored, 1>(a + u, rows, u, chain, width);
      }
      if (Dot::pairs && k % 2 != 0) {
        const Scratch<Packed> half(width);
        pack({reinterpret_cast<const std::byte*>(rows.first + (k - 1) * p_.b.row), 1, p_.b.row, static_cast<int>(width), true},
             static_cast<int>(width), 1, half.data());
        Operand number;
        broadcast_from(a + whole, number);
        for (Size v = 0; v < width; v += lanes) {
          Vector acc = Vector::load(chain + v);
          Dot::step(acc, number, Operand::load(half.data() + v));
          store(chain + v, acc);
        }
      }
      for (Size c = 0; c < width; ++c) total[c] = k0 == 0 ? chain[c] : total[c] + chain[c];
      a += Dot::units(k);
    }
  }

  template <class Word>
  struct Rows {
    const Word* first;
    Size step, k;
    const Word* at(Size i) const { return first + i * step; }
  };

  /// Units [u, u + n) of the block on all chains of the strip, in their order.
  template <class Stored, int n, class Word>
  [[gnu::always_inline]] static void sweep(const Packed* a, const Rows<Word>& rows, Size u, Acc* chain, Size width) {
    constexpr int rows_of_unit = Dot::pairs ? 2 : 1;
    Operand number[n];
    const Word* row[n * rows_of_unit];
    unroll<n>([&](auto i) __attribute__((always_inline)) {
      broadcast_from(a + i, number[i]);
      if constexpr (Dot::pairs) {
        row[2 * i] = rows.at(2 * (u + i));
        row[2 * i + 1] = rows.at(2 * (u + i) + 1);
      } else {
        row[i] = rows.at(Dot::swapped && ((u + i) | 1) < rows.k ? (u + i) ^ 1 : u + i);
      }
    });
    const Size ahead = n * rows_of_unit * rows.step;
    for (Size v = 0; v < width; v += lanes) {
      Vector acc = Vector::load(chain + v);
      unroll<n>([&](auto i) __attribute__((always_inline)) {
        if constexpr (Dot::pairs) {
          __builtin_prefetch(row[2 * i] + v + ahead, 0, 2);
          __builtin_prefetch(row[2 * i + 1] + v + ahead, 0, 2);
          Dot::step(acc, number[i],
                    bit_or(shift_right<16>(as_i32(Vf32::load_bf16(row[2 * i] + v))), as_i32(Vf32::load_bf16(row[2 * i + 1] + v))));
        } else {
          __builtin_prefetch(row[i] + v + ahead, 0, 2);
          Dot::step(acc, number[i], Stored::load(row[i] + v));
        }
      });
      store(chain + v, acc);
    }
  }

  const MatrixProduct& p_;
  Size strip_;
};

}  // namespace votive::cpu::VOTIVE_ISA
