// The end of records: one thread's list of those that wait, so that a chain of a hundred thousand ends in a loop and not in a hundred thousand calls.
#include "votive/core/record.h"

#include <new>

#include "votive/base/error.h"
#include "votive/core/memory.h"

namespace votive {

void* Record::operator new(std::size_t bytes) try { return allocate_memory(bytes).address; } catch (const Error&) {
  throw std::bad_alloc();
}

void Record::operator delete(void* record, std::size_t bytes) noexcept { free_small_memory(static_cast<std::byte*>(record), bytes); }

void Record::end(Record* record) noexcept {
  constinit static thread_local Record* waiting __attribute__((tls_model("initial-exec"))) = nullptr;
  constinit static thread_local bool ending __attribute__((tls_model("initial-exec"))) = false;
  record->next_ = waiting;
  waiting = record;
  if (ending) return;
  ending = true;
  while (waiting != nullptr) {
    Record* const first = waiting;
    waiting = first->next_;
    delete first;  // may put more on the list
  }
  ending = false;
}

}  // namespace votive
