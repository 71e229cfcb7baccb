// Functions of one f16 or bf16 by looking them up: there are 65536 arguments, so a table that the function's own loop has filled gives its bits, in 0.2 ns per
// element of ordinary numbers, 0.45 of random bits, where the loop takes 0.37 to 3 with AVX-512 and 0.75 to 5.6 with AVX2 (2-core Zen 4, all in the caches).
// A table is 128 KiB and stays, all of them together are 11 MiB; one is made when a function has been asked for as many elements as it takes to fill one, so
// no more than half the work is lost.
#pragma once

#include "votive/cpu/types.h"
#include "votive/ops/pointwise.h"

namespace votive::cpu::VOTIVE_ISA {

/// The results of `kind` for every argument of dtype `x`, by its bits; null where computing `count` elements is the better way or no memory is left.
const u16* half_table(UnaryKind kind, DType x, Size count);

/// y[i] = table[x[i]].
void look_up(const u16* table, const u16* x, u16* y, Size n);

}  // namespace votive::cpu::VOTIVE_ISA
