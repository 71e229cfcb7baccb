// Runs the calls that compare_opinfo.py wrote and writes what Votive answers: outputs, gradients, or the error. On the cpu, and again on the
// reference device where the tensors are small, whose bits must be the same. It judges nothing else.
//
//   opinfo_run --list                     the names it knows, one a line
//   opinfo_run FOLDER [FIRST [LAST]]      FOLDER/calls.jsonl + calls.bin → FOLDER/results.jsonl + results.bin; continues at call FIRST
#include <cmath>
#include <cstring>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "tools/opinfo/call.h"
#include "votive/base/mapped_file.h"

namespace votive::opinfo {

using nlohmann::json;

/// Calls larger than this many elements in all are not run on the slow device.
constexpr Size small = 1 << 13;

struct Answer {
  Tensors outputs, gradients;
  std::string kind, text, where;  // of an error
};

static Tensor read(const json& entry, const MappedFile& data, Device device) {
  const std::vector<Size> sizes = entry.at("shape").get<std::vector<Size>>();
  const Meta meta{dtype_of(entry.at("dtype").get<std::string>()), Shape(std::span<const Size>(sizes)), Device::cpu};
  const std::size_t at = entry.at("at").get<std::size_t>(), bytes = entry.at("bytes").get<std::size_t>();
  const Tensor host = Tensor::allocate("opinfo", meta);
  std::memcpy(Tensor(host).mutable_buffer(), data.bytes().data() + at, bytes);
  return host.to(device);
}

/// Two habits of PyTorch that any operation may have: dtype= casts the first argument before, and an input without a batch gets one for the call.
static Tensors around(const Function function, std::vector<Call::Argument> arguments, const json& attributes, Device device) {
  const bool batchless = attributes.contains("batchless");
  if (attributes.contains("to")) {
    for (Call::Argument& a : arguments) {
      if (a.tensor.defined()) a.tensor = a.tensor.to(dtype_of(attributes.at("to").get<std::string>()));
    }
  }
  if (attributes.contains("then")) {  // torch.masked: the neutral element where the mask does not hold
    Tensor& x = arguments[0].tensor;
    const Tensor mask = arguments[1].tensor;
    if (mask.defined()) x = where(mask, x, full({}, literal_of(attributes.at("value")), x.dtype(), {.device = device}));
    arguments.resize(1);
  }
  if (batchless) {
    for (std::size_t i : attributes.at("batchless").get<std::vector<std::size_t>>())
      arguments[i].tensor = unsqueeze(arguments[i].tensor, 0);
  }
  Tensors outputs = function(Call(std::move(arguments), attributes, device));
  if (batchless) {
    for (Tensor& y : outputs) y = squeeze(y, 0);
  }
  return outputs;
}

static Answer answer(const Function function, const json& call, const MappedFile& data, Device device) {
  Answer a;
  a.where = "forward";
  try {
    std::vector<Call::Argument> arguments;
    Tensors wanted;
    const bool differentiate = call.contains("seeds");
    for (const json& entry : call.at("inputs")) {
      Call::Argument argument;
      if (entry.is_object() && entry.contains("literal")) {
        argument.literal = literal_of(entry.at("literal"));
      } else if (entry.is_object()) {
        argument.tensor = read(entry, data, device);
        if (differentiate && entry.value("wanted", false)) {
          argument.tensor = argument.tensor.require_grad();
          wanted.push_back(argument.tensor);
        }
      }
      arguments.push_back(std::move(argument));
    }
    a.outputs = around(function, std::move(arguments), call.at("attributes"), device);
    if (differentiate) {
      a.where = "gradient";
      Tensors of, seeds;
      for (std::size_t i = 0; i < a.outputs.size() && i < call.at("seeds").size(); ++i) {
        if (call.at("seeds")[i].is_null()) continue;
        of.push_back(a.outputs[i]);
        seeds.push_back(read(call.at("seeds")[i], data, device));
      }
      a.gradients = grad(of, wanted, {.seeds = seeds, .allow_unused = true});
    }
  } catch (const Error& e) {
    a.kind = to_string(e.kind());
    a.text = e.what();
  } catch (const std::exception& e) {
    a.kind = "exception";
    a.text = e.what();
  }
  return a;
}

static std::string bytes_of(const Tensor& x) {
  const Tensor y = contiguous(x.detach().to(Device::cpu));
  const std::size_t width = static_cast<std::size_t>(block_bytes(y.dtype()));
  const char* const from = reinterpret_cast<const char*>(y.buffer()) + static_cast<std::size_t>(y.offset()) * width;
  return std::string(from, static_cast<std::size_t>(y.count()) * width);
}

/// The same bits, where any NaN equals any NaN.
static bool same(const Tensors& a, const Tensors& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].defined() != b[i].defined()) return false;
    if (!a[i].defined()) continue;
    if (a[i].dtype() != b[i].dtype() || a[i].shape() != b[i].shape()) return false;
    const auto canonical = [](const Tensor& x) {
      const Tensor y = x.detach().to(Device::cpu);
      return bytes_of(is_floating(y.dtype()) ? where(ne(y, y), full({}, NAN, y.dtype()), y) : y);
    };
    if (canonical(a[i]) != canonical(b[i])) return false;
  }
  return true;
}

