// The operations that the Votive peer offers, by name (votive_operations.cpp).
#pragma once

#include <functional>
#include <map>
#include <string>

#include "votive/votive.h"
#include "worker.h"

namespace votive::peers {

using ::peers::Call;
using Operations = std::map<std::string, std::function<Call()>>;

/// What users call beside the operations of the table (votive_survey.cpp).
void add_survey(Operations& all);

}  // namespace votive::peers
