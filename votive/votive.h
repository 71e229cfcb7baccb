// All of Votive for a program that uses it: exactly the public headers, and nothing of a device.
#pragma once

#include "votive/autograd/autograd.h"
#include "votive/base/error.h"
#include "votive/base/thread_pool.h"
#include "votive/core/new_memory.h"
#include "votive/core/tensor.h"
#include "votive/io/gguf.h"
#include "votive/io/safetensors.h"
#include "votive/models/generate.h"
#include "votive/ops/ops.h"
#include "votive/runtime/devices.h"
#include "votive/text/chat.h"
#include "votive/text/tokenizer.h"
