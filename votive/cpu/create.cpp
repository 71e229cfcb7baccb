// Tensors made from nothing: one value, a range, the identity, random numbers. An element depends on its index alone, so threads change nothing.
#include "votive/ops/create.h"

#include <cstring>

#include "votive/base/thread_pool.h"
#include "votive/cpu/kernels.h"
#include "votive/cpu/positions.h"
#include "votive/cpu/tile.h"
#include "votive/numerics/convert.h"
#include "votive/numerics/random.h"

namespace votive::cpu::VOTIVE_ISA {
namespace {

constexpr Size grain = 16 * tile_size;

/// Calls make(begin, n, place) for tiles whose start is a multiple of 1024; place is where n elements of dtype `as` go.
template <class T, class Make>
void make_elements(Tensor& y, DType as, Make make) {
  const Writer out(y, y.layout(), as);
  parallel_for(y.count(), grain, [&](Size begin, Size end) {
    Tile tile;
    for (Size at = begin; at < end; at += tile_size) {
      const Size n = end - at < tile_size ? end - at : tile_size;
      T* place = out.place<T>(at, &tile);
      make(at, n, place);
      out.write(at, n, place);
    }
    out.finish();
  });
}

template <class T>
void fill_as(u64 bits, Tensor& y) {
  const T value = static_cast<T>(bits);
  if (const Size count = y.count(); count <= grain) {
    T* to = data<T>(y);
    for (Size i = 0; i < count; ++i) to[i] = value;
    return;
  }
  make_elements<T>(y, y.dtype(), [&](Size, Size n, T* place) {
    for (Size i = 0; i < n; ++i) place[i] = value;
  });
}

void fill_bits(u64 bits, Tensor& y) {
  switch (block_bytes(y.dtype())) {
    case 1: return fill_as<u8>(bits, y);
    case 2: return fill_as<u16>(bits, y);
    case 4: return fill_as<u32>(bits, y);
    default: return fill_as<u64>(bits, y);
  }
}

void fill(const Fill& op, Tensor& y, Stream&) { fill_bits(op.bits, y); }

void arange(const Arange& op, Tensor& y, Stream&) {
  if (op.integer) {
    const u64 first = static_cast<u64>(op.first), step = static_cast<u64>(op.integer_step);
    make_elements<u64>(y, DType::u64, [&](Size at, Size n, u64* place) {
      for (Size i = 0; i < n; ++i) place[i] = first + static_cast<u64>(at + i) * step;
    });
    return;
  }
  const Size last = op.hit_stop ? y.count() - 1 : -1;
  make_elements<f64>(y, DType::f64, [&](Size at, Size n, f64* place) {
    for (Size i = 0; i < n; ++i) place[i] = numerics::fma_f64(static_cast<f64>(at + i), op.step, op.start);
    if (last >= at && last < at + n) place[last - at] = op.stop;
  });
}

void one_hot(const OneHot& op, const Tensor& ids, Tensor& y, Stream&) {
  const Positions classes({op.info.name, "ids", 1, -1, op.classes, false}, ids);
  const Size n = ids.count(), bytes = block_bytes(y.dtype());
  fill_bits(0, y);
  const u64 one = 1;
  alignas(8) std::byte bits[8];
  const Conversion convert(DType::u64, y.dtype());
  if (convert.is_identity()) {
    std::memcpy(bits, &one, sizeof one);
  } else {
    convert(reinterpret_cast<const std::byte*>(&one), bits, 1);
  }
  std::byte* const to = y.mutable_buffer() + y.offset() * bytes;
  for (Size i = 0; i < n; ++i) std::memcpy(to + (i * op.classes + classes[i]) * bytes, bits, static_cast<std::size_t>(bytes));
}

/// Words at, at + 1, … of a draw, as many as whole Philox blocks need for n; `at` is a multiple of 4 (2 for 64-bit words).
void words32(const Random& op, Size at, Size n, u32* words) {
  const u64 block = op.offset + static_cast<u64>(at) / 4;
  for (Size b = 0; b < (n + 3) / 4; ++b) {
    const numerics::PhiloxWords w = numerics::philox_block(op.seed, op.stream, block + static_cast<u64>(b));
    for (Size i = 0; i < 4; ++i) words[4 * b + i] = w.word[i];
  }
}

void words64(const Random& op, Size at, Size n, u64* words) {
  const u64 block = op.offset + static_cast<u64>(at) / 2;
  for (Size b = 0; b < (n + 1) / 2; ++b) {
    const numerics::PhiloxWords w = numerics::philox_block(op.seed, op.stream, block + static_cast<u64>(b));
    words[2 * b] = numerics::join_words(w.word[0], w.word[1]);
    words[2 * b + 1] = numerics::join_words(w.word[2], w.word[3]);
  }
}

void uniform(const Random& op, Tensor& y) {
  const DType dtype = y.dtype();
  const bool unit = op.low == 0 && op.high == 1;
  if (dtype == DType::f64) {
    make_elements<f64>(y, DType::f64, [&](Size at, Size n, f64* place) {
      u64 words[tile_size + 2];
      words64(op, at, n, words);
      for (Size i = 0; i < n; ++i) place[i] = numerics::uniform_f64(words[i]);
      for (Size i = 0; i < n && !unit; ++i) place[i] = numerics::uniform_between_f64(place[i], op.low, op.high);
    });
    return;
  }
  const f32 low = numerics::f64_to_f32(op.low), high = numerics::f64_to_f32(op.high);
  const f32 below = dtype == DType::f16 ? numerics::next_below_f16(high) : numerics::next_below_bf16(high);
  make_elements<f32>(y, DType::f32, [&](Size at, Size n, f32* place) {
    u32 words[tile_size + 4];
    words32(op, at, n, words);
    if (dtype == DType::f16) {
      for (Size i = 0; i < n; ++i) place[i] = numerics::uniform_f16(words[i]);
    } else if (dtype == DType::bf16) {
      for (Size i = 0; i < n; ++i) place[i] = numerics::uniform_bf16(words[i]);
    } else {
      for (Size i = 0; i < n; ++i) place[i] = numerics::uniform_f32(words[i]);
    }
    for (Size i = 0; i < n && !unit; ++i) place[i] = numerics::uniform_between_f32(place[i], low, high);
    if (unit || dtype == DType::f32) return;
    for (Size i = 0; i < n; ++i) place[i] = place[i] > below ? below : place[i];  // rounded to a half it must stay below high too
  });
}

void normal(const Random& op, Tensor& y) {
  if (y.dtype() == DType::f64) {
    make_elements<f64>(y, DType::f64, [&](Size at, Size n, f64* place) {
      u64 words[tile_size + 2];
      words64(op, at, n + (n & 1), words);
      for (Size i = 0; i < n; i += 2) {
        const numerics::NormalPairF64 z = numerics::normal_pair_f64(words[i], words[i + 1]);
        place[i] = z.first;
        if (i + 1 < n) place[i + 1] = z.second;
      }
    });
    return;
  }
  make_elements<f32>(y, DType::f32, [&](Size at, Size n, f32* place) {
    u32 words[tile_size + 4];
    words32(op, at, n, words);
    f32 first[tile_size / 2], second[tile_size / 2];
    const Size pairs = (n + 1) / 2;
    for (Size p = 0; p < pairs; ++p) {
      const numerics::NormalPairF32 z = numerics::normal_pair_f32(words[2 * p], words[2 * p + 1]);
      first[p] = z.first;
      second[p] = z.second;
    }
    for (Size i = 0; i < n; ++i) place[i] = (i & 1) != 0 ? second[i / 2] : first[i / 2];
  });
}

void integers(const Random& op, Tensor& y) {
  const u64 range = static_cast<u64>(op.integer_high) - static_cast<u64>(op.integer_low);
  make_elements<i64>(y, DType::i64, [&](Size at, Size n, i64* place) {
    u64 words[tile_size + 2];
    words64(op, at, n, words);
    for (Size i = 0; i < n; ++i) place[i] = numerics::uniform_i64(words[i], op.integer_low, range);
  });
}

void raw_words(const Random& op, Tensor& y) {
  make_elements<u32>(y, DType::u32, [&](Size at, Size n, u32* place) {
    u32 words[tile_size + 4];
    words32(op, at, n, words);
    std::memcpy(place, words, static_cast<std::size_t>(n) * sizeof(u32));
  });
}

void random(const Random& op, Tensor& y, Stream&) {
  switch (op.kind) {
    case RandomKind::uniform: return uniform(op, y);
    case RandomKind::normal: return normal(op, y);
    case RandomKind::integers: return integers(op, y);
    case RandomKind::words: return raw_words(op, y);
  }
}

}  // namespace

void register_create(Kernels& kernels) {
  kernels.add<Fill>(Device::cpu, fill);
  kernels.add<Arange>(Device::cpu, arange);
  kernels.add<OneHot>(Device::cpu, one_hot);
  kernels.add<Random>(Device::cpu, random);
}

}  // namespace votive::cpu::VOTIVE_ISA
