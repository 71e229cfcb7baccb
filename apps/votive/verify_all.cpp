// votive verify --all: every f32, f16 and bf16 input of every function of one tensor, against the committed slices (every_input.h). One block of each slice is
// computed by the reference device as well, and a slice that differs is searched for its first differing input.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "command.h"
#include "every_input.h"
#include "verify.h"

namespace votive::app {

namespace {

struct Line {
  std::string name;
  std::array<std::uint64_t, slices> hashes{};
  int slice_count = 0, equal = 0;
  std::string difference = {};  // the first one
  double seconds = 0;
  bool passed() const { return equal == slice_count; }
};

const GoldenSlices* golden_of(const std::string& name) {
  for (const GoldenSlices& golden : golden_every_input) {
    if (golden.name == name) return &golden;
  }
  return nullptr;
}

std::string difference_in(const InputFunction& function, int slice) {
  std::string found = first_difference(function, slice);
  return found.empty() ? fmt::format("{}: slice {} is not the committed one, yet the reference device agrees", function.name, slice)
                       : found;
}

Line compute(const InputFunction& function, Device device, int threads, bool compare) {
  const auto start = std::chrono::steady_clock::now();
  Line line{.name = function.name, .slice_count = function.slice_count()};
  const GoldenSlices* golden = golden_of(function.name);
  for (int slice = 0; slice < line.slice_count; ++slice) {
    const auto at = static_cast<std::size_t>(slice);
    line.hashes[at] = hash_of_slice(function, device, slice, threads);
    // the block whose place in the slice is the slice's number: a different stretch of fractions each time
    const int block = slice * blocks_per_slice + (function.dtype == f32 ? 17 * slice % blocks_per_slice : 0);
    const bool reference_agrees =
        device == Device::reference || hash_of_block(function, device, block) == hash_of_block(function, Device::reference, block);
    if (compare && reference_agrees && golden == nullptr) {
      line.difference = function.name + ": no hashes are committed of it";
      continue;
    }
    const bool committed = !compare || (golden != nullptr && golden->hashes[at] == line.hashes[at]);
    line.equal += committed && reference_agrees ? 1 : 0;
    if (!(committed && reference_agrees) && line.difference.empty()) line.difference = difference_in(function, slice);
  }
  line.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return line;
}

void print(const Line& line, bool compared) {
  std::uint64_t hash = 0;
  for (int i = 0; i < line.slice_count; ++i) hash = (hash ^ line.hashes[static_cast<std::size_t>(i)]) * 0x100000001b3u;
  std::fputs(fmt::format("  {:<24} {:016x}  {:>2} of {:>2} {}  {:6.1f} s{}\n", line.name, hash, line.equal, line.slice_count,
                         compared ? "equal" : "as on reference", line.seconds, line.passed() ? "" : "  DIFFERENT")
                 .c_str(),
             stdout);
  if (!line.difference.empty()) std::fputs(fmt::format("      {}\n", line.difference).c_str(), stdout);
  std::fflush(stdout);
}

/// The lines, and of functions that were not computed what is committed. False where the file could not be written.
bool write_slices(const std::string& path, const std::vector<Line>& lines) {
  std::ofstream file(path);
  file << "// The hashes of all inputs of every function of one tensor: sixteen slices of 2^28 inputs for f32, one of 65 536 for f16 and "
          "bf16. Made by\n"
          "//   votive verify --all --write-all apps/votive/golden_every_input.cpp\n"
          "// on the cpu, whose blocks are compared with the reference device's while they are made (verify_all.cpp).\n"
          "#include \"every_input.h\"\n\nnamespace votive::app {\n\nnamespace {\n\nconstexpr GoldenSlices all[] = {\n";
  for (const InputFunction& function : functions_of_every_input()) {
    const auto computed = std::find_if(lines.begin(), lines.end(), [&](const Line& line) { return line.name == function.name; });
    const GoldenSlices* const golden = golden_of(function.name);
    if (computed == lines.end() && golden == nullptr) continue;
    const auto& hashes = computed == lines.end() ? golden->hashes : computed->hashes;
    file << "    {\"" << function.name << "\",\n     {{";
    for (int i = 0; i < function.slice_count(); ++i) {
      file << (i == 0 ? "" : i % 4 == 0 ? ",\n       " : ", ") << fmt::format("0x{:016x}u", hashes[static_cast<std::size_t>(i)]);
    }
    file << "}}},\n";
  }
  file << "};\n\n}  // namespace\n\nconst std::span<const GoldenSlices> golden_every_input = all;\n\n}  // namespace votive::app\n";
  file.close();
  return !file.fail();
}

bool is_named(const InputFunction& function, const std::string& name) {
  return name == function.name || name == function.name.substr(0, function.name.rfind(' '));
}

/// Says which of the names is no function's.
bool are_functions(const std::vector<std::string>& names) {
  const std::vector<InputFunction> all = functions_of_every_input();
  for (const std::string& name : names) {
    if (std::any_of(all.begin(), all.end(), [&](const InputFunction& f) { return is_named(f, name); })) continue;
    std::fputs(fmt::format("verify: no function '{}'\n", name).c_str(), stderr);
    return false;
  }
  return true;
}

}  // namespace

int verify_every_input(const AllOptions& options) {
  fill_new_memory(0xa5);  // or what a kernel fails to write could be the same result of the block before
  const Device device = options.device == "reference" ? Device::reference : Device::cpu;
  const int threads = options.threads > 0 ? options.threads : votive::threads();
  const bool compare = options.write.empty();
  if (!are_functions(options.functions)) return failure;
  if (!compare && !std::ofstream(options.write, std::ios::app)) {  // better said now than after the first function
    std::fputs(fmt::format("verify: cannot write '{}'\n", options.write).c_str(), stderr);
    return failure;
  }
  if (!options.json) {
    std::fputs(fmt::format("Votive on {}; built by {}\nEvery input, on {}{}, {} workers of one thread each: hash of all bits, and the "
                           "slices of it that are "
                           "the committed ones\n\n",
                           machine_name(), build_name(), options.device,
                           device == Device::cpu ? fmt::format(" {}", runtime::instruction_set()) : "", threads)
                   .c_str(),
               stdout);
  }
  std::vector<Line> lines;
  bool passed = true;
  for (const InputFunction& function : functions_of_every_input()) {
    const auto named = [&](const std::string& name) { return is_named(function, name); };
    if (!options.functions.empty() && std::none_of(options.functions.begin(), options.functions.end(), named)) continue;
    lines.push_back(compute(function, device, threads, compare));
    passed &= lines.back().passed();
    if (!options.json) print(lines.back(), compare);
    if (!compare && !write_slices(options.write, lines)) {  // kept as it goes
      std::fputs(fmt::format("verify: cannot write '{}'\n", options.write).c_str(), stderr);
      return failure;
    }
  }
  if (options.json) {
    nlohmann::ordered_json json{
        {"machine", machine_name()}, {"build", build_name()}, {"device", options.device}, {"instruction_set", runtime::instruction_set()}};
    for (const Line& line : lines) {
      nlohmann::ordered_json row{{"function", line.name},
                                 {"equal", line.equal},
                                 {"of", line.slice_count},
                                 {"seconds", line.seconds},
                                 {"difference", line.difference}};
      for (int i = 0; i < line.slice_count; ++i) row["hashes"].push_back(fmt::format("{:016x}", line.hashes[static_cast<std::size_t>(i)]));
      json["functions"].push_back(row);
    }
    json["compared with"] = compare ? "the committed hashes" : "a block of each slice on reference; the hashes were written";
    json["passed"] = passed && !lines.empty();
    std::fputs((json.dump(2) + "\n").c_str(), stdout);
  } else {
    std::fputs(fmt::format("\n{} ({} functions)\n",
                           lines.empty() ? "No function of that name."
                           : !compare    ? "Written; nothing was compared with committed bits."
                           : passed      ? "One meaning: every input has the committed bits."
                                         : "NOT the committed bits.",
                           lines.size())
                   .c_str(),
               stdout);
  }
  return lines.empty() ? failure : passed ? success : different;
}

}  // namespace votive::app
