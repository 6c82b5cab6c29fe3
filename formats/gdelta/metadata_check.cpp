#include <fmt/core.h>

#include <optional>
#include <string_view>

#include "formats/gdelta/tags.h"
#include "gdelta/types.h"

namespace gdelta {

namespace {

static_assert(kMaxMetadataBytes == format::kMaxAncillaryHeadBytes);

/// Of a sequence that begins with `lead`: how many bytes follow, and which the first of them may be.
struct Utf8Sequence {
  int more = 0;
  unsigned char lowest = 0x80, highest = 0xbf;
};

/// No overlong forms, no surrogates, nothing above U+10FFFF (RFC 3629, section 4).
std::optional<Utf8Sequence> utf8_sequence(unsigned char lead) {
  if (lead < 0x80) return Utf8Sequence{};
  if (lead >= 0xc2 && lead <= 0xdf) return Utf8Sequence{.more = 1};
  if (lead == 0xe0) return Utf8Sequence{.more = 2, .lowest = 0xa0};
  if (lead == 0xed) return Utf8Sequence{.more = 2, .highest = 0x9f};
  if (lead >= 0xe1 && lead <= 0xef) return Utf8Sequence{.more = 2};
  if (lead == 0xf0) return Utf8Sequence{.more = 3, .lowest = 0x90};
  if (lead == 0xf4) return Utf8Sequence{.more = 3, .highest = 0x8f};
  if (lead >= 0xf1 && lead <= 0xf3) return Utf8Sequence{.more = 3};
  return std::nullopt;
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto sequence = utf8_sequence(static_cast<unsigned char>(text[at++]));
    if (!sequence) return false;
    unsigned char lowest = sequence->lowest, highest = sequence->highest;
    for (int i = 0; i < sequence->more; ++i, lowest = 0x80, highest = 0xbf) {
      if (at == text.size()) return false;
      const auto byte = static_cast<unsigned char>(text[at++]);
      if (byte < lowest || byte > highest) return false;
    }
  }
  return true;
}

}  // namespace

Result<void> check_metadata(std::span<const MetadataEntry> entries) {
  std::size_t bytes = format::varint_bytes(entries.size());
  for (const MetadataEntry& entry : entries) {
    if (entry.key.empty() || entry.key.size() > kMaxKeyBytes)
      return fail(Errc::invalid_argument, fmt::format("a key of metadata has 1 to {} bytes, not {}",
                                                      kMaxKeyBytes, entry.key.size()));
    if (!is_utf8(entry.key) || !is_utf8(entry.value))
      return fail(Errc::invalid_argument, "metadata has to be UTF-8");
    bytes += format::varint_bytes(entry.key.size()) + entry.key.size() +
             format::varint_bytes(entry.value.size()) + entry.value.size();
  }
  if (bytes > kMaxMetadataBytes)
    return fail(Errc::invalid_argument, fmt::format("metadata of {} bytes is too long: at most {}",
                                                    bytes, kMaxMetadataBytes));
  return {};
}

}  // namespace gdelta
