// Copies whose source and destination run along different axes, in square blocks, so that both sides touch whole cache lines. What is large is written by
// stores that bypass the caches, a line at a time, while the lines of the blocks to come are on their way: rows 16 KiB apart, as those of a matrix of 4096,
// share a set of L1 and a few of L2, so what is fetched ahead is little and goes to L2.
#include <cstring>
#include <utility>

#include "votive/base/thread_pool.h"
#include "votive/cpu/path.h"
#include "votive/cpu/tile.h"

namespace votive::cpu::VOTIVE_ISA {
namespace {

constexpr Size grain_bytes = Size{1} << 17;

// Square blocks are transposed in registers, a cache line each where the machine has such registers. Every line on either side is then touched once,
// whatever the strides. Elsewhere lines are touched in parts and must stay in L1 meanwhile, where rows 4 KiB apart share a set of eight ways: squares of
// four rows leave room, and their shuffles cross no halves (f32 of AVX2 24 GB/s, with squares of eight 17; 0.11 and 0.28 ns an element in cache, 2-core
// Zen 4). Elements of 16 bits are better off with sixteen rows (19, with eight 17); bytes cross the lanes of wide registers one by one.
template <class T>
struct Register {
  static constexpr Size bytes = sizeof(T) == 1 ? 16 : register_bytes == 64 || sizeof(T) == 2 ? register_bytes : 16;
  static constexpr Size lanes = bytes / static_cast<Size>(sizeof(T));
  typedef T Type __attribute__((vector_size(bytes)));
};

/// Past the caches only where the register is a whole line.
template <class Vector>
inline void put(void* y, const Vector& value, bool stream) {
  if (sizeof(Vector) == 64 && stream) return stream_register(y, value);
  std::memcpy(y, &value, sizeof(Vector));
}

/// a₀ b₀ a₁ b₁ … of the lower (upper) halves of pieces of `piece` elements.
template <Size piece, class Vector, Size... i>
inline void zip(const Vector& a, const Vector& b, Vector& low, Vector& high, std::integer_sequence<Size, i...>) {
  constexpr Size lanes = sizeof...(i);
  low = __builtin_shufflevector(a, b, (i / piece * piece + i % piece / 2 + i % 2 * lanes)...);
  high = __builtin_shufflevector(a, b, (i / piece * piece + piece / 2 + i % piece / 2 + i % 2 * lanes)...);
}

#if defined(__AVX2__) && !defined(__AVX512F__)
typedef u32 Words __attribute__((vector_size(32)));

/// In three rounds that cross the halves of a register once: 24 instructions, where zips of whole registers are 48.
inline void transpose_registers(Words (&a)[8]) {
  Words b[8];
  for (int i = 0; i < 8; i += 2) {
    b[i] = __builtin_shufflevector(a[i], a[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    b[i + 1] = __builtin_shufflevector(a[i], a[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  for (int i = 0; i < 8; i += 4) {
    for (int j = 0; j < 2; ++j) {
      a[i + 2 * j] = __builtin_shufflevector(b[i + j], b[i + j + 2], 0, 1, 8, 9, 4, 5, 12, 13);
      a[i + 2 * j + 1] = __builtin_shufflevector(b[i + j], b[i + j + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
  }
  for (int i = 0; i < 4; ++i) {
    b[i] = __builtin_shufflevector(a[i], a[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    b[i + 4] = __builtin_shufflevector(a[i], a[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
  for (int i = 0; i < 8; ++i) a[i] = b[i];
}
#endif

/// log₂ n rounds, each zipping register i with register i + n / 2.
template <class Vector, Size n>
inline void transpose_registers(Vector (&a)[n]) {
  Vector b[n];
  for (Size round = 1; round < n; round *= 2) {
    for (Size i = 0; i < n / 2; ++i) zip<n>(a[i], a[i + n / 2], b[2 * i], b[2 * i + 1], std::make_integer_sequence<Size, n>());
    for (Size i = 0; i < n; ++i) a[i] = b[i];
  }
}

/// y[p·to + q] = x[q·from + p] for p, q < lanes.
template <class T>
inline void transpose_square(const T* x, Size from, T* y, Size to, bool stream) {
  constexpr Size lanes = Register<T>::lanes;
  using Vector = typename Register<T>::Type;
  if constexpr (sizeof(T) == 2) {
    // Rows 2k and 2k + 1 become words of two elements, and the words are transposed; a zip within pieces of 16 bytes leaves them four and four.
    constexpr Size n = lanes / 2;
    typedef u32 Word __attribute__((vector_size(sizeof(Vector))));
    Word low[n], high[n];
    for (Size k = 0; k < n; ++k) {
      Vector a, b, c, d;
      std::memcpy(&a, x + 2 * k * from, sizeof(Vector));
      std::memcpy(&b, x + (2 * k + 1) * from, sizeof(Vector));
      zip<8>(a, b, c, d, std::make_integer_sequence<Size, lanes>());
      low[k] = reinterpret_cast<Word>(c);
      high[k] = reinterpret_cast<Word>(d);
    }
    transpose_registers(low);
    transpose_registers(high);
    for (Size k = 0; k < n; ++k) {
      const Size p = k / 4 * 8 + k % 4;
      put(y + p * to, low[k], stream);
      put(y + (p + 4) * to, high[k], stream);
    }
  } else {
    Vector a[lanes];
    for (Size q = 0; q < lanes; ++q) std::memcpy(&a[q], x + q * from, sizeof(Vector));
    transpose_registers(a);
    for (Size p = 0; p < lanes; ++p) put(y + p * to, a[p], stream);
  }
}

// `across` squares beside each other along p, down all of q. Elements of one line of x are taken together: lines of rows 4 KiB apart push each other out of L1.
template <class T, Size across>
inline void transpose_strip(const T* x, Size from, T* y, Size to, Size m, bool stream, const T* next) {
  constexpr Size lanes = Register<T>::lanes, width = across * lanes;
  Size j = 0;
  for (; j + lanes <= m; j += lanes) {
    if (next != nullptr) {
      for (Size q = j; q < j + lanes; ++q) __builtin_prefetch(next + q * from, 0, 2);
    }
    for (Size i = 0; i < width; i += lanes) transpose_square(x + j * from + i, from, y + i * to + j, to, stream);
  }
  for (; j < m; ++j) {
    for (Size i = 0; i < width; ++i) y[i * to + j] = x[j * from + i];
  }
}

// n elements along p and m along q, of which `next` are the ones that will be asked for soon.
template <class T>
inline void transpose_tile(const T* x, Size from, T* y, Size to, Size n, Size m, bool stream, const T* next) {
  constexpr Size lanes = Register<T>::lanes, in_line = 64 / Register<T>::bytes;
  Size i = 0;
  for (; i + in_line * lanes <= n; i += in_line * lanes) transpose_strip<T, in_line>(x + i, from, y + i * to, to, m, stream, next + i);
  for (; i + lanes <= n; i += lanes) transpose_strip<T, 1>(x + i, from, y + i * to, to, m, stream, nullptr);
  for (; i < n; ++i) {
    for (Size j = 0; j < m; ++j) y[i * to + j] = x[j * from + i];
  }
}

Size least(Size a, Size b) { return a < b ? a : b; }

template <class T>
void copy_tiles(const Path& path, int p, int q, const T* x, T* y, bool stream) {
  constexpr Size bytes = sizeof(T);
  // A row of a tile is what one line of y, or two, hold where registers are lines; elsewhere a tile is collected first, since half a line is no line.
  constexpr bool direct = Register<T>::bytes == 64;
  // Where registers are lines, the side whose rows lie further apart gets the longer runs (permute 2 0 1 of 16 x 1024 x 1024 f32 19 -> 27 GB/s, 2-core Zen 4).
  const Size step_x = path.from[q], step_y = path.to[p];
  const bool far = step_y > step_x;
  constexpr Size longest = bytes == 1 ? 256 : 512;
  const Size most_n = (direct && !far ? 256 : 64) / bytes, most_m = (direct ? (far ? 1024 : 128) : longest) / bytes;
  constexpr Size room = 64 / bytes * (longest + 64) / bytes;
  const Size staged = most_m + 64 / bytes;  // rows of the collected tile, each in other sets of L1
  const Size tiles_p = (path.shape[p] + most_n - 1) / most_n, tiles_q = (path.shape[q] + most_m - 1) / most_m;
  parallel_for(path.others(p, q) * tiles_q * tiles_p, grain_bytes / (most_n * most_m * bytes), [&](Size begin, Size end) {
    alignas(64) T tile[direct ? 1 : room];
    for (Size unit = begin; unit < end; ++unit) {
      const Size at_p = unit % tiles_p * most_n, at_q = unit / tiles_p % tiles_q * most_m;
      Size x_at = at_q * step_x + at_p, y_at = at_p * step_y + at_q;
      path.step_to(unit / tiles_p / tiles_q, p, q, x_at, y_at);
      const Size n = least(path.shape[p] - at_p, most_n), m = least(path.shape[q] - at_q, most_m);
      // The tile after the next; past the end of the rows, the first of the next rows.
      const T* const next = x + x_at + (at_p + 2 * most_n < path.shape[p] ? 2 * most_n : most_m * step_x - at_p);
      if (direct || !stream) {
        transpose_tile(x + x_at, step_x, y + y_at, step_y, n, m, stream, next);
      } else {
        transpose_tile(x + x_at, step_x, tile, staged, n, m, false, next);
        for (Size i = 0; i < n; ++i) {
          stream_bytes(reinterpret_cast<std::byte*>(y + y_at + i * step_y), reinterpret_cast<const std::byte*>(tile + i * staged),
                       m * bytes);
        }
      }
    }
    if (stream) stream_fence();
  });
}

}  // namespace

void copy_transposed(const Path& path, int p, int q, const std::byte* from, std::byte* to, Size bytes) {
  Size count = bytes;
  for (int axis = 0; axis < path.rank; ++axis) count *= path.shape[axis];
  const bool stream = count >= stream_threshold && path.writes_lines(to, q, bytes);
  const auto of = [&]<class T>(T) { copy_tiles<T>(path, p, q, reinterpret_cast<const T*>(from), reinterpret_cast<T*>(to), stream); };
  switch (bytes) {
    case 1: return of(u8{});
    case 2: return of(u16{});
    case 4: return of(u32{});
    default: return of(u64{});
  }
}

}  // namespace votive::cpu::VOTIVE_ISA
