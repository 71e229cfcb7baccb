// Every public operation on tensors. Free functions; options are structs for designated initialisers; results are new tensors.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "votive/core/tensor.h"
#include "votive/ops/create.h"
#include "votive/ops/index.h"

namespace votive {

// ---- creation ---------------------------------------------------------------------------------------------------------------------------

struct CreateOptions {
  Device device = Device::cpu;
};
Tensor zeros(const Shape& shape, DType dtype = f32, CreateOptions options = {});
Tensor ones(const Shape& shape, DType dtype = f32, CreateOptions options = {});
/// Every element `value`, by the rules of a literal: an integer must fit, a float is rounded once.
Tensor full(const Shape& shape, Literal value, DType dtype = f32, CreateOptions options = {});
Tensor eye(Size n, DType dtype = f32, CreateOptions options = {});
/// start, start + step, … below stop. Integers give i64 unless a dtype is given. Throws Error{InvalidArgument} for step 0, NaN or infinity.
Tensor arange(Literal start, Literal stop, Literal step = 1, std::optional<DType> dtype = {}, CreateOptions options = {});
Tensor linspace(double start, double stop, Size n, DType dtype = f32, CreateOptions options = {});

/// Nested braces: tensor({{1, 2, 3}, {4, 5, 6}}, f32). Ragged lists are Error{ShapeMismatch}.
class Nested {
 public:
  Nested(Literal value) : value_(value) {}  // NOLINT(google-explicit-constructor)
  template <class T>
  requires std::is_arithmetic_v<T> Nested(T value) : value_(value) {}  // NOLINT(google-explicit-constructor)
  Nested(std::initializer_list<Nested> list) : value_(0), list_(list), is_list_(true) {}
  const Literal& value() const { return value_; }
  const std::vector<Nested>& list() const { return list_; }
  bool is_list() const { return is_list_; }

 private:
  Literal value_;
  std::vector<Nested> list_;
  bool is_list_ = false;
};
Tensor tensor(const Nested& values, DType dtype = f32, CreateOptions options = {});
/// From a flat list in row-major order; T must be the dtype's own type (std::uint16_t carries the bits of f16 and bf16).
template <class T>
Tensor from_host(std::span<const T> values, const Shape& shape, DType dtype, CreateOptions options = {});

/// Where random numbers come from: a seed, a stream and how much was used. Passing it advances `offset`.
struct Generator {
  std::uint64_t seed = 0, stream = 0, offset = 0;
  Generator fork(std::uint64_t k) const;
};
struct RandomOptions {
  std::uint64_t seed = 0, stream = 0, offset = 0;
  DType dtype = f32;
  Device device = Device::cpu;
};
Tensor rand(const Shape& shape, RandomOptions options = {});   ///< uniform in [0, 1)
Tensor randn(const Shape& shape, RandomOptions options = {});  ///< normal, mean 0, variance 1
Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, RandomOptions options = {.dtype = i64});
/// From a generator, whose offset moves past what was drawn; seed, stream and offset of the options are not read.
Tensor rand(const Shape& shape, Generator& generator, RandomOptions options = {});
Tensor randn(const Shape& shape, Generator& generator, RandomOptions options = {});
Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, Generator& generator, RandomOptions options = {.dtype = i64});

// ---- movement: views where strides allow ------------------------------------------------------------------------------------------------

