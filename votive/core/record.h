// How a tensor came to be, as far as core needs to know: a counted object that the tensor keeps alive. What it holds and how it differentiates
// is ops/gradient.h; how a graph of them is walked is autograd/.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace votive {

/// A record ends with its last RecordPtr. Graphs of any depth end without recursion: a record that ends while another does waits for its turn.
/// Records live in the lists of small blocks that tensors live in.
class Record {
 public:
  Record() = default;
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;
  virtual ~Record() = default;
  static void* operator new(std::size_t bytes);  ///< Throws std::bad_alloc.
  static void operator delete(void* record, std::size_t bytes) noexcept;

 private:
  friend class RecordPtr;
  static void end(Record* record) noexcept;

  std::atomic<std::uint32_t> references_{0};
  Record* next_ = nullptr;  // among those waiting to end
};

class RecordPtr {
 public:
  RecordPtr() noexcept = default;
  explicit RecordPtr(Record* record) noexcept : record_(record) { retain(); }
  /// The first to hold a new record.
  static RecordPtr of_new(Record* record) noexcept {
    record->references_.store(1, std::memory_order_relaxed);
    RecordPtr first;
    first.record_ = record;
    return first;
  }
  RecordPtr(const RecordPtr& other) noexcept : record_(other.record_) { retain(); }
  RecordPtr(RecordPtr&& other) noexcept : record_(std::exchange(other.record_, nullptr)) {}
  RecordPtr& operator=(RecordPtr other) noexcept {
    std::swap(record_, other.record_);
    return *this;
  }
  ~RecordPtr() {
    if (record_ != nullptr && is_last()) Record::end(record_);
  }
  Record* get() const noexcept { return record_; }
  explicit operator bool() const noexcept { return record_ != nullptr; }

 private:
  // As of tensors: whoever holds the only reference needs no locked instruction.
  bool is_last() const noexcept {
    return record_->references_.load(std::memory_order_acquire) == 1 || record_->references_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  void retain() const noexcept {
    if (record_ != nullptr) record_->references_.fetch_add(1, std::memory_order_relaxed);
  }
  Record* record_ = nullptr;
};

/// A leaf: a tensor that someone wants the gradient of and that no operation made.
class Leaf final : public Record {};

}  // namespace votive
