// argmax and argmin on the CPU: the first place of the extreme, where −0 equals +0 and NaN is the extreme (CONTRACT.md 3.1). A row is read block by block, only
// the key of the best block is kept, and that block is searched at the end; columns keep a key and the number of its row for each, row by row.
#include "votive/cpu/arg_reduce.h"

#include "votive/cpu/order_free.h"

namespace votive::cpu::VOTIVE_ISA {
namespace {

using namespace reducing;

template <class Key>
struct Found {
  Key key;
  i64 place;
};

/// The first extreme of n > 0 elements. Blocks are compared by exact keys, which take an instruction less than level ones; a block whose extreme is beyond in
/// their order only, +0 after -0 or another NaN, is not a better one.
template <class Keys, bool largest>
Found<typename Keys::Key> find(const typename Keys::Storage* x, Size n) {
  using Key = typename Keys::Key;
  constexpr Size block = 4096 / static_cast<Size>(sizeof(typename Keys::Storage));
  const auto beyond = [](auto a, Key b) { return largest ? a > b : a < b; };
  const auto level = [](Key exact) {
    return Keys::template settled<largest>(Keys::template level<largest, Key>(Keys::template element<largest>(exact)));
  };
  Key best = extreme_key<Keys, largest>(x, least(block, n));
  Size place = 0;
  for (Size at = block; at < n; at += block) {
    Key key;
    if (n - at >= block) {
      Size read;
      const auto keys = extreme_lanes<Keys, largest>(x + at, block, read);
      if (!any_lane(beyond(keys, best))) continue;  // mostly so
      key = best_lane<Key, largest>(keys);
    } else {
      key = extreme_key<Keys, largest>(x + at, n - at);
    }
    if (!beyond(key, best)) continue;
    if (beyond(level(key), level(best))) place = at;
    best = key;
  }
  return {level(best), place + place_of_key<Keys, largest>(x + place, least(block, n - place), level(best))};
}

/// The results of parts in their order: the first of equal ones stays.
template <bool largest, class Key>
void join_found(const Key* key, const i64* place, Size parts, Size step, i64* result) {
  Size best = 0;
  for (Size p = 1; p < parts; ++p) {
    if (largest ? key[p * step] > key[best * step] : key[p * step] < key[best * step]) best = p;
  }
  *result = place[best * step];
}

/// Row numbers are as wide as keys, so that a register holds as many of one as of the other; keys of 8 bits start again after 128 rows.
template <class Keys, bool largest>
class PlaceColumns {
 public:
  using Key = typename Keys::Key;
  using Storage = typename Keys::Storage;
  using Place = std::make_signed_t<Key>;
  static constexpr Size rows_numbered = sizeof(Key) == 1 ? 128 : sizeof(Key) == 2 ? 1 << 15 : Size{1} << 31;

  PlaceColumns(Key* keys, i64* places, Size widest) : all_keys_(keys), all_places_(places), best_(widest), place_(widest) {}

  void begin(Size o, Size width, Size row) {
    keys_ = all_keys_ + o;
    places_ = all_places_ + o;
    width_ = width;
    first_ = row;
    rows_ = 0;
    fresh_ = true;
  }
  void push(const Storage* row, Size step, Size rows) {
    while (rows > 0) {
      const Size m = least(rows, rows_numbered - rows_);
      Size r = 0;
      for (; r + rows_together <= m; r += rows_together) join<rows_together>(row + r * step, step, r + 2 * rows_together <= m);
      for (; r < m; ++r) join<1>(row + r * step, step, false);
      row += m * step;
      rows -= m;
      if (rows_ == rows_numbered) settle();
    }
  }
  void end() {
    if (rows_ > 0) settle();
  }

 private:
  static constexpr int rows_together = 4;

