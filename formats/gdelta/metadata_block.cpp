#include "formats/gdelta/metadata_block.h"

#include "formats/gdelta/block_frame.h"

namespace gdelta::format {

namespace {

void append_text(std::vector<std::byte>& out, std::string_view text) {
  append_varint(out, text.size());
  for (const char c : text) out.push_back(static_cast<std::byte>(c));
}

/// Empty, and the cursor failed, if the text is not there.
std::string read_text(Cursor& cursor) {
  const std::uint64_t bytes = cursor.varint();
  const std::uint64_t at = cursor.at;
  if (!cursor.skip(bytes)) return {};
  return {reinterpret_cast<const char*>(cursor.data) + at, static_cast<std::size_t>(bytes)};
}

}  // namespace

void append_metadata_head(std::vector<std::byte>& out, std::span<const MetadataEntry> entries) {
  append_varint(out, entries.size());
  for (const MetadataEntry& entry : entries) {
    append_text(out, entry.key);
    append_text(out, entry.value);
  }
}

Result<std::vector<MetadataEntry>> parse_metadata_head(std::span<const std::byte> head,
                                                       std::uint64_t byte) {
  Cursor cursor = cursor_over(head);
  const std::uint64_t count = cursor.varint();
  std::vector<MetadataEntry> entries;
  for (std::uint64_t i = 0; i < count && !cursor.failed; ++i) {
    MetadataEntry entry;
    entry.key = read_text(cursor);
    if (!cursor.failed && (entry.key.empty() || entry.key.size() > kMaxKeyBytes))
      return fail_at(Errc::corrupt, byte, "a key of the metadata has an impossible length");
    entry.value = read_text(cursor);
    entries.push_back(std::move(entry));
  }
  if (count == 0 || !cursor.done())
    return fail_at(Errc::corrupt, byte, "the metadata block contradicts itself");
  return entries;
}

}  // namespace gdelta::format
