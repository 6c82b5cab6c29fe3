// A stretch of memory that grows, leaves new bytes unset, and says so when the machine has no more.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>

namespace gdelta {

class ByteBuffer {
 public:
  std::byte* data() { return bytes_.get(); }
  const std::byte* data() const { return bytes_.get(); }
  std::size_t size() const { return size_; }
  std::span<std::byte> all() { return {data(), size_}; }
  std::span<const std::byte> all() const { return {data(), size_}; }

  /// Keeps what is there; bytes added are unset. False, and nothing changed, if memory is short.
  [[nodiscard]] bool resize(std::size_t size) {
    if (size > capacity_ && !grow(size)) return false;
    size_ = size;
    return true;
  }
  /// Keeps the memory for later use.
  void clear() { size_ = 0; }
  /// Gives the memory back.
  void release() {
    bytes_.reset();
    size_ = 0;
    capacity_ = 0;
  }
  /// Bytes of memory that are held, used or not.
  std::size_t capacity() const { return capacity_; }

 private:
  struct Free {
    void operator()(std::byte* bytes) const { std::free(bytes); }
  };

  static constexpr std::size_t kMostUnused = std::size_t{4} << 20;

  bool grow(std::size_t size) {
    // Doubling would hold more than was asked for by as much; the system moves long stretches without
    // copying them.
    const std::size_t roomier = std::max(size, capacity_ + std::min(capacity_, kMostUnused));
    if (size_ == 0) release();  // nothing to keep, so that old and new are not held at once
    auto* moved = static_cast<std::byte*>(std::realloc(bytes_.get(), roomier));
    if (moved == nullptr) return false;
    (void)bytes_.release();
    bytes_.reset(moved);
    capacity_ = roomier;
    return true;
  }

  std::unique_ptr<std::byte[], Free> bytes_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace gdelta
