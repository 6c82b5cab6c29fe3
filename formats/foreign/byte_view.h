// Bounded reads of integers in either byte order, for heads of foreign files.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace gdelta::format {

class ByteView {
 public:
  explicit ByteView(std::span<const std::byte> bytes, bool big_endian = false)
      : bytes_(bytes), big_endian_(big_endian) {}

  std::uint64_t size() const { return bytes_.size(); }
  bool has(std::uint64_t at, std::uint64_t count) const {
    return at <= size() && count <= size() - at;
  }

  /// The number in `count` bytes (at most 8); zero if they are not there.
  std::uint64_t number(std::uint64_t at, int count) const {
    if (!has(at, static_cast<std::uint64_t>(count))) return 0;
    std::uint64_t value = 0;
    for (int i = 0; i < count; ++i) {
      const int place = big_endian_ ? i : count - 1 - i;
      value =
          value << 8 | std::to_integer<std::uint64_t>(bytes_[at + static_cast<unsigned>(place)]);
    }
    return value;
  }

  /// `count` bytes as characters; empty if they are not there.
  std::string_view text(std::uint64_t at, std::uint64_t count) const {
    if (!has(at, count)) return {};
    return {reinterpret_cast<const char*>(bytes_.data()) + at, static_cast<std::size_t>(count)};
  }

  /// What is there from `at` on.
  std::span<const std::byte> from(std::uint64_t at) const {
    return bytes_.subspan(static_cast<std::size_t>(std::min(at, size())));
  }

 private:
  std::span<const std::byte> bytes_;
  bool big_endian_;
};

}  // namespace gdelta::format
