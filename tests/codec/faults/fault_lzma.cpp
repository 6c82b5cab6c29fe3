// Faults in streams of LZMA2; fault_cases.h says how they are made.
#include "codec/faults/fault_parts.h"

namespace gdelta::faults {

namespace {

/// A chunk of an LZMA2 stream that is not compressed; `control` 1: the first one.
Bytes plain_lzma2_chunk(const Bytes& content, int control = 1) {
  const auto size = static_cast<int>(content.size()) - 1;
  return joined({bytes_of({control, size >> 8, size & 0xff}), content});
}

/// A compressed one: what it says of its sizes and properties, and what it holds.
Bytes lzma2_chunk(int control, std::size_t decoded, const Bytes& properties, const Bytes& coded) {
  const auto out = static_cast<int>(decoded) - 1, in = static_cast<int>(coded.size()) - 1;
  return joined({bytes_of({control, out >> 8, out & 0xff, in >> 8, in & 0xff}), properties, coded});
}

}  // namespace

void add_faults_of_lzma(FaultTable& table) {
  const Bytes content = frame_residuals(), end = bytes_of({0});
  const Bytes plain_chunk = plain_lzma2_chunk(content);
  const Bytes good = joined({plain_chunk, end});
  const auto stream = [](const Bytes& first, const Bytes& second) {
    return two_frames(Coder::lzma, {first, second});
  };
  table.add_good("LZMA2 streams", stream(good, good));
  const auto add = [&](const std::string& name, const Bytes& bytes) {
    table.add(name + " as the first stream", stream(good, good), put_chunk_of(stream(bytes, good)),
              Errc::corrupt, Place::first_part);
    table.add(name + " as the second stream", stream(good, good), put_chunk_of(stream(good, bytes)),
              Errc::corrupt, Place::second_part);
  };
  const Bytes first_half(content.begin(), content.begin() + 64),
      second_half(content.begin() + 64, content.end());
  table.add_good(
      "LZMA2 streams of two chunks",
      stream(joined({plain_lzma2_chunk(first_half), plain_lzma2_chunk(second_half, 2), end}),
             joined({plain_lzma2_chunk(first_half), plain_lzma2_chunk(second_half), end})));
  add("a stream without an end", plain_chunk);
  add("an end alone", end);
  add("a stream with a byte behind it", with_zeros(good, 1));
  add("two streams",
      joined({plain_lzma2_chunk(first_half), end, plain_lzma2_chunk(second_half), end}));
  add("a stream of a byte less",
      joined({plain_lzma2_chunk(Bytes(content.begin(), content.end() - 1)), end}));
  add("a stream of a byte more", joined({plain_lzma2_chunk(joined({content, end})), end}));
  add("a stream without its first byte", Bytes(good.begin() + 1, good.end()));
  add("a stream cut in its chunk", Bytes(good.begin(), good.end() - 20));
  for (const int control : {2, 3, 0x7f})
    add("a first chunk of control byte " + std::to_string(control),
        joined({plain_lzma2_chunk(content, control), end}));
  // Range-coded bytes begin with a zero.
  const Bytes zeros(16, std::byte{0});
  for (const int control : {0x80, 0xa0, 0xc0})
    add("a first chunk of control byte " + std::to_string(control),
        joined(
            {lzma2_chunk(control, content.size(), control < 0xc0 ? Bytes() : bytes_of({0}), zeros),
             end}));
  for (const int properties : {225, 9 * 4 + 8, 255})  // lc + lp above 4, or no properties at all
    add("properties " + std::to_string(properties),
        joined({lzma2_chunk(0xe0, content.size(), bytes_of({properties}), zeros), end}));
  add("range-coded bytes that begin with no zero",
      joined({lzma2_chunk(0xe0, content.size(), bytes_of({0}), Bytes(16, std::byte{1})), end}));
  add("a match that reaches back before the beginning",
      joined({lzma2_chunk(0xe0, content.size(), bytes_of({0}),
                          joined({bytes_of({0}), Bytes(15, std::byte{0xff})})),
              end}));
}

}  // namespace gdelta::faults
