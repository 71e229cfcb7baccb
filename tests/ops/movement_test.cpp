// Movements: each against its definition spelled out, on both devices; edges of shapes, names in errors (CONTRACT.md 8).
#include <bit>
#include <limits>

#include "tests/ops/on_devices.h"

namespace votive {
namespace {

using Ints = std::vector<std::int32_t>;

class Movement : public OnDevices {
 protected:
  Tensor count(Size n) const { return arange(0, n, 1, i32, here); }
  Tensor grid(const Shape& shape) const { return reshape(count(votive::count(shape)), shape); }
  static Ints values(const Tensor& x) { return x.to_host<std::int32_t>(); }
};
INSTANTIATE_TEST_SUITE_P(Devices, Movement, every_device, device_name);

TEST_P(Movement, OfAxesIsAPermutation) {
  const Tensor x = grid({2, 3, 4});
  EXPECT_EQ(movedim(x, 0, -1).shape(), (Shape{3, 4, 2}));
  EXPECT_EQ(values(movedim(x, 0, -1)), values(permute(x, {1, 2, 0})));
  EXPECT_EQ(values(movedim(x, {0, 2}, {1, 0})), values(permute(x, {2, 0, 1})));
  EXPECT_EQ(values(swap_axes(x, 0, -1)), values(permute(x, {2, 1, 0})));
  EXPECT_TRUE(movedim(x, 0, 2).shares_buffer_with(x));
  EXPECT_EQ(kind_of([&] { movedim(x, {0, 0}, {1, 2}); }), ErrorKind::InvalidAxis);
  EXPECT_EQ(kind_of([&] { movedim(x, {0, 1}, {1, 1}); }), ErrorKind::InvalidAxis);
  EXPECT_EQ(kind_of([&] { movedim(x, {0, 1}, {1}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { movedim(x, 3, 0); }), ErrorKind::InvalidAxis);
}

TEST_P(Movement, SqueezesAndAddsAxes) {
  const Tensor x = grid({1, 3, 1});
  EXPECT_EQ(squeeze(x).shape(), (Shape{3}));
  EXPECT_EQ(squeeze(grid({1, 1})).shape(), (Shape{}));
  EXPECT_EQ(atleast(count(3), 3).shape(), (Shape{1, 1, 3}));
  EXPECT_EQ(atleast(x, 2).shape(), (Shape{1, 3, 1}));
  EXPECT_EQ(ravel(transpose(grid({2, 2}))).shape(), (Shape{4}));
  EXPECT_EQ(ravel(full({}, 7, i32, here)).shape(), (Shape{1}));
}

TEST_P(Movement, FlipsSeveralAxes) {
  const Tensor x = grid({2, 3});
  EXPECT_EQ(values(flip(x)), (Ints{5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(values(flip(x, {0, -1})), (Ints{5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(values(flip(x, 0)), (Ints{3, 4, 5, 0, 1, 2}));
  EXPECT_EQ(kind_of([&] { flip(x, {0, -2}); }), ErrorKind::InvalidAxis);
  EXPECT_EQ(flip(full({}, 7, i32, here)).item<std::int32_t>(), 7);
}

// numpy 1.24.2: np.rot90([[1,2],[3,4]], k)
TEST_P(Movement, TurnsByQuarters) {
  const Tensor x = tensor({{1, 2}, {3, 4}}, i32, here);
  EXPECT_EQ(values(rot90(x)), (Ints{2, 4, 1, 3}));
  EXPECT_EQ(values(rot90(x, 2)), (Ints{4, 3, 2, 1}));
  EXPECT_EQ(values(rot90(x, 3)), (Ints{3, 1, 4, 2}));
  EXPECT_EQ(values(rot90(x, -1)), (Ints{3, 1, 4, 2}));
  EXPECT_EQ(values(rot90(x, INT64_MIN)), (Ints{1, 2, 3, 4}));
  EXPECT_EQ(values(rot90(x, 1, 1, 0)), (Ints{3, 1, 4, 2}));
  EXPECT_EQ(kind_of([&] { rot90(x, 1, 0, -2); }), ErrorKind::InvalidAxis);
}

// MLX overflowed at INT_MIN (user report mlx#3604); 2^63 is a multiple of 4.
TEST_P(Movement, RollsByAnyShift) {
  const Tensor x = count(4);
  EXPECT_EQ(values(roll(x, 1)), (Ints{3, 0, 1, 2}));
  EXPECT_EQ(values(roll(x, -1, 0)), (Ints{1, 2, 3, 0}));
  EXPECT_EQ(values(roll(x, 9, 0)), (Ints{3, 0, 1, 2}));
  EXPECT_EQ(values(roll(x, INT64_MIN, 0)), (Ints{0, 1, 2, 3}));
  EXPECT_EQ(values(roll(grid({2, 2}), 1)), (Ints{3, 0, 1, 2}));
  EXPECT_EQ(values(roll(grid({2, 3}), {1, -1}, {0, 1})), (Ints{4, 5, 3, 1, 2, 0}));
  EXPECT_EQ(roll(zeros({0, 3}, f32, here), 5, 0).shape(), (Shape{0, 3}));
  EXPECT_EQ(kind_of([&] { roll(grid({2, 3}), {1, 1}, {0, -2}); }), ErrorKind::InvalidAxis);
  EXPECT_EQ(kind_of([&] { roll(grid({2, 3}), {1}, {0, 1}); }), ErrorKind::InvalidArgument);
}

// numpy 1.24.2: np.tile and np.repeat
TEST_P(Movement, Repeats) {
  const Tensor x = tensor({{1, 2}, {3, 4}}, i32, here);
  EXPECT_EQ(values(tile(x, {2})), (Ints{1, 2, 1, 2, 3, 4, 3, 4}));
  EXPECT_EQ(values(tile(x, {2, 1})), (Ints{1, 2, 3, 4, 1, 2, 3, 4}));
  EXPECT_EQ(tile(x, {2, 1, 1}).shape(), (Shape{2, 2, 2}));
  EXPECT_EQ(tile(x, {0, 3}).shape(), (Shape{0, 6}));
  EXPECT_EQ(tile(full({}, 7, i32, here), {3}).shape(), (Shape{3}));
  EXPECT_EQ(values(repeat(x, {1, 2})), (Ints{1, 2, 1, 2, 3, 4, 3, 4}));
  EXPECT_EQ(kind_of([&] { repeat(x, {2}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(values(repeat_interleave(x, 2, 1)), (Ints{1, 1, 2, 2, 3, 3, 4, 4}));
  EXPECT_EQ(values(repeat_interleave(x, 2)), (Ints{1, 2, 1, 2, 3, 4, 3, 4}));
  EXPECT_EQ(values(repeat_interleave(x, tensor({2, 0}, u8, here), -1)), (Ints{1, 1, 3, 3}));
  EXPECT_EQ(values(repeat_interleave(x, tensor(3, i64, here), 0)), (Ints{1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4}));
  EXPECT_EQ(kind_of([&] { repeat_interleave(x, tensor({1, -1}, i32, here)); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { repeat_interleave(x, tensor({1, 1, 1}, i32, here)); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(kind_of([&] { repeat_interleave(x, tensor({1, 1}, f32, here)); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([&] { repeat_interleave(x, tensor({INT64_MAX, INT64_MAX}, i64, here)); }), ErrorKind::SizeOverflow);
}

// MLX's sizes overflowed (user report mlx#3604): tile(2, INT_MAX).
TEST_P(Movement, RefusesToRepeatPastAllSizes) {
  const Tensor x = count(2);
  for (const auto& call : std::vector<std::function<void()>>{
           [&] { tile(x, {INT64_MAX}); }, [&] { repeat(x, {INT64_MAX / 2}); }, [&] { repeat_interleave(x, INT64_MAX); },
           [&] {
             tile(x, {Size{1} << 40, Size{1} << 40});
           },
           [&] {
             pad(x, {{INT64_MAX, 1}});
           },
           [&] {
             pad(x, {{Size{1} << 62, 0}});
           },
           [&] { diag_embed(x, {.offset = INT64_MIN}); }, [&] { diag_embed(x, {.offset = INT64_MAX}); },
           [&] { diag_embed(x, {.offset = Size{1} << 40}); }}) {
    EXPECT_EQ(kind_of(call), ErrorKind::SizeOverflow);
  }
  EXPECT_EQ(kind_of([&] { tile(x, {-1}); }), ErrorKind::InvalidArgument);
}

TEST_P(Movement, RepeatsAlongEveryOneOfSixteenAxes) {
  const Shape shape = Shape::filled(16, 1);
  Shape twos = Shape::filled(16, 1), counts = Shape::filled(16, 1);
  for (int axis = 0; axis < 10; ++axis) twos[axis] = 2, counts[axis] = axis == 9 ? 3 : 1;
  counts[0] = 2;
  const Tensor x = grid(twos), y = tile(x, counts);
  EXPECT_EQ(y.size(0), 4);
  EXPECT_EQ(y.size(9), 6);
  EXPECT_EQ(values(narrow(narrow(y, 0, 2, 2), 9, 4, 2)), values(x));
  for (int axis = 0; axis < 10; ++axis) counts[axis] = 2;
  const Tensor z = tile(x, counts);
  Tensor corner = z;
  for (int axis = 0; axis < 10; ++axis) corner = narrow(corner, axis, 2, 2);
  EXPECT_EQ(values(corner), values(x));
  EXPECT_EQ(tile(zeros(shape, f32, here), counts).size(3), 2);
  EXPECT_EQ(kind_of([&] { unsqueeze(x, 0); }), ErrorKind::ShapeMismatch);
  EXPECT_NE(text_of([&] { unsqueeze(x, 0); }).find("unsqueeze"), std::string::npos);
  EXPECT_EQ(kind_of([&] { unfold(x, 0, 1, 1); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(kind_of([&] { stack({x, x}); }), ErrorKind::ShapeMismatch);
}

// numpy 1.24.2: np.pad
TEST_P(Movement, PadsInEveryMode) {
  const Tensor x = tensor({1, 2, 3}, i32, here);
  EXPECT_EQ(values(pad(x, {{1, 2}})), (Ints{0, 1, 2, 3, 0, 0}));
  EXPECT_EQ(values(pad(x, {{1, 2}}, {.value = 9})), (Ints{9, 1, 2, 3, 9, 9}));
  EXPECT_EQ(values(pad(x, {{1, 2}}, {.mode = PadMode::edge})), (Ints{1, 1, 2, 3, 3, 3}));
  EXPECT_EQ(values(pad(x, {{2, 1}}, {.mode = PadMode::reflect})), (Ints{3, 2, 1, 2, 3, 2}));
  EXPECT_EQ(values(pad(x, {{2, 3}}, {.mode = PadMode::circular})), (Ints{2, 3, 1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(values(pad(x, {{-1, 1}})), (Ints{2, 3, 0}));
  EXPECT_EQ(values(pad(x, {{-1, -1}})), (Ints{2}));
  EXPECT_EQ(values(pad(x, {{-1, 1}}, {.mode = PadMode::circular})), (Ints{2, 3, 2}));
  EXPECT_EQ(pad(x, {{-2, -1}}).count(), 0);
  const Tensor m = grid({2, 2});
  EXPECT_EQ(values(pad(m, {{1, 0}, {0, 1}}, {.value = -1})), (Ints{-1, -1, -1, 0, 1, -1, 2, 3, -1}));
  EXPECT_EQ(values(pad(m, {{0, 1}, {1, 0}}, {.mode = PadMode::reflect})), (Ints{1, 0, 1, 3, 2, 3, 1, 0, 1}));
  EXPECT_EQ(values(pad(transpose(m), {{0, 0}, {1, 1}}, {.mode = PadMode::edge})), (Ints{0, 0, 2, 2, 1, 1, 3, 3}));
  EXPECT_EQ(values(pad(m, 1, 1, 0)), (Ints{0, 0, 1, 0, 2, 3}));
  EXPECT_EQ(values(pad(zeros({0}, i32, here), {{1, 1}}, {.value = 5})), (Ints{5, 5}));
  EXPECT_EQ(pad(full({}, 7, i32, here), {}).item<std::int32_t>(), 7);
}

// MLX's reflection of an empty axis never ended (user report mlx#4223).
TEST_P(Movement, PadRefusesWhatIsNotThere) {
  const Tensor x = tensor({1, 2, 3}, i32, here), none = zeros({0, 3}, f32, here);
  EXPECT_EQ(kind_of([&] { pad(x, {{3, 0}}, {.mode = PadMode::reflect}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { pad(x, {{4, 0}}, {.mode = PadMode::circular}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { pad(none, {{2, 0}, {0, 0}}, {.mode = PadMode::reflect}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { pad(none, {{2, 0}, {0, 0}}, {.mode = PadMode::edge}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(pad(none, {{0, 0}, {1, 1}}, {.mode = PadMode::reflect}).shape(), (Shape{0, 5}));
  EXPECT_EQ(kind_of([&] { pad(x, {{-4, 9}}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { pad(x, {{-2, -2}}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { pad(x, {{INT64_MIN, INT64_MIN}}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { pad(x, {{1, 1}, {1, 1}}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { pad(x, {{1, 1}}, {.value = 0.5}); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([&] { pad(tensor({1}, u8, here), {{1, 1}}, {.value = 300}); }), ErrorKind::LiteralOutOfRange);
}

TEST_P(Movement, OfDiagonals) {
  const Tensor x = grid({2, 3});
  EXPECT_EQ(values(diagonal(x)), (Ints{0, 4}));
  EXPECT_EQ(values(diagonal(x, {.offset = 1})), (Ints{1, 5}));
  EXPECT_EQ(values(diagonal(x, {.offset = 2})), (Ints{2}));
  EXPECT_EQ(values(diagonal(x, {.offset = -1})), (Ints{3}));
  for (const Size far : {Size{3}, Size{-2}, INT64_MAX, INT64_MIN}) EXPECT_EQ(diagonal(x, {.offset = far}).shape(), (Shape{0}));
  EXPECT_EQ(values(diagonal(transpose(x), {.offset = -1})), (Ints{1, 5}));
  const Tensor cube = grid({2, 3, 2});
  EXPECT_EQ(diagonal(cube, {.a = 0, .b = 2}).shape(), (Shape{3, 2}));
  EXPECT_EQ(values(diagonal(cube, {.a = 0, .b = 2})), (Ints{0, 7, 2, 9, 4, 11}));
  EXPECT_EQ(values(diag_embed(tensor({1, 2}, i32, here))), (Ints{1, 0, 0, 2}));
  EXPECT_EQ(values(diag_embed(tensor({1, 2}, i32, here), {.offset = -1})), (Ints{0, 0, 0, 1, 0, 0, 0, 2, 0}));
  EXPECT_EQ(diag_embed(cube, {.a = 0, .b = 1}).shape(), (Shape{2, 2, 2, 3}));
  EXPECT_EQ(values(diagonal(diag_embed(cube, {.offset = 2, .a = 0, .b = 2}), {.offset = 2, .a = 0, .b = 2})), values(cube));
  EXPECT_EQ(values(diag(x, 1)), (Ints{1, 5}));
  EXPECT_EQ(kind_of([&] { diag(cube); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(kind_of([&] { diagonal(x, {.a = 1, .b = -1}); }), ErrorKind::InvalidAxis);
  EXPECT_EQ(kind_of([&] { diagonal(count(3)); }), ErrorKind::ShapeMismatch);
}

TEST_P(Movement, OfTriangles) {
  const Tensor x = grid({2, 3}) + 1;
  EXPECT_EQ(values(tril(x)), (Ints{1, 0, 0, 4, 5, 0}));
  EXPECT_EQ(values(tril(x, 1)), (Ints{1, 2, 0, 4, 5, 6}));
  EXPECT_EQ(values(tril(x, -1)), (Ints{0, 0, 0, 4, 0, 0}));
  EXPECT_EQ(values(triu(x)), (Ints{1, 2, 3, 0, 5, 6}));
  EXPECT_EQ(values(triu(x, 2)), (Ints{0, 0, 3, 0, 0, 0}));
  for (const Size far : {INT64_MAX, Size{3}}) {
    EXPECT_EQ(values(tril(x, far)), values(x));
    EXPECT_EQ(values(triu(x, far)), Ints(6, 0));
  }
  for (const Size far : {INT64_MIN, Size{-2}}) {
    EXPECT_EQ(values(tril(x, far)), Ints(6, 0));
    EXPECT_EQ(values(triu(x, far)), values(x));
  }
  EXPECT_EQ(values(tril(transpose(x))), (Ints{1, 0, 2, 5, 3, 6}));
  // what is left out is a zero, not a product with one: no NaN and no infinity comes through
  const Tensor bad = full({2, 2}, std::numeric_limits<double>::quiet_NaN(), f32, here);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(select(select(tril(bad), 0, 0), 0, 1).item<float>()), 0u);
  EXPECT_EQ(kind_of([&] { tril(count(3)); }), ErrorKind::ShapeMismatch);
}

// candle computed the number of windows in f32 and recorded a reshape (candle-inventory 1.2).
TEST_P(Movement, OfWindowsIsAView) {
  const Tensor x = count(7);
  EXPECT_EQ(values(unfold(x, 0, 3, 2)), (Ints{0, 1, 2, 2, 3, 4, 4, 5, 6}));
  EXPECT_EQ(unfold(x, 0, 7, INT64_MAX).shape(), (Shape{1, 7}));
  EXPECT_EQ(values(unfold(grid({2, 3}), 0, 2, 1)), (Ints{0, 3, 1, 4, 2, 5}));
  EXPECT_TRUE(unfold(x, 0, 3, 2).shares_buffer_with(x));
  EXPECT_EQ(unfold(broadcast_to(zeros({1}, u8, here), {(Size{1} << 24) + 1}), 0, 1, 1).size(0), (Size{1} << 24) + 1);
  EXPECT_EQ(kind_of([&] { unfold(x, 0, 8, 1); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { unfold(x, 0, 2, 0); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { unfold(x, 0, 0, 1); }), ErrorKind::InvalidArgument);
  Tensor windows = unfold(x, 0, 3, 2);
  EXPECT_EQ(kind_of([&] { copy_into(windows, windows); }), ErrorKind::InvalidArgument) << "elements are shared";
  Tensor apart = unfold(x, 0, 2, 3);
  copy_into(apart, full({}, 9, i32, here));
  EXPECT_EQ(values(x), (Ints{9, 9, 2, 9, 9, 5, 6}));
}

TEST_P(Movement, WritesIntoACopy) {
  const Tensor x = zeros({2, 3}, i32, here);
  EXPECT_EQ(values(slice_scatter(x, full({}, 7, i32, here), {.axis = 1, .step = 2})), (Ints{7, 0, 7, 7, 0, 7}));
  EXPECT_EQ(values(slice_scatter(x, count(2), {.axis = 1, .start = -1, .stop = 0, .step = -1})), (Ints{0, 1, 0, 0, 1, 0}));
  EXPECT_EQ(values(select_scatter(x, tensor({1, 2}, u8, here), 1, -1)), (Ints{0, 0, 1, 0, 0, 2}));
  EXPECT_EQ(values(slice_scatter(transpose(x), ones({2}, i32, here), {.start = 1, .stop = 2})), (Ints{0, 0, 1, 1, 0, 0}));
  EXPECT_EQ(values(slice_scatter(x, zeros({0, 3}, i32, here), {.start = 2})), Ints(6, 0));
  EXPECT_EQ(values(x), Ints(6, 0));
  EXPECT_EQ(kind_of([&] { slice_scatter(x, ones({2}, f32, here), {}); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([&] { slice_scatter(x, ones({4}, i32, here), {}); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(kind_of([&] { select_scatter(x, ones({3}, i32, here), 0, 2); }), ErrorKind::IndexOutOfRange);
}

TEST_P(Movement, OfBitsKeepsThem) {
  EXPECT_EQ(bitcast(tensor({1.0, -0.0}, f32, here), u32).to_host<std::uint32_t>(), (std::vector<std::uint32_t>{0x3f800000, 0x80000000}));
  EXPECT_EQ(bitcast(tensor({-1}, i8, here), u8).item<std::uint8_t>(), 255);
  EXPECT_EQ(bitcast(transpose(tensor({{1, 2}, {3, 4}}, i32, here)), u32).to_host<std::uint32_t>(),
            (std::vector<std::uint32_t>{1, 3, 2, 4}));
  EXPECT_EQ(kind_of([&] { bitcast(zeros({1}, f32, here), f64); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([&] { bitcast(zeros({1}, u8, here), boolean); }), ErrorKind::DTypeMismatch);
}

TEST_P(Movement, JoinsFloatsFirstInAnyOrder) {
  const Tensor a = ones({1}, u16, here), b = ones({1}, f16, here), c = ones({1}, f32, here);
  EXPECT_EQ(concat({a, b, c}).dtype(), f32);  // u16 does not fit f16, but f16 and f32 join first (CONTRACT.md 1.2)
  EXPECT_EQ(concat({c, a, b}).dtype(), f32);
  EXPECT_EQ(stack({b, a, c}).dtype(), f32);
  EXPECT_EQ(kind_of([&] { concat({a, b}); }), ErrorKind::DTypeMismatch);
}

TEST_P(Movement, NamesTheCallTheUserMade) {
  const Tensor x = zeros({2, 3}, f32, here);
  const auto starts = [](const std::string& name, const std::function<void()>& call) {
    const std::string text = text_of(call);
    EXPECT_EQ(text.substr(0, name.size() + 1), name + ":") << text;
  };
  starts("stack", [&] { stack({x, zeros({2, 3}, e4m3, here)}); });
  starts("stack", [&] { stack({}); });
  starts("stack", [&] { stack({x, x}, 4); });
  starts("concat", [&] { concat({x, zeros({3, 2}, f32, here)}); });
  starts("split", [&] { split(x, {1, 2}); });
  starts("split", [&] { split(x, 0); });
  starts("chunk", [&] { chunk(x, 0); });
  starts("expand", [&] { expand(x, {2, 2}); });
  starts("broadcast_like", [&] { broadcast_like(x, zeros({2}, f32, here)); });
  starts("tile", [&] { tile(x, {-1}); });
  starts("roll", [&] { roll(x, 1, 2); });
  starts("rot90", [&] { rot90(zeros({2}, f32, here)); });
  starts("pad", [&] { pad(x, 2, 1, 1); });
  starts("select_scatter", [&] { select_scatter(x, x, 5, 0); });
  starts("select", [&] { select(zeros({0}, f32, here), 0, 0); });
  EXPECT_NE(text_of([&] { select(zeros({0}, f32, here), 0, 0); }).find("which is empty"), std::string::npos);
  starts("tril", [&] { tril(zeros({2}, f32, here)); });
  starts("unfold", [&] { unfold(x, 0, 3, 1); });
  for (const auto& call : std::vector<std::function<void()>>{
           [] { roll(Tensor(), 1); }, [] { pad(Tensor(), {}); }, [] { tile(Tensor(), {1}); }, [] { flip(Tensor()); },
           [] { diagonal(Tensor()); }, [] { tril(Tensor()); }, [] { bitcast(Tensor(), f32); }, [] { unfold(Tensor(), 0, 1, 1); },
           [] { squeeze(Tensor()); }, [] { slice_scatter(Tensor(), Tensor(), {}); }, [] { repeat_interleave(Tensor(), 1); },
           [] { split(Tensor(), 1); }, [] { stack({Tensor()}); }}) {
    EXPECT_EQ(kind_of(call), ErrorKind::InvalidArgument);
  }
}

}  // namespace
}  // namespace votive
