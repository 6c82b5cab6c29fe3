#include "codec/stream/walk/indexed_chunks.h"

#include <algorithm>

#include "codec/stream/walk/byte_input.h"
#include "formats/gdelta/layout_block.h"
#include "formats/gdelta/metadata_block.h"

namespace gdelta {

namespace {

using format::BlockTag;

// Entries from one checkpoint to the next: few to read again, and checkpoints that take a hundredth
// of the index.
constexpr std::uint64_t kEntriesApart = 4096;
constexpr std::size_t kMostCheckpoints = 1 << 17;
static_assert(kMostCheckpoints * (sizeof(Checkpoint) + sizeof(IndexedStream)) <= 32 << 20);

enum class Blocks : std::uint8_t { believed, compared };

/// The chunks of one stream, from a checkpoint on.
class StreamCursor {
 public:
  StreamCursor(const ReadAt& read_at, const Checkpoint& from, Blocks blocks)
      : read_at_(read_at),
        position_(from),
        blocks_(blocks),
        index_(read_at, from.entry_at, from.stream.entries_end) {}

  /// The next chunk; nothing at the end of the stream, and if the index does not hold.
  Result<std::optional<ChunkPlace>> next();
  void tell_metadata(const BlockStream::OnMetadata* on_metadata) { on_metadata_ = on_metadata; }
  bool holds() const { return holds_; }
  const Checkpoint& position() const { return position_; }

 private:
  Result<bool> reload_layout();
  bool set_layout(const format::IndexEntry& entry);
  Result<bool> take_other(const format::IndexEntry& entry, std::uint64_t entry_at);
  std::optional<ChunkPlace> take_chunk(const format::IndexEntry& entry);

