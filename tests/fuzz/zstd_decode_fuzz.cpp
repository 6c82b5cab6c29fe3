// Frames of the zstd coder: any bytes as a frame of any length, and what was compressed comes back.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "codec/coders/workers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  static gdelta::FrameDecoder decoder;
  std::vector<unsigned char> out(data[0] | data[1] << 8);
  const std::vector<unsigned char> bytes(data + 2, data + size);
  decoder.decode(bytes, out);
  if (bytes.empty()) return 0;
  // Behind a valid magic number.
  std::vector<unsigned char> framed{0x28, 0xb5, 0x2f, 0xfd};
  framed.insert(framed.end(), bytes.begin(), bytes.end());
  decoder.decode(framed, out);

  std::vector<std::byte> section;
  std::vector<std::uint32_t> sizes;
  const std::uint32_t frame_bytes = 1 + data[0];
  gdelta::encode_frames(bytes, frame_bytes, gdelta::ZstdLevels{}, gdelta::Workers::alone(), section,
                        sizes);
  const auto* at = reinterpret_cast<const unsigned char*>(section.data());
  std::vector<unsigned char> back(bytes.size());
  for (std::size_t frame = 0; frame < sizes.size(); ++frame) {
    const std::size_t begin = frame * frame_bytes;
    const std::size_t length = std::min<std::size_t>(frame_bytes, back.size() - begin);
    if (!decoder.decode({at, sizes[frame]}, {back.data() + begin, length})) std::abort();
    at += sizes[frame];
  }
  if (back != bytes) std::abort();
  return 0;
}
