// Cuts one stretch of scratch memory into arrays. Run once with a null base it tells the size, run
// again with the memory it gives the pointers.
#pragma once

#include <cstdint>

namespace gdelta::cuda {

class ScratchLayout {
 public:
  explicit ScratchLayout(unsigned char* base = nullptr) : base_(base) {}

  template <class T>
  T* take(std::uint64_t count) {
    constexpr std::uint64_t kAlign = 256;
    at_ = (at_ + kAlign - 1) / kAlign * kAlign;
    T* const array = base_ == nullptr ? nullptr : reinterpret_cast<T*>(base_ + at_);
    at_ += count * sizeof(T);
    return array;
  }

  std::uint64_t bytes() const { return at_; }

 private:
  unsigned char* base_;
  std::uint64_t at_ = 0;
};

}  // namespace gdelta::cuda
