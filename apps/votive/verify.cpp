// votive verify: every fingerprint on every device, instruction set and thread count of this machine, beside the committed ones.
#include "verify.h"

#include <fmt/format.h>

#include <sys/utsname.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "fingerprints.h"

namespace votive::app {

namespace {

constexpr int thread_counts[] = {1, 2, 3, 7};

/// One row of the table: what computed, and how it compares.
struct Row {
  std::string device, instruction_set;
  int threads = 0;
  std::string skipped = {};  // why it was not run
  std::size_t equal = 0;
  std::vector<std::string> different = {};
  std::uint64_t hash = 0;
  double seconds = 0;
};

const std::map<std::string, std::uint64_t>& golden() {
  static const auto all = [] {
    std::map<std::string, std::uint64_t> map;
    for (const GoldenFingerprint& print : golden_fingerprints) map.emplace(print.name, print.hash);
    return map;
  }();
  return all;
}

/// What is missing on one side differs too.
Row compare(const std::vector<Fingerprint>& list, Row row) {
  std::map<std::string, std::uint64_t> wanted = golden();
  row.hash = 0xcbf29ce484222325u;
  for (const Fingerprint& print : list) {
    row.hash = (row.hash ^ print.hash) * 0x100000001b3u;
    const auto found = wanted.find(print.name);
    if (found != wanted.end() && found->second == print.hash) {
      ++row.equal;
    } else {
      row.different.push_back(print.name);
    }
    if (found != wanted.end()) wanted.erase(found);
  }
  for (const auto& [name, hash] : wanted) row.different.push_back(name + " (not computed)");
  return row;
}

Row run(Device device, std::string_view isa, int threads) {
  const auto start = std::chrono::steady_clock::now();
  if (device == Device::cpu) runtime::set_instruction_set(isa);
  set_threads(threads);
  Row row{.device = std::string(to_string(device)), .instruction_set = std::string(device == Device::cpu ? isa : "-"), .threads = threads};
  row = compare(fingerprints(device), std::move(row));
  row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return row;
}

void print(const Row& row) {
  if (!row.skipped.empty()) {
    std::fputs(fmt::format("  {:<10} {:<11} {:>7}  not run: {}\n", row.device, row.instruction_set, "-", row.skipped).c_str(), stdout);
    return;
  }
  std::fputs(fmt::format("  {:<10} {:<11} {:>7}  {:016x}  {:>4} of {} equal  {:.1f} s{}\n", row.device, row.instruction_set, row.threads,
                         row.hash, row.equal, golden().size(), row.seconds, row.different.empty() ? "" : "  DIFFERENT")
                 .c_str(),
             stdout);
  for (std::size_t i = 0; i < row.different.size() && i < 12; ++i) std::fputs(fmt::format("      {}\n", row.different[i]).c_str(), stdout);
  if (row.different.size() > 12) std::fputs(fmt::format("      and {} more\n", row.different.size() - 12).c_str(), stdout);
  std::fflush(stdout);
}

/// False where the file could not be written.
bool write_golden(const std::string& path) {
  set_threads(1);
  std::ofstream file(path);
  file << "// The bits of every fingerprint, one table for all devices, instruction sets and thread counts. Made on the reference device "
          "by\n"
          "//   votive verify --write apps/votive/golden_fingerprints.cpp\n"
          "// and compared by `votive verify` on every machine since.\n"
          "#include \"fingerprints.h\"\n\nnamespace votive::app {\n\nnamespace {\n\nconstexpr GoldenFingerprint all[] = {\n";
  for (const Fingerprint& print : fingerprints(Device::reference))
    file << fmt::format("    {{\"{}\", 0x{:016x}u}},\n", print.name, print.hash);
  file << "};\n\n}  // namespace\n\nconst std::span<const GoldenFingerprint> golden_fingerprints = all;\n\n}  // namespace votive::app\n";
  file.close();
  if (!file) std::fputs(fmt::format("verify: cannot write '{}'\n", path).c_str(), stderr);
  return !file.fail();
}

/// Every row, shown as it is done.
std::vector<Row> run_everything(const std::function<void(const Row&)>& show) {
  fill_new_memory(0xa5);  // or what a kernel fails to write could be the same result of the row before
  const std::string before(runtime::instruction_set());
  const int threads_before = votive::threads();
  std::vector<Row> rows;
  const auto add = [&](Row row) {
    show(row);
    rows.push_back(std::move(row));
  };
  add(run(Device::reference, before, 1));
  for (const runtime::InstructionSet& set : runtime::instruction_sets()) {
    if (!set.available) {
      add({.device = "cpu", .instruction_set = std::string(set.name), .skipped = std::string(set.missing)});
      continue;
    }
    for (const int threads : thread_counts) add(run(Device::cpu, set.name, threads));
  }
  runtime::set_instruction_set(before);
  set_threads(threads_before);
  return rows;
}

nlohmann::ordered_json as_json(const std::vector<Row>& rows, bool passed) {
  nlohmann::ordered_json json;
  json["machine"] = machine_name();
  json["build"] = build_name();
  for (const Row& row : rows) {
    json["rows"].push_back({{"device", row.device},
                            {"instruction_set", row.instruction_set},
                            {"threads", row.threads},
                            {"skipped", row.skipped},
                            {"hash", fmt::format("{:016x}", row.hash)},
                            {"equal", row.equal},
                            {"of", golden().size()},
                            {"different", row.different},
                            {"seconds", row.seconds}});
  }
  json["passed"] = passed;
  return json;
}

int verify(bool as_json_text) {
  if (!as_json_text) {
    std::fputs(
        fmt::format("Votive on {}; built by {}\n{} fingerprints: an operation, a dtype, fixed inputs, the hash of its output bits\n\n"
                    "  {:<10} {:<11} {:>7}  {:<16}\n",
                    machine_name(), build_name(), golden().size(), "device", "instr. set", "threads", "hash of all bits")
            .c_str(),
        stdout);
  }
  const auto start = std::chrono::steady_clock::now();
  const std::vector<Row> rows = run_everything([&](const Row& row) {
    if (!as_json_text) print(row);
  });
  std::size_t bad = 0, skipped = 0;
  for (const Row& row : rows) {
    bad += row.different.empty() ? 0 : 1;
    skipped += row.skipped.empty() ? 0 : 1;
  }
  if (as_json_text) {
    std::fputs((as_json(rows, bad == 0).dump(2) + "\n").c_str(), stdout);
  } else {
    std::fputs(fmt::format("\n{} ({} rows, {} not run here, {:.1f} s)\n",
                           bad == 0 ? "One meaning: every row has the committed bits." : "NOT the committed bits.", rows.size(), skipped,
                           std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count())
                   .c_str(),
               stdout);
  }
  return bad == 0 ? success : different;
}

}  // namespace

std::string machine_name() {
  std::string name = "unknown processor";
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) {
      name = line.substr(line.find(':') + 2);
      break;
    }
  }
  utsname system{};
  uname(&system);
  return fmt::format("{}, {} {}", name, system.sysname, system.machine);
}

