// coders/adaptive.md
#include "plain_coders.h"
#include "plain_frames.h"

namespace plain_decoder {
namespace {

struct Bit {
  std::uint64_t zero = 1 << 15;  // of 2^16
  std::uint64_t seen = 0;
};

/// The number in [low, low + range) that ends with the most zeros.
std::uint64_t roundest(std::uint64_t low, std::uint64_t range) {
  for (int zeros = 32;; --zeros) {
    const std::uint64_t unit = std::uint64_t{1} << zeros;
    const std::uint64_t number = divide_up(low, unit) * unit;
    if (number < low + range) return number;
  }
}

/// `low` and `number` are of 32 bits, from those that have not been shifted out on.
struct Stream {
  Input bytes;
  std::uint64_t low = 0, number = 0, range = 0xffffffff;
  bool last_is_zero = false;

  explicit Stream(Input input) : bytes(input) {
    require(bytes.left() > 0, "a stream is empty");
    last_is_zero = bytes.left() > 1 && bytes.end[-1] == 0;
    for (int i = 0; i < 4; ++i) shift();
    require(number < range, "a stream is no number that an encoder makes");
  }
  void shift() {
    number = (number << 8 | (bytes.left() > 0 ? bytes.number(1) : 0)) & 0xffffffff;
    low = low << 8 & 0xffffffff;
  }
  /// A bit that is zero in the lower `zeros` of the range.
  int split(std::uint64_t zeros) {
    const bool bit = ((number - low) & 0xffffffff) >= zeros;
    if (bit) low = (low + zeros) & 0xffffffff;
    range = bit ? range - zeros : zeros;
    for (; range < 1 << 24; range <<= 8) shift();
    return bit ? 1 : 0;
  }
  int bit(Bit& model) {
    const int bit = split((range >> 16) * model.zero);
    const std::uint64_t step = 131072 / (2 * model.seen + 3);
    if (bit == 0) model.zero += ((65536 - model.zero) * step) >> 16;
    if (bit == 1) model.zero -= (model.zero * step) >> 16;
    if (model.seen < 20) ++model.seen;
    return bit;
  }
  int plain_bit() { return split(range / 2); }
  void finish() {
    require((roundest(low, range) & 0xffffffff) == number && bytes.left() == 0 && !last_is_zero,
            "a stream ends wrongly");
  }
};

void decode_stream(Input& part, const Column& column, std::uint8_t* out, std::uint64_t tuples) {
  Stream stream(part.take(part.left()));
  const int width = 8 * column.bytes;
  int size_bits = 0;
  while (1 << size_bits < width) ++size_bits;
  std::vector<std::vector<Bit>> nodes(column.tuple, std::vector<Bit>(64)), signs = nodes;
  for (std::uint64_t i = 0; i < tuples; ++i)
    for (int lane = 0; lane < column.tuple; ++lane) {
      int node = 1;
      for (int k = 0; k < size_bits; ++k) node = 2 * node + stream.bit(nodes[lane][node]);
      const int size = node - (1 << size_bits);
      require(size < width, "impossible size");
      const int sign = stream.bit(signs[lane][size]);
      std::uint64_t half = size > 0 ? 1 : 0;
      for (int k = 1; k < size; ++k) half = 2 * half + stream.plain_bit();
      for (int b = 0; b < column.bytes; ++b)
        *out++ = static_cast<std::uint8_t>((2 * half + sign) >> (8 * b));
    }
  stream.finish();
}

std::uint64_t most_bytes(const Model& model, const Column& column, std::uint64_t n) {
  return n * column.tuple * (column.bytes + 3) +
         model.part_checks.size() * (256 + (8 * std::uint64_t(column.bytes) + 16) * column.tuple);
}

void decode(Input part, const Model& model, const Column& column, std::uint64_t tuples,
            std::vector<Lane>& states, std::vector<Lane>& lanes) {
  decode_frames(part, model, column, tuples, states, lanes,
                [&](Input& stream, std::uint8_t* out, std::uint64_t) {
                  decode_stream(stream, column, out, tuples);
                });
}

}  // namespace

const Coder adaptive_coder{.most_bytes = most_bytes, .decode = decode};

}  // namespace plain_decoder
