// Bytes of an input that are kept back until enough of them can be looked at.
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>
#include <span>

#include "codec/stream/walk/byte_buffer.h"

namespace gdelta {

class KeptBytes {
 public:
  std::span<const std::byte> all() const { return bytes_.all().subspan(passed_); }
  bool empty() const { return passed_ == bytes_.size(); }

  /// Takes as many of `values` as it takes to have `most`; returns how many.
  std::size_t fill(std::span<const std::byte> values, std::size_t most) {
    // Only now and then, for the rest has to move.
    if (passed_ >= most) {
      std::copy(bytes_.data() + passed_, bytes_.data() + bytes_.size(), bytes_.data());
      if (!bytes_.resize(all().size())) throw std::bad_alloc();
      passed_ = 0;
    }
    const std::size_t had = bytes_.size();
    const std::size_t count = std::min(values.size(), most - std::min(most, all().size()));
    if (!bytes_.resize(had + count)) throw std::bad_alloc();
    std::copy_n(values.begin(), count, bytes_.data() + had);
    return count;
  }
  void pass(std::size_t count) {
    passed_ += count;
    if (!empty()) return;
    passed_ = 0;
    bytes_.release();
  }

 private:
  ByteBuffer bytes_;
  std::size_t passed_ = 0;
};

}  // namespace gdelta
