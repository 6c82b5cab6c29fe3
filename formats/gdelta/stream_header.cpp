#include "formats/gdelta/stream_header.h"

#include <fmt/core.h>

#include <algorithm>

namespace gdelta::format {

namespace {

// Those that must not be set; the others are ignored.
constexpr std::byte kRefusedFlags{0x0f};

// The lowest of sixteen magic numbers, 0x184D2A50, as it lies in a file: only the low half of the
// first byte varies.
constexpr std::byte kSkippableMagic[kMagicBytes] = {std::byte{0x50}, std::byte{0x2A},
                                                    std::byte{0x4D}, std::byte{0x18}};

bool begins_skippable(std::span<const std::byte> bytes) {
  if (bytes.empty()) return true;
  return (bytes[0] & std::byte{0xf0}) == kSkippableMagic[0] &&
         std::equal(bytes.begin() + 1, bytes.end(), kSkippableMagic + 1);
}

}  // namespace

bool begins_stream(std::span<const std::byte> bytes) {
  return std::equal(bytes.begin(), bytes.end(), kStreamHeader.begin());
}

Opening recognise_opening(std::span<const std::byte> first_bytes) {
  const auto magic = first_bytes.first(std::min(first_bytes.size(), kMagicBytes));
  const bool whole = magic.size() == kMagicBytes;
  if (begins_stream(magic)) return whole ? Opening::stream : Opening::cut_short;
  if (begins_skippable(magic)) return whole ? Opening::skippable : Opening::cut_short;
  return Opening::neither;
}

Result<void> check_stream_header(std::span<const std::byte> header, std::uint64_t byte) {
  switch (recognise_opening(header)) {
    case Opening::stream:
      break;
    case Opening::cut_short:
      return fail_at(Errc::truncated, byte, "the input ends inside the header of a stream");
    case Opening::skippable:
    case Opening::neither:
      return fail_at(Errc::not_gdelta, byte, "these bytes do not begin a gdelta stream");
  }
  if (header.size() < kStreamHeaderBytes)
    return fail_at(Errc::truncated, byte, "the input ends inside the header of a stream");
  const int version = std::to_integer<int>(header[4]);
  if (version != kFormatVersion)
    return fail_at(Errc::unsupported_version, byte,
                   fmt::format("the stream has format version {}, this library reads version {}: "
                               "use a newer gdelta",
                               version, kFormatVersion));
  if ((header[5] & kRefusedFlags) != std::byte{0})
    return fail_at(Errc::unsupported_feature, byte,
                   fmt::format("the stream sets the unknown flags 0x{:02x}: use a newer gdelta",
                               std::to_integer<int>(header[5])));
  return {};
}

}  // namespace gdelta::format
