// A stretch of memory that grows, leaves new bytes unset, and says so when the machine has no more.
#pragma once

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

  /// Keeps what is there; bytes added are unset. False, and nothing changed, where memory is short.
  [[nodiscard]] bool resize(std::size_t size) {
    if (size > capacity_ && !grow(size)) return false;
    size_ = size;
    return true;
  }
  /// Keeps the memory for later use.
  void clear() { size_ = 0; }

 private:
  struct Free {
    void operator()(std::byte* bytes) const { std::free(bytes); }
  };

  bool grow(std::size_t size) {
    const std::size_t doubled = capacity_ <= size / 2 ? size : 2 * capacity_;
    auto* moved = static_cast<std::byte*>(std::realloc(bytes_.get(), doubled));
    if (moved == nullptr) return false;
    (void)bytes_.release();
    bytes_.reset(moved);
    capacity_ = doubled;
    return true;
  }

  std::unique_ptr<std::byte[], Free> bytes_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace gdelta
