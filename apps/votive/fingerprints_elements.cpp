// Fingerprints of what makes and moves elements: constants and ranges, random numbers, views and joins, lookups and scatters. Where nothing is computed the
// bits of NaN count too.
#include "fingerprint_list.h"

namespace votive::app {

namespace {

void add_constants(Collector& c) {
  const Device d = c.device();
  const CreateOptions here{.device = d};
  c.all("zeros", [=](DType t) { return Outputs{zeros({3, 7}, t, here)}; });
  c.all("ones", [=](DType t) { return Outputs{ones({3, 7}, t, here)}; });
  c.all("full", [=](DType t) { return Outputs{full({3, 7}, 1, t, here)}; });
  c.all("full of 0.1", [=](DType t) { return Outputs{full({3, 7}, 0.1, t, here)}; });
  c.all("zeros_like", [=](DType t) { return Outputs{zeros_like(small({5, 3}, t, 501, d))}; });
  c.all("ones_like", [=](DType t) { return Outputs{ones_like(small({5, 3}, t, 501, d))}; });
  c.all("full_like", [=](DType t) { return Outputs{full_like(small({5, 3}, t, 501, d), 1)}; });
  c.all("eye", [=](DType t) { return Outputs{eye(7, t, here), eye(5, 9, 2, t, here)}; });
  c.all("arange", [=](DType t) { return Outputs{arange(0, 100, 7, t, here), arange(100, 0, -3, t, here)}; });
  c.all("arange by 0.1", [=](DType t) { return Outputs{arange(0.0, 10.0, 0.1, t, here)}; });
  c.all("linspace", [=](DType t) { return Outputs{linspace(-1, 3, 257, t, here)}; });
  c.all("logspace", [=](DType t) { return Outputs{logspace(-2, 2, 129, 10, t, here)}; });
  c.all("meshgrid", [=](DType t) { return meshgrid({small({3}, t, 502, d), small({5}, t, 503, d)}, {.indexing = Indexing::xy}); });
  c.all("one_hot", [=](DType t) { return Outputs{one_hot(positions({31}, 9, i64, 504, d), 9, t)}; });
  c.all("tensor", [=](DType t) { return Outputs{tensor({{1, 0, 1}, {0, 1, 1}}, t, here)}; });
  c.one("from_host f32", [&] {
    const std::vector<float> values{1.5f, -0.0f, 3e-45f, 0.1f};
    return Outputs{from_host<float>(values, {2, 2}, f32, here), from_host<float>(values, {4}, f32, here)};
  });
}

void add_random(Collector& c) {
  const Device d = c.device();
  const auto drawn = [d](DType t, std::uint64_t seed) {
    return RandomOptions{.seed = seed, .stream = 3, .offset = 5, .dtype = t, .device = d};
  };
  c.all("rand", [=](DType t) { return Outputs{rand({3001}, drawn(t, 511))}; });
  c.all("rand_like", [=](DType t) { return Outputs{rand_like(zeros({701}, t, {.device = d}), {.seed = 512})}; });
  c.all("uniform", [=](DType t) { return Outputs{uniform(-1, 3, {3001}, drawn(t, 513))}; });
  c.all("randn", [=](DType t) { return Outputs{randn({3001}, drawn(t, 514))}; });
  c.all("randn_like", [=](DType t) { return Outputs{randn_like(zeros({701}, t, {.device = d}), {.seed = 515})}; });
  c.all("normal", [=](DType t) {
    return Outputs{votive::normal(1, 2, {701}, drawn(t, 516)),
                   votive::normal(app::normal({67}, t, 517, d), abs(app::normal({67}, t, 518, d)), {.seed = 519})};
  });
  c.all("truncated_normal", [=](DType t) { return Outputs{truncated_normal({701}, {.seed = 520, .dtype = t, .device = d})}; });
  c.all("randint", [=](DType t) { return Outputs{randint(0, 100, {3001}, drawn(t, 521))}; });
  c.all("randperm", [=](DType t) { return Outputs{randperm(101, drawn(t, 522))}; });
  c.all("bernoulli", [=](DType t) {
    return Outputs{bernoulli(0.3, {3001}, drawn(t, 523)), bernoulli(rand({701}, {.seed = 524, .device = d}), drawn(t, 525))};
  });
  c.all("multinomial", [=](DType t) {
    const Tensor weights = is_floating(t) ? abs(app::normal({3, 67}, t, 526, d)) : positions({3, 67}, 50, t, 526, d) + 1;
    return Outputs{multinomial(weights, 20, {.seed = 527}), multinomial(weights, 100, {.replacement = true, .seed = 528})};
  });
  c.all("dropout_mask", [=](DType t) { return Outputs{dropout_mask(0.3, {3001}, drawn(t, 529))}; });
  c.all("dropout", [=](DType t) { return Outputs{dropout(app::normal({3001}, t, 530, d), 0.3, {.seed = 531})}; });
}

}  // namespace

void add_creation(Collector& c) {
  add_constants(c);
  add_random(c);
}

void add_movement(Collector& c) {
  const Device d = c.device();
  const auto x = [d](DType t) { return random_bits({5, 6, 7}, t, 541, d); };
  const auto square = [d](DType t) { return random_bits({9, 9}, t, 542, d); };
  using Call = std::function<Outputs(const Tensor&)>;
  const std::pair<const char*, Call> calls[] = {
      {"reshape",
       [](const Tensor& a) {
         return Outputs{reshape(a, {7, -1}), reshape(transpose(a), {35, 6})};
       }},
      {"flatten", [](const Tensor& a) { return Outputs{flatten(a, 1)}; }},
      {"ravel", [](const Tensor& a) { return Outputs{ravel(transpose(a))}; }},
      {"permute",
       [](const Tensor& a) {
         return Outputs{permute(a, {2, 0, 1})};
       }},
      {"transpose",
       [](const Tensor& a) {
         return Outputs{transpose(a), transpose(a, 0, 2)};
       }},
      {"swap_axes", [](const Tensor& a) { return Outputs{swap_axes(a, 0, 1)}; }},
      {"movedim",
       [](const Tensor& a) {
         return Outputs{movedim(a, 0, 2), movedim(a, {0, 1}, {2, 0})};
       }},
      {"squeeze",
       [](const Tensor& a) {
         return Outputs{squeeze(unsqueeze(a, 0)), squeeze(narrow(a, 1, 2, 1), 1)};
       }},
      {"unsqueeze", [](const Tensor& a) { return Outputs{unsqueeze(a, 1)}; }},
      {"atleast", [](const Tensor& a) { return Outputs{atleast(a, 5)}; }},
      {"slice", [](const Tensor& a) { return Outputs{slice(a, {.axis = 2, .start = 1, .step = 3})}; }},
      {"narrow", [](const Tensor& a) { return Outputs{narrow(a, 1, 2, 3)}; }},
      {"select", [](const Tensor& a) { return Outputs{select(a, 1, -1)}; }},
      {"flip",
       [](const Tensor& a) {
         return Outputs{flip(a), flip(a, 1)};
       }},
      {"rot90",
       [](const Tensor& a) {
         return Outputs{rot90(a), rot90(a, 3, 1, 2)};
       }},
      {"roll",
       [](const Tensor& a) {
         return Outputs{roll(a, 9), roll(a, 2, 1), roll(a, {1, -2}, {0, 2})};
       }},
      {"broadcast_to",
       [](const Tensor& a) {
         return Outputs{broadcast_to(narrow(a, 1, 0, 1), {2, 5, 6, 7})};
       }},
      {"expand",
       [](const Tensor& a) {
         return Outputs{expand(narrow(a, 0, 0, 1), {3, -1, -1})};
       }},
      {"broadcast_like", [](const Tensor& a) { return Outputs{broadcast_like(select(a, 0, 1), a)}; }},
      {"tile",
       [](const Tensor& a) {
         return Outputs{tile(a, {2, 1, 3})};
       }},
      {"repeat",
       [](const Tensor& a) {
         return Outputs{repeat(a, {2, 1, 1, 2})};
       }},
      {"repeat_interleave", [](const Tensor& a) { return Outputs{repeat_interleave(a, 3, 1)}; }},
      {"contiguous", [](const Tensor& a) { return Outputs{contiguous(flip(transpose(a), 0))}; }},
      {"split",
       [](const Tensor& a) {
         return split(a, {1, 3, 2}, 1);
       }},
      {"chunk", [](const Tensor& a) { return chunk(a, 3, 2); }},
      {"concat", [](const Tensor& a) { return Outputs{concat({a, flip(a), narrow(a, 1, 0, 2)}, 1)}; }},
      {"stack", [](const Tensor& a) { return Outputs{stack({a, flip(a)}, 1)}; }},
      {"diagonal", [](const Tensor& a) { return Outputs{diagonal(a), diagonal(a, {.offset = -2, .a = 0, .b = 2})}; }},
      {"diag_embed", [](const Tensor& a) { return Outputs{diag_embed(a, {.offset = 1})}; }},
      {"tril", [](const Tensor& a) { return Outputs{tril(a), tril(a, -1)}; }},
      {"triu", [](const Tensor& a) { return Outputs{triu(a), triu(a, 2)}; }},
      {"pad", [](const Tensor& a) { return Outputs{pad(a, 1, 2, 1, {.value = 1}), pad(a, 2, 3, 2, {.mode = PadMode::reflect})}; }},
      {"pad around",
       [](const Tensor& a) { return Outputs{pad(a, 2, 3, 2, {.mode = PadMode::edge}), pad(a, 2, 3, 2, {.mode = PadMode::circular})}; }},
      {"unfold", [](const Tensor& a) { return Outputs{unfold(a, 2, 3, 2)}; }},
      {"slice_scatter",
       [](const Tensor& a) { return Outputs{slice_scatter(a, narrow(flip(a), 1, 0, 2), {.axis = 1, .start = 2, .stop = 4})}; }},
      {"select_scatter", [](const Tensor& a) { return Outputs{select_scatter(a, select(a, 1, 0), 1, 4)}; }},
      {"copy_into", [](const Tensor& a) {
         const Tensor whole = contiguous(flip(a));
         Tensor part = narrow(whole, 1, 1, 5);
         copy_into(part, narrow(whole, 1, 0, 5));  // overlapping: as if copied first
         return Outputs{whole};
       }}};
  for (const auto& [name, call] : calls)
    c.all(
        name, [=, f = call](DType t) { return f(x(t)); }, NanBits::exact);
  c.all(
      "diag",
      [=](DType t) {
        return Outputs{diag(square(t), 1), diag(select(square(t), 0, 2))};
      },
      NanBits::exact);
  c.all(
      "repeat_interleave by counts", [=](DType t) { return Outputs{repeat_interleave(x(t), positions({6}, 4, i64, 543, d), 1)}; },
      NanBits::exact);
  c.all("concat with f32", [=](DType t) { return Outputs{concat({x(t), normal({5, 6, 7}, f32, 544, d)})}; });
  for (const auto& [from, to] : {std::pair{f32, u32},
                                 {u32, f32},
                                 {f64, i64},
                                 {i64, f64},
                                 {u64, f64},
                                 {boolean, u8},
                                 {f16, i16},
                                 {u16, bf16},
                                 {u8, e4m3},
                                 {e5m2, i8},
                                 {i32, u32}}) {
    c.one(
        "bitcast " + std::string(to_string(from)) + " to " + std::string(to_string(to)),
        [&, a = from, b = to] { return Outputs{bitcast(random_bits({513}, a, 545, d), b)}; }, NanBits::exact);
  }
}

void add_indexing(Collector& c) {
  const Device d = c.device();
  const auto x = [d](DType t) { return random_bits({5, 9, 7}, t, 551, d); };
  const auto at = [d](const Shape& shape, Size n, std::uint64_t seed, DType index = i64) { return positions(shape, n, index, seed, d); };
  c.all(
      "embedding",
      [=](DType t) {
        return Outputs{embedding(random_bits({31, 17}, t, 552, d), at({3, 5}, 31, 553, i32))};
      },
      NanBits::exact);
  for (const DType q : {DType::q4_0, DType::q4_1, DType::q5_0, DType::q5_1, DType::q8_0, DType::q4_k, DType::q5_k, DType::q6_k}) {
    c.one("embedding " + std::string(to_string(q)), [&] {
      return Outputs{embedding(random_weight(31, 512, q, d), at({3, 5}, 31, 553, i32))};
    });
  }
  c.all(
      "index_select",
      [=](DType t) {
        return Outputs{index_select(x(t), at({4}, 9, 554), 1), index_select(x(t), at({2, 3}, 7, 555) - 7, 2)};
      },
      NanBits::exact);
  for (const DType index : {u8, i8, u16, i16, u32, i32, u64}) {
    c.one(
        "index_select by " + std::string(to_string(index)), [&] { return Outputs{index_select(x(f32), at({4}, 9, 556, index), 1)}; },
        NanBits::exact);
  }
  c.all(
      "take",
      [=](DType t) {
        return Outputs{take(x(t), at({3, 5}, 315, 557))};
      },
      NanBits::exact);
  c.all(
      "gather",
      [=](DType t) {
        return Outputs{gather(x(t), at({5, 4, 7}, 9, 558), 1)};
      },
      NanBits::exact);
  for (const auto& [name, mode] : {std::pair{"scatter", ScatterMode::assign},
                                   {"scatter to add", ScatterMode::add},
                                   {"scatter for min", ScatterMode::min},
                                   {"scatter for max", ScatterMode::max},
                                   {"scatter to mul", ScatterMode::mul},
                                   {"scatter for mean", ScatterMode::mean}}) {
    c.all(name, [=, mode = mode](DType t) {
      return Outputs{
          scatter(numbers({5, 9, 7}, t, 559, d), at({5, 20, 7}, 9, 560), numbers({5, 20, 7}, t, 561, d), {.axis = 1, .mode = mode}),
          scatter(numbers({3}, t, 562, d), at({4200}, 3, 563), numbers({4200}, t, 564, d), {.mode = mode})};
    });
    if (mode == ScatterMode::assign) continue;
    c.all("index_reduce" + std::string(name).substr(7), [=, mode = mode](DType t) {
      return Outputs{index_reduce(numbers({5, 9}, t, 565, d), at({20}, 5, 566), numbers({20, 9}, t, 567, d), {.mode = mode})};
    });
  }
  c.all("scatter_add", [=](DType t) {
    return Outputs{scatter_add(numbers({5, 9}, t, 568, d), at({5, 9}, 5, 569), numbers({5, 9}, t, 570, d))};
  });
  c.all("index_add", [=](DType t) {
    return Outputs{index_add(numbers({5, 9}, t, 571, d), at({300}, 5, 572), numbers({300, 9}, t, 573, d))};
  });
  c.all(
      "index_copy",
      [=](DType t) {
        return Outputs{index_copy(x(t), at({4}, 9, 574), random_bits({5, 4, 7}, t, 575, d), 1)};
      },
      NanBits::exact);
  c.all(
      "index_fill", [=](DType t) { return Outputs{index_fill(x(t), at({4}, 9, 576), 1, 1)}; }, NanBits::exact);
  c.all(
      "index_put",
      [=](DType t) {
        return Outputs{index_put(x(t), {at({4, 1}, 5, 577), at({3}, 9, 578)}, random_bits({4, 3, 7}, t, 579, d))};
      },
      NanBits::exact);
  c.all("index_put to add", [=](DType t) {
    return Outputs{
        index_put(numbers({5, 9}, t, 580, d), {at({40}, 5, 581), at({40}, 9, 582)}, numbers({40}, t, 583, d), {.accumulate = true})};
  });
  c.all(
      "index",
      [=](DType t) {
        return Outputs{index(x(t), {2, ellipsis, Range{.step = -2}}), index(x(t), {at({4}, 5, 584), newaxis, Range{1, 8, 3}}),
                       index(x(t), {random_bits({5, 9}, boolean, 585, d)})};
      },
      NanBits::exact);
  c.all("nonzero", [=](DType t) { return Outputs{nonzero(small({9, 31}, t, 586, d)), nonzero(x(t))}; });
  c.all(
      "masked_select",
      [=](DType t) {
        return Outputs{masked_select(x(t), random_bits({5, 9, 7}, boolean, 587, d))};
      },
      NanBits::exact);
  c.all(
      "masked_fill",
      [=](DType t) {
        return Outputs{masked_fill(x(t), random_bits({9, 7}, boolean, 588, d), 1)};
      },
      NanBits::exact);
  c.all(
      "masked_scatter",
      [=](DType t) {
        return Outputs{masked_scatter(x(t), random_bits({9, 7}, boolean, 589, d), random_bits({5, 9, 7}, t, 590, d))};
      },
      NanBits::exact);
}

}  // namespace votive::app
