// The table's text is also its file format: a row is an operation, a device and a number per dtype; reading it back and adding is how processes share it.
#include "tests/contract/coverage.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "tests/contract/values.h"
#include "votive/runtime/devices.h"

namespace votive::contract {

namespace {

using Row = std::array<Size, dtype_count>;
using Table = std::map<std::pair<std::string, std::string>, Row>;

Table& counted() {
  static Table table;
  return table;
}

std::string header() {
  std::string text = fmt::format("{:<14} {:<10}", "operation", "device");
  for (int d = 0; d < dtype_count; ++d) text += fmt::format(" {:>6}", to_string(static_cast<DType>(d)));
  return text + "\n";
}

std::string text_of(const Table& table) {
  std::string text = header();
  Size cpu = 0, reference = 0;
  for (const auto& [key, row] : table) {
    text += fmt::format("{:<14} {:<10}", key.first, key.second);
    for (const Size n : row) {
      text += n == 0 ? fmt::format(" {:>6}", ".") : fmt::format(" {:>6}", n);
      (key.second == "cpu" ? cpu : reference) += n;
    }
    text += '\n';
  }
  std::string ran, lacking;
  for (const auto& set : runtime::instruction_sets()) {
    if (set.available) {
      ran += fmt::format(" {}", set.name);
    } else {
      lacking += fmt::format(" {} ({})", set.name, set.missing);
    }
  }
  return text +
         fmt::format("total: {} results of the cpu compared with {} of reference; instruction sets:{}; not run here:{}; threads: 1 2 3\n",
                     cpu, reference, ran, lacking.empty() ? " none" : lacking);
}

void add_rows(std::istream& in, Table& table) {
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::istringstream words(line);
    std::string operation, device, number;
    words >> operation >> device;
    if (operation == "total:" || device.empty()) break;
    Row& row = table[{operation, device}];
    for (Size& n : row) {
      words >> number;
      if (number != ".") n += std::strtoll(number.c_str(), nullptr, 10);
    }
  }
}

}  // namespace

void count_cases(const std::string& operation, DType dtype, Device device, Size cases) {
  counted()[{operation, std::string(to_string(device))}][static_cast<std::size_t>(dtype)] += cases;
}

void CoverageReport::TearDown() {
  std::fputs(fmt::format("VOTIVE_SEED={} gives these inputs again\n", seed_of_run()).c_str(), stdout);
  if (counted().empty()) return;
  std::fputs(text_of(counted()).c_str(), stdout);
  const char* path = std::getenv("VOTIVE_COVERAGE_TABLE");
  if (path == nullptr) return;
  const int lock = ::open((std::string(path) + ".lock").c_str(), O_CREAT | O_RDWR, 0644);
  if (lock < 0 || ::flock(lock, LOCK_EX) != 0) {
    ADD_FAILURE() << "cannot lock " << path;
    return;
  }
  Table whole = counted();
  if (std::ifstream in(path); in) add_rows(in, whole);
  std::ofstream(path) << text_of(whole);
  ::close(lock);
}

}  // namespace votive::contract