Tensor reshape(const Tensor& x, const Shape& shape);  ///< one −1 is deduced; copies only when no view can give it
Tensor flatten(const Tensor& x, int first = 0, int last = -1);
Tensor permute(const Tensor& x, std::initializer_list<int> axes);
Tensor permute(const Tensor& x, std::span<const int> axes);
Tensor transpose(const Tensor& x, int a = -2, int b = -1);
Tensor squeeze(const Tensor& x, int axis);
Tensor unsqueeze(const Tensor& x, int axis);
struct SliceOptions {
  int axis = 0;
  std::optional<Size> start = {}, stop = {};  // as Python's: negative from the end, clamped
  Size step = 1;                              // not 0
};
Tensor slice(const Tensor& x, SliceOptions options);
Tensor narrow(const Tensor& x, int axis, Size start, Size n);  ///< exact: out of range is an error
Tensor select(const Tensor& x, int axis, Size index);          ///< drops the axis
Tensor flip(const Tensor& x, int axis);
Tensor broadcast_to(const Tensor& x, const Shape& shape);
Tensor contiguous(const Tensor& x);  ///< the same tensor when it is row-major already
std::vector<Tensor> split(const Tensor& x, std::span<const Size> sizes, int axis = 0);
std::vector<Tensor> chunk(const Tensor& x, Size chunks, int axis = 0);
Tensor concat(std::span<const Tensor> x, int axis = 0);
Tensor concat(std::initializer_list<Tensor> x, int axis = 0);
Tensor stack(std::span<const Tensor> x, int axis = 0);
Tensor stack(std::initializer_list<Tensor> x, int axis = 0);
/// Writes `source` over the elements of `destination`, a view or a whole tensor, without changing its dtype or shape. The only writer beside KvCache.
/// Throws Error{InvalidArgument} when destination overlaps itself (stride 0). Overlap of the two gives the result as if copied first.
void copy_into(Tensor& destination, const Tensor& source);

// ---- pointwise --------------------------------------------------------------------------------------------------------------------------

Tensor add(const Tensor& a, const Tensor& b);
Tensor sub(const Tensor& a, const Tensor& b);
Tensor mul(const Tensor& a, const Tensor& b);
Tensor div(const Tensor& a, const Tensor& b);  ///< true division: integers give f32
Tensor minimum(const Tensor& a, const Tensor& b);
Tensor maximum(const Tensor& a, const Tensor& b);
Tensor neg(const Tensor& x);
Tensor abs(const Tensor& x);
Tensor sign(const Tensor& x);
Tensor relu(const Tensor& x);
Tensor square(const Tensor& x);
Tensor floor(const Tensor& x);
Tensor ceil(const Tensor& x);
Tensor trunc(const Tensor& x);
Tensor round(const Tensor& x);  ///< half to even
Tensor sqrt(const Tensor& x);
Tensor rsqrt(const Tensor& x);
Tensor recip(const Tensor& x);
Tensor exp(const Tensor& x);
Tensor log(const Tensor& x);
Tensor sin(const Tensor& x);
Tensor cos(const Tensor& x);
Tensor tanh(const Tensor& x);
Tensor erf(const Tensor& x);
Tensor sigmoid(const Tensor& x);
Tensor silu(const Tensor& x);
Tensor gelu(const Tensor& x);
Tensor gelu_tanh(const Tensor& x);
Tensor swiglu(const Tensor& gate, const Tensor& up);
Tensor eq(const Tensor& a, const Tensor& b);
Tensor ne(const Tensor& a, const Tensor& b);
Tensor lt(const Tensor& a, const Tensor& b);
Tensor le(const Tensor& a, const Tensor& b);
Tensor gt(const Tensor& a, const Tensor& b);
Tensor ge(const Tensor& a, const Tensor& b);
/// With a literal: integers compare with any number as mathematics does, i8[1] < 256 is true and u8[3] > 2.5 is true (CONTRACT.md 2.5).
Tensor eq(const Tensor& x, Literal value);
Tensor ne(const Tensor& x, Literal value);
Tensor lt(const Tensor& x, Literal value);
Tensor le(const Tensor& x, Literal value);
Tensor gt(const Tensor& x, Literal value);
Tensor ge(const Tensor& x, Literal value);
Tensor minimum(const Tensor& x, Literal value);
Tensor maximum(const Tensor& x, Literal value);
Tensor logical_and(const Tensor& a, const Tensor& b);
Tensor logical_or(const Tensor& a, const Tensor& b);
Tensor logical_xor(const Tensor& a, const Tensor& b);
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);
struct CastOptions {
  bool saturate = true;
};
Tensor cast(const Tensor& x, DType dtype, CastOptions options = {});

