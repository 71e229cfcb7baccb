// The loops of exhaustive.h. A block is computed by the text, by the oracle and by the measure, each a loop of its own that the compiler vectorises.
#include "tests/numerics/exhaustive.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include "votive/numerics/convert.h"

namespace votive::numerics {
namespace {

constexpr std::size_t block = 4096;
constexpr double near_the_bound = 0x1p-20;

double bound_at(const Row& row, double bound, double x) { return bound + (row.slack != nullptr ? row.slack(x) : 0.0); }
double scale_at(const Row& row, double x) { return row.scale != nullptr ? std::abs(row.scale(x)) : 0.0; }

double exact_error(const Row& row, double got, double x, Format format) {
  Big want;
  row.exactly(want.v, Big(x).v);
  return error_in_ulp(got, want, scale_at(row, x), format);
}

void note(Worst& worst, double error, double bound, double at) {
  if (error / bound > worst.ratio()) worst.error = error, worst.bound = bound, worst.at = at;
}
void add(Worst& whole, const Worst& part) {
  note(whole, part.error, part.bound == 0 ? 1 : part.bound, part.at);
  whole.inputs += part.inputs, whole.above += part.above;
}

struct Buffers {
  float x[block], got[block];
  double wide[block], want[block], scale[block] = {}, bound[block], error[block];
};

/// NaN has to stay NaN; what an infinity gives is special_values_test.cpp's question.
std::uint64_t set_aside_specials(Buffers& b) {
  std::uint64_t aside = 0;
  for (std::size_t i = 0; i < block; ++i) {
    if (std::isnan(b.x[i])) b.want[i] = NAN;
    if (std::isinf(b.x[i])) b.want[i] = b.got[i], ++aside;
  }
  return aside;
}

}  // namespace

const numerics_oracle::OracleSet& oracle_set();

Worst judge_range(const Whole& function, std::uint64_t first, std::uint64_t count) {
  const auto buffers = std::make_unique<Buffers>();
  Buffers& b = *buffers;
  const numerics_oracle::OracleSet& set = oracle_set();
  const Row& row = *function.row;
  std::fill(b.bound, b.bound + block, row.bound_f32);
  Worst worst;
  for (std::uint64_t start = first; start < first + count; start += block) {
    for (std::size_t i = 0; i < block; ++i) {
      const std::uint32_t bits = static_cast<std::uint32_t>(start + i);
      std::memcpy(&b.x[i], &bits, 4);
    }
    set.widen(b.x, b.wide, block);
    function.f32(b.x, b.got, block);
    function.oracle->nearly(b.wide, b.want, block);
    if (function.oracle->scale != nullptr) function.oracle->scale(b.wide, b.scale, block);
    if (function.oracle->slack != nullptr) {
      function.oracle->slack(b.wide, b.bound, block);
      for (double& bound : b.bound) bound += row.bound_f32;
    }
    worst.inputs += block;
    if ((start & 0x7f800000u) == 0x7f800000u) worst.inputs -= set_aside_specials(b);
    set.errors(b.got, b.want, b.scale, b.error, block);
    const double largest = set.largest(b.error, b.bound, block);
    if (largest <= worst.ratio() && largest < 1 - 0x1p-18) continue;
    for (std::size_t i = 0; i < block; ++i) {
      if (b.error[i] > b.bound[i] - near_the_bound) {
        b.error[i] = exact_error(row, b.got[i], b.wide[i], format_f32);
        if (b.error[i] > b.bound[i]) ++worst.above;
      }
      note(worst, b.error[i], b.bound[i], b.wide[i]);
    }
  }
  return worst;
}

Worst judge_every_f32(const Whole& function, int threads, const std::function<void(double)>& progress) {
  constexpr std::uint64_t whole = std::uint64_t{1} << 32, piece = std::uint64_t{1} << 22;
  std::atomic<std::uint64_t> next{0};
  std::mutex mutex;
  Worst worst;
  const auto work = [&] {
    for (std::uint64_t first; (first = next.fetch_add(piece)) < whole;) {
      const Worst part = judge_range(function, first, piece);
      const std::scoped_lock lock(mutex);
      add(worst, part);
      progress(static_cast<double>(first + piece) / static_cast<double>(whole));
    }
  };
  std::vector<std::thread> workers;
  for (int i = 1; i < threads; ++i) workers.emplace_back(work);
  work();
  for (std::thread& worker : workers) worker.join();
  const auto x = static_cast<float>(worst.at);
  float got = 0;
  function.f32(&x, &got, 1);
  worst.error = exact_error(*function.row, got, x, format_f32);
  return worst;
}

Worst judge_every_half(const Row& row, Half half) {
  const bool is_f16 = half == Half::f16;
  const Format format = is_f16 ? Format{11, -24, 16} : Format{8, -133, 128};
  Worst worst;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto h = static_cast<std::uint16_t>(bits);
    const float x = is_f16 ? f16_to_f32(h) : bf16_to_f32(h);
    const float y = row.f32(x);
    const float got = is_f16 ? f16_to_f32(f32_to_f16(y)) : bf16_to_f32(f32_to_bf16(y));
    if (std::isinf(x)) continue;
    ++worst.inputs;
    if (std::isnan(x)) {
      if (!std::isnan(got)) ++worst.above;
      continue;
    }
    const double bound = 0.5 + std::ldexp(bound_at(row, row.bound_f32, x), format.bits - format_f32.bits);
    // f64 decides what is clear: the rounding to a half leaves at least 2^-13 between a result and its neighbours
    const double want = row.nearly(x), ulp = ulp_of(std::max(std::abs(want), scale_at(row, x)), format);
    const double nearly = std::abs(static_cast<double>(got) - want) / ulp;
    if (!(nearly < worst.error) || nearly > bound - 0x1p-16) {
      const double error = exact_error(row, got, x, format);
      if (error > bound) ++worst.above;
      note(worst, error, bound, x);
    }
  }
  return worst;
}

