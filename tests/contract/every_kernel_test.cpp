// The table leaves no kernel out: every kernel that a device registers is called by the calls of the table, on both devices. A new kernel fails here until
// it is listed, and then until some operation of the table reaches it.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>

#include "tests/contract/operations.h"
#include "votive/ops/attention.h"
#include "votive/ops/conv.h"
#include "votive/ops/create.h"
#include "votive/ops/index.h"
#include "votive/ops/index_syntax.h"
#include "votive/ops/matmul.h"
#include "votive/ops/movement.h"
#include "votive/ops/norm.h"
#include "votive/ops/order.h"
#include "votive/ops/pointwise.h"
#include "votive/ops/pool.h"
#include "votive/ops/reduce.h"
#include "votive/ops/registry.h"
#include "votive/ops/resample.h"
#include "votive/ops/scan.h"
#include "votive/ops/scatter.h"
#include "votive/runtime/devices.h"

namespace votive::contract {
namespace {

template <class... Ops>
struct Listed {};
using Kernels =
    Listed<Arange, ArgReduce, Attention, AveragePool, AverageSpread, BatchNorm, Binary, Bitcast, Cast, Col2Im, Concat, Conv, ConvTranspose,
           Copy, Embedding, Fill, Gather, GridSample, Im2Col, IndexPlaces, IndexSelect, IntegerMatmul, Interpolate, LayerNorm, Locate,
           Matmul, MaxPool, MaxUnpool, Nonzero, OneHot, Overlay, Place, Prepack, Random, Rank, Recurrence, Reduce, RmsNorm, Rope, Scan,
           ScanExtreme, Scatter, SearchSorted, Softmax, Sort, Statistic, Ternary, Triangle, Unary, UnaryWith, Where>;

/// Stands before the kernel of Op on a device and counts.
template <class Op, int device, class Signature = typename Op::Kernel>
struct Counting;
template <class Op, int device, class... In>
struct Counting<Op, device, void(In...)> {
  static inline typename Op::Kernel* kernel = nullptr;
  static inline std::atomic<int> calls{0};
  static void call(In... in) {
    ++calls;
    kernel(static_cast<In>(in)...);
  }
  static void begin() {
    auto& slot = detail::KernelTable<Op>::functions[device];
    kernel = slot.load();
    if (kernel != nullptr) slot.store(call);
  }
  static void end() {
    if (kernel != nullptr) detail::KernelTable<Op>::functions[device].store(kernel);
  }
};

template <int device, class... Ops>
void begin(Listed<Ops...>) {
  (Counting<Ops, device>::begin(), ...);
}
template <int device, class... Ops>
void end(Listed<Ops...>) {
  (Counting<Ops, device>::end(), ...);
}
template <int device, class... Ops>
std::set<std::string> never_called(Listed<Ops...>) {
  std::set<std::string> names;
  ((Counting<Ops, device>::kernel != nullptr && Counting<Ops, device>::calls == 0 ? void(names.insert(std::string(Ops::info.name)))
                                                                                  : void()),
   ...);
  return names;
}
template <class... Ops>
std::set<std::string> names_of(Listed<Ops...>) {
  return {std::string(Ops::info.name)...};
}

std::set<std::string> registered(Device device) {
  std::set<std::string> names;
  for (const std::string_view name : kernel_names(device)) names.insert(std::string(name));
  return names;
}

void call_some_of(const Operation& op, DType dtype) {
  Rng rng(seed_of("every kernel"));
  int called = 0;
  for (const Case& c : op.cases(rng, dtype)) {
    Size elements = 0;
    for (const Input& input : c.inputs) elements += input.present ? count(input.shape) : 0;
    if (elements > 3000) continue;
    std::vector<Tensor> inputs, there;
    for (const Input& input : c.inputs) {
      inputs.push_back(input.present ? make(rng, input, LayoutKind::odd_strides) : Tensor());
      there.push_back(moved(inputs.back(), Device::reference));
    }
    try {
      c.call(inputs, Device::cpu);
      c.call(there, Device::reference);
    } catch (const Error&) { continue; }
    if (++called == 40) return;
  }
}

TEST(TheTable, CallsEveryKernelOfEveryDevice) {
  runtime::set_instruction_set(runtime::instruction_set());
  constexpr int cpu = static_cast<int>(Device::Kind::cpu), reference = static_cast<int>(Device::Kind::reference);
  EXPECT_EQ(registered(Device::cpu), names_of(Kernels{})) << "list the new kernel above";
  std::set<std::string> without_packing = names_of(Kernels{});
  without_packing.erase(std::string(Prepack::info.name));  // an arrangement of the cpu's own
  EXPECT_EQ(registered(Device::reference), without_packing);

  begin<cpu>(Kernels{});
  begin<reference>(Kernels{});
  for (const Operation& op : operations()) {
    for (const DType dtype : op.dtypes) call_some_of(op, dtype);
  }
  end<cpu>(Kernels{});
  end<reference>(Kernels{});
  EXPECT_EQ(never_called<cpu>(Kernels{}), std::set<std::string>{});
  EXPECT_EQ(never_called<reference>(Kernels{}), std::set<std::string>{});
}

}  // namespace
}  // namespace votive::contract
