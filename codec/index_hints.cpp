#include "index_hints.h"

#include <algorithm>

#include "byte_input.h"
#include "formats/gdelta/bytes.h"
#include "formats/gdelta/stream_header.h"

namespace gdelta {

namespace {

using format::BlockTag;

constexpr std::size_t kMostStreams = 1 << 20;
constexpr std::uint64_t kLongestStream = std::uint64_t{1} << 62;

std::uint64_t load(std::span<const std::byte, 4> bytes) {
  return format::load_le(reinterpret_cast<const format::Byte*>(bytes.data()), 4);
}

bool read_all(const ReadAt& read_at, std::uint64_t offset, std::span<std::byte> buffer) {
  const auto got = read_fully(read_at, offset, buffer);
  return got && *got == buffer.size();
}

}  // namespace

IndexHints::IndexHints(const ReadAt& read_at, std::uint64_t file_bytes)
    : read_at_(&read_at), bytes_(std::make_shared<const Layout>(byte_layout())) {
  std::uint64_t end = file_bytes;
  while (end > 0 && streams_.size() < kMostStreams) {
    const auto stream = read_stream(end);
    if (!stream) break;
    streams_.push_back(*stream);
    const auto header = stream->first_block - std::int64_t{format::kStreamHeaderBytes};
    end = header > 0 ? static_cast<std::uint64_t>(header) : 0;
  }
  complete_ = end == 0;
  advance();
}

/// The stream whose footer ends at `end`, if it has an index that holds by itself: its header, its
/// layouts and its chunks may all be damaged.
std::optional<IndexHints::Stream> IndexHints::read_stream(std::uint64_t end) const {
  constexpr std::uint64_t kFramed = format::kSmallestEndBytes + format::kFooterBytes;
  if (end <= format::kStreamHeaderBytes + kFramed) return std::nullopt;
  std::byte footer[format::kFooterBytes];
  if (!read_all(*read_at_, end - sizeof footer, footer)) return std::nullopt;
  const std::uint64_t end_bytes = load(footer);
  if (end_bytes <= format::kSmallestEndBytes ||
      end_bytes > end - format::kFooterBytes - format::kStreamHeaderBytes)
    return std::nullopt;
  Stream stream;
  stream.end_block = end - format::kFooterBytes - end_bytes;
  stream.entries_end = end - format::kFooterBytes - format::kCheckBytes;
  std::byte start[1 + 2 * format::kMaxVarintBytes];
  const auto begun = std::span(start).first(std::min<std::size_t>(sizeof start, end_bytes));
  if (!read_all(*read_at_, stream.end_block, begun)) return std::nullopt;
  format::Cursor cursor{reinterpret_cast<const format::Byte*>(start), begun.size()};
  const bool is_end = cursor.byte() == static_cast<format::Byte>(BlockTag::end);
  const std::uint64_t head_bytes = cursor.varint();
  const std::uint64_t head_at = cursor.at;
  const std::uint64_t count = cursor.varint();
  if (!is_end || cursor.failed || count == 0 ||
      head_bytes != end_bytes - head_at - format::kCheckBytes)
    return std::nullopt;
  stream.entries_at = stream.end_block + cursor.at;

  format::RunningHash hash;
  hash.add(begun.first(static_cast<std::size_t>(cursor.at)));
  IndexReader index(*read_at_, stream.entries_at, stream.entries_end, &hash);
  std::uint64_t bytes = 0;
  std::uint64_t taken = 0;
  for (; taken < count; ++taken) {
    const auto entry = index.next();
    if (!entry || !*entry || (*entry)->block_bytes > kLongestStream - bytes) return std::nullopt;
    bytes += (*entry)->block_bytes;
  }
  std::byte check[format::kCheckBytes];
  if (index.at() != stream.entries_end || !read_all(*read_at_, stream.entries_end, check) ||
      load(check) != static_cast<std::uint32_t>(hash.value()))
    return std::nullopt;
  stream.first_block = static_cast<std::int64_t>(stream.end_block - bytes);
  return stream;
}

void IndexHints::advance() {
  ahead_.reset();
  if (!index_) {
    if (streams_.empty()) return;
    const Stream& next = streams_.back();
    index_.emplace(*read_at_, next.entries_at, next.entries_end);
    at_ = next.first_block;
    end_block_ = next.end_block;
    layout_.reset();
    streams_.pop_back();
  }
  for (;;) {
    auto read = index_->next();
    if (!read || !*read) break;
    auto& entry = *read;
    IndexHint hint;
    const std::int64_t at = at_;
    at_ += static_cast<std::int64_t>(entry->block_bytes);
    hint.byte = static_cast<std::uint64_t>(at);
    if (entry->tag == BlockTag::layout) {
      layout_ = std::make_shared<const Layout>(std::move(*entry->layout));
      continue;
    }
    hint.number = chunks_++;
    hint.opaque = entry->tag == BlockTag::opaque_chunk;
    hint.layout = layout_;
    const Layout* layout = hint.opaque ? bytes_.get() : layout_.get();
    if (at < 0 || layout == nullptr || entry->records == 0 ||
        entry->records > kMaxChunkBytes / layout->record_bytes())
      continue;
    hint.block_bytes = entry->block_bytes;
    hint.records = entry->records;
    hint.decoded_bytes = entry->records * layout->record_bytes();
    ahead_ = std::move(hint);
    return;
  }
  index_.reset();
  ahead_ = IndexHint{};
  ahead_->byte = end_block_;
  ahead_->is_end = true;
  ahead_->number = chunks_;
}

}  // namespace gdelta
