#include "codec/coders/adaptive_section.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>

#include "codec/coders/byte_parts.h"
#include "codec/coders/residual_bytes.h"
#include "formats/gdelta/bytes.h"
#include "formats/gdelta/column_head.h"

namespace gdelta {
namespace {

constexpr std::uint32_t kLeastRange = 1u << 24;
constexpr int kMostSeen = 20;

/// Of a bit that is zero, in 1/65536. It moves less with every bit, down to a step with which it follows changes.
class Probability {
 public:
  std::uint32_t of_zero() const { return of_zero_; }
  void learn(bool bit) {
    const std::uint32_t zero = of_zero_, step = (1u << 17) / (2u * seen_ + 3);
    of_zero_ = static_cast<std::uint16_t>(bit ? zero - (zero * step >> 16)
                                              : zero + ((65536 - zero) * step >> 16));
    if (seen_ < kMostSeen) ++seen_;
  }

 private:
  std::uint16_t of_zero_ = 1u << 15;  // from 21 to 65515: steps end where they round to nothing
  std::uint16_t seen_ = 0;
};

/// What is known of the residuals of a lane. A size is a leaf of a tree with a probability at every node.
struct LaneModel {
  std::array<Probability, 64> sizes, signs;
};

/// Bits of a size: those of half of a zigzagged residual.
int size_bits(const Column& column) {
  return std::bit_width(static_cast<unsigned>(value_bits(column.type)) - 1);
}

/// Of the numbers that mean the same, those from `low` up, as many as `range`: the one with the most zeros at its end.
std::uint64_t roundest(std::uint32_t low, std::uint32_t range) {
  for (int zeros = 32;; --zeros) {
    const std::uint64_t rest = (std::uint64_t{1} << zeros) - 1;
    const std::uint64_t number = (low + rest) & ~rest;
    if (number - low < range) return number;
  }
}

class BitEncoder {
 public:
  explicit BitEncoder(std::vector<std::byte>& out) : out_(out), start_(out.size()) {}

  void put(bool bit, Probability& probability) {
    divide(bit, (range_ >> 16) * probability.of_zero());
    probability.learn(bit);
  }
  /// From the highest bit down, each as probable as its opposite.
  void put_plain(std::uint64_t value, int bits) {
    while (bits-- > 0) divide((value >> bits & 1) != 0, range_ >> 1);
  }
  void finish() {
    add(static_cast<std::uint32_t>(roundest(low_, range_) - low_));
    for (int byte = 0; byte < 4; ++byte) give_byte();
    while (out_.size() > start_ + 1 && out_.back() == std::byte{0}) out_.pop_back();
  }

 private:
  void divide(bool bit, std::uint32_t zeros) {
    if (bit) add(zeros);
    range_ = bit ? range_ - zeros : zeros;
    for (; range_ < kLeastRange; range_ <<= 8) give_byte();
  }
  void add(std::uint32_t more) {
    low_ += more;
    if (low_ >= more) return;
    // Carried into the bytes that are there: all of them together are below 1.
    std::size_t at = out_.size();
    do {
      --at;
      out_[at] = static_cast<std::byte>(std::to_integer<unsigned>(out_[at]) + 1);
    } while (out_[at] == std::byte{0});
  }
  void give_byte() {
    out_.push_back(static_cast<std::byte>(low_ >> 24));
    low_ <<= 8;
  }

  std::vector<std::byte>& out_;
  std::size_t start_;
  std::uint32_t low_ = 0, range_ = ~std::uint32_t{0};
};

class BitDecoder {
 public:
  explicit BitDecoder(std::span<const unsigned char> stream) : stream_(stream) {
    for (int byte = 0; byte < 4; ++byte) take_byte();
    is_in_range_ = above_ < range_;
  }

  bool get(Probability& probability) {
    const bool bit = divide((range_ >> 16) * probability.of_zero());
    probability.learn(bit);
    return bit;
  }
  std::uint64_t get_plain(int bits) {
    std::uint64_t value = 0;
    while (bits-- > 0) value = value << 1 | static_cast<std::uint64_t>(divide(range_ >> 1));
    return value;
  }
  /// Whether the stream is what an encoder makes of what has been decoded, to the last bit.
  bool ends_well() const {
    const auto expected = static_cast<std::uint32_t>(roundest(low_, range_) - low_);
    return is_in_range_ && above_ == expected && !stream_.empty() && stream_.size() <= at_ &&
           (stream_.size() == 1 || stream_.back() != 0);
  }

 private:
  bool divide(std::uint32_t zeros) {
    const bool bit = above_ >= zeros;
    if (bit) {
      low_ += zeros;
      above_ -= zeros;
    }
    range_ = bit ? range_ - zeros : zeros;
    for (; range_ < kLeastRange; range_ <<= 8) take_byte();
    return bit;
  }
  void take_byte() {
    above_ = above_ << 8 | (at_ < stream_.size() ? stream_[at_] : 0u);
    low_ <<= 8;
    ++at_;
  }

