// Tensors from nothing but numbers: constants, ranges, host data. Random ones are in random.h. What is made asks for no gradient; a tensor does with
// require_grad().
#pragma once

#include <initializer_list>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "votive/core/tensor.h"
#include "votive/ops/create.h"

namespace votive {

struct CreateOptions {
  Device device = Device::cpu;
};
/// Every element 0. Class E. Throws Error{SizeOverflow} before anything is allocated, Error{InvalidArgument} for a negative size.
/// Example: zeros({2, 2})  // [[0, 0], [0, 0]]
Tensor zeros(const Shape& shape, DType dtype = f32, CreateOptions options = {});
/// Every element 1. Class E. Throws as zeros.
/// Example: ones({3}, i64)  // [1, 1, 1]
Tensor ones(const Shape& shape, DType dtype = f32, CreateOptions options = {});
/// Every element `value`, by the rules of a literal: an integer must fit, a float is rounded once. Class E.
/// Throws Error{LiteralOutOfRange}, Error{DTypeMismatch} for a float in an integer dtype.
/// Example: full({2}, 7, u8)  // [7, 7]
Tensor full(const Shape& shape, Literal value, DType dtype = f32, CreateOptions options = {});
/// Room for elements that are written later: any values of the dtype. Class E for its shape alone.
/// Example: empty({0, 3})  // []
Tensor empty(const Shape& shape, DType dtype = f32, CreateOptions options = {});
/// zeros, ones, full and empty of x's shape, dtype and device. Class E.
/// Example: zeros_like(ones({2}))  // [0, 0]
Tensor zeros_like(const Tensor& x);
/// As zeros_like. Class E.
/// Example: ones_like(zeros({2}))  // [1, 1]
Tensor ones_like(const Tensor& x);
/// As zeros_like; the value by the rules of a literal. Class E.
/// Example: full_like(zeros({2}), 0.5)  // [0.5, 0.5]
Tensor full_like(const Tensor& x, Literal value);
/// As zeros_like, of any values. Class E for its shape alone.
/// Example: empty_like(zeros({0}))  // []
Tensor empty_like(const Tensor& x);

/// 1 on a diagonal, 0 elsewhere: n rows, and as many columns unless m says otherwise; `offset` > 0 lies above the main diagonal. Class E.
/// Example: eye(2)  // [[1, 0], [0, 1]]
Tensor eye(Size n, DType dtype = f32, CreateOptions options = {});
/// Example: eye(2, 3, 1)  // [[0, 1, 0], [0, 0, 1]]
Tensor eye(Size n, Size m, Size offset = 0, DType dtype = f32, CreateOptions options = {});

/// start, start + step, … before stop:  value i = fma(i, step, start) in f64, rounded once; integers exactly. Nothing accumulates. Class E.
/// Integers give i64 and floats f32 unless a dtype is given. Throws Error{InvalidArgument} for step 0, NaN or infinity; a float literal in an integer
/// dtype is Error{DTypeMismatch}, and a value that the dtype cannot hold Error{LiteralOutOfRange}.
/// Example: arange(0, 10, 3)  // [0, 3, 6, 9]
/// Example: arange(1.0, 0.0, -0.25)  // [1, 0.75, 0.5, 0.25]
Tensor arange(Literal start, Literal stop, Literal step = 1, std::optional<DType> dtype = {}, CreateOptions options = {});
/// n values from start to stop, both of them hit exactly (n = 1: start), evenly spaced in f64 and rounded once. Class E. Throws Error{DTypeMismatch} for
/// integer dtypes, Error{LiteralOutOfRange} where an end is beyond the dtype's largest, Error{InvalidArgument} for ends that are not finite.
/// Example: linspace(0, 1, 5)  // [0, 0.25, 0.5, 0.75, 1]
Tensor linspace(double start, double stop, Size n, DType dtype = f32, CreateOptions options = {});

/// base to the power of linspace(start, stop, n):  value i = pow(base, xᵢ) in f64, rounded once. Class P. Throws as linspace.
/// Example: logspace(0, 2, 3)  // [1, 10, 100]
Tensor logspace(double start, double stop, Size n, double base = 10, DType dtype = f32, CreateOptions options = {});

/// Coordinate grids of vectors; views. Class E. `ij`: axis k of every result runs with vector k (PyTorch's default); `xy`: the first two axes exchanged
/// (NumPy's). One dtype each, as given.
enum class Indexing : std::uint8_t { ij, xy };
struct MeshgridOptions {
  Indexing indexing = Indexing::ij;
};
/// Example: meshgrid({tensor({1, 2}), tensor({5, 6, 7})})[0]  // [[1, 1, 1], [2, 2, 2]]
std::vector<Tensor> meshgrid(std::span<const Tensor> x, MeshgridOptions options = {});
std::vector<Tensor> meshgrid(std::initializer_list<Tensor> x, MeshgridOptions options = {});
/// 1 at place ids[…] of a new last axis of `classes`, else 0. Class E. Ids are integers in 0 … classes−1: a negative one has no meaning here.
/// Throws Error{IndexOutOfRange}, Error{DTypeMismatch} for ids that are not integers.
/// Example: one_hot(tensor({2, 0}, i64), 3)  // [[0, 0, 1], [1, 0, 0]]
Tensor one_hot(const Tensor& ids, Size classes, DType dtype = i64);

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
/// The numbers of nested braces, or of one, each by the rules of a literal. Class E. Throws Error{ShapeMismatch} for ragged lists.
/// Example: tensor({{1, 2}, {3, 4}}, i32)  // [[1, 2], [3, 4]]
Tensor tensor(const Nested& values, DType dtype = f32, CreateOptions options = {});
/// From a flat list in row-major order; T must be the dtype's own type (std::uint16_t carries the bits of f16 and bf16, std::uint8_t of f8). Copies.
/// Class E. Throws Error{ShapeMismatch} unless the count is the shape's, Error{DTypeMismatch}.
/// Example: from_host<float>(std::vector<float>{1, 2}, {2, 1}, f32)  // [[1], [2]]
template <class T>
Tensor from_host(std::span<const T> values, const Shape& shape, DType dtype, CreateOptions options = {});
/// "tensor f32[2, 3] on cpu: [[1, 2, 3], [4, 5, 6]]", shortened in the middle when long; every number reads back as the element. << writes it. Class E.
/// Example: to_string(tensor({1, 2.5}))  // tensor f32[2] on cpu: [1, 2.5]
std::string to_string(const Tensor& x);
/// Example: (std::ostringstream() << tensor({1, 2.5})).str()  // tensor f32[2] on cpu: [1, 2.5]
std::ostream& operator<<(std::ostream& out, const Tensor& x);

}  // namespace votive
