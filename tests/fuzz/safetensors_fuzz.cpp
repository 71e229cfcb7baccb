// libFuzzer over safetensors, with nlohmann-json beside it: a header that Votive takes must be JSON to both, with as many members.
#include <cstring>
#include <nlohmann/json.hpp>

#include "tests/fuzz/open_and_read.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace votive::io;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (!open_and_read<SafetensorsFile>(bytes)) return 0;
  std::uint64_t length;
  std::memcpy(&length, bytes.data(), 8);
  const nlohmann::json header = nlohmann::json::parse(bytes.substr(8, length), nullptr, false);
  if (!header.is_object()) report("no JSON, yet taken", std::string(bytes.substr(8, length)).c_str());
  static votive::MappedBytes file("");
  file.set(bytes);
  file.with_mapping([&](const votive::MappedFile& mapped) {
    const SafetensorsFile opened(mapped);
    const auto members = static_cast<std::size_t>(opened.size()) + (header.contains("__metadata__") ? 1 : 0);
    if (members != header.size()) report("another number of members", std::to_string(header.size()).c_str());
    for (votive::Size i = 0; i < opened.size(); ++i)
      if (!header.contains(std::string(opened.name(i)))) report("another name", std::string(opened.name(i)).c_str());
  });
  return 0;
}
