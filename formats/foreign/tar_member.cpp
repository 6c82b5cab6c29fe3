#include "formats/foreign/tar_member.h"

#include "formats/foreign/byte_view.h"

namespace gdelta::format {

namespace {

constexpr std::uint64_t kBlockBytes = 512;
constexpr std::uint64_t kSizeAt = 124, kSizeDigits = 12;
constexpr std::uint64_t kCheckAt = 148, kCheckDigits = 8;
constexpr std::uint64_t kKindAt = 156;

/// A number in octal digits, between blanks or zero bytes; beyond eight of them GNU tar writes it in
/// binary, its first bit set.
std::optional<std::uint64_t> field(const ByteView& file, std::uint64_t at, std::uint64_t digits) {
  if (file.number(at, 1) == 0x80) {
    if (digits < 12 || file.number(at + 1, 3) != 0) return std::nullopt;
    std::uint64_t value = 0;
    for (std::uint64_t i = digits - 8; i < digits; ++i) value = value << 8 | file.number(at + i, 1);
    return value;
  }
  std::uint64_t value = 0;
  bool begun = false;
  for (const char c : file.text(at, digits)) {
    const bool blank = c == ' ' || c == '\0';
    if (blank && begun) break;
    if (blank) continue;
    if (c < '0' || c > '7') return std::nullopt;
    value = value << 3 | static_cast<std::uint64_t>(c - '0');
    begun = true;
  }
  return begun ? std::optional(value) : std::nullopt;
}

/// The sum of the head's bytes, those of the sum itself taken for blanks.
std::uint64_t sum_of(std::span<const std::byte> head) {
  std::uint64_t sum = kCheckDigits * ' ';
  for (std::size_t i = 0; i < head.size(); ++i)
    if (i < kCheckAt || i >= kCheckAt + kCheckDigits)
      sum += std::to_integer<std::uint64_t>(head[i]);
  return sum;
}

}  // namespace

std::optional<ArchiveMember> tar_member(std::span<const std::byte> prefix) {
  const ByteView file(prefix);
  if (!file.has(0, kBlockBytes) || file.text(kTarMagicAt, 5) != "ustar") return std::nullopt;
  const auto check = field(file, kCheckAt, kCheckDigits);
  if (!check || *check != sum_of(prefix.first(kBlockBytes))) return std::nullopt;
  const auto bytes = field(file, kSizeAt, kSizeDigits);
  if (!bytes) return std::nullopt;
  ArchiveMember member;
  member.content_at = kBlockBytes;
  member.content_bytes = *bytes;
  const char kind = file.text(kKindAt, 1)[0];
  member.is_file = kind == '0' || kind == '\0';
  if (*bytes <= file.size())
    member.next_at = kBlockBytes + (*bytes + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
  return member;
}

}  // namespace gdelta::format
