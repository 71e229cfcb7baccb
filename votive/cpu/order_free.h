// Reductions whose order is free (CONTRACT.md 3.4), on elements as they are stored: extremes on integer keys (extreme.h) and sums of integers. Rows are cut
// into pieces and columns into slabs of rows wherever threads want them; the parts are joined in order. Not here: sums of floats, which follow the tree.
#pragma once

#include "votive/cpu/extreme.h"
#include "votive/cpu/reduce.h"

namespace votive::cpu::VOTIVE_ISA {

namespace reducing {

inline constexpr Size piece_elements = Size{1} << 16;

/// Calls body(keys) with the keys of a dtype; false where there are none, which is of 8-bit floats.
template <class Body>
bool with_keys(DType dtype, Body body) {
  switch (dtype) {
    case DType::boolean:
    case DType::u8: return body(IntegerKeys<u8>{}), true;
    case DType::i8: return body(IntegerKeys<i8>{}), true;
    case DType::u16: return body(IntegerKeys<u16>{}), true;
    case DType::i16: return body(IntegerKeys<i16>{}), true;
    case DType::u32: return body(IntegerKeys<u32>{}), true;
    case DType::i32: return body(IntegerKeys<i32>{}), true;
    case DType::u64: return body(IntegerKeys<u64>{}), true;
    case DType::i64: return body(IntegerKeys<i64>{}), true;
    case DType::f16: return body(F16Keys{}), true;
    case DType::bf16: return body(Bf16Keys{}), true;
    case DType::f32: return body(F32Keys{}), true;
    case DType::f64: return body(F64Keys{}), true;
    default: return false;
  }
}

/// part(o, p, values, m, k): elements k … k + m of result o, its piece p of `pieces`; for all of them.
template <class Storage, class Part>
void for_each_piece(const Tensor& x, const Plan& plan, Part part) {
  constexpr Size worth_its_own_read = 256;
  const Reader in(x, plan.all, x.dtype());
  const Size n = plan.n, pieces = (n + piece_elements - 1) / piece_elements, per_unit = least(n, piece_elements);
  const Size together = pieces > 1 || n >= worth_its_own_read ? 1 : tree_chunk / n;  // short rows are read together
  parallel_for(plan.outputs * pieces, most(1, grain / per_unit), [&](Size begin, Size end) {
    const Scratch<Storage> room(together * per_unit);
    for (Size unit = begin; unit < end; unit += together) {
      const Size units = least(together, end - unit), o = unit / pieces, k = unit % pieces * piece_elements,
                 m = least(n - k, piece_elements);
      const Storage* values = in.read<Storage>(o * n + k, units * m, room.data());
      for (Size i = 0; i < units; ++i) part(o + i, unit % pieces, values + i * m, m, k);
    }
  });
}

/// Columns in slabs of rows: results are numbered by slab, then as the plan has them, so that slab s of result o is s·outputs + o.
struct Slabs {
  const Plan& plan;
  Columns columns;
  Size rows, count;

  explicit Slabs(const Plan& p) : plan(p), columns(p, Columns::widest), rows(p.n), count(1) {
    constexpr Size unit = 256;
    const Size units = columns.slices() * columns.blocks(), wanted = units < 2 * threads() && threads() > 1 ? 4 * threads() : 1;
    rows = most(most(1, grain / columns.width(0)), (p.n + wanted - 1) / wanted);
    rows = (rows + unit - 1) / unit * unit;
    count = (p.n + rows - 1) / rows;
  }
  /// Gives slabs to what `make(widest)` makes for each thread: begin(number of the first result, columns, first row), push(row, step, rows) in their order, end().
  template <class Storage, class Make>
  void for_each(const Tensor& x, Make make) const {
    const Storage* elements = reinterpret_cast<const Storage*>(x.buffer());
    const Size blocks = columns.blocks();
    parallel_for(columns.slices() * count * blocks, most(1, grain / (rows * columns.width(0))), [&](Size first, Size last) {
      auto slab = make(columns.width(0));
      for (Size i = first; i < last; ++i) {
        const Size block = i % blocks, s = i / blocks % count, slice = i / blocks / count, width = columns.width(block);
        const Size from = s * rows, to = least(plan.n, from + rows);
        slab.begin(s * plan.outputs + slice * columns.C + columns.first(block), width, from);
        columns.for_each_run(slice, columns.first(block), from, to, [&](Size at, Size step, Size m) { slab.push(elements + at, step, m); });
        slab.end();
      }
    });
  }
};

// ---- extremes ----

template <class Keys, bool largest>
class ExtremeColumns {
 public:
  using Key = typename Keys::Key;
  using Storage = typename Keys::Storage;
  explicit ExtremeColumns(Key* best) : all_(best) {}

