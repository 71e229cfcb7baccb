// One pool of threads per process. Workers spin for about 70 µs after work, then park; the calling thread always takes part.
// The child of a fork starts workers of its own; a fork inside a body leaves the child only exec and _exit. Workers take no signals.
// How work is cut never decides a result: kernels split over outputs, never over a sum (CONTRACT.md 0.5).
#pragma once

#include <cstdint>
#include <type_traits>

#include "votive/base/error.h"

namespace votive {

/// Threads that parallel work may use, the caller included: VOTIVE_THREADS, else the CPUs this process may run on, at most 256.
/// Throws Error{InvalidArgument} when VOTIVE_THREADS is not a number from 1 to 256; so does the first parallel call.
int threads();
/// 1 … 256. Throws Error{InvalidArgument}. Takes effect at the next parallel call; not to be called from inside one.
void set_threads(int count);

namespace detail {
using RangeFunction = void (*)(void* context, Size begin, Size end, int worker);
void parallel_ranges(Size n, Size grain, void* context, RangeFunction function);
}  // namespace detail

/// Calls body(begin, end) on disjoint ranges that cover [0, n), each a multiple of `grain` but the last, up to four per thread; on the caller alone when
/// n ≤ grain, when called from a worker, or when another thread is using the pool. An exception in a body is rethrown to the caller after all ended.
template <class Body>
void parallel_for(Size n, Size grain, Body&& body) {
  if (n <= 0) return;
  if (n <= grain) {
    body(Size{0}, n);
    return;
  }
  detail::parallel_ranges(n, grain, &body, [](void* context, Size begin, Size end, int) {
    (*static_cast<std::remove_reference_t<Body>*>(context))(begin, end);
  });
}

/// The same with the number of the worker, 0 … threads()−1, for scratch memory of its own.
template <class Body>
void parallel_for_worker(Size n, Size grain, Body&& body) {
  if (n <= 0) return;
  detail::parallel_ranges(n, grain, &body, [](void* context, Size begin, Size end, int worker) {
    (*static_cast<std::remove_reference_t<Body>*>(context))(begin, end, worker);
  });
}

}  // namespace votive
