// The table of operations that the contract tests are generated from. A new operation is a description here; layouts, instruction sets, threads,
// comparison and the coverage table come of themselves.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tests/contract/values.h"

namespace votive::contract {

/// One call: its inputs, and the call itself, on the device its inputs are on (`device`, for calls without any).
struct Case {
  std::vector<Input> inputs;
  std::function<std::vector<Tensor>(std::span<const Tensor>, Device)> call;
  std::string note;
  bool every_layout = true;  // false: contiguous only, for large ones
};

struct Operation {
  std::string name;
  std::vector<DType> dtypes;  // of the first input, or of the result where there is none
  std::function<std::vector<Case>(Rng&, DType)> cases;
  bool exact_nan = false;  // moves bits, NaN and all
};

/// All of them; each operations_*.cpp appends its own.
std::vector<Operation> operations();

void add_pointwise(std::vector<Operation>& all);
void add_conversions(std::vector<Operation>& all);
void add_creation(std::vector<Operation>& all);
void add_reductions(std::vector<Operation>& all);
void add_attention(std::vector<Operation>& all);
void add_losses(std::vector<Operation>& all);
void add_scans(std::vector<Operation>& all);
void add_norms(std::vector<Operation>& all);
void add_products(std::vector<Operation>& all);
void add_convolutions(std::vector<Operation>& all);
void add_pooling(std::vector<Operation>& all);
void add_resampling(std::vector<Operation>& all);
void add_lookups(std::vector<Operation>& all);
void add_movement(std::vector<Operation>& all);
void add_scatters(std::vector<Operation>& all);
void add_orders(std::vector<Operation>& all);

inline const std::vector<DType> every_plain{DType::boolean, DType::u8,  DType::i8,  DType::u16,  DType::i16,
                                            DType::u32,     DType::i32, DType::u64, DType::i64,  DType::f16,
                                            DType::bf16,    DType::f32, DType::f64, DType::e4m3, DType::e5m2};
inline const std::vector<DType> every_arithmetic{DType::u8,  DType::i8,  DType::u16, DType::i16,  DType::u32, DType::i32,
                                                 DType::u64, DType::i64, DType::f16, DType::bf16, DType::f32, DType::f64};
inline const std::vector<DType> every_number_and_bool{DType::boolean, DType::u8,  DType::i8,  DType::u16, DType::i16,
                                                      DType::u32,     DType::i32, DType::u64, DType::i64, DType::f16,
                                                      DType::bf16,    DType::f32, DType::f64};
inline const std::vector<DType> every_integer{DType::u8, DType::i8, DType::u16, DType::i16, DType::u32, DType::i32, DType::u64, DType::i64};
inline const std::vector<DType> every_floating{DType::f16, DType::bf16, DType::f32, DType::f64};
inline const std::vector<DType> every_quantised{DType::q4_0, DType::q4_1, DType::q5_0, DType::q5_1,
                                                DType::q8_0, DType::q4_k, DType::q5_k, DType::q6_k};

}  // namespace votive::contract
