// Faults in frames of zstd; fault_cases.h says how they are made.
#include "codec/faults/fault_parts.h"

namespace gdelta::faults {

namespace {

constexpr std::uint32_t kZstdMagic = 0xFD2FB528;
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

}  // namespace

void add_faults_of_zstd(FaultTable& table) {
  const Bytes content = frame_residuals();
  const Bytes good = frame_of(content);
  const Bytes skippable = bytes_of({0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 1, 2});
  table.add_good("frames", two_frames(Coder::zstd, {good, good}));
  const auto add = [&](const std::string& name, const Bytes& frame) {
    table.add(name + " as the first frame", two_frames(Coder::zstd, {good, good}),
              put_chunk_of(two_frames(Coder::zstd, {frame, good})), Errc::corrupt,
              Place::first_part);
    table.add(name + " as the second frame", two_frames(Coder::zstd, {good, good}),
              put_chunk_of(two_frames(Coder::zstd, {good, frame})), Errc::corrupt,
              Place::second_part);
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
                 two_frames(Coder::zstd, {windowed_frame_of(content, kWidestWindow), good}));
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

}  // namespace gdelta::faults