  void begin(Size o, Size width, Size) {
    best_ = all_ + o;
    width_ = width;
    fresh_ = true;
  }
  /// Quarters side by side: four streams that do not jump.
  void push(const Storage* row, Size step, Size rows) {
    const Size quarter = rows / 4;
    for (Size r = 0; r < quarter; ++r) join<4>(row + r * step, quarter * step);
    for (Size r = 4 * quarter; r < rows; ++r) join<1>(row + r * step, step);
  }
  void end() {}

 private:
  template <int rows>
  void join(const Storage* row, Size step) {
    join_extremes<Keys, largest, rows>(row, step, width_, best_, fresh_);
    fresh_ = false;
  }

  Key* all_;
  Key* best_ = nullptr;
  Size width_ = 0;
  bool fresh_ = true;
};

/// The extreme of each result, n > 0, as an element.
template <class Keys, bool largest>
void extremes(const Tensor& x, const Plan& plan, typename Keys::Storage* results) {
  using Key = typename Keys::Key;
  using Storage = typename Keys::Storage;
  const auto join_parts = [&](const Key* part, Size parts, Size step, Size o, Size from) {
    Key best = part[from];
    for (Size p = 1; p < parts; ++p) best = better<largest>(best, part[from + p * step]);
    results[o] = Keys::template element<largest>(best);
  };
  if (plan.runs_across()) {
    const Slabs slabs(plan);
    const Scratch<Key> best(slabs.count * plan.outputs);
    slabs.for_each<Storage>(x, [&](Size) { return ExtremeColumns<Keys, largest>(best.data()); });
    for (Size o = 0; o < plan.outputs; ++o) join_parts(best.data(), slabs.count, plan.outputs, o, o);
    return;
  }
  const Size pieces = (plan.n + piece_elements - 1) / piece_elements;
  const Scratch<Key> best(plan.outputs * pieces);
  for_each_piece<Storage>(
      x, plan, [&](Size o, Size p, const Storage* values, Size m, Size) { best[o * pieces + p] = extreme_key<Keys, largest>(values, m); });
  for (Size o = 0; o < plan.outputs; ++o) join_parts(best.data(), pieces, 1, o, o * pieces);
}

// ---- sums of integers, modulo 2⁶⁴ ----

/// What elements are added in, and how many of them it holds whatever they are: signed and unsigned bytes in 16 bits, 16 bits in 32, wider ones in 64.
template <class T>
struct IntegerSum {
  using Partial = std::conditional_t<sizeof(T) == 1, std::conditional_t<std::is_signed_v<T>, i16, u16>,
                                     std::conditional_t<sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, i32, u32>, u64>>;
  static constexpr Size held = sizeof(T) == 1 ? 256 : sizeof(T) == 2 ? 1 << 16 : Size{1} << 31;
};

/// Elements of a register are taken as pairs in lanes of twice the width: the upper of each by a shift, the lower by two.
template <class T>
u64 integer_sum(const T* x, Size n) {
  u64 sum = 0;
  Size i = 0;
  if constexpr (sizeof(T) < 4) {
    using Partial = typename IntegerSum<T>::Partial;
    using P = typename Wide<Partial>::Type;
    using Narrow = typename Wide<T>::Type;
    constexpr Size lanes = Wide<T>::lanes;
    constexpr int half = 8 * static_cast<int>(sizeof(T));
    constexpr Size most_at_once = IntegerSum<T>::held / 2 * 4 * lanes;
    while (n - i >= 4 * lanes) {
      const Size end = i + least((n - i) / (4 * lanes) * 4 * lanes, most_at_once);
      P part[4] = {};
      for (; i < end; i += 4 * lanes) {
        unroll<4>([&](auto j) __attribute__((always_inline)) {
          const P pair = (P)(Narrow)Wide<T>::load(x + i + j * lanes);
          part[j] += (pair >> half) + ((pair << half) >> half);
        });
      }
      unroll<4>([&](auto j) {
        Partial lane[Wide<Partial>::lanes];
        std::memcpy(lane, &part[j], sizeof lane);
        for (const Partial v : lane) sum += static_cast<u64>(static_cast<i64>(v));
      });
    }
  }
  for (; i < n; ++i) sum += static_cast<u64>(static_cast<i64>(x[i]));
  return sum;
}

template <class T>
class SumColumns {
 public:
  using Partial = typename IntegerSum<T>::Partial;
  SumColumns(u64* sums, Size widest) : all_(sums), memory_(widest) {}

