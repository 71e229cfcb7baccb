// OpenBLAS and oneDNN as peers of operations.py: products alone. One program per library, compiled by build.sh with PEER_OPENBLAS or PEER_ONEDNN.
// oneDNN gets weights in the layout it asks for, as `linear` of a prepacked weight does; OpenBLAS 0.3.21 of Debian has no bf16.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "worker.h"

#if defined(PEER_OPENBLAS)
#include <cblas.h>
#else
#include <omp.h>
#include <oneapi/dnnl/dnnl.hpp>
#endif

namespace {

using peers::Call;

struct Product {
  long m, n, k;
  bool weight;  // b is [n, k], packed ahead where the library can
  bool bf16;
};

/// "matmul f32 512" or "linear bf16 m16 4096x4096"; false for what is no product.
bool read(const std::string& name, Product& p) {
  std::istringstream words(name);
  std::string kind, dtype, size;
  words >> kind >> dtype >> size;
  p.bf16 = dtype == "bf16";
  if (dtype != "f32" && !p.bf16) return false;
  if (kind == "matmul") {
    p.m = p.n = p.k = std::atol(size.c_str());
    p.weight = false;
    return p.m > 4;
  }
  if (kind != "linear") return false;
  p.m = std::atol(size.c_str() + 1);
  p.n = p.k = 4096;
  p.weight = true;
  return true;
}

#if defined(PEER_OPENBLAS)
Call build(const Product& p, int threads) {
  if (p.bf16) return {};
  openblas_set_num_threads(threads);
  const auto a = std::make_shared<std::vector<float>>(p.m * p.k, 0.5f), b = std::make_shared<std::vector<float>>(p.n * p.k, 0.25f);
  const auto c = std::make_shared<std::vector<float>>(p.m * p.n);
  return [=] {
    if (p.m == 1) {
      cblas_sgemv(CblasRowMajor, CblasNoTrans, p.n, p.k, 1, b->data(), p.k, a->data(), 1, 0, c->data(), 1);
    } else {
      cblas_sgemm(CblasRowMajor, CblasNoTrans, p.weight ? CblasTrans : CblasNoTrans, p.m, p.n, p.k, 1, a->data(), p.k, b->data(),
                  p.weight ? p.k : p.n, 0, c->data(), p.n);
    }
  };
}
#else
Call build(const Product& p, int threads) {
  using namespace dnnl;
  omp_set_num_threads(threads);
  static engine cpu(engine::kind::cpu, 0);
  static stream queue(cpu);
  const auto type = p.bf16 ? memory::data_type::bf16 : memory::data_type::f32;
  using tag = memory::format_tag;
  const memory::desc a({p.m, p.k}, type, tag::ab), c({p.m, p.n}, type, tag::ab), plain({p.k, p.n}, type, p.weight ? tag::ba : tag::ab);
  const memory::desc any({p.k, p.n}, type, p.weight ? tag::any : tag::ab);
  const matmul::primitive_desc description(matmul::desc(a, any, c), cpu);
  memory memory_a(a, cpu), memory_plain(plain, cpu), memory_b(description.weights_desc(), cpu), memory_c(c, cpu);
  const auto fill = [](memory& m, std::size_t bytes) {
    auto* at = static_cast<std::uint16_t*>(m.get_data_handle());
    for (std::size_t i = 0; i < bytes / 2; ++i) at[i] = 0x3f00;
  };
  fill(memory_a, a.get_size());
  fill(memory_plain, plain.get_size());
  reorder(memory_plain, memory_b).execute(queue, memory_plain, memory_b);
  queue.wait();
  const matmul product(description);
  const std::unordered_map<int, memory> arguments{{DNNL_ARG_SRC, memory_a}, {DNNL_ARG_WEIGHTS, memory_b}, {DNNL_ARG_DST, memory_c}};
  return [=] {
    product.execute(queue, arguments);
    queue.wait();
  };
}
#endif

}  // namespace

int main() {
  peers::serve([](const std::string& name, int threads) -> Call {
    Product p{};
    return read(name, p) ? build(p, threads) : Call{};
  });
  return 0;
}
