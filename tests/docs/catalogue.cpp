// What the program itself knows of its operations, as JSON for tools/make_ops_doc.py: which dtypes each public function takes on which device and what it
// gives for them, found by running its examples; whether it has a gradient; the class and bound of the pointwise rows; the kernels that exist.
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/docs/examples.h"
#include "tests/docs/trials.h"
#include "votive/ops/pointwise.h"
#include "votive/ops/registry.h"

namespace votive::docs {

namespace {

using Json = nlohmann::json;

const char* letter(Class c) { return c == Class::exact ? "E" : c == Class::portable ? "P" : "B"; }

void add_pointwise(Json& rows) {
  for (const std::span<const PointwiseRow> table : {unary_rows(), unary_with_rows(), binary_rows(), ternary_rows()}) {
    for (const PointwiseRow& r : table) {
      Json gradients = Json::array();
      for (const std::string_view formula : r.gradients) {
        if (!formula.empty() && formula != "Tensor()") gradients.push_back(formula);
      }
      rows[std::string(r.name)] = {{"class", letter(r.numeric_class())}, {"ulp", r.ulp}, {"formula", r.formula}, {"gradients", gradients}};
    }
  }
}

/// Results by device and dtype; what `reference` says to the dtypes that are refused.
Json tried_everywhere(const Example& example, Json& refused) {
  Json gives;
  refused = Json::object();
  for (const Device device : {Device::cpu, Device::reference}) {
    Json& on = gives[std::string(to_string(device))] = Json::object();
    for (const DType dtype : every_plain_dtype) {
      const Answer answer = tried(example, {.dtype = dtype, .device = device});
      if (answer.accepted) {
        on[std::string(to_string(dtype))] = answer.result;
      } else if (device == Device::reference) {
        refused[std::string(to_string(dtype))] = answer.text;
      }
    }
  }
  return gives;
}

std::string gradient_of(const Example& example, bool& twice) {
  try {
    return std::string(to_string(differentiated(example, twice)));
  } catch (const Error& error) { return std::string("error: ") + error.what(); }
}

int print() {
  Json catalogue;
  add_pointwise(catalogue["pointwise"]);
  for (const Device device : {Device::cpu, Device::reference}) {
    for (const std::string_view name : kernel_names(device)) catalogue["kernels"][std::string(to_string(device))].push_back(name);
  }
  Json& list = catalogue["examples"] = Json::array();
  for (const Example& example : examples()) {
    bool twice = false;
    const std::string gradient = gradient_of(example, twice);
    Json refused;
    const Json gives = tried_everywhere(example, refused);
    list.push_back({{"header", example.header},
                    {"line", example.line},
                    {"function", example.function},
                    {"gives", gives},
                    {"refuses", refused},
                    {"gradient", gradient},
                    {"twice", twice}});
  }
  std::cout << catalogue.dump(1) << '\n';
  return 0;
}

}  // namespace

}  // namespace votive::docs

int main() { return votive::docs::print(); }
