// Operations without inputs: constants, ranges, random numbers (CONTRACT.md 7 and 8).
#pragma once

#include "votive/ops/check.h"
#include "votive/ops/op.h"

namespace votive {

/// A C++ number as an operand (CONTRACT.md 1.3): Bool, Int (i64 or u64) or Float (f64). Weak: it takes the tensor's dtype or is refused.
class Literal {
 public:
  enum class Kind : std::uint8_t { boolean, signed_integer, unsigned_integer, floating };

  template <class T>
  requires std::is_arithmetic_v<T>
  constexpr Literal(T value) {  // NOLINT(google-explicit-constructor): literals are meant to be written as they are
    if constexpr (std::is_same_v<T, bool>) {
      kind_ = Kind::boolean;
      integer_ = value;
    } else if constexpr (std::is_floating_point_v<T>) {
      kind_ = Kind::floating;
      floating_ = static_cast<double>(value);
    } else if constexpr (std::is_signed_v<T>) {
      kind_ = Kind::signed_integer;
      integer_ = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
    } else {
      kind_ = Kind::unsigned_integer;
      integer_ = value;
    }
  }
  constexpr Kind kind() const { return kind_; }
  constexpr std::int64_t as_signed() const { return static_cast<std::int64_t>(integer_); }
  constexpr std::uint64_t as_unsigned() const { return integer_; }
  constexpr double as_floating() const { return floating_; }

 private:
  Kind kind_{};
  std::uint64_t integer_ = 0;
  double floating_ = 0;
};

/// Every element the same, given as the bits of one element of `dtype` (low bytes first).
struct Fill {
  Meta meta;
  std::uint64_t bits;
  std::string_view called = "full";

  static constexpr OpInfo info{"full", Class::exact};
  using Kernel = void(const Fill&, Tensor& y, Stream&);
  std::string_view name() const { return called; }
  Meta result() const { return meta; }
};

/// value i = RNE(fma(i, step, start)) in f64, then to dtype; integers exactly in 64 bits (modulo 2⁶⁴). linspace hits `stop` at its last element.
struct Arange {
  Meta meta;
  bool integer;
  std::int64_t first = 0, integer_step = 1;
  double start = 0, step = 1, stop = 0;
  bool hit_stop = false;
  std::string_view called = "arange";

  static constexpr OpInfo info{"arange", Class::exact};
  using Kernel = void(const Arange&, Tensor& y, Stream&);
  std::string_view name() const { return called; }
  Meta result() const { return meta; }
};

/// `words`: the 32-bit words themselves, as u32; `integers` are made of 64-bit words, of which low = high = 0 gives all bits.
enum class RandomKind : std::uint8_t { uniform, normal, integers, words };

/// Philox 4x32-10, a function of (seed, stream, offset, logical index) alone. The ends of a uniform draw are values of the dtype.
struct Random {
  Meta meta;
  RandomKind kind;
  std::uint64_t seed, stream, offset;
  double low = 0, high = 1;                        // uniform
  std::int64_t integer_low = 0, integer_high = 1;  // integers in [low, high)
  std::string_view called = "rand";

  static constexpr OpInfo info{"random", Class::portable};
  using Kernel = void(const Random&, Tensor& y, Stream&);
  std::string_view name() const { return called; }
  Meta result() const { return meta; }
};

/// y[…, c] = 1 where c = ids[…], else 0; ids in [0, classes), checked before anything is written.
struct OneHot {
  Size classes;
  DType dtype;

  static constexpr OpInfo info{"one_hot", Class::exact};
  using Kernel = void(const OneHot&, const Tensor& ids, Tensor& y, Stream&);
  Meta result(const Meta& ids) const;
};

}  // namespace votive
