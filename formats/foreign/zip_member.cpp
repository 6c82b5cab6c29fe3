#include "formats/foreign/zip_member.h"

#include "formats/foreign/byte_view.h"

namespace gdelta::format {

namespace {

constexpr std::uint64_t kHeadBytes = 30;  // in front of name and extra fields
constexpr std::uint64_t kMethodAt = 8, kNameBytesAt = 26;
constexpr std::uint64_t kEncrypted = 1, kSizesFollow = 8;
constexpr std::uint64_t kStored = 0;
constexpr std::uint64_t kLongSize = 0xffffffff;  // the extra field has it
constexpr std::uint64_t kLongSizesId = 1;

/// The size beyond 32 bits; of a stored member it comes first, and twice.
std::optional<std::uint64_t> long_size(const ByteView& file, std::uint64_t at, std::uint64_t end) {
  while (at + 4 <= end) {
    const std::uint64_t field_bytes = file.number(at + 2, 2);
    if (file.number(at, 2) == kLongSizesId && field_bytes >= 8 && at + 4 + field_bytes <= end)
      return file.number(at + 4, 8);
    at += 4 + field_bytes;
  }
  return std::nullopt;
}

}  // namespace

std::optional<ArchiveMember> zip_member(std::span<const std::byte> prefix) {
  const ByteView file(prefix);
  if (file.text(0, 4) != "PK\3\4" || !file.has(0, kHeadBytes)) return std::nullopt;
  const std::uint64_t flags = file.number(6, 2);
  if (file.number(kMethodAt, 2) != kStored || (flags & kEncrypted) != 0) return std::nullopt;
  const std::uint64_t name_bytes = file.number(kNameBytesAt, 2);
  const std::uint64_t extra_at = kHeadBytes + name_bytes;
  ArchiveMember member;
  member.content_at = extra_at + file.number(28, 2);
  if (!file.has(0, member.content_at)) return std::nullopt;
  if ((flags & kSizesFollow) == 0) {
    member.content_bytes = file.number(22, 4);
    if (*member.content_bytes == kLongSize)
      member.content_bytes = long_size(file, extra_at, member.content_at);
  }
  member.is_file = !file.text(kHeadBytes, name_bytes).ends_with('/');
  if (member.content_bytes && *member.content_bytes <= file.size())
    member.next_at = member.content_at + *member.content_bytes;
  return member;
}

std::string_view zip_advice(std::span<const std::byte> prefix) {
  const ByteView file(prefix);
  const std::string_view name = file.text(kHeadBytes, file.number(kNameBytesAt, 2));
  if (!name.ends_with(".npy") || file.number(kMethodAt, 2) == kStored) return {};
  return "its arrays are compressed already, so that their numbers cannot be seen: store them as "
         "they are, with numpy.savez or scipy.sparse.save_npz(..., compressed=False)";
}

}  // namespace gdelta::format
