// Finds files that are too large to keep here: the model that `./dev model` gets, and what bench/peers/build.sh leaves.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace votive {

inline std::filesystem::path cache_folder() {
  if (const char* const cache = std::getenv("VOTIVE_CACHE")) return cache;
  if (const char* const cache = std::getenv("XDG_CACHE_HOME")) return std::filesystem::path(cache) / "votive";
  const char* const home = std::getenv("HOME");
  return std::filesystem::path(home ? home : "/tmp") / ".cache" / "votive";
}

/// A file of the cache or of what the peers' build left in it; nothing where it is not there.
inline std::optional<std::string> cached(const std::string& name) {
  for (const auto& folder : {cache_folder(), cache_folder() / "peers"})
    if (std::filesystem::exists(folder / name)) return (folder / name).string();
  return std::nullopt;
}

}  // namespace votive