  void begin(Size o, Size width, Size) {
    sums_ = all_ + o;
    width_ = width;
    for (Size c = 0; c < width; ++c) sums_[c] = 0;
    clear();
  }
  void push(const T* row, Size step, Size rows) {
    while (rows > 0) {
      const Size m = least(rows, IntegerSum<T>::held - held_);
      Size r = 0;
      for (; r + 4 <= m; r += 4) join<4>(row + r * step, step);
      for (; r < m; ++r) join<1>(row + r * step, step);
      held_ += m;
      row += m * step;
      rows -= m;
      if (held_ == IntegerSum<T>::held) flush();
    }
  }
  void end() { flush(); }

 private:
  template <int rows>
  void join(const T* __restrict row, Size step) {
    Partial* __restrict sum = memory_.data();
    for (Size c = 0; c < width_; ++c) {
      Partial s = sum[c];
      unroll<rows>([&](auto r) __attribute__((always_inline)) { s = static_cast<Partial>(s + static_cast<Partial>(row[r * step + c])); });
      sum[c] = s;
    }
  }
  void flush() {
    const Partial* __restrict sum = memory_.data();
    u64* __restrict total = sums_;
    for (Size c = 0; c < width_; ++c) total[c] += static_cast<u64>(static_cast<i64>(sum[c]));
    clear();
  }
  void clear() {
    std::fill_n(memory_.data(), width_, Partial{0});
    held_ = 0;
  }

  u64* all_;
  Scratch<Partial> memory_;
  u64* sums_ = nullptr;
  Size width_ = 0, held_ = 0;
};

template <class T>
void integer_sums(const Tensor& x, const Plan& plan, u64* results) {
  if (plan.runs_across()) {
    const Slabs slabs(plan);
    const Scratch<u64> sums(slabs.count * plan.outputs);
    slabs.for_each<T>(x, [&](Size widest) { return SumColumns<T>(sums.data(), widest); });
    for (Size o = 0; o < plan.outputs; ++o) results[o] = sums[o];
    for (Size i = plan.outputs; i < slabs.count * plan.outputs; ++i) results[i % plan.outputs] += sums[i];
    return;
  }
  const Size pieces = (plan.n + piece_elements - 1) / piece_elements;
  const Scratch<u64> sums(plan.outputs * pieces);
  for_each_piece<T>(x, plan, [&](Size o, Size p, const T* values, Size m, Size) { sums[o * pieces + p] = integer_sum(values, m); });
  for (Size o = 0; o < plan.outputs; ++o) {
    u64 sum = 0;
    for (Size p = 0; p < pieces; ++p) sum += sums[o * pieces + p];
    results[o] = sum;
  }
}

/// Sums of integers and of truth values, n > 0; results are u64, or i64 in two's complement.
inline void sum_integers(const Tensor& x, const Plan& plan, u64* results) {
  switch (x.dtype()) {
    case DType::boolean:
    case DType::u8: return integer_sums<u8>(x, plan, results);
    case DType::i8: return integer_sums<i8>(x, plan, results);
    case DType::u16: return integer_sums<u16>(x, plan, results);
    case DType::i16: return integer_sums<i16>(x, plan, results);
    case DType::u32: return integer_sums<u32>(x, plan, results);
    case DType::i32: return integer_sums<i32>(x, plan, results);
    default: return integer_sums<u64>(x, plan, results);
  }
}

}  // namespace reducing

}  // namespace votive::cpu::VOTIVE_ISA
