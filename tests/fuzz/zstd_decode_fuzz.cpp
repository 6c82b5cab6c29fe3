// Frames of the zstd coder: any bytes as a frame of any length, and what was compressed comes back.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "codec/coders/workers.h"
#include "codec/coders/zstd_section.h"

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
  if (gdelta::frame_size(framed) > framed.size()) std::abort();

  std::vector<std::byte> section;
  const std::uint32_t frame_bytes = 1 + data[0];
  gdelta::encode_frames(bytes, frame_bytes, gdelta::ZstdLevels{}, gdelta::Workers::alone(),
                        section);
  std::span<const unsigned char> rest(reinterpret_cast<const unsigned char*>(section.data()),
                                      section.size());
  std::vector<unsigned char> back(bytes.size());
  for (std::size_t begin = 0; begin < back.size(); begin += frame_bytes) {
    const std::size_t length = std::min<std::size_t>(frame_bytes, back.size() - begin);
    const std::size_t frame = gdelta::frame_size(rest);
    if (frame == 0 || !decoder.decode(rest.first(frame), {back.data() + begin, length}))
      std::abort();
    rest = rest.subspan(frame);
  }
  if (back != bytes || !rest.empty()) std::abort();
  return 0;
}
