// votive verify: every fingerprint on every device, instruction set and thread count of this machine, beside the committed ones.
#include <fmt/format.h>

#include <sys/utsname.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "fingerprints.h"

namespace votive::app {

namespace {

/// One row of the table: what computed, and how it compares.
struct Row {
  std::string device, instruction_set;
  int threads = 0;
  std::string skipped;  // why it was not run
  std::size_t equal = 0;
  std::vector<std::string> different;
  std::uint64_t hash = 0;
  double seconds = 0;
};

Row compare(const std::vector<Fingerprint>& list, Row row) {
  std::uint64_t all = 0xcbf29ce484222325u;
  for (std::size_t i = 0; i < list.size(); ++i) {
    all = (all ^ list[i].hash) * 0x100000001b3u;
    const bool same =
        i < golden_fingerprints.size() && golden_fingerprints[i].name == list[i].name && golden_fingerprints[i].hash == list[i].hash;
    if (same) {
      ++row.equal;
    } else {
      row.different.push_back(list[i].name);
    }
  }
  row.hash = all;
  return row;
}

Row run(Device device, std::string_view isa, int threads) {
  const auto start = std::chrono::steady_clock::now();
  if (device == Device::cpu) runtime::set_instruction_set(isa);
  set_threads(threads);
  Row row = compare(fingerprints(device),
                    {std::string(to_string(device)), std::string(device == Device::cpu ? isa : "-"), threads, {}, 0, {}, 0, 0});
  row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return row;
}

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
  return fmt::format("{}, {}", name, system.machine);
}

std::string build_name() {
#if defined(__clang__)
  const std::string compiler = fmt::format("clang {}", __clang_version__);
#else
  const std::string compiler = fmt::format("g++ {}", __VERSION__);
#endif
#ifdef NDEBUG
  return compiler + ", release";
#else
  return compiler + ", with assertions";
#endif
}

void print(const Row& row, std::size_t total) {
  if (!row.skipped.empty()) {
    std::fputs(fmt::format("  {:<10} {:<11} {:>7}  not run: {}\n", row.device, row.instruction_set, "-", row.skipped).c_str(), stdout);
    return;
  }
  std::fputs(fmt::format("  {:<10} {:<11} {:>7}  {:016x}  {:>3} of {} equal  {:.1f} s{}\n", row.device, row.instruction_set, row.threads,
                         row.hash, row.equal, total, row.seconds, row.different.empty() ? "" : "  DIFFERENT")
                 .c_str(),
             stdout);
  for (std::size_t i = 0; i < row.different.size() && i < 12; ++i) std::fputs(fmt::format("      {}\n", row.different[i]).c_str(), stdout);
  std::fflush(stdout);
}

void write_golden(const std::string& path) {
  set_threads(1);
  std::ofstream file(path);
  file << "// The bits of every fingerprint, one table for all devices, instruction sets and thread counts. Made on the reference device "
          "by\n"
          "//   votive verify --write apps/votive/golden_fingerprints.cpp\n"
          "// and compared by `votive verify` on every machine since.\n"
          "#include \"fingerprints.h\"\n\nnamespace votive::app {\n\nconst std::vector<GoldenFingerprint> golden_fingerprints = {\n";
  for (const Fingerprint& print : fingerprints(Device::reference))
    file << fmt::format("    {{\"{}\", 0x{:016x}u}},\n", print.name, print.hash);
  file << "};\n\n}  // namespace votive::app\n";
}

}  // namespace

void add_verify(CLI::App& app, int& code) {
  struct Options {
    bool json = false, list = false;
    std::string write;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("verify", "prove that this machine gives Votive's bits");
  command->footer("Examples:\n  votive verify\n  votive verify --json");
  command->add_flag("--json", options->json, "as JSON, alone on standard output");
  command->add_flag("--list-instruction-sets", options->list, "only name them: NAME ok, or NAME and what the machine lacks");
  command->add_option("--write", options->write, "write the reference device's fingerprints as the new golden file");
  command->callback([options, &code] {
    if (options->list) {
      for (const runtime::InstructionSet& set : runtime::instruction_sets()) {
        std::fputs(fmt::format("{} {}\n", set.name, set.available ? "ok" : set.missing).c_str(), stdout);
      }
      code = success;
      return;
    }
    if (!options->write.empty()) {
      write_golden(options->write);
      code = success;
      return;
    }
    if (!options->json) {
      std::fputs(fmt::format("Votive on {}; built by {}\n\n  {:<10} {:<11} {:>7}  {:<16}\n", machine_name(), build_name(), "device",
                             "instr. set", "threads", "hash of all bits")
                     .c_str(),
                 stdout);
    }
    const std::string before(runtime::instruction_set());
    const int threads_before = votive::threads();
    std::vector<Row> rows;
    const auto add = [&](Row row) {
      if (!options->json) print(row, golden_fingerprints.size());
      rows.push_back(std::move(row));
    };
    add(run(Device::reference, before, 1));
    for (const runtime::InstructionSet& set : runtime::instruction_sets()) {
      if (!set.available) {
        add({"cpu", std::string(set.name), 0, std::string(set.missing), 0, {}, 0, 0});
        continue;
      }
      for (int threads : {1, 2, 3}) add(run(Device::cpu, set.name, threads));
    }
    runtime::set_instruction_set(before);
    set_threads(threads_before);
    std::size_t bad = 0, skipped = 0;
    for (const Row& row : rows) {
      bad += row.different.empty() ? 0 : 1;
      skipped += row.skipped.empty() ? 0 : 1;
    }
    if (options->json) {
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
                                {"of", golden_fingerprints.size()},
                                {"different", row.different},
                                {"seconds", row.seconds}});
      }
      json["passed"] = bad == 0;
      std::fputs((json.dump(2) + "\n").c_str(), stdout);
    } else {
      std::fputs(fmt::format("\n{} ({} rows, {} not run here)\n",
                             bad == 0 ? "One meaning: every row has the committed bits." : "NOT the committed bits.", rows.size(), skipped)
                     .c_str(),
                 stdout);
    }
    code = bad == 0 ? success : failure;
  });
}

}  // namespace votive::app
