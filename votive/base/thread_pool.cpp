// Fork and join over one pool. A job is cut into pieces; each thread owns a share of them and, when done, takes what others have not begun,
// so nobody waits for a worker that is still waking up. A worker spins on its own cache line only, which also carries the job.
#include "votive/base/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <thread>

#include "votive/base/float_environment.h"
#include "votive/base/text.h"

namespace votive {

namespace {

using detail::RangeFunction;
using Clock = std::chrono::steady_clock;

constexpr int max_threads = 256;
// Enough that a thread which lost its CPU for a while does not hold up the others by a whole share; few enough to cost nothing.
constexpr int pieces_per_thread = 4;
// A parked worker takes 5–25 µs to wake, a spinning one 0.2; longer spinning starves other pools on the same CPUs (measured, 2-core Zen 4).
constexpr auto spin_time = std::chrono::microseconds(70);
// From then on it offers its CPU at every look: where another process has work, or a thread of this one that lost its CPU, that goes first.
constexpr auto alone_time = std::chrono::microseconds(5);

// A claim is one word: number of the job · 2²⁴ + next piece · 2¹² + end of the share. A piece is taken by compare-and-swap of the whole word,
// so a thread that comes late, with the number of a job that has ended, takes nothing.
constexpr std::uint64_t claim_of(std::uint64_t job, std::uint64_t next, std::uint64_t end) { return job << 24 | next << 12 | end; }
constexpr std::uint64_t job_of(std::uint64_t claim) { return claim >> 24; }
constexpr std::uint64_t job_mask = (std::uint64_t{1} << 40) - 1;
constexpr std::uint64_t stop_job = job_mask;  // tells a worker to end

struct Job {
  std::uint64_t number;
  RangeFunction function;
  void* context;
  Size n, grain;
  int pieces, shares;
};

// The fields of a job are written before `claim` and read before a piece is taken, so they are of that job whenever the taking succeeds.
struct alignas(64) Slot {
  std::atomic<std::uint64_t> claim{0};
  std::atomic<RangeFunction> function{nullptr};
  std::atomic<void*> context{nullptr};
  std::atomic<Size> n{0}, grain{0};
  std::atomic<std::uint16_t> pieces{0}, shares{0};
  std::atomic<std::uint32_t> parked{0};
};
static_assert(sizeof(Slot) == 64);

struct Pool {
  std::atomic<bool> busy{false};  // held by the thread that runs a job; guards the three below
  std::uint64_t job = 0;
  int workers = 0;
  std::array<pthread_t, max_threads> handles{};

  alignas(64) std::atomic<std::int32_t> remaining{0};  // pieces not yet ended
  std::atomic<bool> caller_parked{false};
  std::atomic<bool> failed{false};
  std::exception_ptr* error = nullptr;  // on the stack of the holder of `busy`

