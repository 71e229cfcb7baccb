// What both fuzzers ask of a reader: open these bytes and read everything, or refuse them by votive::Error, within their size and 1 MiB. A read past
// the file's end meets AddressSanitizer's poison; anything else that must not be ends the program, which is how libFuzzer learns of it.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "tests/hostile/mapped_bytes.h"
#include "tests/hostile/refusal.h"

namespace votive::io {

[[noreturn]] inline void report(const char* what, const char* detail) {
  std::fprintf(stderr, "%s: %s\n", what, detail);
  std::abort();
}

/// Whether the file was opened.
template <class File>
bool open_and_read(std::string_view bytes) {
  static MappedBytes file("");
  static std::uint64_t sums;
  file.set(bytes);
  bool opened = false;
  file.with_mapping([&](const MappedFile& mapped) {
    Outcome outcome = outcome_of([&] { File once(mapped); });
    if (outcome.peak_bytes > bytes.size() + allowance) report("too much memory", std::to_string(outcome.peak_bytes).c_str());
    if (outcome.tensor_allocations > 0) report("opening made a tensor", "");
    opened = !outcome.error.has_value();
    if (opened) outcome = outcome_of([&] { sums += read_all(File(mapped)); });
    if (outcome.error && outcome.error->kind() != ErrorKind::InvalidFile && outcome.error->kind() != ErrorKind::Unsupported)
      report("an error of another kind", outcome.error->what());
  });
  return opened;
}

}  // namespace votive::io
