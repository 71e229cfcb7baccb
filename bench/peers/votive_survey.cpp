// What users call beside the operations that have rows of their own: one row each, on 8 M numbers, so that none is slow without anybody knowing. The names are
// those of torch_survey.py. Not here: products, convolutions and functions (votive_operations.cpp).
#include <string>

#include "offered.h"

namespace votive::peers {

namespace {

constexpr Size rows = 2048, columns = 4096;

Tensor matrix(std::uint64_t seed) { return randn({rows, columns}, {.seed = seed}); }
Tensor images() { return randn({8, 64, 128, 128}, {.seed = 6}); }
Tensor integers() { return randint(0, 1000, {Size{1} << 22}, {.seed = 8, .dtype = DType::i64}); }
Tensor places(Size count, Size limit) { return randint(0, limit, {count}, {.seed = 9, .dtype = DType::i64}); }
Tensor places() { return randint(0, columns, {rows, columns}, {.seed = 5, .dtype = DType::i64}); }

class Offer {
 public:
  explicit Offer(Operations& all) : all_(all) {}

  /// f(operands…), each made by what stands for it.
  template <class F, class... Make>
  void operator()(const std::string& name, F f, Make... make) {
    all_["survey " + name] = [=] { return with(f, make()...); };
  }

 private:
  template <class F, class... In>
  static Call with(F f, In... in) {
    return [=] {
      const Tensor y = f(in...);
      asm volatile("" : : "r"(&y) : "memory");
    };
  }
  Operations& all_;
};

using T = const Tensor&;

}  // namespace

void add_survey(Operations& all) {
  Offer offer(all);
  const auto x = [] { return matrix(1); };
  const auto y = [] { return matrix(2); };
  const auto v = [] { return randn({columns}, {.seed = 3}); };
  const auto positive = [] { return abs(matrix(1)); };
  const auto mask = [] { return gt(matrix(1), 0); };
  const auto image = images;
  const auto whole = integers;
  const auto places_of_all = [] { return places(); };
  const auto classes = [] { return places(rows, columns); };

  offer(
      "flip last", [](T a) { return contiguous(flip(a, 1)); }, x);
  offer(
      "flip first", [](T a) { return contiguous(flip(a, 0)); }, x);
  offer(
      "roll last", [](T a) { return roll(a, 5, 1); }, x);
  offer(
      "pad images",
      [](T a) {
        return pad(a, {{0, 0}, {0, 0}, {1, 1}, {1, 1}});
      },
      image);
  offer(
      "tril", [](T a) { return tril(a); }, x);
  offer(
      "repeat rows",
      [](T a) {
        return contiguous(repeat(a, {rows, 1}));
      },
      v);
  offer(
      "stack first",
      [](T a, T b) {
        return stack({a, b}, 0);
      },
      x, y);
  offer(
      "stack last",
      [](T a, T b) {
        return stack({a, b}, 2);
      },
      x, y);
  offer(
      "concat last",
      [](T a, T b) {
        return concat({a, b}, 1);
      },
      x, y);
  offer(
      "gather last", [](T a, T i) { return gather(a, i, 1); }, x, places_of_all);
  offer(
      "gather first", [](T a, T i) { return gather(a, i, 0); }, x, [] { return places() % rows; });
  offer(
      "scatter_add last", [](T a, T i, T s) { return scatter_add(a, i, s, 1); }, x, places_of_all, y);
  offer(
      "index_select last", [](T a, T i) { return index_select(a, i, 1); }, x, [] { return places(columns, columns); });
  offer(
      "masked_fill", [](T a, T m) { return masked_fill(a, m, 0); }, x, mask);
  offer(
      "masked_select", [](T a, T m) { return masked_select(a, m); }, x, mask);
  offer(
      "nonzero", [](T m) { return nonzero(m); }, mask);
  offer(
      "where", [](T m, T a, T b) { return where(m, a, b); }, mask, x, y);
  offer(
      "one_hot", [](T i) { return one_hot(i, columns); }, classes);
  offer(
      "add a row", [](T a, T b) { return a + b; }, x, v);
  offer(
      "add a column", [](T a, T b) { return a + b; }, x,
      [] {
        return randn({rows, 1}, {.seed = 3});
      });
  offer(
      "differences", [](T a) { return narrow(a, 1, 1, columns - 1) - narrow(a, 1, 0, columns - 1); }, x);
  offer(
      "windows of 16", [](T a) { return contiguous(unfold(a, 1, 16, 8)); }, x);
  offer(
      "pixel_shuffle", [](T a) { return pixel_shuffle(a, 2); }, image);

  offer(
      "sort last", [](T a) { return sort(a).values; }, x);
  offer(
      "argsort i64", [](T a) { return argsort(a); }, whole);
  offer(
      "topk 50", [](T a) { return topk(a, 50).values; }, x);
  offer(
      "median last", [](T a) { return median(a).values; }, x);
  offer(
      "unique i64", [](T a) { return unique(a).values; }, whole);
  offer(
      "bincount", [](T a) { return bincount(a); }, whole);
  offer(
      "histc 100", [](T a) { return histc(a, 100, {.low = -3, .high = 3}); }, x);
  offer(
      "bucketize 1000", [](T a, T e) { return bucketize(a, e); }, x, [] { return arange(0, 1, 0.001); });

  offer(
      "nansum", [](T a) { return nansum(a); }, x);
  offer(
      "norm", [](T a) { return norm(a); }, x);
  offer(
      "norm first", [](T a) { return norm(a, {.axis = 0}); }, x);
  offer(
      "var last", [](T a) { return var(a, {.axis = 1, .correction = 1}); }, x);
  offer(
      "var first", [](T a) { return var(a, {.axis = 0, .correction = 1}); }, x);
  offer(
      "std", [](T a) { return votive::std(a, {.correction = 1}); }, x);
  offer(
      "logsumexp last", [](T a) { return logsumexp(a, {.axis = 1}); }, x);
  offer(
      "prod last", [](T a) { return prod(a, {.axis = 1}); }, x);
  offer(
      "any", [](T m) { return any(m); },
      [] {
        return zeros({rows, columns}, DType::boolean);
      });
  offer(
      "argmin first", [](T a) { return argmin(a, {.axis = 0}); }, x);
  offer(
      "sum i64", [](T a) { return sum(a); }, whole);
  offer(
      "cumsum last", [](T a) { return cumsum(a, 1); }, x);
  offer(
      "cumsum first", [](T a) { return cumsum(a, 0); }, x);
  offer(
      "cummax last", [](T a) { return cummax(a, 1).values; }, x);

  offer(
      "softmax first", [](T a) { return softmax(a, {.axis = 0}); }, x);
  offer(
      "log_softmax last", [](T a) { return log_softmax(a); }, x);
  offer(
      "cross_entropy", [](T a, T i) { return cross_entropy(a, i); }, x, classes);
  offer(
      "group_norm 8", [](T a) { return group_norm(a, 8); }, image);
  offer(
      "batch_norm", [](T a, T m) { return batch_norm(a, m, square(m) + 1); }, image, [] { return randn({64}, {.seed = 7}); });
  offer(
      "max_pool 2", [](T a) { return max_pool2d(a, 2); }, image);
  offer(
      "max_pool 3 stride 1", [](T a) { return max_pool2d(a, 3, {.stride = 1, .padding = 1}); }, image);
  offer(
      "avg_pool 2", [](T a) { return avg_pool2d(a, 2); }, image);
  offer(
      "interpolate nearest",
      [](T a) {
        return interpolate(a, {256, 256});
      },
      image);
  offer(
      "interpolate linear",
      [](T a) {
        return interpolate(a, {256, 256}, {.mode = Interpolation::linear});
      },
      image);
  offer(
      "matrix times vector", [](T a, T b) { return matmul(a, b); }, x, v);
  offer(
      "vector times matrix", [](T a, T b) { return matmul(b, a); }, x, [] { return randn({rows}, {.seed = 3}); });
  offer(
      "outer",
      [](T a) {
        return matmul(reshape(a, {columns, 1}), reshape(a, {1, columns}));
      },
      v);
  const auto squares = [](std::uint64_t seed) { return [=] { return randn({64, 256, 256}, {.seed = seed}); }; };
  offer(
      "64 products 256", [](T a, T b) { return matmul(a, b); }, squares(1), squares(2));
  offer(
      "64 products 256 bf16", [](T a, T b) { return matmul(a, b); }, [=] { return squares(1)().to(bf16); },
      [=] { return squares(2)().to(bf16); });

  offer("rand", [] { return rand({rows, columns}, {.seed = 1}); });
  offer("randn", [] { return randn({rows, columns}, {.seed = 1}); });
  offer("arange i64", [] { return arange(0, rows * columns, 1, DType::i64); });
  offer(
      "dropout", [](T a) { return dropout(a, 0.1); }, x);
  offer(
      "cast f32-i32", [](T a) { return a.to(i32); }, x);
  offer(
      "cast f32-u8", [](T a) { return a.to(u8); }, positive);
  offer(
      "equal", [](T a, T b) { return eq(a, b); }, x, y);
  offer(
      "and", [](T m) { return m & m; }, mask);
  offer(
      "clamp", [](T a) { return clamp(a, -1, 1); }, x);
  offer(
      "floor", [](T a) { return floor(a); }, x);
  offer(
      "sqrt", [](T a) { return sqrt(a); }, positive);
  offer(
      "lerp", [](T a, T b) { return lerp(a, b, 0.3); }, x, y);
  offer(
      "multiply i64", [](T a) { return a * a; }, whole);
  offer(
      "divide i64", [](T a) { return floor_div(a, 7); }, whole);
  offer(
      "pow 3", [](T a) { return pow(a, 3); }, x);
  offer(
      "pow", [](T a, T b) { return pow(a, b); }, positive, y);
  offer(
      "atan2", [](T a, T b) { return atan2(a, b); }, x, y);
  offer(
      "cos", [](T a) { return cos(a); }, x);
  offer(
      "tan", [](T a) { return tan(a); }, x);
  offer(
      "exp2", [](T a) { return exp2(a); }, x);
  offer(
      "gelu tanh", [](T a) { return gelu_tanh(a); }, x);
  offer(
      "lgamma", [](T a) { return lgamma(a); }, positive);
}

}  // namespace votive::peers
