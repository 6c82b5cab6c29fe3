#include "codec/stream/walk/index_reader.h"

#include <algorithm>
#include <cstring>

#include "codec/stream/walk/byte_input.h"
#include "formats/gdelta/bytes.h"
#include "formats/gdelta/stream_header.h"

namespace gdelta {

namespace {

using format::BlockTag;
using format::Cursor;

constexpr std::size_t kWindowBytes = 256 << 10;
static_assert(kWindowBytes >= 2 * format::kMostEntryBytes);

constexpr std::uint64_t kTailBytes = format::kCheckBytes + format::kFooterBytes;
// Frame and number of entries.
constexpr std::uint64_t kMostStartBytes = format::kMaxFrameBytes + format::kMaxVarintBytes;

/// Finds the entries of the end block that begins at `stream.end_block_at`; false if there is no
/// such block, or no index in it. What stands before the entries is added to `hash`.
Result<bool> find_entries(const ReadAt& read_at, std::uint64_t end_bytes, IndexedStream& stream,
                          format::RunningHash& hash) {
  std::byte start[kMostStartBytes];
  const auto got = read_fully(read_at, stream.end_block_at,
                              std::span(start).first(std::min(kMostStartBytes, end_bytes)));
  if (!got) return tl::unexpected(got.error());
  Cursor cursor = format::cursor_over(std::span(start).first(*got));
  format::BlockFrame frame;
  if (format::parse_block_frame(cursor, frame) != format::HeadError::none) return false;
  stream.entries = cursor.varint();
  if (cursor.failed || frame.tag != BlockTag::end || stream.entries == 0 ||
      frame.block_bytes() != end_bytes || cursor.at > frame.check_at())
    return false;
  stream.entries_at = stream.end_block_at + cursor.at;
  stream.entries_end = stream.end_block_at + frame.check_at();
  hash.add(std::span<const std::byte>(start).first(cursor.at));
  return true;
}

/// Adds up the blocks that the entries speak of; false if entries are malformed, too few or too
/// many, or speak of more than `most`.
Result<bool> sum_blocks(const ReadAt& read_at, std::uint64_t most, IndexedStream& stream,
                        format::RunningHash& hash) {
  IndexReader index(read_at, stream.entries_at, stream.entries_end, &hash);
  for (std::uint64_t i = 0; i < stream.entries; ++i) {
    const auto entry = index.next();
    if (!entry) return tl::unexpected(entry.error());
    if (!*entry || (*entry)->block_bytes > most - stream.block_bytes) return false;
    stream.block_bytes += (*entry)->block_bytes;
  }
  return index.at() == stream.entries_end;
}

}  // namespace

std::uint64_t IndexedStream::first_block() const { return header_at + format::kStreamHeaderBytes; }

IndexReader::IndexReader(const ReadAt& read_at, std::uint64_t at, std::uint64_t end,
                         format::RunningHash* hash)
    : read_at_(read_at), end_(end), hash_(hash), window_at_(at) {}

/// Moves the window on, so that it begins with the next entry.
Result<void> IndexReader::refill() {
  const std::size_t kept = window_.size() - used_;
  if (kept > 0) std::memmove(window_.data(), window_.data() + used_, kept);
  window_at_ += used_;
  used_ = 0;
  const std::uint64_t left = end_ - window_at_;
  window_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kWindowBytes, left)));
  const auto fresh = std::span(window_).subspan(kept);
  const auto got = read_fully(read_at_, window_at_ + kept, fresh);
  if (!got) return tl::unexpected(got.error());
  window_.resize(kept + *got);
  if (hash_ != nullptr) hash_->add(fresh.first(*got));
  return {};
}

Result<std::optional<format::IndexEntry>> IndexReader::next() {
  const std::uint64_t loaded_end = window_at_ + window_.size();
  if (window_.size() - used_ < format::kMostEntryBytes && loaded_end < end_)
    if (auto refilled = refill(); !refilled) return tl::unexpected(refilled.error());
  auto parsed = format::parse_index_entry(std::span<const std::byte>(window_).subspan(used_));
  if (!parsed) return std::optional<format::IndexEntry>();
  used_ += parsed->bytes;
  return std::optional(std::move(parsed->entry));
}

Result<std::optional<IndexedStream>> find_end_block(const ReadAt& read_at, std::uint64_t end,
                                                    std::uint64_t most_block_bytes) {
  const std::optional<IndexedStream> none;
  constexpr std::uint64_t kSmallestStream =
      format::kStreamHeaderBytes + format::kSmallestEndBytes + format::kFooterBytes;
  if (end < kSmallestStream) return none;
  std::byte tail[kTailBytes];
  const auto got = read_fully(read_at, end - kTailBytes, tail);
  if (!got) return tl::unexpected(got.error());
  if (*got < kTailBytes) return none;
  Cursor cursor = format::cursor_over(tail);
  const std::uint64_t check = cursor.fixed(format::kCheckBytes);
  const std::uint64_t end_bytes = cursor.fixed(format::kFooterBytes);
  if (end_bytes <= format::kSmallestEndBytes ||
      end_bytes > end - format::kFooterBytes - format::kStreamHeaderBytes)
    return none;

  IndexedStream stream;
  stream.end_block_at = end - format::kFooterBytes - end_bytes;
  format::RunningHash hash;
  const auto found = find_entries(read_at, end_bytes, stream, hash);
  if (!found) return tl::unexpected(found.error());
  if (!*found) return none;
  const auto summed = sum_blocks(read_at, most_block_bytes, stream, hash);
  if (!summed) return tl::unexpected(summed.error());
  if (!*summed || check != static_cast<std::uint32_t>(hash.value())) return none;
  return std::optional(stream);
}

Result<std::optional<IndexedStream>> find_indexed_stream(const ReadAt& read_at, std::uint64_t end) {
  const std::optional<IndexedStream> none;
  auto stream = find_end_block(read_at, end, end);
  if (!stream || !*stream) return stream;
  const std::uint64_t from_header = (*stream)->block_bytes + format::kStreamHeaderBytes;
  if (from_header > (*stream)->end_block_at) return none;
  (*stream)->header_at = (*stream)->end_block_at - from_header;
  std::byte header[format::kStreamHeaderBytes];
  const auto got = read_fully(read_at, (*stream)->header_at, header);
  if (!got) return tl::unexpected(got.error());
  if (!format::check_stream_header(std::span(header).first(*got), (*stream)->header_at))
    return none;
  return stream;
}

}  // namespace gdelta
