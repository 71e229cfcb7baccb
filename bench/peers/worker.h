// What the C++ peers of operations.py share: the loop that answers "THREADS BUDGET NAME" lines, and the clock (worker.py has the same for Python).
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace peers {

using Call = std::function<void()>;

inline double seconds_per_call(const Call& once, double budget) {
  using Clock = std::chrono::steady_clock;
  const auto time = [&](long times) {
    const auto start = Clock::now();
    for (long i = 0; i < times; ++i) once();
    return std::chrono::duration<double>(Clock::now() - start).count() / static_cast<double>(times);
  };
  time(2);
  const double first = time(1);
  const long inner = std::max(1L, static_cast<long>(2e-3 / std::max(first, 1e-9)));
  std::vector<double> samples;
  const auto start = Clock::now();
  while (samples.size() < 3 || std::chrono::duration<double>(Clock::now() - start).count() < budget) samples.push_back(time(inner));
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}

/// build(name, threads) gives the call to be timed, or none where the operation is not offered; what it throws is an answer that says so.
template <class Build>
void serve(Build build) {
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    int threads = 1;
    double budget = 0.1;
    std::string name;
    words >> threads >> budget >> std::ws;
    std::getline(words, name);
    try {
      const Call call = build(name, threads);
      if (call) {
        std::cout << "{\"seconds\": " << seconds_per_call(call, budget) << "}" << std::endl;
      } else {
        std::cout << "{\"error\": \"not offered\"}" << std::endl;
      }
    } catch (const std::exception&) { std::cout << "{\"error\": \"refused\"}" << std::endl; }
  }
}

}  // namespace peers