/// Operators, also with a literal on either side (CONTRACT.md 1.3); `%` and integer divisions come with their operations.
Tensor operator+(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& a, const Tensor& b);
Tensor operator*(const Tensor& a, const Tensor& b);
Tensor operator/(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& x);
Tensor operator+(const Tensor& a, Literal b);
Tensor operator-(const Tensor& a, Literal b);
Tensor operator*(const Tensor& a, Literal b);
Tensor operator/(const Tensor& a, Literal b);
Tensor operator+(Literal a, const Tensor& b);
Tensor operator-(Literal a, const Tensor& b);
Tensor operator*(Literal a, const Tensor& b);
Tensor operator/(Literal a, const Tensor& b);

// ---- reductions, norms, orders -----------------------------------------------------------------------------------------------------------

/// Axes of a reduction: all of them, one, or a list.
class Axes {
 public:
  Axes() = default;
  Axes(int axis) : axes_{axis}, all_(false) {}  // NOLINT(google-explicit-constructor)
  Axes(std::initializer_list<int> axes) : axes_(axes), all_(false) {}
  std::uint32_t mask(std::string_view op, int rank) const;  ///< Throws Error{InvalidAxis}, also for an axis named twice.

 private:
  std::vector<int> axes_;
  bool all_ = true;
};
struct ReduceOptions {
  Axes axis = {};
  bool keep = false;
};
Tensor sum(const Tensor& x, const ReduceOptions& options = {});
Tensor mean(const Tensor& x, const ReduceOptions& options = {});
Tensor prod(const Tensor& x, const ReduceOptions& options = {});
Tensor min(const Tensor& x, const ReduceOptions& options = {});
Tensor max(const Tensor& x, const ReduceOptions& options = {});
Tensor any(const Tensor& x, const ReduceOptions& options = {});
Tensor all(const Tensor& x, const ReduceOptions& options = {});
struct AxisOptions {
  int axis = -1;
  bool keep = false;
};
Tensor argmax(const Tensor& x, AxisOptions options = {});
Tensor argmin(const Tensor& x, AxisOptions options = {});
struct SoftmaxOptions {
  int axis = -1;
};
Tensor softmax(const Tensor& x, SoftmaxOptions options = {});
Tensor log_softmax(const Tensor& x, SoftmaxOptions options = {});
struct NormOptions {
  float epsilon = 1e-5f;
};
Tensor rms_norm(const Tensor& x, const Tensor& gamma, NormOptions options = {});
Tensor layer_norm(const Tensor& x, const Tensor& gamma = {}, const Tensor& beta = {}, NormOptions options = {});
struct SortOptions {
  int axis = -1;
  bool descending = false;
};
struct Sorted {
  Tensor values, indices;
};
Sorted sort(const Tensor& x, SortOptions options = {});
struct TopkOptions {
  int axis = -1;
  bool largest = true;
};
Sorted topk(const Tensor& x, Size k, TopkOptions options = {});

// ---- products ----------------------------------------------------------------------------------------------------------------------------

Tensor matmul(const Tensor& a, const Tensor& b);
Tensor linear(const Tensor& x, const Tensor& w, const Tensor& bias = {});  ///< x [..., k], w [n, k] → [..., n]
struct AttentionOptions {
  std::optional<float> scale = {};  // 1/√D when absent
  bool causal = false;
};
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask = {}, AttentionOptions options = {});
/// A weight arranged for this machine's matmul; the weight itself where there is nothing to gain.
Tensor prepack(const Tensor& w);

// ---- lookup ------------------------------------------------------------------------------------------------------------------------------

Tensor embedding(const Tensor& table, const Tensor& ids);
Tensor index_select(const Tensor& x, const Tensor& indices, int axis = 0);
Tensor gather(const Tensor& x, const Tensor& indices, int axis);
struct RopeOptions {
  RopePairing pairing = RopePairing::halves;
};
Tensor rope(const Tensor& x, const Tensor& positions, const Tensor& frequencies, RopeOptions options = {});
/// frequency i = base^(−2i/R), i < R/2, correctly rounded but for the last bits of an f64 power; the same on every machine. f32 [R/2].
Tensor rope_frequencies(Size rotated, double base = 10000.0, CreateOptions options = {});

/// "tensor f32[2, 3] on cpu: [[1, 2, 3], [4, 5, 6]]", shortened in the middle when long.
std::string to_string(const Tensor& x);

}  // namespace votive
