// How a tensor came to be, as far as core needs to know: a counted object that the tensor keeps alive. What it holds and how it differentiates
// is ops/gradient.h; how a graph of them is walked is autograd/.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace votive {

/// A record ends with its last RecordPtr. Graphs of any depth end without recursion: a record that ends while another does waits for its turn.
class Record {
 public:
  Record() = default;
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;
  virtual ~Record() = default;

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
  RecordPtr(const RecordPtr& other) noexcept : record_(other.record_) { retain(); }
  RecordPtr(RecordPtr&& other) noexcept : record_(std::exchange(other.record_, nullptr)) {}
  RecordPtr& operator=(RecordPtr other) noexcept {
    std::swap(record_, other.record_);
    return *this;
  }
  ~RecordPtr() {
    if (record_ != nullptr && record_->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) Record::end(record_);
  }
  Record* get() const noexcept { return record_; }
  explicit operator bool() const noexcept { return record_ != nullptr; }

 private:
  void retain() const noexcept {
    if (record_ != nullptr) record_->references_.fetch_add(1, std::memory_order_relaxed);
  }
  Record* record_ = nullptr;
};

/// A leaf: a tensor that someone wants the gradient of and that no operation made.
class Leaf final : public Record {};

}  // namespace votive
