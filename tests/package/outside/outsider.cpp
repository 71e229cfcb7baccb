// What a program outside may do with an installed Votive: compute, catch, and read what it computed.
#include <votive/votive.h>

#include <iostream>

int main() {
  using namespace votive;
  const Tensor x = tensor({{1, 2, 3}, {4, 5, 6}}, f32);
  const Tensor y = matmul(x, transpose(x)) + 0.5;  // [[14.5, 32.5], [32.5, 77.5]]
  if (y.to_host<float>() != std::vector<float>{14.5f, 32.5f, 32.5f, 77.5f}) return 1;
  try {
    matmul(x, x);
    return 2;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::ShapeMismatch) return 3;
  }
  std::cout << "Votive works from outside, " << to_string(sum(y)) << "\n";
}