  const ReadAt& read_at_;
  Checkpoint position_;
  Blocks blocks_;
  IndexReader index_;
  std::shared_ptr<const Layout> layout_;  // in force
  std::uint64_t record_bytes_ = 0;        // of it
  const BlockStream::OnMetadata* on_metadata_ = nullptr;
  bool holds_ = true;
};

Result<std::optional<ChunkPlace>> StreamCursor::next() {
  const auto broken = [this] {
    holds_ = false;
    return std::optional<ChunkPlace>();
  };
  if (!layout_ && position_.layout_at != 0) {
    const auto found = reload_layout();
    if (!found) return tl::unexpected(found.error());
    if (!*found) return broken();
  }
  while (position_.entries > 0) {
    const std::uint64_t entry_at = index_.at();
    const auto entry = index_.next();
    if (!entry) return tl::unexpected(entry.error());
    if (!*entry) return broken();
    --position_.entries;
    position_.entry_at = index_.at();
    if ((*entry)->is_chunk()) {
      auto place = take_chunk(**entry);
      return place ? place : broken();
    }
    const auto taken = take_other(**entry, entry_at);
    if (!taken) return tl::unexpected(taken.error());
    if (!*taken) return broken();
  }
  if (position_.segment_is_open) return broken();
  return std::optional<ChunkPlace>();
}

/// Reads the layout in force at a checkpoint.
Result<bool> StreamCursor::reload_layout() {
  IndexReader index(read_at_, position_.layout_at, position_.stream.entries_end);
  auto entry = index.next();
  if (!entry) return tl::unexpected(entry.error());
  return *entry && (*entry)->tag == BlockTag::layout && set_layout(**entry);
}

/// Gives false if the entry's head is none of a layout.
bool StreamCursor::set_layout(const format::IndexEntry& entry) {
  auto head = format::parse_layout_head(entry.head, 0);
  if (!head) return false;
  layout_ = std::make_shared<const Layout>(std::move(head->layout));
  record_bytes_ = layout_->record_bytes();
  return true;
}

/// Whether the block that begins with these bytes, up to its payload, is what an entry says.
bool is_as_said(const format::IndexEntry& entry, std::span<const std::byte> block) {
  format::Cursor cursor = format::cursor_over(block);
  format::BlockFrame frame;
  if (format::parse_block_frame(cursor, frame) != format::HeadError::none ||
      frame.tag != entry.tag || frame.block_bytes() != entry.block_bytes ||
      frame.head_bytes != entry.head.size() || block.size() < frame.payload_at())
    return false;
  const auto head = block.subspan(frame.head_at, frame.head_bytes);
  cursor.skip(frame.head_bytes);
  return std::equal(head.begin(), head.end(), entry.head.begin()) &&
         cursor.fixed(format::kCheckBytes) == entry.check &&
         format::block_check(block.first(frame.check_at())) == entry.check;
}

/// A block that is no chunk; false if it is compared and is another one.
Result<bool> StreamCursor::take_other(const format::IndexEntry& entry, std::uint64_t entry_at) {
  if (blocks_ == Blocks::compared) {
    std::vector<std::byte> start(static_cast<std::size_t>(std::min<std::uint64_t>(
        entry.block_bytes, format::kMaxFrameBytes + entry.head.size() + format::kCheckBytes)));
    const auto got = read_fully(read_at_, position_.block_at, start);
    if (!got) return tl::unexpected(got.error());
    if (!is_as_said(entry, std::span<const std::byte>(start).first(*got))) return false;
  }
  if (entry.tag == BlockTag::layout) {
    if (position_.segment_is_open || !set_layout(entry)) return false;
    position_.layout_at = entry_at;
  }
  if (entry.tag == BlockTag::metadata && on_metadata_ != nullptr) {
    auto entries = format::parse_metadata_head(entry.head, position_.block_at);
    if (!entries) return tl::unexpected(std::move(entries.error()));
    (*on_metadata_)(std::move(*entries));
  }
  position_.block_at += entry.block_bytes;
  return true;
}

std::optional<ChunkPlace> StreamCursor::take_chunk(const format::IndexEntry& entry) {
  ChunkPlace place;
  place.opaque = entry.tag == BlockTag::opaque_chunk;
  place.layout = place.opaque ? shared_byte_layout() : layout_;
  if (!place.layout) return std::nullopt;
  const std::uint64_t record_bytes = place.opaque ? 1 : record_bytes_;
  const bool in_segments = entry.segments.lengths > 0;
  if (!format::records_fit(entry.records, record_bytes, in_segments)) return std::nullopt;
  if (entry.segments.continues() != position_.segment_is_open) return std::nullopt;
  position_.segment_is_open = entry.segments.goes_on();
  place.number = position_.before.chunks;
  place.byte = position_.block_at;
  place.block_bytes = entry.block_bytes;
  place.check = entry.check;
  place.records = entry.records;
  place.decoded_at = position_.before.decoded_bytes;
  place.decoded_bytes = entry.records * record_bytes;
  place.records_at = position_.before.records;
  place.segments = entry.segments;
  place.segments_at = position_.before.segments;
  place.end_block_byte = position_.stream.end_block_at;
  if (!add_chunk(position_.before, place)) return std::nullopt;
  position_.block_at += entry.block_bytes;
  return place;
}

/// The chunks of all streams, from a checkpoint on.
class IndexCursor final : public ChunkCursor {
 public:
  IndexCursor(const ReadAt& read_at, std::span<const Checkpoint> checkpoints)
      : read_at_(read_at), ahead_(checkpoints) {}

  Result<std::optional<ChunkPlace>> next() override {
    for (;;) {
      if (!stream_) {
        if (ahead_.empty()) return std::optional<ChunkPlace>();
        stream_.emplace(read_at_, ahead_.front(), Blocks::believed);
        if (on_metadata_) stream_->tell_metadata(&on_metadata_);
      }
      auto place = stream_->next();
      if (!place || *place) return place;
      if (!stream_->holds())
        return fail_at(Errc::corrupt, ahead_.front().stream.end_block_at,
                       "the index has changed while it was read");
      const std::uint64_t passed = ahead_.front().stream.header_at;
      while (!ahead_.empty() && ahead_.front().stream.header_at == passed)
        ahead_ = ahead_.subspan(1);
      stream_.reset();
    }
  }

  void tell_metadata(BlockStream::OnMetadata on_metadata) override {
    on_metadata_ = std::move(on_metadata);
  }

