// Operands rearranged for a tile: unit after unit of k, in each the numbers of `width` rows of a (or columns of b) side by side, widened to what the
// dot product multiplies. The same text packs a and b, whatever their strides; absent rows become zeros that no output reads.
#pragma once

#include "votive/cpu/matmul.h"
#include "votive/cpu/matmul_tile.h"

namespace votive::cpu::VOTIVE_ISA {

struct StoredF32 {
  using Word = f32;
  static f32 widen(f32 x) { return x; }
  [[gnu::always_inline]] static Vf32 load(const f32* p) { return Vf32::load(p); }
};
struct StoredF64 {
  using Word = f64;
  static f64 widen(f64 x) { return x; }
  [[gnu::always_inline]] static Vf64 load(const f64* p) { return Vf64::load(p); }
};
struct StoredF16 {
  using Word = u16;
  static f32 widen(u16 x) { return numerics::f16_to_f32(x); }
  [[gnu::always_inline]] static Vf32 load(const u16* p) { return Vf32::load_f16(p); }
};
struct StoredBf16 {
  using Word = u16;
  static f32 widen(u16 x) { return numerics::bf16_to_f32(x); }
  [[gnu::always_inline]] static Vf32 load(const u16* p) { return Vf32::load_bf16(p); }
};

constexpr int smaller(int a, Size b) { return b < a ? static_cast<int>(b) : a; }

/// One operand as the packer sees it: `rows` are a's rows or b's columns.
struct PackSource {
  const std::byte* data;  // of row 0, k 0
  Size row_step, k_step;  // in elements
  int rows;               // that exist; the rest of `width` is zeros
  bool second;            // b: the absent partner of an odd k is −0 there, and +0 in a, so that their product −0 changes no accumulator
};

/// Numbers widened to the accumulator's type, one k per unit.
template <class Dot, class Stored>
void pack_numbers(const PackSource& from, int width, Size k, typename Dot::Packed* to) {
  using Acc = typename Dot::Acc;
  using Vector = typename Dot::Vector;
  constexpr int lanes = Vector::lanes;
  constexpr bool vectors = sizeof(decltype(Stored::widen({}))) == sizeof(Acc);
  const auto* words = reinterpret_cast<const typename Stored::Word*>(from.data);
  // The k that unit u holds.
  const auto k_of = [k](Size u) { return Dot::swapped && (u | 1) < k ? u ^ 1 : u; };
  Size done = 0;
  if constexpr (vectors) {
    if (from.k_step == 1 && width == 1 && !Dot::swapped) {
      for (; done + lanes <= k; done += lanes) store(to + done, Stored::load(words + done));
    } else if (from.k_step == 1) {
      for (; done + lanes <= k; done += lanes) {
        for (int g = 0; g < width; g += lanes) {
          Vector r[lanes];
          for (int i = 0; i < lanes; ++i) r[i] = g + i < from.rows ? Stored::load(words + (g + i) * from.row_step + done) : Vector::zero();
          transpose(r);
          // In ascending order a full store may spill into the units that are written next.
          for (int t = 0; t < lanes; ++t) {
            const Vector& row = r[Dot::swapped ? t ^ 1 : t];
            Acc* at = to + (done + t) * width + g;
            if (width - g >= lanes || (g == 0 && (k - done - t) * width >= lanes)) {
              store(at, row);
            } else {
              store_part(at, width - g, row);
            }
          }
        }
      }
    } else if (from.row_step == 1) {
      for (Size u = 0; u < k; ++u) {
        const auto* row = words + k_of(u) * from.k_step;
        Acc* at = to + u * width;
        int r = 0;
        for (; r + lanes <= width && r + lanes <= from.rows; r += lanes) store(at + r, Stored::load(row + r));
        for (; r < width; ++r) at[r] = r < from.rows ? static_cast<Acc>(Stored::widen(row[r])) : Acc{0};
      }
      return;
    }
  }
  for (Size u = done; u < k; ++u) {
    const auto* row = words + k_of(u) * from.k_step;
    for (int r = 0; r < width; ++r) to[u * width + r] = r < from.rows ? static_cast<Acc>(Stored::widen(row[r * from.row_step])) : Acc{0};
  }
}

/// bf16 bits, two k per unit, the even one in the low half.
inline void pack_pairs(const PackSource& from, int width, Size k, u32* to) {
  constexpr int lanes = Vf32::lanes;
  const auto* words = reinterpret_cast<const u16*>(from.data);
  const Size units = k / 2;
  Size done = 0;
  if (from.k_step == 1 && width == 1) {
    std::memcpy(to, words, static_cast<std::size_t>(units) * sizeof(u32));
    done = units;
  } else if (from.k_step == 1) {
    for (; done + lanes <= units; done += lanes) {
      for (int g = 0; g < width; g += lanes) {
        Vf32 r[lanes];  // bits only
        for (int i = 0; i < lanes; ++i) {
          r[i] = g + i < from.rows ? as_f32(Vi32::load(words + (g + i) * from.row_step + 2 * done)) : Vf32::zero();
        }
        transpose(r);
        for (int t = 0; t < lanes; ++t) {
          u32* at = to + (done + t) * width + g;
          if (width - g >= lanes || (g == 0 && (units - done - t) * width >= lanes)) {
            store(at, as_i32(r[t]));
          } else {
            store_part(reinterpret_cast<f32*>(at), width - g, r[t]);
          }
        }
      }
    }
  } else if (from.row_step == 1) {
    for (; done < units; ++done) {
      const u16* even = words + 2 * done * from.k_step;
      const u16* odd = even + from.k_step;
      u32* at = to + done * width;
      int r = 0;
      for (; r + lanes <= width && r + lanes <= from.rows; r += lanes) {
        store(at + r, bit_or(shift_right<16>(as_i32(Vf32::load_bf16(even + r))), as_i32(Vf32::load_bf16(odd + r))));
      }
      for (; r < width; ++r) at[r] = r < from.rows ? even[r] | static_cast<u32>(odd[r]) << 16 : 0;
    }
  }
  for (; done < units; ++done) {
    const u16* even = words + 2 * done * from.k_step;
    for (int r = 0; r < width; ++r) {
      const u16* at = even + r * from.row_step;
      to[done * width + r] = r < from.rows ? at[0] | static_cast<u32>(at[from.k_step]) << 16 : 0;
    }
  }
  if (k % 2 != 0) {
    const u32 absent = from.second ? 0x80000000u : 0u;
    for (int r = 0; r < width; ++r)
      to[units * width + r] = r < from.rows ? words[(k - 1) * from.k_step + r * from.row_step] | absent : absent;
  }
}

/// Calls body(how elements of `dtype` are stored), where Dot multiplies them as they come, widened at most; false where it does not.
template <class Dot, class Body>
bool with_stored(DType dtype, Body body) {
  if constexpr (Dot::pairs || Dot::swapped) {
    return dtype == DType::bf16 && (body(StoredBf16{}), true);
  } else if constexpr (sizeof(typename Dot::Acc) == 8) {
    return dtype == DType::f64 && (body(StoredF64{}), true);
  } else {
    switch (dtype) {
      case DType::f32: return body(StoredF32{}), true;
      case DType::f16: return body(StoredF16{}), true;
      case DType::bf16: return body(StoredBf16{}), true;
      default: return false;
    }
  }
}
template <class Dot>
bool reads_as_stored(DType dtype) {
  return with_stored<Dot>(dtype, [](auto) {});
}

template <class Dot>
using PackFunction = void (*)(const PackSource&, int width, Size k, typename Dot::Packed*);

/// How `dtype` is packed for Dot.
template <class Dot>
PackFunction<Dot> pack_function(DType dtype) {
  if constexpr (Dot::pairs) {
    return pack_pairs;
  } else if constexpr (Dot::swapped) {
    return pack_numbers<Dot, StoredBf16>;
  } else {
    switch (dtype) {
      case DType::f16: return pack_numbers<Dot, StoredF16>;
      case DType::bf16: return pack_numbers<Dot, StoredBf16>;
      case DType::f64:
        if constexpr (sizeof(typename Dot::Acc) == 8) return pack_numbers<Dot, StoredF64>;
        [[fallthrough]];
      default: return pack_numbers<Dot, StoredF32>;
    }
  }
}

}  // namespace votive::cpu::VOTIVE_ISA
