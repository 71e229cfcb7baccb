// libFuzzer over GGUF: `./dev fuzz`.
#include "tests/fuzz/open_and_read.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  votive::io::open_and_read<votive::io::GgufFile>({reinterpret_cast<const char*>(data), size});
  return 0;
}