 private:
  const ReadAt& read_at_;
  std::span<const Checkpoint> ahead_;  // begins with one of the stream that is being read
  std::optional<StreamCursor> stream_;
  BlockStream::OnMetadata on_metadata_;
};

/// Finds all streams, the last one first; nothing if one has no index that holds.
Result<std::optional<std::vector<IndexedStream>>> find_streams(const ReadAt& read_at,
                                                               std::uint64_t file_bytes) {
  const std::optional<std::vector<IndexedStream>> none;
  std::vector<IndexedStream> streams;
  for (std::uint64_t end = file_bytes; end > 0; end = streams.back().header_at) {
    if (streams.size() == kMostCheckpoints) return none;
    const auto stream = find_indexed_stream(read_at, end);
    if (!stream) return tl::unexpected(stream.error());
    if (!*stream) return none;
    streams.push_back(**stream);
  }
  if (streams.empty()) return none;
  return std::optional(std::move(streams));
}

}  // namespace

/// Gives false if the index does not hold or takes too many checkpoints.
Result<bool> IndexedChunks::add_stream(const ReadAt& read_at, const IndexedStream& stream) {
  ++totals_.streams;
  const Checkpoint start{.stream = stream,
                         .entry_at = stream.entries_at,
                         .entries = stream.entries,
                         .layout_at = 0,
                         .block_at = stream.first_block(),
                         .before = totals_};
  StreamCursor cursor(read_at, start, Blocks::compared);
  checkpoints_.push_back(start);
  for (;;) {
    const auto place = cursor.next();
    if (!place) return tl::unexpected(place.error());
    if (!*place) break;
    if (checkpoints_.back().entries - cursor.position().entries < kEntriesApart) continue;
    if (checkpoints_.size() == kMostCheckpoints) return false;
    checkpoints_.push_back(cursor.position());
  }
  totals_ = cursor.position().before;
  return cursor.holds();
}

Result<std::optional<IndexedChunks>> IndexedChunks::read(const ReadAt& read_at,
                                                         std::uint64_t file_bytes) {
  const std::optional<IndexedChunks> none;
  const auto streams = find_streams(read_at, file_bytes);
  if (!streams) return tl::unexpected(streams.error());
  if (!*streams) return none;
  IndexedChunks chunks;
  chunks.totals_.compressed_bytes = file_bytes;
  for (auto stream = (*streams)->rbegin(); stream != (*streams)->rend(); ++stream) {
    if (chunks.checkpoints_.size() == kMostCheckpoints) return none;
    const auto added = chunks.add_stream(read_at, *stream);
    if (!added) return tl::unexpected(added.error());
    if (!*added) return none;
  }
  return std::optional(std::move(chunks));
}

/// Begins at the last checkpoint that is not behind the position.
std::unique_ptr<ChunkCursor> IndexedChunks::from(const ReadAt& read_at,
                                                 std::uint64_t FileTotals::*unit,
                                                 std::uint64_t position) const {
  const auto behind = std::upper_bound(checkpoints_.begin(), checkpoints_.end(), position,
                                       [unit](std::uint64_t at, const Checkpoint& checkpoint) {
                                         return at < checkpoint.before.*unit;
                                       });
  const auto first = static_cast<std::size_t>(behind - checkpoints_.begin()) - 1;
  return std::make_unique<IndexCursor>(read_at, std::span(checkpoints_).subspan(first));
}

std::unique_ptr<ChunkCursor> IndexedChunks::from_start(const ReadAt& read_at) const {
  return std::make_unique<IndexCursor>(read_at, checkpoints_);
}

std::unique_ptr<ChunkCursor> IndexedChunks::from_byte(const ReadAt& read_at,
                                                      std::uint64_t byte) const {
  return from(read_at, &FileTotals::decoded_bytes, byte);
}

std::unique_ptr<ChunkCursor> IndexedChunks::from_segment(const ReadAt& read_at,
                                                         std::uint64_t segment) const {
  return from(read_at, &FileTotals::segments, segment);
}

std::unique_ptr<ChunkCursor> IndexedChunks::from_record(const ReadAt& read_at,
                                                        std::uint64_t record) const {
  return from(read_at, &FileTotals::records, record);
}

}  // namespace gdelta
