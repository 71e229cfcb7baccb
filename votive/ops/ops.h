// Every public operation on tensors, by subject. Free functions; options are structs for designated initialisers; results are new tensors.
#pragma once

#include "votive/ops/functions/activations.h"
#include "votive/ops/functions/attention.h"
#include "votive/ops/functions/convolution.h"
#include "votive/ops/functions/create.h"
#include "votive/ops/functions/indexing.h"
#include "votive/ops/functions/movement.h"
#include "votive/ops/functions/norms.h"
#include "votive/ops/functions/operators.h"
#include "votive/ops/functions/orders.h"
#include "votive/ops/functions/pointwise.h"
#include "votive/ops/functions/pooling.h"
#include "votive/ops/functions/products.h"
#include "votive/ops/functions/random.h"
#include "votive/ops/functions/reductions.h"
#include "votive/ops/functions/resampling.h"
#include "votive/ops/modes.h"
