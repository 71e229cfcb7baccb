// What `votive verify` shows, as a test: every fingerprint on every device and instruction set is the committed one, and so is every f16 and bf16 input of
// every function of one tensor; a block of f32 inputs is the same on both devices. A hash sees a bit, and takes any NaN for any other.
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "apps/votive/every_input.h"
#include "apps/votive/fingerprints.h"

namespace votive::app {
namespace {

class Verify : public testing::Test {
 protected:
  void TearDown() override {
    set_threads(threads_before_);
    runtime::set_instruction_set(set_before_);
  }

 private:
  int threads_before_ = threads();
  std::string set_before_{runtime::instruction_set()};
};

std::map<std::string, std::uint64_t> committed() {
  std::map<std::string, std::uint64_t> map;
  for (const GoldenFingerprint& print : golden_fingerprints) map[print.name] = print.hash;
  return map;
}

void expect_committed(Device device, const std::string& where) {
  std::map<std::string, std::uint64_t> wanted = committed();
  for (const Fingerprint& print : fingerprints(device)) {
    EXPECT_EQ(wanted.count(print.name), 1u) << print.name << " is not in the golden file";
    EXPECT_EQ(wanted[print.name], print.hash) << print.name << " on " << where;
    wanted.erase(print.name);
  }
  for (const auto& [name, hash] : wanted) ADD_FAILURE() << name << " was not computed on " << where;
}

TEST_F(Verify, TheReferenceDeviceHasTheCommittedBits) { expect_committed(Device::reference, "reference"); }

TEST_F(Verify, EveryInstructionSetHasTheCommittedBits) {
  int ran = 0;
  for (const runtime::InstructionSet& set : runtime::instruction_sets()) {
    if (!set.available) {
      std::printf("%s: not run here: %s\n", std::string(set.name).c_str(), std::string(set.missing).c_str());
      continue;
    }
    runtime::set_instruction_set(set.name);
    for (const int n : {1, 7}) {
      set_threads(n);
      expect_committed(Device::cpu, std::string(set.name) + " with " + std::to_string(n) + " threads");
    }
    ++ran;
  }
  EXPECT_GE(ran, 1);
}

TEST_F(Verify, EveryHalfGivesTheCommittedBitsOnBothDevices) {
  std::map<std::string, std::uint64_t> wanted;
  for (const GoldenSlices& golden : golden_every_input) wanted[golden.name] = golden.hashes[0];
  int halves = 0;
  for (const InputFunction& function : functions_of_every_input()) {
    if (function.dtype == f32) continue;
    EXPECT_EQ(wanted.count(function.name), 1u) << function.name << " has no committed slices";
    ++halves;
    for (const Device device : {Device::cpu, Device::reference})
      EXPECT_EQ(hash_of_slice(function, device, 0, 1), wanted[function.name]) << function.name << " on " << to_string(device);
  }
  EXPECT_GT(halves, 150);
}

TEST_F(Verify, ABlockOfF32IsTheSameOnBothDevicesForAnyNumberOfThreads) {
  for (const InputFunction& function : functions_of_every_input()) {
    if (function.name != "tanh f32" && function.name != "cast to f16 from f32") continue;
    EXPECT_EQ(hash_of_block(function, Device::cpu, 1017), hash_of_block(function, Device::reference, 1017)) << function.name;
    EXPECT_NE(hash_of_block(function, Device::cpu, 1017), hash_of_block(function, Device::cpu, 1018)) << function.name;
    EXPECT_EQ(first_difference({.name = function.name, .dtype = bf16, .call = function.call}, 0), "") << function.name;
  }
}

TEST_F(Verify, AWrongInputIsFoundByItsBits) {
  const InputFunction wrong{"wrong bf16", bf16, [](const Tensor& x) {
                              Tensor y = contiguous(neg(x));
                              if (x.device() == Device::cpu) {
                                std::uint16_t one = 1;
                                std::memcpy(y.mutable_buffer() + 2 * 0x4049, &one, 2);
                              }
                              return y;
                            }};
  EXPECT_EQ(first_difference(wrong, 0), "wrong bf16(0x4049): cpu 0x1, reference 0xc049");
}

TEST_F(Verify, AHashSeesOneBitAndNoNansPayload) {
  const Tensor x = tensor({1, 2, 3}), y = tensor({1, 2, 3.0000002384185791015625});
  EXPECT_NE(hash_of(x), hash_of(y));
  EXPECT_NE(hash_of_all({x}), hash_of_all({y}));
  EXPECT_NE(hash_of_all({x}), hash_of_all({reshape(x, {3, 1})}));
  EXPECT_NE(hash_of_all({x}), hash_of_all({x.to(f64)}));
  EXPECT_NE(hash_of_all({tensor({0.0})}), hash_of_all({tensor({-0.0})}));
  for (const auto& [wide, narrow] : {std::pair{u32, f32}, {u16, f16}, {u16, bf16}, {u64, f64}, {u8, e5m2}, {u8, e4m3}}) {
    const Tensor ones = bitwise_not(zeros({1}, wide)), sign = shift_left(tensor({1}, wide), tensor({8 * block_bytes(wide) - 1}, wide));
    const Tensor a = bitcast(ones, narrow), b = bitcast(bitwise_xor(ones, sign), narrow);
    EXPECT_EQ(hash_of_all({a}), hash_of_all({b})) << to_string(narrow);
    EXPECT_NE(hash_of_all({a}, NanBits::exact), hash_of_all({b}, NanBits::exact)) << to_string(narrow);
  }
}

}  // namespace
}  // namespace votive::app
