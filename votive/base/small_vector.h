// A vector for small values (pointers, handles, numbers) that keeps the first N in place and goes to the heap only past them.
// Not here: insertion in the middle, shrinking; lists of operands only grow.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace votive {

template <class T, std::size_t N>
class SmallVector {
  static_assert(std::is_nothrow_move_constructible_v<T>, "growing must not be able to fail half-way");

 public:
  SmallVector() noexcept = default;
  SmallVector(std::initializer_list<T> values) : SmallVector(std::span<const T>(values.begin(), values.size())) {}
  explicit SmallVector(std::span<const T> values) {
    reserve(values.size());
    std::uninitialized_copy(values.begin(), values.end(), data_);
    size_ = values.size();
  }
  SmallVector(const SmallVector& other) : SmallVector(std::span<const T>(other.data_, other.size_)) {}
  SmallVector(SmallVector&& other) noexcept { take(other); }
  SmallVector& operator=(const SmallVector& other) {
    SmallVector copy(other);
    return *this = std::move(copy);
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this != &other) {
      drop();
      take(other);
    }
    return *this;
  }
  ~SmallVector() { drop(); }

  void push_back(T value) {
    if (size_ == capacity_) reserve(2 * capacity_);
    new (data_ + size_) T(std::move(value));
    ++size_;
  }
  /// What `make` returns, made where it will stay. `make` must not touch this vector.
  template <class Make>
  void push_made(Make make) {
    if (size_ == capacity_) reserve(2 * capacity_);
    new (data_ + size_) T(make());
    ++size_;
  }
  void reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    T* const grown = std::allocator<T>().allocate(capacity);
    std::uninitialized_move_n(data_, size_, grown);
    std::destroy_n(data_, size_);
    give_back();
    data_ = grown;
    capacity_ = capacity;
  }
  void clear() noexcept {
    std::destroy_n(data_, size_);
    size_ = 0;
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  /// True while no memory was asked for.
  bool in_place() const { return data_ == place(); }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  const T* data() const { return data_; }

 private:
  T* place() { return reinterpret_cast<T*>(place_); }
  const T* place() const { return reinterpret_cast<const T*>(place_); }
  void give_back() noexcept {
    if (!in_place()) std::allocator<T>().deallocate(data_, capacity_);
  }
  void drop() noexcept {
    clear();
    give_back();
    data_ = place();
    capacity_ = N;
  }
  void take(SmallVector& other) noexcept {
    if (other.in_place()) {
      std::uninitialized_move_n(other.data_, other.size_, data_);
      size_ = other.size_;
      other.clear();
      return;
    }
    data_ = std::exchange(other.data_, other.place());
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, N);
  }

  T* data_ = place();
  std::size_t size_ = 0, capacity_ = N;
  alignas(T) std::byte place_[N * sizeof(T)];
};

}  // namespace votive