  std::array<Slot, max_threads> slots;
};

constinit Pool pool;
std::atomic<int> wanted{0};        // threads; 0 = not yet asked for
std::atomic<bool> crowded{false};  // more threads than CPUs: waiting gives the CPU away instead of spinning
std::atomic<bool> ended{false};
thread_local bool is_worker = false;

int allowed_cpus() {
#if defined(__linux__)
  for (std::size_t cpus = 1024; cpus <= (std::size_t{1} << 20); cpus *= 4) {
    cpu_set_t* set = CPU_ALLOC(cpus);
    if (set == nullptr) break;
    const bool known = ::sched_getaffinity(0, CPU_ALLOC_SIZE(cpus), set) == 0;
    const int count = known ? CPU_COUNT_S(CPU_ALLOC_SIZE(cpus), set) : 0;
    CPU_FREE(set);
    if (known) return std::max(count, 1);
  }
#endif
  return static_cast<int>(std::max(std::thread::hardware_concurrency(), 1u));
}

int cpus() {
  static const int count = allowed_cpus();
  return count;
}

Error refused_count(const char* op, std::string_view given) {
  return Error(ErrorKind::InvalidArgument, op)
      .value(std::string(given))
      .detail(text::format("'{}' is not a number of threads", text::shown(given, 80)))
      .accepted("1 … 256");
}

void set_wanted(int count) {
  crowded.store(count > cpus(), std::memory_order_relaxed);
  wanted.store(count, std::memory_order_relaxed);
}

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/// Waits for `done` without sleeping, for spin_time at most; tells whether it came true.
template <class Done>
bool spin_until(Done done) {
  bool yields = crowded.load(std::memory_order_relaxed);
  const Clock::time_point start = Clock::now();
  while (true) {
    for (int i = 0; i < 32; ++i) {
      if (done()) return true;
      if (yields) {
        std::this_thread::yield();
      } else {
        relax();
      }
    }
    const auto spent = Clock::now() - start;
    if (spent > spin_time) return done();
    yields = yields || spent > alone_time;
  }
}

/// The number of a piece taken from the share in `slot`, or −1 when the share is used up or belongs to another job.
int take(Slot& slot, std::uint64_t job) {
  std::uint64_t claim = slot.claim.load(std::memory_order_relaxed);
  while (job_of(claim) == job) {
    const int next = static_cast<int>(claim >> 12 & 0xfff), end = static_cast<int>(claim & 0xfff);
    if (next >= end) return -1;
    if (slot.claim.compare_exchange_weak(claim, claim + (1 << 12), std::memory_order_acq_rel, std::memory_order_relaxed)) return next;
  }
  return -1;
}

void run_piece(const Job& job, int piece, int worker) noexcept {
  if (pool.failed.load(std::memory_order_relaxed)) return;
  const Size units = (job.n - 1) / job.grain + 1;
  const Size size = units / job.pieces, larger = units % job.pieces;  // the first `larger` pieces have one unit more
  const Size first = piece * size + std::min<Size>(piece, larger);
  const Size last = first + size + (piece < larger ? 1 : 0);
  try {
    job.function(job.context, first * job.grain, last == units ? job.n : last * job.grain, worker);
  } catch (...) {
    if (!pool.failed.exchange(true, std::memory_order_relaxed)) *pool.error = std::current_exception();
  }
}

void run_share(const Job& job, int share, int worker) {
  int ran = 0;
  for (int piece; (piece = take(pool.slots[static_cast<std::size_t>(share)], job.number)) >= 0; ++ran) run_piece(job, piece, worker);
  if (ran == 0) return;
  if (pool.remaining.fetch_sub(ran, std::memory_order_seq_cst) == ran && pool.caller_parked.load(std::memory_order_seq_cst))
    pool.remaining.notify_one();
}

/// The worker's own share, then whatever the others have not begun.
void run(const Job& job, int worker) {
  for (int i = 0; i < job.shares; ++i) run_share(job, (worker + i) % job.shares, worker);
}

void* work(void* number) {
  const int worker = static_cast<int>(reinterpret_cast<std::intptr_t>(number));
  is_worker = true;
  set_float_environment();
  Slot& slot = pool.slots[static_cast<std::size_t>(worker)];
  std::uint64_t seen = 0;
  const auto news = [&] { return job_of(slot.claim.load(std::memory_order_acquire)) != seen; };
  while (true) {
    while (!spin_until(news)) {
      slot.parked.store(1, std::memory_order_seq_cst);
      if (job_of(slot.claim.load(std::memory_order_seq_cst)) == seen) slot.parked.wait(1, std::memory_order_seq_cst);
      slot.parked.store(0, std::memory_order_seq_cst);
    }
    seen = job_of(slot.claim.load(std::memory_order_acquire));
    if (seen == stop_job) return nullptr;
    const Job job{seen,
                  slot.function.load(std::memory_order_relaxed),
                  slot.context.load(std::memory_order_relaxed),
                  slot.n.load(std::memory_order_relaxed),
                  slot.grain.load(std::memory_order_relaxed),
                  slot.pieces.load(std::memory_order_relaxed),
                  slot.shares.load(std::memory_order_relaxed)};
    run(job, worker);
  }
}

void publish(Slot& slot, std::uint64_t claim) {
  slot.claim.store(claim, std::memory_order_seq_cst);
  if (slot.parked.load(std::memory_order_seq_cst) != 0) {
    slot.parked.store(0, std::memory_order_seq_cst);
    slot.parked.notify_one();
  }
}

// Joins the workers when the process ends, so that nothing runs in a library that is being unloaded.
struct Ending {
  ~Ending() {
    if (is_worker || pool.busy.exchange(true, std::memory_order_acquire)) return;  // a job ended the process
    ended.store(true, std::memory_order_relaxed);
    for (int i = 1; i <= pool.workers; ++i) publish(pool.slots[static_cast<std::size_t>(i)], claim_of(stop_job, 0, 0));
    for (int i = 1; i <= pool.workers; ++i) ::pthread_join(pool.handles[static_cast<std::size_t>(i)], nullptr);
    pool.workers = 0;
    pool.busy.store(false, std::memory_order_release);
  }
};

// The child of a fork has no workers; it starts its own when it needs them. The parent's handles are left alone: they cannot be joined.
void forget_workers() { new (&pool) Pool; }

/// Starts what is missing of `count` workers; gives how many there are. Called by the holder of `busy`.
int start_workers(int count) {
  if (pool.workers >= count) return count;
  static const int registered = ::pthread_atfork(nullptr, nullptr, forget_workers);
  static const Ending ending;
  if (registered != 0) return pool.workers;
  // Signals are for the threads of the program: a handler on a worker would run in the middle of a kernel.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  // When no more threads are to be had, fewer do the same work.
  for (; pool.workers < count; ++pool.workers) {
    const int worker = pool.workers + 1;
    if (::pthread_create(&pool.handles[static_cast<std::size_t>(worker)], nullptr, work, reinterpret_cast<void*>(std::intptr_t{worker})) !=
        0)
      break;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return std::min(count, pool.workers);
}

}  // namespace

int threads() {
  if (const int count = wanted.load(std::memory_order_relaxed); count != 0) return count;
  int count = std::min(cpus(), max_threads);
  if (const char* given = std::getenv("VOTIVE_THREADS"); given != nullptr && *given != '\0') {
    const char* end = given + std::strlen(given);
    const auto [stop, error] = std::from_chars(given, end, count);
    if (error != std::errc{} || stop != end || count < 1 || count > max_threads) throw refused_count("VOTIVE_THREADS", given);
  }
  set_wanted(count);
  return count;
}

void set_threads(int count) {
  if (count < 1 || count > max_threads) throw refused_count("set_threads", std::to_string(count)).arg("count", 1);
  set_wanted(count);
}

void detail::parallel_ranges(Size n, Size grain, void* context, RangeFunction function) {
  if (n <= 0) return;
  grain = std::max<Size>(grain, 1);
  const Size units = (n - 1) / grain + 1;
  int shares = static_cast<int>(std::min<Size>(threads(), units));
  if (shares == 1 || ended.load(std::memory_order_relaxed) || pool.busy.load(std::memory_order_relaxed) ||
      pool.busy.exchange(true, std::memory_order_acquire)) {
    function(context, 0, n, 0);
    return;
  }
  shares = start_workers(shares - 1) + 1;
  const int pieces = static_cast<int>(std::min<Size>(units, Size{shares} * pieces_per_thread));
  pool.job = pool.job + 1 == stop_job ? 1 : pool.job + 1;
  const Job job{pool.job, function, context, n, grain, pieces, shares};
  std::exception_ptr error;
  pool.error = &error;
  pool.failed.store(false, std::memory_order_relaxed);
  pool.remaining.store(pieces, std::memory_order_relaxed);
  for (int share = shares - 1; share >= 0; --share) {
    Slot& slot = pool.slots[static_cast<std::size_t>(share)];
    slot.function.store(function, std::memory_order_relaxed);
    slot.context.store(context, std::memory_order_relaxed);
    slot.n.store(n, std::memory_order_relaxed);
    slot.grain.store(grain, std::memory_order_relaxed);
    slot.pieces.store(static_cast<std::uint16_t>(pieces), std::memory_order_relaxed);
    slot.shares.store(static_cast<std::uint16_t>(shares), std::memory_order_relaxed);
    const auto first = static_cast<std::uint64_t>(pieces * share / shares),
               last = static_cast<std::uint64_t>(pieces * (share + 1) / shares);
    publish(slot, claim_of(job.number, first, last));
  }
  run(job, 0);

  const auto done = [] { return pool.remaining.load(std::memory_order_acquire) <= 0; };
  if (!done() && !spin_until(done)) {
    pool.caller_parked.store(true, std::memory_order_seq_cst);
    for (std::int32_t left; (left = pool.remaining.load(std::memory_order_seq_cst)) > 0;)
      pool.remaining.wait(left, std::memory_order_seq_cst);
    pool.caller_parked.store(false, std::memory_order_relaxed);
  }
  pool.busy.store(false, std::memory_order_release);
  if (error) std::rethrow_exception(error);
}

}  // namespace votive
