// Two small valid files with a piece of everything their formats have. What the tests cut and change, and where the fuzzers begin.
#pragma once

#include <string>

#include "tests/io/file_bytes.h"

namespace votive::io {

inline std::string small_gguf() {
  GgufBytes file(4, 15);
  file.key("general.alignment", gguf::u32, 32u);
  file.key("a", gguf::u8, std::uint8_t{200}).key("b", gguf::i8, std::int8_t{-1});
  file.key("c", gguf::u16, std::uint16_t{65535}).key("d", gguf::i16, std::int16_t{-2});
  file.key("e", gguf::u32, 7u).key("f", gguf::i32, -7).key("g", gguf::f32, 1.5f);
  file.key("h", gguf::boolean, std::uint8_t{1});
  file.key("i", gguf::string);
  file.text("text");
  file.key("j", gguf::u64, std::uint64_t{1} << 63).key("k", gguf::i64, std::int64_t{-9}).key("l", gguf::f64, -0.0);
  file.array("m", gguf::string, 2).text("x").text("");
  file.array("n", gguf::boolean, 3).raw(std::string_view("\0\1\0", 3));
  file.tensor("p", {3, 2}, gguf::F32, 0).tensor("q", {32}, gguf::Q4_1, 32).tensor("r", {0, 4}, gguf::F16, 64).tensor("s", {}, gguf::I8, 64);
  file.pad();
  for (int i = 0; i < 6; ++i) file.put(static_cast<float>(i));
  file.pad().zeros(20).pad().put('\7');
  return file.data;
}

inline std::string small_safetensors() {
  return safetensors(R"({"__metadata__":{"format":"pt","k\u00e9y":"\n"}, "w":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},)"
                     R"("m\ud83d\ude00":{"dtype":"BOOL","shape":[2],"data_offsets":[10,12]},)"
                     R"("h":{"shape":[],"data_offsets":[8,10],"dtype":"BF16"},"e":{"dtype":"I64","shape":[0,3],"data_offsets":[12,12]}}  )",
                     std::string_view("01234567\0\1\1\0", 12));
}

}  // namespace votive::io
