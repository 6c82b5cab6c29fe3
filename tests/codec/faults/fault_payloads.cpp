// Faults in pages and frames, which readers see that decode; fault_cases.h says how they are made.

#include <zstd.h>

#include <array>

#include "codec/faults/fault_parts.h"

namespace gdelta::faults {

Bytes joined(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const Bytes& part : parts) append(all, part);
  return all;
}

std::uint64_t most_pack_bytes(std::uint64_t records, int lanes, int bits, int pages) {
  const std::uint64_t groups = (records + 127) / 128 * static_cast<std::uint64_t>(lanes);
  return groups * (2 + 16 * static_cast<std::uint64_t>(bits)) +
         static_cast<std::uint64_t>(pages * lanes * bits);
}

namespace {

Bytes with_zeros(Bytes bytes, std::size_t zeros) {
  bytes.resize(bytes.size() + zeros);
  return bytes;
}

// ---- Section 6: pages

Bytes descriptor(int width, int count, int log2_high_bytes) {
  return bytes_of({(width | count << 7) & 0xff, (width | count << 7 | log2_high_bytes << 14) >> 8});
}

constexpr std::size_t kPageRecords = 136;

/// Two pages of one lane of `type`, of order 0: 128 values and 8. All are zero but value
/// `not_zero`, which is 1 (residual 2).
StreamFields page_stream(ValueType type, const std::array<Bytes, 2>& pages,
                         std::optional<std::size_t> not_zero = {}) {
  const Layout layout{{{type, 1}}};
  const auto width = static_cast<std::size_t>(value_bytes(type));
  Bytes values(kPageRecords * width);
  if (not_zero) values[*not_zero * width] = std::byte{1};
  StreamFields fields =
      stream_of(layout, values, {plain::linked(Coder::pack, layout.columns[0], {0})});
  ChunkFields& chunk = fields.chunks[1];
  chunk.payload = joined({pages[0], pages[1]});
  chunk.models[0].column_bytes = chunk.payload.size();
  chunk.models[0].part_ends = {pages[0].size(), chunk.payload.size()};
  return fields;
}

void add_page_faults(FaultTable& table) {
  const Bytes good = with_zeros(descriptor(1, 0, 0), 16);
  // Of u8, with a high of 1 byte at position 3.
  const Bytes exception = joined({descriptor(1, 1, 0), Bytes(16), bytes_of({3, 1})});
  table.add_good("pages", page_stream(ValueType::u8, {good, good}));
  table.add_good("a page with an exception", page_stream(ValueType::u8, {good, exception}, 131));
  table.add_good(
      "an exception at the last position",
      page_stream(ValueType::u8,
                  {joined({descriptor(1, 1, 0), Bytes(16), bytes_of({127, 1})}), good}, 127));
  const auto add = [&](const std::string& name, ValueType type, const Bytes& page,
                       std::optional<std::size_t> not_zero = {}) {
    const StreamFields right = page_stream(type, {good, good});
    // The longest are refused before they are decoded.
    const bool too_long =
        good.size() + page.size() > most_pack_bytes(kPageRecords, 1, value_bits(type), 2);
    table.add(name + " in the first page", right,
              put_chunk_of(page_stream(type, {page, good}, not_zero)), Errc::corrupt,
              too_long ? Place::chunk : Place::first_part);
    if (not_zero) *not_zero += 128;
    table.add(name + " in the second page", right,
              put_chunk_of(page_stream(type, {good, page}, not_zero)), Errc::corrupt,
              too_long ? Place::chunk : Place::second_part);
  };
  const auto add_u8 = [&](const std::string& name, const Bytes& page,
                          std::optional<std::size_t> not_zero = {}) {
    add(name, ValueType::u8, page, not_zero);
  };
  add_u8("no byte", {});
  add_u8("half a descriptor", bytes_of({0}));
  add_u8("a group too short", Bytes(good.begin(), good.end() - 1));
  add_u8("a byte behind the group", with_zeros(good, 1));
  add_u8("exceptions without highs", joined({descriptor(1, 1, 0), Bytes(16), bytes_of({3})}), 3);
  add_u8("a byte behind the exceptions", with_zeros(exception, 1), 3);
  add_u8("127 exceptions, one of them there", joined({descriptor(1, 127, 0), Bytes(16 + 2)}));
  for (const int log2 : {1, 2, 3})
    add_u8("high_bytes " + std::to_string(1 << log2) + " without exceptions",
           with_zeros(descriptor(1, 0, log2), 16));
  for (const int position : {128, 129, 255})
    add_u8("position " + std::to_string(position),
           joined({descriptor(1, 1, 0), Bytes(16), bytes_of({position, 1})}));
  for (const auto& [type, log2, allowed] : {std::tuple{ValueType::u8, 3, false},
                                            {ValueType::u32, 2, true},
                                            {ValueType::u32, 3, false},
                                            {ValueType::f16, 3, false},
                                            {ValueType::u64, 3, true}}) {
    const Bytes page =
        with_zeros(joined({descriptor(1, 1, log2), Bytes(16), bytes_of({3, 1})}), (1u << log2) - 1);
    const std::string name =
        "high_bytes " + std::to_string(1 << log2) + " of " + std::string(type_name(type));
    if (allowed)
      table.add_good(name, page_stream(type, {good, page}, 131));
    else
      add(name, type, page, 3);
  }
  for (const ValueType type :
       {ValueType::i8, ValueType::bf16, ValueType::u24, ValueType::f32, ValueType::i64})
    for (const int more : {0, 1, 127 - value_bits(type)}) {
      const int width = value_bits(type) + more;
      const Bytes page = with_zeros(descriptor(width, 0, 0), 16u * static_cast<unsigned>(width));
      const std::string name =
          "width " + std::to_string(width) + " of " + std::string(type_name(type));
      if (more == 0)
        table.add_good(name, page_stream(type, {page, page}));
      else
        add(name, type, page);
    }
}

// ---- Section 6: frames

constexpr std::uint32_t kZstdMagic = 0xFD2FB528;
constexpr std::size_t kPieceBytes = 128;

Bytes piece_bytes() { return plain::wandering_values(byte_layout(), kPieceBytes, 9, 4); }

/// A frame of one raw block. `fields` are those behind the descriptor, but the content's size.
Bytes frame_of(const Bytes& content, int descriptor_bits = 0x20, const Bytes& fields = {}) {
  constexpr int kLastBlock = 1;
  Bytes frame;
  format::append_le(frame, 4, kZstdMagic);
  append_byte(frame, descriptor_bits);
  append(frame, fields);
  append_byte(frame, static_cast<int>(content.size()));
  format::append_le(frame, 3, kLastBlock | content.size() << 3);
  append(frame, content);
  return frame;
}

/// The same with a window of its own: 2^(10 + its upper five bits) bytes, and as many eighths more as the
/// lower three say.
Bytes windowed_frame_of(const Bytes& content, int window) {
  Bytes frame = frame_of(content);
  frame[4] = std::byte{0};  // in the place of the content's size, the window
  frame[5] = static_cast<std::byte>(window);
  return frame;
}

/// The same in formats that came before: 0xFD2FB525 to 0xFD2FB527, which libzstd may still decode.
Bytes legacy_frame_of(const Bytes& content, std::uint32_t magic) {
  const auto size = static_cast<int>(content.size());
  const Bytes head = magic == 0xFD2FB525   ? bytes_of({0})           // window
                     : magic == 0xFD2FB526 ? bytes_of({0x40, size})  // content size of one byte
                                           : bytes_of({0x20, size});
  Bytes frame;
  format::append_le(frame, 4, magic);
  append(frame, head);
  append(frame, joined({bytes_of({0x40, 0, size}), content, bytes_of({0xc0, 0, 0})}));
  return frame;
}

/// Two frames or streams of residuals of order 0, in u8.
StreamFields frame_stream(const std::array<Bytes, 2>& frames, Coder coder = Coder::zstd) {
  Bytes values;
  for (int piece = 0; piece < 2; ++piece)
    for (const std::byte residual : piece_bytes()) {
      const int z = std::to_integer<int>(residual);
      append_byte(values, (z >> 1) ^ -(z & 1));
    }
  plain::Choice choice = plain::linked(coder, byte_layout().columns[0], {0});
  choice.model.section.part_groups = 1;
  StreamFields fields = stream_of(byte_layout(), values, {choice});
  ChunkFields& chunk = fields.chunks[1];
  chunk.payload = joined({frames[0], frames[1]});
  chunk.models[0].column_bytes = chunk.payload.size();
  chunk.models[0].part_ends = {frames[0].size(), chunk.payload.size()};
  return fields;
}

void add_frame_content_faults(FaultTable& table) {
  const Bytes content = piece_bytes();
  const Bytes good = frame_of(content);
  const Bytes skippable = bytes_of({0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 1, 2});
  table.add_good("frames", frame_stream({good, good}));
  const auto add = [&](const std::string& name, const Bytes& frame) {
    table.add(name + " as the first frame", frame_stream({good, good}),
              put_chunk_of(frame_stream({frame, good})), Errc::corrupt, Place::first_part);
    table.add(name + " as the second frame", frame_stream({good, good}),
              put_chunk_of(frame_stream({good, frame})), Errc::corrupt, Place::second_part);
  };
  add("a skippable frame", skippable);
  add("a frame and a skippable one", joined({good, skippable}));
  add("a skippable frame and one", joined({skippable, good}));
  add("a frame and an empty one", joined({good, frame_of({})}));
  add("a frame for each half", joined({frame_of(Bytes(content.begin(), content.begin() + 7)),
                                       frame_of(Bytes(content.begin() + 7, content.end()))}));
  for (const std::uint32_t magic : {0xFD2FB525u, 0xFD2FB526u, 0xFD2FB527u})
    add("a frame of version 0." + std::to_string(magic & 0xf), legacy_frame_of(content, magic));
  add("a frame for a dictionary", frame_of(content, 0x21, bytes_of({7})));
  add("a frame with a reserved bit", frame_of(content, 0x28));
  constexpr int kWidestWindow = (28 - 10) << 3;
  table.add_good("frames of the widest window",
                 frame_stream({windowed_frame_of(content, kWidestWindow), good}));
  for (const int window : {kWidestWindow + 1, kWidestWindow + 8, 0xff})
    add("a frame of window " + std::to_string(window), windowed_frame_of(content, window));
  add("a frame of a byte less", frame_of(Bytes(content.begin(), content.end() - 1)));
  add("a frame of a byte more", frame_of(joined({content, bytes_of({0})})));
  add("a frame without its last byte", Bytes(good.begin(), good.end() - 1));
  add("a frame with a byte behind it", with_zeros(good, 1));
  add("a magic number", Bytes(good.begin(), good.begin() + 4));
  add("a byte", bytes_of({0x28}));
  Bytes other = good;
  other[0] ^= std::byte{0x80};
  add("another magic number", other);
}

// ---- Section 6: streams of LZMA2

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

void add_lzma_stream_faults(FaultTable& table) {
  const Bytes content = piece_bytes(), end = bytes_of({0});
  const Bytes plain_chunk = plain_lzma2_chunk(content);
  const Bytes good = joined({plain_chunk, end});
  const auto stream = [](const Bytes& first, const Bytes& second) {
    return frame_stream({first, second}, Coder::lzma);
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

}  // namespace

void add_faults_of_payloads(FaultTable& table) {
  add_page_faults(table);
  add_lzma_stream_faults(table);
  add_frame_content_faults(table);
}

}  // namespace gdelta::faults
