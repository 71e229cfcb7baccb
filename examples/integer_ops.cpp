// What integers do where frameworks disagree: division, literals, overflow, sums, indices, masks, casts. On every device, by the same rules (docs/CONTRACT.md).
//   integer_ops            tables to read
//   integer_ops --json     one object a line; tools/compare_pytorch.py and tools/compare_candle/run.sh compare them with PyTorch and candle
#include <cstdint>
#include <limits>
#include <string>

#include "table.h"

using namespace votive;

namespace {

constexpr std::int64_t min64 = std::numeric_limits<std::int64_t>::min(), max64 = std::numeric_limits<std::int64_t>::max();
constexpr std::int32_t min32 = std::numeric_limits<std::int32_t>::min(), max32 = std::numeric_limits<std::int32_t>::max();
constexpr std::uint32_t max_u32 = std::numeric_limits<std::uint32_t>::max();
constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

void division(Table& table) {
  table.heading("Division, the four combinations of signs");
  const auto a = [](On on) { return tensor({7, -7, 7, -7}, i64, on); };
  const auto b = [](On on) { return tensor({2, 2, -2, -2}, i64, on); };
  // "/" is true division and "%" follows the divisor's sign, as in Python; C's two are functions with names of their own.
  table.row("i64 [7, -7, 7, -7] / [2, 2, -2, -2]", [&](On on) { return a(on) / b(on); });
  table.row("div_trunc(i64 [7, -7, 7, -7], [2, 2, -2, -2])", [&](On on) { return div_trunc(a(on), b(on)); });
  table.row("floor_div(i64 [7, -7, 7, -7], [2, 2, -2, -2])", [&](On on) { return floor_div(a(on), b(on)); });
  table.row("i64 [7, -7, 7, -7] % [2, 2, -2, -2]", [&](On on) { return a(on) % b(on); });
  table.row("fmod(i64 [7, -7, 7, -7], [2, 2, -2, -2])", [&](On on) { return fmod(a(on), b(on)); });
  table.row("i32 [7, -7] / [2, 2]", [](On on) { return tensor({7, -7}, i32, on) / tensor({2, 2}, i32, on); });
  table.row("u32 [7] / [2]", [](On on) { return tensor({7}, u32, on) / tensor({2}, u32, on); });
  table.row("div_trunc(u32 [7], [2])", [](On on) { return div_trunc(tensor({7}, u32, on), tensor({2}, u32, on)); });
}

void literals(Table& table) {
  table.heading("Integer tensors and literals");
  // A float literal makes the result f32; an integer literal takes the tensor's dtype or is refused.
  table.row("i64 [1, 3] * 0.5", [](On on) { return tensor({1, 3}, i64, on) * 0.5; });
  table.row("i32 [1, 3] * 0.5", [](On on) { return tensor({1, 3}, i32, on) * 0.5; });
  table.row("u8 [1, 3] * 0.5", [](On on) { return tensor({1, 3}, u8, on) * 0.5; });
  table.row("i64 [5] + 0.7", [](On on) { return tensor({5}, i64, on) + 0.7; });
  table.row("i64 [7, -7] / 2.0", [](On on) { return tensor({7, -7}, i64, on) / 2.0; });
  table.row("i64 [2, 3] > 2.5", [](On on) { return tensor({2, 3}, i64, on) > 2.5; });
  table.row("u32 [5, 0] - 1.0", [](On on) { return tensor({5, 0}, u32, on) - 1.0; });
  table.row("u32 [5, 0] - 1", [](On on) { return tensor({5, 0}, u32, on) - 1; });
  table.row("u8 [1] + 300", [](On on) { return tensor({1}, u8, on) + 300; });
  table.row("u8 [1] < 256", [](On on) { return tensor({1}, u8, on) < 256; });
}

void beyond_float(Table& table) {
  table.heading("2^24 + 1, the first integer that f32 lacks");
  const auto x = [](On on) { return tensor({16777217}, i64, on); };
  table.row("i64 [16777217] * 1.0", [&](On on) { return x(on) * 1.0; });
  table.row("i64 [16777217] * 0.5", [&](On on) { return x(on) * 0.5; });
  table.row("i64 [16777217] to f32", [&](On on) { return x(on).to(f32); });
  table.row("i64 [16777217] + f32 [0]", [&](On on) { return x(on) + zeros({1}, f32, on); });
  table.row("i64 [16777217] == 16777216.0", [&](On on) { return x(on) == 16777216.0; });
  table.row("sum(i64 [16777216, 1])", [](On on) { return sum(tensor({16777216, 1}, i64, on)); });
  table.row("mean(i64 [16777217, 16777219])", [](On on) { return mean(tensor({16777217, 16777219}, i64, on)); });
}

void overflow(Table& table) {
  table.heading("Overflow wraps, in every build");
  table.row("u8 [200] + [100]", [](On on) { return tensor({200}, u8, on) + tensor({100}, u8, on); });
  table.row("u8 [3] - [5]", [](On on) { return tensor({3}, u8, on) - tensor({5}, u8, on); });
  table.row("u8 [16] * [17]", [](On on) { return tensor({16}, u8, on) * tensor({17}, u8, on); });
  table.row("u32 [4294967295] + [1]", [](On on) { return tensor({max_u32}, u32, on) + tensor({1}, u32, on); });
  table.row("u32 [0] - [1]", [](On on) { return tensor({0}, u32, on) - tensor({1}, u32, on); });
  table.row("u32 [65536] * [65537]", [](On on) { return tensor({65536}, u32, on) * tensor({65537}, u32, on); });
  table.row("i64 [MAX] + [1]", [](On on) { return tensor({max64}, i64, on) + tensor({1}, i64, on); });
  table.row("i64 [MIN] - [1]", [](On on) { return tensor({min64}, i64, on) - tensor({1}, i64, on); });
  table.row("i64 [MAX] * [2]", [](On on) { return tensor({max64}, i64, on) * tensor({2}, i64, on); });
  table.row("neg(i64 [MIN])", [](On on) { return -tensor({min64}, i64, on); });
  table.row("abs(i64 [MIN])", [](On on) { return abs(tensor({min64}, i64, on)); });
  table.row("checked: u8 [200] + [100]", [](On on) {
    const CheckedScope checked;  // while it lives, what does not fit is an error
    return tensor({200}, u8, on) + tensor({100}, u8, on);
  });
}

void sums(Table& table) {
  table.heading("Sums of integers are 64 bits wide, their means f32");
  table.row("sum(u8 [200, 100])", [](On on) { return sum(tensor({200, 100}, u8, on)); });
  table.row("sum(u8 4096 x 255)", [](On on) { return sum(full({4096}, 255, u8, on)); });
  table.row("sum(u32 [4294967295, 1])", [](On on) { return sum(tensor({max_u32, 1}, u32, on)); });
  table.row("sum(i32 [2147483647, 1])", [](On on) { return sum(tensor({max32, 1}, i32, on)); });
  table.row("sum(bool [1, 0, 1])", [](On on) { return sum(tensor({true, false, true}, boolean, on)); });
  table.row("mean(i32 [1, 2])", [](On on) { return mean(tensor({1, 2}, i32, on)); });
  table.row("mean(u32 [2, 4])", [](On on) { return mean(tensor({2, 4}, u32, on)); });
}

void division_by_zero(Table& table) {
  table.heading("Division by zero");
  const auto one = [](On on) { return ones({1}, i64, on); };
  const auto zero = [](On on) { return zeros({1}, i64, on); };
  table.row("f32 [1, 0, -1] / [0, 0, 0]", [](On on) { return tensor({1, 0, -1}, f32, on) / zeros({3}, f32, on); });
  table.row("i64 [1, 0, -1] / [0, 0, 0]", [](On on) { return tensor({1, 0, -1}, i64, on) / zeros({3}, i64, on); });
  table.row("div_trunc(i64 [1], [0])", [&](On on) { return div_trunc(one(on), zero(on)); });
  table.row("floor_div(i64 [1], [0])", [&](On on) { return floor_div(one(on), zero(on)); });
  table.row("i64 [1] % [0]", [&](On on) { return one(on) % zero(on); });
  table.row("fmod(i64 [1], [0])", [&](On on) { return fmod(one(on), zero(on)); });
  table.row("div_trunc(u32 [1], [0])", [](On on) { return div_trunc(ones({1}, u32, on), zeros({1}, u32, on)); });
}

void least_by_minus_one(Table& table) {
  table.heading("MIN / -1, whose quotient does not fit");
  const auto least = [](On on) { return tensor({min64}, i64, on); };
  const auto minus_one = [](On on) { return tensor({-1}, i64, on); };
  table.row("i64 [MIN] / [-1]", [&](On on) { return least(on) / minus_one(on); });
  table.row("div_trunc(i64 [MIN], [-1])", [&](On on) { return div_trunc(least(on), minus_one(on)); });
  table.row("div_trunc(i32 [MIN], [-1])", [](On on) { return div_trunc(tensor({min32}, i32, on), tensor({-1}, i32, on)); });
  table.row("floor_div(i64 [MIN], [-1])", [&](On on) { return floor_div(least(on), minus_one(on)); });
  table.row("i64 [MIN] % [-1]", [&](On on) { return least(on) % minus_one(on); });
  table.row("fmod(i64 [MIN], [-1])", [&](On on) { return fmod(least(on), minus_one(on)); });
}

void indices(Table& table) {
  table.heading("Indices have any integer dtype, and no other");
  const auto x = [](On on) { return tensor({10, 20, 30}, f32, on); };
  for (const DType dtype : {u8, i8, u16, i16, u32, i32, u64, i64, f32}) {
    table.row("f32 [10, 20, 30] at " + std::string(to_string(dtype)) + " [2, 0]", [&](On on) {
      return index_select(x(on), tensor({2, 0}, dtype, on));
    });
  }
  table.row("f32 [10, 20, 30] at bool [1, 0]", [&](On on) { return index_select(x(on), tensor({true, false}, boolean, on)); });
  table.row("f32 [10, 20, 30] at i64 [-1]", [&](On on) { return index_select(x(on), tensor({-1}, i64, on)); });
  table.row("f32 [10, 20, 30] at i64 [3]", [&](On on) { return index_select(x(on), tensor({3}, i64, on)); });
  table.row("f32 [0, ..., 255] at u8 [255]", [](On on) { return index_select(arange(0, 256, 1, f32, on), tensor({255}, u8, on)); });
  table.row("gather(f32 [[10, 20], [30, 40]], i32 [[1, 0]])", [](On on) {
    return gather(tensor({{10, 20}, {30, 40}}, f32, on), tensor({{1, 0}}, i32, on), 0);
  });
  table.row("embedding(f32 [[10], [20]], i64 [-1])", [](On on) { return embedding(tensor({{10}, {20}}, f32, on), tensor({-1}, i64, on)); });
}

void masks(Table& table) {
  table.heading("u8 is an index, bool is a mask");
  const auto x = [](On on) { return tensor({10, 20, 30}, f32, on); };
  const auto bytes = [](On on) { return tensor({1, 0, 1}, u8, on); };
  const auto mask = [](On on) { return tensor({true, false, true}, boolean, on); };
  table.row("f32 [10, 20, 30][u8 [1, 0, 1]]", [&](On on) { return index(x(on), {bytes(on)}); });
  table.row("f32 [10, 20, 30][bool [1, 0, 1]]", [&](On on) { return index(x(on), {mask(on)}); });
  table.row("masked_select(f32 [10, 20, 30], u8 [1, 0, 1])", [&](On on) { return masked_select(x(on), bytes(on)); });
  table.row("where(u8 [1, 0, 1], f32 [10, 20, 30], [0, 0, 0])", [&](On on) { return where(bytes(on), x(on), zeros({3}, f32, on)); });
  table.row("where(bool [1, 0, 1], f32 [10, 20, 30], [0, 0, 0])", [&](On on) { return where(mask(on), x(on), zeros({3}, f32, on)); });
  table.row("i64 [1, 2] == [1, 3]", [](On on) { return tensor({1, 2}, i64, on) == tensor({1, 3}, i64, on); });
  table.row("bool [1, 0, 1] + bool [1, 0, 1]", [&](On on) { return mask(on) + mask(on); });
}

void extremes(Table& table) {
  table.heading("argmax gives i64, of i64 too");
  table.row("argmax(i64 [1, 5, 5])", [](On on) { return argmax(tensor({1, 5, 5}, i64, on)); });
  table.row("argmax(i64 [2^53, 2^53 + 1])", [](On on) {
    return argmax(tensor({std::int64_t{1} << 53, (std::int64_t{1} << 53) + 1}, i64, on));
  });
  table.row("argmin(i64 [3, MIN, MAX])", [](On on) { return argmin(tensor({std::int64_t{3}, min64, max64}, i64, on)); });
  table.row("argmax(u8 [0, 255])", [](On on) { return argmax(tensor({0, 255}, u8, on)); });
  table.row("max(i64 [MIN, MAX])", [](On on) { return max(tensor({min64, max64}, i64, on)); });
  table.row("argmax(f32 [1, NaN, 3])", [](On on) { return argmax(tensor({1.0, nan, 3.0}, f32, on)); });
  table.row("max(f32 [1, NaN, 3])", [](On on) { return max(tensor({1.0, nan, 3.0}, f32, on)); });
}

void casts(Table& table) {
  table.heading("Floats to integers saturate, integers to integers wrap");
  table.row("f32 [2.9, -2.9] to i64", [](On on) { return tensor({2.9, -2.9}, f32, on).to(i64); });
  table.row("f32 [300, -1] to u8", [](On on) { return tensor({300, -1}, f32, on).to(u8); });
  table.row("f32 [300, -300] to i8", [](On on) { return tensor({300, -300}, f32, on).to(i8); });
  table.row("f32 [NaN, 3e9, -3e9] to i32", [](On on) { return tensor({nan, 3e9, -3e9}, f32, on).to(i32); });
  table.row("f32 [-1, inf] to u32", [](On on) { return tensor({-1.0, infinity}, f32, on).to(u32); });
  table.row("f32 [NaN, 1e20, -1e20] to i64", [](On on) { return tensor({nan, 1e20, -1e20}, f32, on).to(i64); });
  table.row("i64 [300, -1] to u8", [](On on) { return tensor({300, -1}, i64, on).to(u8); });
}

}  // namespace

int main(int argc, char** argv) {
  Table table(argc, argv);
  division(table);
  literals(table);
  beyond_float(table);
  overflow(table);
  sums(table);
  division_by_zero(table);
  least_by_minus_one(table);
  indices(table);
  masks(table);
  extremes(table);
  casts(table);
  return table.finish();
}
