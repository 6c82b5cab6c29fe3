// Streams of adaptively coded residuals, written from coders/adaptive.md alone.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace gdelta::plain {

/// The number that a stream is, as it becomes known, and what is left of it.
class AdaptiveNumber {
 public:
  struct Bit {
    std::uint64_t zero = 1 << 15, seen = 0;
  };

  void put(Bit& model, bool bit) {
    divide(bit, (range_ >> 16) * model.zero);
    const std::uint64_t step = (1 << 17) / (2 * model.seen + 3);
    model.zero = bit ? model.zero - (model.zero * step >> 16)
                     : model.zero + ((65536 - model.zero) * step >> 16);
    model.seen = model.seen < 20 ? model.seen + 1 : 20;
  }
  void put_plain(bool bit) { divide(bit, range_ / 2); }

  std::vector<std::byte> finish() {
    std::uint64_t unit = std::uint64_t{1} << 32;
    while ((low_ + unit - 1) / unit * unit >= low_ + range_) unit /= 2;
    low_ = (low_ + unit - 1) / unit * unit;
    for (int byte = 0; byte < 4; ++byte) move_on();
    carry();
    while (digits_.size() > 1 && digits_.back() == 0) digits_.pop_back();
    std::vector<std::byte> stream;
    for (const unsigned digit : digits_) stream.push_back(static_cast<std::byte>(digit));
    return stream;
  }

 private:
  void divide(bool bit, std::uint64_t zeros) {
    if (bit) low_ += zeros;
    range_ = bit ? range_ - zeros : zeros;
    for (; range_ < 1 << 24; range_ <<= 8) move_on();
  }
  // A digit may be 256 until all are there.
  void move_on() {
    digits_.push_back(static_cast<unsigned>(low_ >> 24));
    low_ = (low_ & 0xffffff) << 8;
  }
  void carry() {
    for (std::size_t at = digits_.size(); at-- > 1;) {
      digits_[at - 1] += digits_[at] >> 8;
      digits_[at] &= 0xff;
    }
  }

  std::vector<unsigned> digits_;
  std::uint64_t low_ = 0, range_ = 0xffffffff;
};

/// Of the zigzagged residuals of tuples of `lanes` numbers of `width` bytes.
inline std::vector<std::byte> adaptive_stream(std::span<const std::byte> bytes, std::size_t width,
                                              std::size_t lanes) {
  using Bits = std::vector<AdaptiveNumber::Bit>;
  std::vector<Bits> nodes(lanes, Bits(64)), signs(lanes, Bits(64));
  AdaptiveNumber number;
  for (std::size_t i = 0; i < bytes.size() / width; ++i) {
    std::uint64_t z = 0;
    for (std::size_t b = width; b-- > 0;)
      z = z << 8 | std::to_integer<std::uint64_t>(bytes[i * width + b]);
    const std::size_t lane = i % lanes;
    const auto size = static_cast<std::size_t>(std::bit_width(z >> 1));
    std::size_t node = 1;
    for (std::size_t k = width == 8 ? 32 : width > 2 ? 16 : 4 * width; k > 0; k /= 2) {
      const bool bit = (size & k) != 0;
      number.put(nodes[lane][node], bit);
      node = 2 * node + (bit ? 1 : 0);
    }
    number.put(signs[lane][size], (z & 1) != 0);
    for (std::size_t k = size; k-- > 1;) number.put_plain((z >> k & 1) != 0);
  }
  return number.finish();
}

}  // namespace gdelta::plain