std::string build_name() {
#if defined(__clang__)
  const std::string compiler = fmt::format("clang {}", __clang_version__);
#else
  const std::string compiler = fmt::format("g++ {}", __VERSION__);
#endif
#ifdef NDEBUG
  const char* kind = "release";
#else
  const char* kind = "with assertions";
#endif
#ifdef __OPTIMIZE__
  const char* optimised = "optimised";
#else
  const char* optimised = "not optimised";
#endif
  return fmt::format("{}, {}, {}, votive {}", compiler, kind, optimised, VOTIVE_VERSION);
}

void configure_verify(CLI::App& command, int& code) {
  struct Options {
    bool all = false, list = false;
    std::string write;
    AllOptions every;
  };
  auto options = std::make_shared<Options>();
  command.footer(
      "Examples:\n  votive verify\n  votive verify --json\n  votive verify --all --function exp --function log\n"
      "  VOTIVE_ISA=baseline votive verify --all\nExit code 0 only if everything that ran has the committed bits, 3 if any has not, 1 if "
      "that could not be found out.");
  CLI::Option* const json = command.add_flag("--json", options->every.json, "as JSON, alone on standard output");
  CLI::Option* const all =
      command.add_flag("--all", options->all, "instead: every input of every function of one f32, f16 or bf16 tensor (minutes)");
  command.add_option("--function", options->every.functions, "with --all: only this function; may be given more than once")->needs(all);
  command.add_option("--threads", options->every.threads, "with --all: so many workers, each with its own blocks")
      ->needs(all)
      ->check(CLI::Range(1, 256));
  command.add_option("--device", options->every.device, "with --all: cpu, or reference (hours)")
      ->needs(all)
      ->check(CLI::IsMember({"cpu", "reference"}));
  CLI::Option* const list =
      command.add_flag("--list-instruction-sets", options->list, "only name them: NAME ok, or NAME and what the machine lacks");
  list->excludes(json)->excludes(all);
  const auto named = CLI::Validator([](const std::string& path) { return path.empty() ? "a file has a name" : ""; }, "FILE");
  command.add_option("--write", options->write, "write the reference device's fingerprints as the new golden file")
      ->check(named)
      ->excludes(json)
      ->excludes(all)
      ->excludes(list);
  command
      .add_option("--write-all", options->every.write,
                  "with --all: write the hashes of all inputs as the new golden file; those of functions not named stay")
      ->check(named)
      ->needs(all);
  command.callback([options, &code] {
    if (options->list) {
      runtime::instruction_set();  // throws of a VOTIVE_ISA that is not here
      for (const runtime::InstructionSet& set : runtime::instruction_sets()) {
        std::fputs(fmt::format("{} {}\n", set.name, set.available ? "ok" : set.missing).c_str(), stdout);
      }
      code = success;
    } else if (!options->write.empty()) {
      code = write_golden(options->write) ? success : failure;
    } else {
      code = options->all ? verify_every_input(options->every) : verify(options->every.json);
    }
  });
}

void add_verify(CLI::App& app, int& code) {
  configure_verify(*app.add_subcommand("verify", "prove that this machine gives Votive's bits"), code);
}

}  // namespace votive::app
