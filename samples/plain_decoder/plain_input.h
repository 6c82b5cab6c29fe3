// Sections 1 and 8 of the specification: numbers and bits of an input, and what is refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace plain_decoder {

using Bytes = std::vector<std::uint8_t>;

inline std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

// ---- Section 8: what is refused

/// The class of what was found, and where: whoever knows the place fills it in.
struct Refusal {
  std::string kind;
  std::string what;
  const std::uint8_t* at = nullptr;
  std::optional<std::uint64_t> chunk;
};

inline void require(bool holds, const char* what, const char* kind = "corrupt") {
  if (!holds) throw Refusal{.kind = kind, .what = what, .at = nullptr, .chunk = {}};
}

/// `known` is false of a number that may become legal, with a meaning that this decoder does not know.
inline void require_known(bool known, const char* what) {
  require(known, what, "unsupported_feature");
}

/// Runs `step`; what it refuses is at `at`, unless it knows better.
template <class Step>
void refuse_at(const std::uint8_t* at, Step step) {
  try {
    step();
  } catch (Refusal& refusal) {
    if (refusal.at == nullptr) refusal.at = at;
    throw;
  }
}

// ---- Section 1: words

/// What is left of some bytes; reading beyond the end is refused. The file's end cuts a stream short,
/// the end of a head or a page contradicts what it says.
struct Input {
  const std::uint8_t* at;
  const std::uint8_t* end;
  const char* at_end = "corrupt";

  std::uint64_t left() const { return static_cast<std::uint64_t>(end - at); }
  Input take(std::uint64_t bytes) {
    require(bytes <= left(), "bytes are missing", at_end);
    at += bytes;
    return {at - bytes, at};
  }
  std::uint64_t number(int bytes) {
    const Input field = take(bytes);
    std::uint64_t value = 0;
    for (int i = 0; i < bytes; ++i) value |= std::uint64_t{field.at[i]} << (8 * i);
    return value;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int i = 0; i < 10; ++i) {
      const std::uint64_t byte = number(1);
      require(i == 0 || byte != 0, "a varint is not the shortest");
      require(i < 9 || byte <= 1, "a varint is too large");
      value |= (byte & 0x7f) << (7 * i);
      if (byte < 0x80) return value;
    }
    throw Refusal{.kind = "corrupt", .what = "a varint is too long", .at = nullptr, .chunk = {}};
  }
  void finish() const { require(at == end, "bytes are left over"); }
};

/// Bits `at` … `at + width - 1` of a row of them.
inline std::uint64_t row_bits(const Input& row, std::uint64_t at, std::uint64_t width) {
  std::uint64_t value = 0;
  for (std::uint64_t bit = 0; bit < width; ++bit)
    value |= std::uint64_t((row.at[(at + bit) / 8] >> ((at + bit) % 8)) & 1) << bit;
  return value;
}

/// coders/ans.md: a run of numbers of some bits each, from the lowest bit of the first byte up.
class BitRun {
 public:
  explicit BitRun(Input bytes) : bytes_(bytes) {}

  std::uint64_t take(int bits) {
    std::uint64_t value = 0;
    for (int i = 0; i < bits; ++i, ++at_) {
      require(at_ / 8 < bytes_.left(), "bits are missing");
      value |= std::uint64_t((bytes_.at[at_ / 8] >> (at_ % 8)) & 1) << i;
    }
    return value;
  }
  void finish() {
    while (at_ % 8 != 0) require(take(1) == 0, "padding that is not zero");
    require(at_ / 8 == bytes_.left(), "bytes are left over");
  }

 private:
  Input bytes_;
  std::uint64_t at_ = 0;
};

}  // namespace plain_decoder
