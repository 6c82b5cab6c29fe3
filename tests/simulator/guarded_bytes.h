// Bytes between two pages that nobody can read or write.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <span>
#include <utility>

namespace simulator {

inline std::span<const unsigned char> unsigned_bytes(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()};
}

/// A copy of some bytes, `skew` bytes behind a multiple of 16. What a kernel may read in whole words
/// of 16 bytes is there; at the `end` of the room nothing behind it is, otherwise nothing before it.
class GuardedBytes {
 public:
  GuardedBytes(std::span<const unsigned char> bytes, std::size_t skew, bool end) {
    const std::size_t words = (skew + bytes.size() + 15) / 16 * 16;
    room_ = (words + kPage - 1) / kPage * kPage + 2 * kPage;
    void* const room =
        mmap(nullptr, room_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) std::abort();
    first_ = static_cast<unsigned char*>(room);
    std::memset(first_ + kPage, 0x5a, room_ - 2 * kPage);
    data_ = (end ? first_ + room_ - kPage - words : first_ + kPage) + skew;
    if (!bytes.empty()) std::memcpy(data_, bytes.data(), bytes.size());
    if (mprotect(first_, kPage, PROT_NONE) != 0 ||
        mprotect(first_ + room_ - kPage, kPage, PROT_NONE) != 0)
      std::abort();
  }
  GuardedBytes(GuardedBytes&& other) noexcept
      : first_(std::exchange(other.first_, nullptr)), data_(other.data_), room_(other.room_) {}
  GuardedBytes& operator=(GuardedBytes&&) = delete;
  ~GuardedBytes() {
    if (first_ != nullptr) munmap(first_, room_);
  }

  unsigned char* data() const { return data_; }

 private:
  static constexpr std::size_t kPage = 4096;
  unsigned char* first_ = nullptr;
  unsigned char* data_ = nullptr;
  std::size_t room_ = 0;
};

}  // namespace simulator