namespace {

/// x and its neighbours, if they are in the row's domain.
template <class Visit>
void around(double x, int reach, Visit visit) {
  double up = x, down = x;
  visit(x);
  for (int i = 0; i < reach; ++i) {
    up = std::nextafter(up, INFINITY), down = std::nextafter(down, -INFINITY);
    visit(up), visit(down);
  }
}

template <class Visit>
void each_hard_f64(const Row& row, Visit visit) {
  around(row.least, 8, visit);
  around(row.largest, 8, visit);
  for (const double x : {0.25, 0.5, 1.0, 1.5, 2.0}) around(x, 64, visit), around(-x, 64, visit);
  for (int e = -1074; e < 1024; ++e) around(std::ldexp(1.0, e), 2, visit), around(-std::ldexp(1.0, e), 2, visit);
  for (int k = 1; k <= 2000; ++k) {
    around(k * 1.57079632679489661923, 1, visit), around(-k * 1.57079632679489661923, 1, visit);
    around(k * 0.34657359027997265471, 1, visit), around(-k * 0.34657359027997265471, 1, visit);
    around(k * 0.5, 1, visit), around(-k * 0.5, 1, visit);
  }
  visit(6381956970095103.0 * 0x1p797);  // the double nearest to a multiple of pi / 2 (Kahan)
}

}  // namespace

Worst judge_f64_widely(const Row& row, int samples) {
  Worst worst;
  const auto judge = [&](double x) {
    if (!(x >= row.least && x <= row.largest)) return;
    ++worst.inputs;
    const double error = exact_error(row, row.f64(x), x, format_f64), bound = bound_at(row, row.bound_f64, x);
    if (error > bound) ++worst.above;
    note(worst, error, bound, x);
  };
  each_hard_f64(row, judge);
  Random random{17};
  for (int i = 0; i < samples; ++i) judge(sample_f64(random, row.least, row.largest));
  return worst;
}

double distance_of_oracle(const Whole& function) {
  Random random{23};
  std::vector<double> x, want(512 * 8);
  for (std::uint32_t exponent = 0; exponent < 512; ++exponent) {
    for (int i = 0; i < 8; ++i) x.push_back(f32_from_bits((exponent & 255) == 255 ? 0x3f800000u + i : exponent << 23 | random() >> 41));
  }
  function.oracle->nearly(x.data(), want.data(), x.size());
  double distance = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    // beyond f32 all that counts is that both are
    const double near = std::isfinite(want[i]) && std::abs(want[i]) >= 0x1p128 ? std::copysign(INFINITY, want[i]) : want[i];
    distance = std::max(distance, exact_error(*function.row, near, x[i], format_f32));
  }
  return distance;
}

}  // namespace votive::numerics
