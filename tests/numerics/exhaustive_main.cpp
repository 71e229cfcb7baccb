// ./dev test exhaustive: the table of accuracy. A line per function as it is done, a record that a second run goes on from, docs/ACCURACY.md at the end.
//   exhaustive [--threads N] [--record FILE] [--table FILE] [FUNCTION…]
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "tests/numerics/exhaustive.h"

namespace votive::numerics {

std::vector<const Row*> rows_in_f64(std::string_view name);

namespace {

struct Options {
  int threads = 1;
  std::string record, table;
  std::vector<std::string> functions;
};

using Line = std::vector<std::string>;  // the columns of the record: its first line names them
const Line columns{"function",  "bound",  "worst",      "at",        "above",     "seconds",   "oracle",     "f64_bound",
                   "f64_worst", "f64_at", "f64_inputs", "f64_above", "f16_worst", "f16_above", "bf16_worst", "bf16_above"};

template <class... Values>
std::string formatted(const char* format, Values... values) {
  char text[128];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

Line measured(const Whole& function, int threads) {
  const char* name = function.row->name;
  const auto start = std::chrono::steady_clock::now();
  const double distance = distance_of_oracle(function);
  const Worst f32 = judge_every_f32(function, threads, [&](double) {});
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  Worst f64;
  std::uint64_t inputs = 0, above = 0;
  for (const Row* row : rows_in_f64(name)) {
    const Worst part = judge_f64_widely(*row, 10 * row->samples);
    inputs += part.inputs, above += part.above;
    if (part.ratio() > f64.ratio()) f64 = part;
  }
  const Worst f16 = judge_every_half(*function.row, Half::f16), bf16 = judge_every_half(*function.row, Half::bf16);
  return {name,
          formatted("%.2f", f32.bound),
          formatted("%.4f", f32.error),
          formatted("%a", f32.at),
          std::to_string(f32.above),
          formatted("%.0f", seconds),
          formatted("%.1e", distance),
          formatted("%.2f", f64.bound),
          formatted("%.4f", f64.error),
          formatted("%a", f64.at),
          std::to_string(inputs),
          std::to_string(above),
          formatted("%.4f", f16.error),
          std::to_string(f16.above),
          formatted("%.4f", bf16.error),
          std::to_string(bf16.above)};
}

bool passes(const Line& line) {
  return line[4] == "0" && line[11] == "0" && line[13] == "0" && line[15] == "0" && std::stod(line[6]) < 0x1p-20;
}

void print(const Line& l) {
  std::printf("%-12s f32 %s of %s ulp at %s, all inputs, %s s; f64 %s of %s at %s, %s inputs; f16 %s, bf16 %s%s\n", l[0].c_str(),
              l[2].c_str(), l[1].c_str(), l[3].c_str(), l[5].c_str(), l[8].c_str(), l[7].c_str(), l[9].c_str(), l[10].c_str(),
              l[12].c_str(), l[14].c_str(), passes(l) ? "" : "  ABOVE ITS BOUND");
  std::fflush(stdout);
}

std::map<std::string, Line> read(const std::string& path) {
  std::map<std::string, Line> lines;
  std::ifstream file(path);
  for (std::string text; std::getline(file, text);) {
    std::istringstream words(text);
    Line line;
    for (std::string word; std::getline(words, word, '\t');) line.push_back(word);
    if (line.size() == columns.size() && line != columns) lines[line[0]] = line;
  }
  return lines;
}

std::string joined(const Line& line) {
  std::string text;
  for (const std::string& word : line) text += (text.empty() ? "" : "\t") + word;
  return text + "\n";
}

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "an unnamed processor";
}

void write_table(const std::string& path, const std::vector<Line>& lines) {
  std::ofstream file(path);
  file << "# Accuracy\n\n<!-- Written by `./dev test exhaustive`; not to be changed by hand. -->\n\n"
          "The largest error of every function of one float, in ulp as CONTRACT.md 2.3 counts them, beside the bound of that section.\n"
          "**f32**: over all 2³² inputs; an f64 value decides, MPFR wherever it is within 2⁻²⁰ ulp of the bound and at the worst input "
          "(CONTRACT.md 11.1).\n"
          "**f64**: over hard cases (the ends and neighbours of binades and domains, multiples of π/2 and of ln 2 / 2, halves) and random "
          "ones, each by MPFR.\n"
          "**f16, bf16**: over all 65 536 inputs, in ulp of that format: the f32 result rounded once, so ½ and a little.\n\n"
       << "Run on " << processor() << ", instruction set " << exhaustive_instruction_set()
       << "; the bits are the same on every other (`votive verify --all`). s: the seconds it took there, at low priority beside other "
          "work.\n\n"
          "| function | f32 bound | worst | at | s | f64 bound | worst | at | inputs | f16 | bf16 "
          "|\n|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const Line& l : lines) {
    file << "| " << l[0] << " | " << l[1] << " | " << l[2] << " | `" << l[3] << "` | " << l[5] << " | " << l[7] << " | " << l[8] << " | `"
         << l[9] << "` | " << l[10] << " | " << l[12] << " | " << l[14] << " |\n";
  }
}

/// Whether every name that is asked for is a function's; says which is not.
bool are_functions(const std::vector<std::string>& names) {
  std::string all;
  std::set<std::string> known;
  for (const Whole& function : whole_functions()) {
    known.insert(function.row->name);
    all += std::string(" ") + function.row->name;
  }
  for (const std::string& name : names) {
    if (known.contains(name)) continue;
    std::fprintf(stderr, "exhaustive: no function '%s'; there are%s\n", name.c_str(), all.c_str());
    return false;
  }
  return true;
}

int run(const Options& options) {
  if (!are_functions(options.functions)) return 2;
  std::map<std::string, Line> known = options.record.empty() ? std::map<std::string, Line>() : read(options.record);
  std::vector<Line> lines;
  bool good = true;
  for (const Whole& function : whole_functions()) {
    const std::string name = function.row->name;
    bool wanted = options.functions.empty();
    for (const std::string& f : options.functions) wanted |= f == name;
    if (!wanted) continue;
    auto found = known.find(name);
    if (found == known.end()) {
      found = known.emplace(name, measured(function, options.threads)).first;
      if (!options.record.empty()) std::ofstream(options.record, std::ios::app) << joined(found->second);
    }
    print(found->second);
    good &= passes(found->second);
    lines.push_back(found->second);
  }
  std::printf("%zu functions, instruction set %s: %s\n", lines.size(), exhaustive_instruction_set(),
              good ? "each within its bound" : "NOT all within their bounds");
  if (!options.table.empty()) write_table(options.table, lines);
  return good && !lines.empty() ? 0 : 1;
}

}  // namespace
}  // namespace votive::numerics

int main(int argc, char** argv) {
  votive::numerics::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool more = i + 1 < argc;
    if (word == "--threads" && more) {
      options.threads = std::max(1, std::atoi(argv[++i]));
    } else if (word == "--record" && more) {
      options.record = argv[++i];
    } else if (word == "--table" && more) {
      options.table = argv[++i];
    } else if (word.starts_with("--")) {
      std::fprintf(stderr, "exhaustive: %s is no option: --threads N, --record FILE, --table FILE, or names of functions\n", word.c_str());
      return 2;
    } else {
      options.functions.push_back(word);
    }
  }
  return votive::numerics::run(options);
}
