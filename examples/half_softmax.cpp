// Long sums and softmaxes in f32, f16 and bf16: n ones sum to n and a row of softmax to 1, along every axis and in every memory layout.
//   half_softmax            tables to read
//   half_softmax --json     one object a line; tools/compare_pytorch.py and tools/compare_candle/run.sh compare them with PyTorch and candle
#include <string>

#include "table.h"

using namespace votive;

namespace {

/// The same rows in another place: takes [rows, n], gives a tensor whose `axis` runs through them. On the middle
/// axis every row stands three times.
struct Layout {
  const char* name;
  int axis;
  Tensor (*of)(const Tensor& rows);
};

const Layout layouts[] = {
    {"last axis", 1, [](const Tensor& x) { return x; }},
    {"first axis", 0, [](const Tensor& x) { return contiguous(transpose(x)); }},
    {"middle axis", 1,
     [](const Tensor& x) {
       return contiguous(broadcast_to(unsqueeze(x, 2), {x.size(0), x.size(1), 3}));
     }},
    {"last axis of a transposed view", 1, [](const Tensor& x) { return transpose(contiguous(transpose(x))); }},
    {"first axis of a transposed view", 0, [](const Tensor& x) { return transpose(x); }},
    {"every second element", 1, [](const Tensor& x) { return slice(repeat_interleave(x, 2, 1), {.axis = 1, .step = 2}); }},
    {"backwards in memory", 1, [](const Tensor& x) { return flip(contiguous(flip(x, 1)), 1); }},
    {"one row, broadcast", 1, [](const Tensor& x) { return broadcast_to(narrow(x, 0, 0, 1), x.shape()); }},
};

void sums_of_ones(Table& table, DType dtype) {
  table.heading("sum of ones, " + std::string(to_string(dtype)));
  for (const Size n : {256, 257, 4096}) {
    for (const Layout& layout : layouts) {
      table.row("sum of " + std::to_string(n) + " ones, " + std::string(to_string(dtype)) + ", " + layout.name, [&](On on) {
        return sum(layout.of(ones({2, n}, dtype, on)), {.axis = layout.axis});
      });
    }
  }
}

/// Sums over softmax's rows, added in f32: in a half they would be rounded to 1 and hide what is wrong with the terms.
void row_sums(Table& table, DType dtype, Size rows, Size n, const char* logits, Tensor (*row)(Size n, On on)) {
  for (const Layout& layout : layouts) {
    table.row("softmax of " + std::to_string(rows) + "x" + std::to_string(n) + " " + logits + ", " + std::string(to_string(dtype)) + ", " +
                  layout.name,
              [&](On on) {
                const Tensor x = contiguous(broadcast_to(row(n, on), {rows, n})).to(dtype);
                const Tensor y = softmax(layout.of(x), {.axis = layout.axis});
                return sum(y, {.axis = layout.axis, .dtype = f32});
              });
  }
}

Tensor equal_logits(Size n, On on) { return zeros({n}, f32, on); }
/// 0, 1/8, 2/8 … 63/8, and again: values that f16 and bf16 have too.
Tensor ramp_logits(Size n, On on) { return arange(0, n, 1, i64, on) % 64 / 8; }

}  // namespace

int main(int argc, char** argv) {
  Table table(argc, argv);
  for (const DType dtype : {f32, f16, bf16}) sums_of_ones(table, dtype);
  for (const DType dtype : {f32, f16, bf16}) {
    table.heading("row sums of softmax, " + std::string(to_string(dtype)));
    row_sums(table, dtype, 4, 2048, "equal logits", equal_logits);
    row_sums(table, dtype, 1, 4096, "equal logits", equal_logits);
    row_sums(table, dtype, 4, 2048, "ramps", ramp_logits);
    row_sums(table, dtype, 1, 4096, "ramps", ramp_logits);
  }
  return table.finish();
}
