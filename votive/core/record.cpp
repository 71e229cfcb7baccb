// The end of records: one thread's list of those that wait, so that a chain of a hundred thousand ends in a loop and not in a hundred thousand calls.
#include "votive/core/record.h"

namespace votive {

void Record::end(Record* record) noexcept {
  thread_local Record* waiting = nullptr;
  thread_local bool ending = false;
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
