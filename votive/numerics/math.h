// The functions of class P (CONTRACT.md 2.3): one source of + - * / fma and integers, so the same bits on every device, within the ulp bounds of the table.
#pragma once

#include "votive/numerics/activations.h"
#include "votive/numerics/digamma.h"
#include "votive/numerics/erf_f64.h"
#include "votive/numerics/erfinv.h"
#include "votive/numerics/gamma.h"
#include "votive/numerics/hyperbolic.h"
#include "votive/numerics/inverse_trigonometry.h"
#include "votive/numerics/math_f32.h"
#include "votive/numerics/math_f64.h"
#include "votive/numerics/power.h"
#include "votive/numerics/trigonometry.h"
#include "votive/numerics/trigonometry_f64.h"