  std::span<const unsigned char> stream_;
  std::size_t at_ = 0;
  bool is_in_range_ = false;  // at the start, and so always
  // What has been decoded says that the stream's number is `low_` or more; it is that much above it.
  std::uint32_t low_ = 0, above_ = 0, range_ = ~std::uint32_t{0};
};

void put_residual(BitEncoder& encoder, LaneModel& model, int bits_of_size,
                  std::uint64_t zigzagged) {
  const std::uint64_t half = zigzagged >> 1;
  const int size = std::bit_width(half);
  std::size_t node = 1;
  for (int k = bits_of_size; k-- > 0;) {
    const bool bit = (size >> k & 1) != 0;
    encoder.put(bit, model.sizes[node]);
    node = 2 * node + static_cast<std::size_t>(bit);
  }
  encoder.put((zigzagged & 1) != 0, model.signs[static_cast<std::size_t>(size)]);
  encoder.put_plain(half, size - 1);
}

/// Nothing if there is no such size.
std::optional<std::uint64_t> get_residual(BitDecoder& decoder, LaneModel& model, int bits_of_size,
                                          int most_size) {
  std::size_t node = 1;
  for (int k = 0; k < bits_of_size; ++k)
    node = 2 * node + static_cast<std::size_t>(decoder.get(model.sizes[node]));
  const int size = static_cast<int>(node) - (1 << bits_of_size);
  if (size > most_size) return std::nullopt;
  const bool sign = decoder.get(model.signs[static_cast<std::size_t>(size)]);
  const std::uint64_t half =
      size == 0 ? 0 : std::uint64_t{1} << (size - 1) | decoder.get_plain(size - 1);
  return half << 1 | static_cast<std::uint64_t>(sign);
}

}  // namespace

void encode_adaptive_stream(std::span<const unsigned char> bytes, const Column& column,
                            std::vector<std::byte>& section) {
  const int width = value_bytes(column.type), bits = size_bits(column);
  std::vector<LaneModel> lanes(column.tuple);
  BitEncoder encoder(section);
  for (std::size_t at = 0; at < bytes.size();)
    for (LaneModel& lane : lanes) {
      put_residual(encoder, lane, bits, format::load_le(bytes.data() + at, width));
      at += static_cast<std::size_t>(width);
    }
  encoder.finish();
}

bool decode_adaptive_stream(std::span<const unsigned char> stream, const Column& column,
                            std::span<unsigned char> out) {
  const int width = value_bytes(column.type), bits = size_bits(column);
  std::vector<LaneModel> lanes(column.tuple);
  BitDecoder decoder(stream);
  for (std::size_t at = 0; at < out.size();)
    for (LaneModel& lane : lanes) {
      const auto residual = get_residual(decoder, lane, bits, value_bits(column.type) - 1);
      if (!residual) return false;
      for (int byte = 0; byte < width; ++byte)
        out[at++] = static_cast<unsigned char>(*residual >> (8 * byte));
    }
  return decoder.ends_well();
}

namespace {

void encode_adaptive(const ColumnToEncode& encode, std::vector<std::byte>& section,
                     format::SectionTable& table) {
  encode_byte_parts(encode, section, table,
                    [&](std::span<const unsigned char> bytes, std::vector<std::byte>& stream,
                        Work*) { encode_adaptive_stream(bytes, encode.column.column, stream); });
}

std::optional<Error> decode_streams(const SectionToDecode& section, std::span<unsigned char> out) {
  return decode_byte_parts(
      section, out, "adaptively coded residuals are damaged",
      [&](std::span<const unsigned char> stream, std::span<unsigned char> of_part, Work*) {
        return decode_adaptive_stream(stream, section.column, of_part);
      });
}

template <class Word>
std::optional<Error> decode_parts(const SectionToDecode& section, const ValueSink& sink) {
  return decode_residual_bytes<Word>(section, decode_streams, sink);
}

std::optional<Error> decode_adaptive(const SectionToDecode& section) {
  return decode_residuals(section, decode_parts<std::uint32_t>, decode_parts<std::uint64_t>);
}

DecodeScratch adaptive_scratch(const Column& column, const format::ColumnHead&,
                               std::uint64_t records) {
  const std::uint64_t models = column.tuple * sizeof(LaneModel);
  return {.bytes = records * format::tuple_bytes(column) + models, .more_bytes = models};
}

std::uint64_t sampled_adaptive_bytes(std::span<const unsigned char> residuals, const Column& column,
                                     std::uint64_t /*wanted*/) {
  std::vector<std::byte> stream;
  encode_adaptive_stream(residuals, column, stream);
  return stream.size();
}

}  // namespace

const ColumnCoder adaptive_coder{.encode = encode_adaptive,
                                 .decode = decode_adaptive,
                                 .scratch = adaptive_scratch,
                                 .shortest = 1,
                                 .tried_from_level = 9,
                                 .sampled_bytes = sampled_adaptive_bytes,
                                 .for_short_columns = true};

}  // namespace gdelta
