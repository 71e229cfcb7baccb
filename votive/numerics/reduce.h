// The orders of addition the contract fixes: the canonical tree (CONTRACT.md 3.2) and the canonical dot product (4.4), element by element. These are the
// definitions; a vector kernel keeps 32 lanes in registers and takes the two folds from here. Nothing here knows a thread: chunks may be summed by anyone.
#pragma once

#include "votive/numerics/convert.h"
#include "votive/numerics/portable.h"

namespace votive::numerics {

enum {
  tree_chunk = 4096,  // elements whose sum is one leaf of the upper tree
  tree_lanes = 32,
  tree_groups = 8,  // of 16 consecutive steps each
  tree_group_steps = 16,
  dot_block = 1024  // elements of one fma chain
};

// ---- the tree's folds ----

VOTIVE_SCALAR f32 tree_fold_groups_f32(const f32 g[8]) { return ((g[0] + g[1]) + (g[2] + g[3])) + ((g[4] + g[5]) + (g[6] + g[7])); }
VOTIVE_SCALAR f64 tree_fold_groups_f64(const f64 g[8]) { return ((g[0] + g[1]) + (g[2] + g[3])) + ((g[4] + g[5]) + (g[6] + g[7])); }
VOTIVE_SCALAR f32 tree_fold_groups_product_f32(const f32 g[8]) { return ((g[0] * g[1]) * (g[2] * g[3])) * ((g[4] * g[5]) * (g[6] * g[7])); }
VOTIVE_SCALAR f64 tree_fold_groups_product_f64(const f64 g[8]) { return ((g[0] * g[1]) * (g[2] * g[3])) * ((g[4] * g[5]) * (g[6] * g[7])); }

/// Overwrites the lanes.
VOTIVE_SCALAR f32 tree_fold_lanes_f32(f32 lane[32]) {
  for (i32 w = 16; w > 0; w >>= 1) {
    for (i32 l = 0; l < w; ++l) lane[l] += lane[l + w];
  }
  return lane[0];
}
VOTIVE_SCALAR f64 tree_fold_lanes_f64(f64 lane[32]) {
  for (i32 w = 16; w > 0; w >>= 1) {
    for (i32 l = 0; l < w; ++l) lane[l] += lane[l + w];
  }
  return lane[0];
}
VOTIVE_SCALAR f32 tree_fold_lanes_product_f32(f32 lane[32]) {
  for (i32 w = 16; w > 0; w >>= 1) {
    for (i32 l = 0; l < w; ++l) lane[l] *= lane[l + w];
  }
  return lane[0];
}
VOTIVE_SCALAR f64 tree_fold_lanes_product_f64(f64 lane[32]) {
  for (i32 w = 16; w > 0; w >>= 1) {
    for (i32 l = 0; l < w; ++l) lane[l] *= lane[l + w];
  }
  return lane[0];
}

// ---- the upper tree: chunk sums arrive in order, and equal subtrees merge as the bits of a binary counter carry. ----
// That is the recursive split at the largest power of two below the count, in 64 numbers of memory.

typedef struct {
  u64 count;
  f32 subtree[64];  // of 2^i chunks where bit i of count is set
} TreeF32;
typedef struct {
  u64 count;
  f64 subtree[64];
} TreeF64;

VOTIVE_SCALAR void tree_push_f32(TreeF32* tree, f32 chunk) {
  i32 i = 0;
  for (; (tree->count >> i) & 1u; ++i) chunk = tree->subtree[i] + chunk;
  tree->subtree[i] = chunk;
  ++tree->count;
}
VOTIVE_SCALAR void tree_push_f64(TreeF64* tree, f64 chunk) {
  i32 i = 0;
  for (; (tree->count >> i) & 1u; ++i) chunk = tree->subtree[i] + chunk;
  tree->subtree[i] = chunk;
  ++tree->count;
}
VOTIVE_SCALAR void tree_push_product_f32(TreeF32* tree, f32 chunk) {
  i32 i = 0;
  for (; (tree->count >> i) & 1u; ++i) chunk = tree->subtree[i] * chunk;
  tree->subtree[i] = chunk;
  ++tree->count;
}
VOTIVE_SCALAR void tree_push_product_f64(TreeF64* tree, f64 chunk) {
  i32 i = 0;
  for (; (tree->count >> i) & 1u; ++i) chunk = tree->subtree[i] * chunk;
  tree->subtree[i] = chunk;
  ++tree->count;
}

/// The whole sum;  of no chunks, +0.
VOTIVE_SCALAR f32 tree_total_f32(const TreeF32* tree) {
  u64 rest = tree->count;
  if (rest == 0u) return 0.0f;
  i32 i = 0;
  for (; (rest & 1u) == 0u; rest >>= 1) ++i;
  f32 total = tree->subtree[i];
  for (rest >>= 1; rest != 0u; rest >>= 1) {
    ++i;
    if (rest & 1u) total = tree->subtree[i] + total;
  }
  return total;
}
VOTIVE_SCALAR f64 tree_total_f64(const TreeF64* tree) {
  u64 rest = tree->count;
  if (rest == 0u) return 0.0;
  i32 i = 0;
  for (; (rest & 1u) == 0u; rest >>= 1) ++i;
  f64 total = tree->subtree[i];
  for (rest >>= 1; rest != 0u; rest >>= 1) {
    ++i;
    if (rest & 1u) total = tree->subtree[i] + total;
  }
  return total;
}
/// The whole product;  of no chunks, 1.
VOTIVE_SCALAR f32 tree_total_product_f32(const TreeF32* tree) {
  f32 total = 1.0f;
  for (i32 i = 0; i < 64; ++i) {
    if ((tree->count >> i) & 1u) total = tree->subtree[i] * total;
  }
  return total;
}
VOTIVE_SCALAR f64 tree_total_product_f64(const TreeF64* tree) {
  f64 total = 1.0;
  for (i32 i = 0; i < 64; ++i) {
    if ((tree->count >> i) & 1u) total = tree->subtree[i] * total;
  }
  return total;
}

/// Combines sums of consecutive chunks that were made elsewhere.
VOTIVE_SCALAR f32 tree_combine_chunks_f32(const f32* sums, i64 count) {
  TreeF32 tree;
  tree.count = 0;
  for (i64 i = 0; i < count; ++i) tree_push_f32(&tree, sums[i]);
  return tree_total_f32(&tree);
}
VOTIVE_SCALAR f64 tree_combine_chunks_f64(const f64* sums, i64 count) {
  TreeF64 tree;
  tree.count = 0;
  for (i64 i = 0; i < count; ++i) tree_push_f64(&tree, sums[i]);
  return tree_total_f64(&tree);
}

// ---- sums and products of n elements, `stride` elements apart ----

/// One chunk, 0 < n <= 4096. Absent elements are -0, the identity of addition.
VOTIVE_SCALAR f32 tree_chunk_sum_f32(const f32* x, i64 n, i64 stride) {
  f32 lane[32];
  for (i64 l = 0; l < 32; ++l) {
    f32 g[8];
    for (i64 k = 0; k < 8; ++k) {
      g[k] = -0.0f;
      for (i64 j = k * 512 + l; j < (k + 1) * 512 && j < n; j += 32) g[k] += x[j * stride];
    }
    lane[l] = tree_fold_groups_f32(g);
  }
  return tree_fold_lanes_f32(lane);
}
VOTIVE_SCALAR f64 tree_chunk_sum_f64(const f64* x, i64 n, i64 stride) {
  f64 lane[32];
  for (i64 l = 0; l < 32; ++l) {
    f64 g[8];
    for (i64 k = 0; k < 8; ++k) {
      g[k] = -0.0;
      for (i64 j = k * 512 + l; j < (k + 1) * 512 && j < n; j += 32) g[k] += x[j * stride];
    }
    lane[l] = tree_fold_groups_f64(g);
  }
  return tree_fold_lanes_f64(lane);
}
/// One chunk, 0 < n <= 4096. Absent elements are 1.
VOTIVE_SCALAR f32 tree_chunk_prod_f32(const f32* x, i64 n, i64 stride) {
  f32 lane[32];
  for (i64 l = 0; l < 32; ++l) {
    f32 g[8];
    for (i64 k = 0; k < 8; ++k) {
      g[k] = 1.0f;
      for (i64 j = k * 512 + l; j < (k + 1) * 512 && j < n; j += 32) g[k] *= x[j * stride];
    }
    lane[l] = tree_fold_groups_product_f32(g);
  }
  return tree_fold_lanes_product_f32(lane);
}
VOTIVE_SCALAR f64 tree_chunk_prod_f64(const f64* x, i64 n, i64 stride) {
  f64 lane[32];
  for (i64 l = 0; l < 32; ++l) {
    f64 g[8];
    for (i64 k = 0; k < 8; ++k) {
      g[k] = 1.0;
      for (i64 j = k * 512 + l; j < (k + 1) * 512 && j < n; j += 32) g[k] *= x[j * stride];
    }
    lane[l] = tree_fold_groups_product_f64(g);
  }
  return tree_fold_lanes_product_f64(lane);
}

VOTIVE_SCALAR i64 tree_chunk_length(i64 left) { return left < tree_chunk ? left : (i64)tree_chunk; }

/// The canonical sum;  empty: +0.
VOTIVE_SCALAR f32 tree_sum_f32(const f32* x, i64 n, i64 stride) {
  TreeF32 tree;
  tree.count = 0;
  for (i64 k = 0; k < n; k += tree_chunk) tree_push_f32(&tree, tree_chunk_sum_f32(x + k * stride, tree_chunk_length(n - k), stride));
  return tree_total_f32(&tree);
}
VOTIVE_SCALAR f64 tree_sum_f64(const f64* x, i64 n, i64 stride) {
  TreeF64 tree;
  tree.count = 0;
  for (i64 k = 0; k < n; k += tree_chunk) tree_push_f64(&tree, tree_chunk_sum_f64(x + k * stride, tree_chunk_length(n - k), stride));
  return tree_total_f64(&tree);
}
/// The canonical product;  empty: 1.
VOTIVE_SCALAR f32 tree_prod_f32(const f32* x, i64 n, i64 stride) {
  TreeF32 tree;
  tree.count = 0;
  for (i64 k = 0; k < n; k += tree_chunk)
    tree_push_product_f32(&tree, tree_chunk_prod_f32(x + k * stride, tree_chunk_length(n - k), stride));
  return tree_total_product_f32(&tree);
}
VOTIVE_SCALAR f64 tree_prod_f64(const f64* x, i64 n, i64 stride) {
  TreeF64 tree;
  tree.count = 0;
  for (i64 k = 0; k < n; k += tree_chunk)
    tree_push_product_f64(&tree, tree_chunk_prod_f64(x + k * stride, tree_chunk_length(n - k), stride));
  return tree_total_product_f64(&tree);
}

// ---- the canonical dot product ----

/// Blocks of 1024: one fma chain from +0 each, added to the running sum in ascending order. The running sum starts as the first block's.
VOTIVE_SCALAR f32 dot_f32(const f32* a, i64 a_stride, const f32* b, i64 b_stride, i64 n) {
  f32 total = 0.0f;
  for (i64 k = 0; k < n; k += dot_block) {
    const i64 end = k + dot_block < n ? k + dot_block : n;
    f32 acc = 0.0f;
    for (i64 i = k; i < end; ++i) acc = fma_f32(a[i * a_stride], b[i * b_stride], acc);
    total = k == 0 ? acc : total + acc;
  }
  return total;
}
VOTIVE_SCALAR f64 dot_f64(const f64* a, i64 a_stride, const f64* b, i64 b_stride, i64 n) {
  f64 total = 0.0;
  for (i64 k = 0; k < n; k += dot_block) {
    const i64 end = k + dot_block < n ? k + dot_block : n;
    f64 acc = 0.0;
    for (i64 i = k; i < end; ++i) acc = fma_f64(a[i * a_stride], b[i * b_stride], acc);
    total = k == 0 ? acc : total + acc;
  }
  return total;
}

/// A subnormal becomes a zero of its sign.
VOTIVE_SCALAR f32 flush_f32(f32 x) {
  const u32 u = bits_f32(x);
  return f32_from_bits((u & 0x7f800000u) == 0u ? u & 0x80000000u : u);
}

/// fma as vdpbf16ps has it: subnormal inputs are zeros, and a result below 2^-126 is a zero of its sign, where the result means the exact one rounded to
/// 24 bits as if the exponent had no lower limit. a and b are bf16 values: that keeps the second look below from overflowing.
VOTIVE_SCALAR f32 fma_flush_f32(f32 a, f32 b, f32 c) {
  const f32 fa = flush_f32(a);
  const f32 fb = flush_f32(b);
  const f32 fc = flush_f32(c);
  const f32 r = fma_f32(fa, fb, fc);
  const f32 magnitude = abs_f32(r);
  // at 2^-126 the ordinary fma may have rounded up from below: 2^24 times larger no rounding depends on the exponent's limit
  const f32 wide = abs_f32(fma_f32(fa * 0x1p24f, fb, fc * 0x1p24f));
  const u32 below = (magnitude < 0x1p-126f) | ((magnitude == 0x1p-126f) & (wide < 0x1p-102f));
  return f32_from_bits(below ? bits_f32(r) & 0x80000000u : bits_f32(r));
}

/// Blocks of 1024, inside them pairs (2j, 2j+1) with the odd element first, by fma_flush_f32; an absent partner is no operation. The addition of a block to
/// the running sum is an ordinary one.
VOTIVE_SCALAR f32 dot_bf16(const u16* a, i64 a_stride, const u16* b, i64 b_stride, i64 n) {
  f32 total = 0.0f;
  for (i64 k = 0; k < n; k += dot_block) {
    const i64 end = k + dot_block < n ? k + dot_block : n;
    f32 acc = 0.0f;
    for (i64 i = k; i < end; i += 2) {
      if (i + 1 < end) acc = fma_flush_f32(bf16_to_f32(a[(i + 1) * a_stride]), bf16_to_f32(b[(i + 1) * b_stride]), acc);
      acc = fma_flush_f32(bf16_to_f32(a[i * a_stride]), bf16_to_f32(b[i * b_stride]), acc);
    }
    total = k == 0 ? acc : total + acc;
  }
  return total;
}

/// f16 widens exactly and follows dot_f32.
VOTIVE_SCALAR f32 dot_f16(const u16* a, i64 a_stride, const u16* b, i64 b_stride, i64 n) {
  f32 total = 0.0f;
  for (i64 k = 0; k < n; k += dot_block) {
    const i64 end = k + dot_block < n ? k + dot_block : n;
    f32 acc = 0.0f;
    for (i64 i = k; i < end; ++i) acc = fma_f32(f16_to_f32(a[i * a_stride]), f16_to_f32(b[i * b_stride]), acc);
    total = k == 0 ? acc : total + acc;
  }
  return total;
}

}  // namespace votive::numerics
