// Pointwise operations as data: a kind per operation, and the lists that both devices read to reach the scalar text of numerics/.
// A new one is a scalar in numerics/pointwise.h or math.h, a row here, and a declaration with its doc in ops.h.
#pragma once

#include "votive/ops/check.h"
#include "votive/ops/gradient.h"
#include "votive/ops/op.h"

namespace votive {

// X(name): the scalar text has name_f32, name_f64, name_i64, name_u64; integers keep their dtype.
#define VOTIVE_UNARY_ARITHMETIC(X) X(neg) X(abs) X(sign) X(relu) X(square)
// name_f32, name_f64; integers come back as they are, without a kernel.
#define VOTIVE_UNARY_ROUNDING(X) X(floor) X(ceil) X(trunc) X(round)
// name_f32, name_f64; integers and bool are converted to f32 first (CONTRACT.md 1.4).
#define VOTIVE_UNARY_FLOAT(X) X(sqrt) X(rsqrt) X(recip)
// name_f32 only; f64 is Unsupported until its scalar text exists.
#define VOTIVE_UNARY_FUNCTION(X) X(exp) X(log) X(sin) X(cos) X(tanh) X(erf) X(sigmoid) X(silu) X(gelu) X(gelu_tanh)

// name_f32, name_f64, name_i64, name_u64; result of the common dtype; bool with bool is refused (D6).
#define VOTIVE_BINARY_ARITHMETIC(X) X(add) X(sub) X(mul) X(minimum) X(maximum)
// name_f32, name_f64; integers are converted to f32 first.
#define VOTIVE_BINARY_FLOAT(X) X(div)
// floating only, all inner work in f32 and one rounding: swiglu(g, u) = silu(g)·u; name_f32.
#define VOTIVE_BINARY_FUNCTION(X) X(swiglu)
// name_f32, name_f64, name_i64, name_u64 → bool; integers of any two dtypes compare mathematically; bools too.
#define VOTIVE_BINARY_COMPARE(X) X(eq) X(ne) X(lt) X(le) X(gt) X(ge)
// on truth values of any dtype → bool.
#define VOTIVE_BINARY_LOGICAL(X) X(logical_and) X(logical_or) X(logical_xor)

enum class UnaryKind : std::uint8_t {
#define X(name) name,
  VOTIVE_UNARY_ARITHMETIC(X) VOTIVE_UNARY_ROUNDING(X) VOTIVE_UNARY_FLOAT(X) VOTIVE_UNARY_FUNCTION(X)
#undef X
};
enum class BinaryKind : std::uint8_t {
#define X(name) name,
  VOTIVE_BINARY_ARITHMETIC(X) VOTIVE_BINARY_FLOAT(X) VOTIVE_BINARY_FUNCTION(X) VOTIVE_BINARY_COMPARE(X) VOTIVE_BINARY_LOGICAL(X)
#undef X
};

/// What the operation is called, what it promises, and the ulp bound of class P.
struct PointwiseRow {
  std::string_view name;
  Class numeric_class;
  double ulp;
};
const PointwiseRow& row(UnaryKind kind);
const PointwiseRow& row(BinaryKind kind);
inline constexpr int unary_kinds = 22, binary_kinds = 16;

bool is_arithmetic(UnaryKind kind);
bool is_rounding(UnaryKind kind);
bool is_function(UnaryKind kind);
bool is_arithmetic(BinaryKind kind);
bool is_compare(BinaryKind kind);
bool is_logical(BinaryKind kind);

/// The type in which a pointwise operation computes, both operands read as it and the result stored from it; storage types are converted at the edge of a tile (DESIGN.md principle 3).
/// `mixed` compares a u64 with a signed integer: both are read as 64 bits, the signed one's sign decides first.
enum class Compute : std::uint8_t { f32, f64, i64, u64, boolean, mixed };
Compute compute_type(UnaryKind kind, DType x);
Compute compute_type(BinaryKind kind, DType x, DType y);

struct Unary {
  UnaryKind kind;

  std::string_view name() const { return row(kind).name; }

  static constexpr OpInfo info{"unary", Class::portable};
  using Kernel = void(const Unary&, const Tensor& x, Tensor& y, Stream&);
  Meta result(const Meta& x) const;
};

/// Operands of any two dtypes that the rules allow, each read as the compute type; shapes broadcast to y's.
struct Binary {
  BinaryKind kind;

  std::string_view name() const { return row(kind).name; }

  static constexpr OpInfo info{"binary", Class::exact};
  using Kernel = void(const Binary&, const Tensor& a, const Tensor& b, Tensor& y, Stream&);
  Meta result(const Meta& a, const Meta& b) const;
  Saves saves() const { return {kind == BinaryKind::add || kind == BinaryKind::sub ? 0u : ~0u, false}; }
  Tensors gradient(const Backward& b) const;
};

/// where(condition, a, b): bits of a where the condition holds, of b elsewhere. Kernels meet a and b of y's dtype (where() has cast them);
/// the three shapes broadcast to y's.
struct Where {
  static constexpr OpInfo info{"where", Class::exact};
  using Kernel = void(const Where&, const Tensor& condition, const Tensor& a, const Tensor& b, Tensor& y, Stream&);
  Meta result(const Meta& condition, const Meta& a, const Meta& b) const;
};

/// CONTRACT.md section 6. From a quantised dtype: the GGUF formula in f32, then the rule of f32. To a quantised dtype: Unsupported.
struct Cast {
  DType dtype;
  bool saturate = true;  // for e4m3 and e5m2

  std::string_view name() const { return "to"; }

  static constexpr OpInfo info{"cast", Class::exact};
  using Kernel = void(const Cast&, const Tensor& x, Tensor& y, Stream&);
  Meta result(const Meta& x) const;
  Saves saves() const { return {0, false}; }
  Tensors gradient(const Backward& b) const;
};

/// The same bits in another layout or on another device of host memory; x and y have one shape and dtype, either may be strided.
/// Quantised and packed tensors come row-major on both sides: their bytes are copied.
struct Copy {
  static constexpr OpInfo info{"copy", Class::exact};
  using Kernel = void(const Copy&, const Tensor& x, Tensor& y, Stream&);
  Meta result(const Meta& x) const;
  Saves saves() const { return {0, false}; }
  Tensors gradient(const Backward& b) const;
};

}  // namespace votive