  /// Piece by piece, and the same piece of the rows after these is fetched: rows side by side are streams that end and start elsewhere all the time
  /// (argmax of f32 along axis 0 62 % of read bandwidth without, 2-core Zen 4).
  template <int rows>
  void join(const Storage* row, Size step, bool more) {
    constexpr Size line = 64 / static_cast<Size>(sizeof(Storage)), piece = 16 * line;
    for (Size c = 0; c < width_; c += piece) {
      const Size n = least(piece, width_ - c);
      for (int i = 0; more && i < rows; ++i) {
        for (Size at = 0; at < n; at += line) __builtin_prefetch(row + (rows + i) * step + c + at, 0, 2);
      }
      join_places<Keys, largest, rows>(row + c, step, n, static_cast<Place>(rows_), best_.data() + c, place_.data() + c, rows_ == 0);
    }
    rows_ += rows;
  }
  void settle() {
    constexpr Size together = 64;  // most blocks of columns find nothing better later
    for (Size c = 0; c < width_; c += together) {
      const Size end = least(width_, c + together);
      Key any = 0;
      for (Size i = c; i < end; ++i) any = static_cast<Key>(any | static_cast<Key>(fresh_ || is_better(best_[i], keys_[i])));
      if (any == 0) continue;
      for (Size i = c; i < end; ++i) {
        if (!fresh_ && !is_better(best_[i], keys_[i])) continue;
        keys_[i] = best_[i];
        places_[i] = first_ + place_[i];
      }
    }
    fresh_ = false;
    first_ += rows_;
    rows_ = 0;
  }
  static bool is_better(Key a, Key b) { return largest ? a > b : a < b; }

  Key* all_keys_;
  i64* all_places_;
  Scratch<Key> best_;
  Scratch<Place> place_;
  Key* keys_ = nullptr;
  i64* places_ = nullptr;
  Size width_ = 0, first_ = 0, rows_ = 0;
  bool fresh_ = true;
};

template <class Keys, bool largest>
void places(const Tensor& x, const Plan& plan, i64* results) {
  using Key = typename Keys::Key;
  using Storage = typename Keys::Storage;
  if (plan.runs_across()) {
    const Slabs slabs(plan);
    const Scratch<Key> keys(slabs.count * plan.outputs);
    const Scratch<i64> found(slabs.count * plan.outputs);
    slabs.for_each<Storage>(x, [&](Size widest) { return PlaceColumns<Keys, largest>(keys.data(), found.data(), widest); });
    for (Size o = 0; o < plan.outputs; ++o) join_found<largest>(keys.data() + o, found.data() + o, slabs.count, plan.outputs, results + o);
    return;
  }
  const Size pieces = (plan.n + piece_elements - 1) / piece_elements;
  const Scratch<Key> keys(plan.outputs * pieces);
  const Scratch<i64> found(plan.outputs * pieces);
  for_each_piece<Storage>(x, plan, [&](Size o, Size p, const Storage* values, Size m, Size k) {
    const auto best = find<Keys, largest>(values, m);
    keys[o * pieces + p] = best.key;
    found[o * pieces + p] = k + best.place;
  });
  for (Size o = 0; o < plan.outputs; ++o) join_found<largest>(keys.data() + o * pieces, found.data() + o * pieces, pieces, 1, results + o);
}

}  // namespace

void arg_reduce(const ArgReduce& op, const Tensor& x, Tensor& y, Stream& stream) {
  const bool done = with_keys(x.dtype(), [&]<class Keys>(Keys) {
    const Plan plan(x.layout(), 1u << op.axis);
    op.largest ? places<Keys, true>(x, plan, data<i64>(y)) : places<Keys, false>(x, plan, data<i64>(y));
  });
  if (done) return;
  Tensor wide = Tensor::allocate("argmax", {.dtype = DType::f32, .shape = x.shape()});
  const Reader in(x, x.layout(), DType::f32);
  in.read<f32>(0, x.count(), data<f32>(wide));
  arg_reduce(op, wide, y, stream);
}

}  // namespace votive::cpu::VOTIVE_ISA
