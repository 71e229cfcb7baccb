// The clockwork of harness.h.
#include "bench/harness.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <sstream>
#include <vector>

#include "votive/base/thread_pool.h"

namespace votive::bench {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}

struct Options {
  std::vector<int> threads = {1, 2};
  int rounds = 9;
  double seconds = 0.02;
  std::vector<std::string> words;
};

double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  const std::size_t n = x.size();
  return n % 2 == 1 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

double time_of(const std::function<void()>& once, long times) {
  const auto start = Clock::now();
  for (long i = 0; i < times; ++i) once();
  return std::chrono::duration<double>(Clock::now() - start).count() / static_cast<double>(times);
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

/// Brings Votive's workers to life and gives each thread of the process a core of its own: the caller the first.
void pin_everything(int most) {
  set_threads(most);
  for (int i = 0; i < 8; ++i) parallel_for(64, 1, [](Size, Size) { usleep(50); });
  std::vector<int> ids;
  if (DIR* folder = opendir("/proc/self/task")) {
    while (const dirent* entry = readdir(folder)) {
      const int id = std::atoi(entry->d_name);
      if (id > 0 && id != getpid()) ids.push_back(id);
    }
    closedir(folder);
  }
  std::sort(ids.begin(), ids.end());
  pin(processors()[0]);
  for (std::size_t i = 0; i < ids.size(); ++i) pin(processors()[(i + 1) % processors().size()], ids[i]);
}

void measure(const Case& one, int threads, const Options& options, Crew& crew) {
  set_threads(threads);
  const std::function<void()> once = one.make();
  once();
  const double first = time_of(once, 1);
  const long times = std::max(1L, std::lround(options.seconds / std::max(first, 1e-9)));
  const long few = std::max(1L, std::min(times, std::lround(options.seconds / std::max(time_of(once, std::min(times, 1000L)), 1e-9))));
  const bool absolute = one.unit.rfind("ns", 0) == 0;
  std::vector<double> values, ratios;
  for (int round = 0; round < options.rounds; ++round) {
    const double limit = crew.rate(one.limit, options.seconds / 2);
    const double spent = time_of(once, few);
    if (absolute) {
      values.push_back(spent / one.amount * 1e9);
    } else {
      values.push_back(one.amount / spent / 1e9);
      if (limit > 0) ratios.push_back(one.amount / spent / limit);
    }
  }
  const double value = median(values);
  const double asked = is_avx512_machine() ? one.goal.avx512 : one.goal.avx2;
  std::printf("{\"name\": %s, \"threads\": %d, \"value\": %.5g, \"unit\": %s, \"limit\": %s", quoted(one.name).c_str(), threads, value,
              quoted(one.unit).c_str(), quoted(std::string(name_of(one.limit))).c_str());
  const double ratio = absolute ? (asked > 0 ? asked / value : 0) : ratios.empty() ? 0 : median(ratios);
  if (ratio > 0) std::printf(", \"ratio\": %.4f", ratio);
  if (asked > 0) {
    const double goal = absolute ? 1.0 : asked;
    std::printf(", \"goal\": %.4g, \"margin\": %.4f", goal, ratio - goal);
    if (absolute) std::printf(", \"allowed\": %.4g", asked);
  }
  std::printf("}\n");
  std::fflush(stdout);
}

/// A number above 0 that is the whole of the text; else the program ends.
template <class Number>
Number positive(const std::string& option, const std::string& text) {
  Number number{};
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (wrong == std::errc() && end == text.data() + text.size() && number > 0 && number < 1e6) return number;
  std::fprintf(stderr, "%s takes a number above 0 and below a million, not '%s'\n", option.c_str(), text.c_str());
  std::exit(2);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--threads" && i + 1 < argc) {
      options.threads.clear();
      std::stringstream list(std::string(argv[++i]) + ',');
      for (std::string item; std::getline(list, item, ',');) options.threads.push_back(positive<int>(word, item));
    } else if (word == "--rounds" && i + 1 < argc) {
      options.rounds = positive<int>(word, argv[++i]);
    } else if (word == "--seconds" && i + 1 < argc) {
      options.seconds = positive<double>(word, argv[++i]);
    } else if (word.starts_with("--")) {
      std::fprintf(
          stderr,
          "%s: no such option, or nothing after it; there are --threads 1,2 --rounds N --seconds S, and words of the cases' names\n",
          word.c_str());
      std::exit(2);
    } else {
      options.words.push_back(word);
    }
  }
  return options;
}

}  // namespace

void add(Case one) { cases().push_back(std::move(one)); }

int run_limits(int argc, char** argv) {
  const Options options = parse(argc, argv);
  const int cores = static_cast<int>(processors().size());
  pin(processors()[0]);
  constexpr Limit all[] = {Limit::fma_f32, Limit::fma_f64, Limit::dot_bf16, Limit::dot_int8,
                           Limit::read,    Limit::copy,    Limit::triad,    Limit::copy_l2};
  for (int threads : options.threads) {
    if (threads > cores) continue;
    Crew crew(threads);
    for (Limit limit : all) {
      crew.rate(limit, options.seconds);
      std::vector<double> values, ratios;
      for (int round = 0; round < options.rounds; ++round) {
        const double one = crew.rate(limit, options.seconds), two = crew.rate(limit, options.seconds);
        values.push_back(one / 1e9);
        ratios.push_back(two / one);
      }
      const bool arithmetic = limit <= Limit::dot_int8;
      std::printf("{\"name\": %s, \"threads\": %d, \"value\": %.5g, \"unit\": %s, \"limit\": \"itself\", \"ratio\": %.4f}\n",
                  quoted(std::string(name_of(limit))).c_str(), threads, median(values), arithmetic ? "\"GFLOP/s\"" : "\"GB/s\"",
                  median(ratios));
      std::fflush(stdout);
    }
  }
  return 0;
}

int run(int argc, char** argv) {
  const Options options = parse(argc, argv);
  const int cores = static_cast<int>(processors().size());
  std::map<int, std::unique_ptr<Crew>> crews;
  pin_everything(std::min(cores, *std::max_element(options.threads.begin(), options.threads.end())));
  for (const Case& one : cases()) {
    const bool wanted = options.words.empty() || std::any_of(options.words.begin(), options.words.end(), [&](const std::string& word) {
                          return one.name.find(word) != std::string::npos;
                        });
    if (!wanted) continue;
    for (int threads : options.threads) {
      if (threads > cores || threads > one.most_threads) continue;
      std::unique_ptr<Crew>& crew = crews[threads];
      if (crew == nullptr) crew = std::make_unique<Crew>(threads);
      try {
        measure(one, threads, options, *crew);
      } catch (const Error& error) {
        std::fprintf(stderr, "%s: %s\n", one.name.c_str(), error.what());
        return 1;
      }
    }
  }
  return 0;
}

}  // namespace votive::bench