static json write(const Tensors& tensors, std::ofstream& data, std::size_t& at) {
  json list = json::array();
  for (const Tensor& x : tensors) {
    if (!x.defined()) {
      list.push_back(nullptr);
      continue;
    }
    const std::string bytes = bytes_of(x);
    list.push_back({{"dtype", to_string(x.dtype())}, {"shape", x.shape().to_vector()}, {"at", at}, {"bytes", bytes.size()}});
    data.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    at += bytes.size();
  }
  return list;
}

static Size elements(const json& call) {
  Size n = 0;
  for (const json& entry : call.at("inputs")) n += entry.is_object() ? entry.value("bytes", Size{0}) : 0;
  return n;
}

static int run(const Table& table, const std::string& folder, std::size_t first, std::size_t last) {
  const MappedFile data(folder + "/calls.bin");
  std::ifstream calls(folder + "/calls.jsonl");
  const auto how = std::ios::binary | (first == 0 ? std::ios::trunc : std::ios::app);
  std::ofstream results(folder + "/results.jsonl", how), values(folder + "/results.bin", how);
  values.seekp(0, std::ios::end);
  std::size_t at = static_cast<std::size_t>(values.tellp());
  std::string line;
  for (std::size_t i = 0; i < last && std::getline(calls, line); ++i) {
    if (i < first) continue;
    const json call = json::parse(line);
    const json& attributes = call.at("attributes");
    const auto entry = table.find((attributes.contains("then") ? attributes.at("then") : call.at("name")).get<std::string>());
    json result = {{"id", i}};
    if (entry == table.end()) {
      result["error"] = {{"kind", "unknown"}, {"text", "the runner has no such name"}, {"where", "forward"}};
    } else {
      const Answer cpu = answer(entry->second, call, data, Device::cpu);
      if (!cpu.kind.empty()) result["error"] = {{"kind", cpu.kind}, {"text", cpu.text}, {"where", cpu.where}};
      result["outputs"] = write(cpu.outputs, values, at);
      result["gradients"] = write(cpu.gradients, values, at);
      if (elements(call) <= small) {
        const Answer slow = answer(entry->second, call, data, Device::reference);
        if (slow.kind != cpu.kind) {
          result["reference"] = "error: " + slow.text;
        } else {
          result["reference"] = same(slow.outputs, cpu.outputs) && same(slow.gradients, cpu.gradients) ? "equal" : "other bits";
        }
      }
    }
    values.flush();
    results << result.dump(-1, ' ', false, json::error_handler_t::replace)
            << std::endl;  // whole lines even if a later call ends the program
  }
  return 0;
}

}  // namespace votive::opinfo

int main(int count, char** words) {
  using namespace votive::opinfo;
  Table table;
  add_pointwise(table);
  add_movement(table);
  add_indexing(table);
  add_reductions(table);
  add_products(table);
  add_norms(table);
  const std::string what = count > 1 ? words[1] : "";
  if (what == "--list") {
    std::cout << "masked\n";
    for (const auto& [name, function] : table) std::cout << name << '\n';
    return 0;
  }
  if (what.empty() || what[0] == '-') {
    std::cerr << "usage: opinfo_run --list | FOLDER [FIRST [LAST]]\n";
    return 2;
  }
  try {
    return run(table, what, count > 2 ? std::stoul(words[2]) : 0, count > 3 ? std::stoul(words[3]) : SIZE_MAX);
  } catch (const std::exception& e) {
    std::cerr << "opinfo_run: " << e.what() << '\n';
    return 2;
  }
}
