// Writes where the fuzzers begin: FOLDER/gguf/small and FOLDER/safetensors/small, the small files of tests/hostile.
#include <filesystem>

#include "tests/hostile/small_files.h"

int main(int, char** arguments) {
  const std::filesystem::path folder = arguments[1];
  const auto write = [&](const char* name, const std::string& bytes) {
    std::filesystem::create_directories(folder / name);
    std::ofstream(folder / name / "small", std::ios::binary) << bytes;
  };
  write("gguf", votive::io::small_gguf());
  write("safetensors", votive::io::small_safetensors());
}
