#include "codec/stream/walk/block_stream.h"

#include <fmt/core.h>

#include <algorithm>

#include "codec/stream/walk/memory_words.h"
#include "formats/gdelta/end_block.h"
#include "formats/gdelta/layout_block.h"
#include "formats/gdelta/metadata_block.h"
#include "formats/gdelta/stream_header.h"

namespace gdelta {

namespace {

using format::BlockTag;
using format::Byte;
using format::Cursor;
using format::HeadError;

// What has not arrived is not allocated: buffers grow by this much, or double.
constexpr std::uint64_t kGrowthBytes = 1 << 20;
// Of an end block that is damaged or of a later version, beyond what its index may have.
constexpr std::uint64_t kMostReadInVain = 64 << 20;
// Spares an entry of the index growing byte by byte.
constexpr std::size_t kUsualEntryBytes = 64;

/// The fields in a head as read_head returns it.
std::span<const std::byte> fields_of(std::span<const std::byte> head,
                                     const format::BlockFrame& frame) {
  return head.subspan(frame.head_at, frame.head_bytes);
}

Error error_at(Errc code, std::uint64_t byte, std::string message) {
  return {.code = code, .message = std::move(message), .chunk = std::nullopt, .byte = byte};
}

}  // namespace

/// The frame of a block, and the bytes that say it.
struct BlockStream::BlockStart {
  std::uint64_t byte = 0;
  format::BlockFrame frame;
  std::byte stored[format::kMaxFrameBytes];
  std::size_t stored_bytes = 0;

  std::span<const std::byte> bytes() const { return std::span(stored).first(stored_bytes); }
};

BlockStream::BlockStream(ByteInput& input, std::uint64_t memory_limit,
                         format::UnknownModels unknown)
    : input_(input), memory_limit_(memory_limit), unknown_(unknown) {}

Result<std::optional<ChunkBlock>> BlockStream::next() {
  for (;;) {
    if (!in_stream_) {
      const auto opened = open_stream();
      if (!opened) return tl::unexpected(opened.error());
      if (!*opened) return std::optional<ChunkBlock>();
    }
    auto start = read_block_start();
    if (!start) return tl::unexpected(start.error());
    if (!*start)
      return fail_at(Errc::truncated, input_.at(), "the stream ends without its end block");
    Result<void> done;
    switch ((*start)->frame.tag) {
      case BlockTag::chunk:
      case BlockTag::opaque_chunk: {
        auto chunk = read_chunk(**start);
        if (!chunk) {
          chunk.error().chunk = chunks_;
          return tl::unexpected(std::move(chunk.error()));
        }
        ++chunks_;
        return std::optional<ChunkBlock>(std::move(*chunk));
      }
      case BlockTag::layout:
        done = read_layout(**start);
        break;
      case BlockTag::end:
        done = read_end(**start);
        break;
      default:
        done = read_other(**start);
        break;
    }
    if (!done) return tl::unexpected(std::move(done.error()));
  }
}

/// Passes over frames between streams and reads the header of the next; false at the end of the
/// file.
Result<bool> BlockStream::open_stream() {
  for (;;) {
    const std::uint64_t byte = input_.at();
    std::byte header[format::kStreamHeaderBytes];
    const auto got = input_.read(std::span(header).first(format::kMagicBytes));
    if (!got) return tl::unexpected(got.error());
    if (*got == 0 && streams_ > 0) return false;
    if (*got == 0) return fail_at(Errc::not_gdelta, byte, "the input ends without a gdelta stream");
    const auto opening = format::recognise_opening(std::span(header).first(*got));
    if (opening == format::Opening::skippable && streams_ == 0) {
      if (auto skipped = skip_frame(byte); !skipped) return tl::unexpected(skipped.error());
      continue;
    }
    const bool is_stream = opening == format::Opening::stream ||
                           (opening == format::Opening::cut_short &&
                            format::begins_stream(std::span(header).first(*got)));
    if (!is_stream && streams_ > 0)
      return fail_at(Errc::corrupt, byte, "after the stream come bytes that belong to nothing");
    const auto more = input_.read(std::span(header).subspan(*got));
    if (!more) return tl::unexpected(more.error());
    const auto checked = format::check_stream_header(std::span(header).first(*got + *more), byte);
    if (!checked) return tl::unexpected(checked.error());
    ++streams_;
    in_stream_ = true;
    resumed_ = false;
    first_block_ = input_.at();
    layout_.reset();
    segment_is_open_ = false;
    blocks_ = 0;
    index_bytes_ = 0;
    index_hash_.reset();
    return true;
  }
}

Result<void> BlockStream::skip_frame(std::uint64_t byte) {
  std::byte length[4];
  const auto got = input_.read(length);
  if (!got) return tl::unexpected(got.error());
  const std::uint64_t bytes =
      *got == sizeof length ? format::load_le(reinterpret_cast<const Byte*>(length), 4) : 0;
  const auto skipped = input_.skip(bytes);
  if (!skipped) return tl::unexpected(skipped.error());
  if (*got < sizeof length || *skipped < bytes)
    return fail_at(Errc::truncated, byte, "the input ends inside a skippable frame");
  return {};
}

/// Nothing if the input ends before the tag.
Result<std::optional<BlockStream::BlockStart>> BlockStream::read_block_start() {
  BlockStart start;
  start.byte = input_.at();
  HeadError found = HeadError::truncated;
  while (found == HeadError::truncated && start.stored_bytes < sizeof start.stored) {
    const auto got = input_.read({start.stored + start.stored_bytes, 1});
    if (!got) return tl::unexpected(got.error());
    if (*got == 0) break;
    ++start.stored_bytes;
    Cursor cursor = format::cursor_over(start.bytes());
    found = format::parse_block_frame(cursor, start.frame);
  }
  if (start.stored_bytes == 0) return std::optional<BlockStart>();
  const format::BlockFrame& frame = start.frame;
  Error error;
  if (found == HeadError::truncated)
    error = error_at(Errc::truncated, start.byte, "the input ends inside a block");
  else if (found != HeadError::none || frame.head_bytes > longest_head_)
    error = error_at(Errc::corrupt, start.byte, "the head of the block has an impossible length");
  else if (frame.tag != BlockTag::end && frame.head_bytes > memory_limit_)
    error =
        error_at(Errc::memory_limit, start.byte,
                 fmt::format("the head of the block takes {}, more than the memory limit of {}: "
                             "raise the limit",
                             needed_memory(frame.head_bytes), allowed_memory(memory_limit_)));
  if (error.code != Errc::ok) {
    if (frame.is_chunk()) error.chunk = chunks_;
    return tl::unexpected(std::move(error));
  }
  return std::optional<BlockStart>(start);
}

/// Everything from the tag to the check, verified.
Result<std::vector<std::byte>> BlockStream::read_head(const BlockStart& start) {
  const std::uint64_t wanted = start.frame.payload_at();
  std::vector<std::byte> head;
  head.reserve(static_cast<std::size_t>(std::min(wanted, kGrowthBytes)));
  head.assign(start.bytes().begin(), start.bytes().end());
  while (head.size() < wanted) {
    const std::size_t had = head.size();
    head.resize(static_cast<std::size_t>(
        std::min<std::uint64_t>(wanted, had + std::max<std::uint64_t>(had, kGrowthBytes))));
    const auto got = input_.read(std::span(head).subspan(had));
    if (!got) return tl::unexpected(got.error());
    if (had + *got < head.size())
      return fail_at(Errc::truncated, start.byte, "the input ends inside the head of a block");
  }
  const auto checked = std::span<const std::byte>(head).first(start.frame.check_at());
  if (format::stored_check(head, start.frame) != format::block_check(checked))
    return fail_at(Errc::corrupt, start.byte,
                   "the head of the block is damaged: its check differs");
  return head;
}

Result<ChunkBlock> BlockStream::read_chunk(const BlockStart& start) {
  auto head = read_head(start);
  if (!head) return tl::unexpected(std::move(head.error()));
  ChunkBlock chunk;
  chunk.number = chunks_;
  chunk.byte = start.byte;
  chunk.parsed.frame = start.frame;
  chunk.layout = chunk.parsed.opaque() ? shared_byte_layout() : layout_;
  if (!chunk.layout)
    return fail_at(Errc::corrupt, start.byte, "a chunk stands before any layout block");
  const HeadError error = format::parse_chunk_fields(
      format::cursor_over(fields_of(*head, start.frame)), *chunk.layout, chunk.parsed, unknown_);
  if (error != HeadError::none) return format::chunk_head_error(error, chunk.parsed, start.byte);
  if (auto joined = check_joins(chunk); !joined) return tl::unexpected(joined.error());
  chunk.decoded_bytes = chunk.records() * chunk.layout->record_bytes();
  if (chunk.parsed.unknown.empty()) chunk.scratch = decode_scratch(*chunk.layout, chunk.parsed);
  chunk.check = format::stored_check(*head, start.frame);
  chunk.head = std::move(*head);
  expect_in_index({.tag = start.frame.tag,
                   .block_bytes = chunk.block_bytes(),
                   .check = chunk.check,
                   .records = chunk.records(),
                   .head = {},
                   .segments = chunk.parsed.segments});
  return chunk;
}

/// A segment that goes on does so in the next chunk, and only there.
Result<void> BlockStream::check_joins(const ChunkBlock& chunk) {
  const format::SegmentsHead& segments = chunk.parsed.segments;
  if (!chunk.parsed.unknown.empty()) {  // nor is it known how it joins others
    segment_is_open_.reset();
    return {};
  }
  if (segment_is_open_ && *segment_is_open_ != segments.continues())
    return fail_at(Errc::corrupt, chunk.byte,
                   "the segments of the chunk do not join those of the chunk before it");
  segment_is_open_ = segments.goes_on();
  return {};
}

Result<void> BlockStream::no_open_segment(const BlockStart& start) const {
  if (!segment_is_open_.value_or(false)) return {};
  return fail_at(Errc::corrupt, start.byte, "the last segment before the block does not end");
}

Result<void> BlockStream::read_layout(const BlockStart& start) {
  const auto head = read_head(start);
  if (!head) return tl::unexpected(head.error());
  if (start.frame.payload_bytes != 0) return unknown_payload(start);
  auto layout = format::parse_layout_head(fields_of(*head, start.frame), start.byte);
  if (!layout) return tl::unexpected(std::move(layout.error()));
  expect_head_in_index(*head, start.frame);
  if (auto ended = no_open_segment(start); !ended) return ended;
  layout_ = std::make_shared<const Layout>(std::move(layout->layout));
  note_ = layout->note;
  return {};
}

/// A block that is nothing to a decoder, or that this version does not know.
Result<void> BlockStream::read_other(const BlockStart& start) {
  const auto head = read_head(start);
  if (!head) return tl::unexpected(head.error());
  if (!format::is_ancillary(start.frame.tag))
    return fail_at(Errc::unsupported_feature, start.byte,
                   fmt::format("the block has the unknown tag {}: use a newer gdelta",
                               static_cast<int>(start.frame.tag)));
  if (start.frame.tag == BlockTag::metadata) {
    if (start.frame.payload_bytes != 0) return unknown_payload(start);
    auto entries = format::parse_metadata_head(fields_of(*head, start.frame), start.byte);
    if (!entries) return tl::unexpected(std::move(entries.error()));
    if (on_metadata_) on_metadata_(std::move(*entries));
  }
  expect_head_in_index(*head, start.frame);
  const auto skipped = input_.skip(start.frame.payload_bytes);
  if (!skipped) return tl::unexpected(skipped.error());
  if (*skipped < start.frame.payload_bytes)
    return fail_at(Errc::truncated, start.byte, "the input ends inside a block");
  return {};
}

void BlockStream::resume(std::shared_ptr<const Layout> layout, std::uint64_t next_chunk) {
  if (!in_stream_) {
    ++streams_;
    layout_.reset();
  }
  in_stream_ = true;
  resumed_ = true;
  segment_is_open_.reset();
  chunks_ = next_chunk;
  if (layout) layout_ = std::move(layout);
}

void BlockStream::expect_in_index(const format::IndexEntry& entry) {
  index_entry_.clear();
  index_entry_.reserve(kUsualEntryBytes);
  format::append_index_entry(index_entry_, entry);
  ++blocks_;
  index_bytes_ += index_entry_.size();
  index_hash_.add(index_entry_);
}

void BlockStream::expect_head_in_index(std::span<const std::byte> head,
                                       const format::BlockFrame& frame) {
  const auto fields = fields_of(head, frame);
  expect_in_index({.tag = frame.tag,
                   .block_bytes = frame.block_bytes(),
                   .check = format::stored_check(head, frame),
                   .records = 0,
                   .head = {fields.begin(), fields.end()}});
}

/// Passes over a head that is longer than any index of the blocks before it.
Result<void> BlockStream::pass_over_end(const BlockStart& start) {
  const std::uint64_t bytes = start.frame.head_bytes + format::kCheckBytes;
  const auto skipped = input_.skip(bytes);
  if (!skipped) return tl::unexpected(skipped.error());
  if (*skipped < bytes)
    return fail_at(Errc::truncated, start.byte, "the input ends inside the end block");
  return fail_at(Errc::corrupt, start.byte, "the index is longer than one of the blocks before it");
}

/// Reads the end block piece by piece, whatever its length, and compares its index by hash.
Result<void> BlockStream::read_end(const BlockStart& start) {
  const std::uint64_t most_bytes = format::kMaxVarintBytes + index_bytes_;
  // One with a payload is read all the same: whether it is damaged or of a later version is for its check to say. Not a very long one,
  // which may be a hole of a few bytes.
  const std::uint64_t in_vain = start.frame.payload_bytes == 0 ? 0 : kMostReadInVain;
  if (!resumed_ && start.frame.head_bytes > most_bytes + in_vain) return pass_over_end(start);
  format::RunningHash check_hash;
  format::RunningHash entries_hash;
  check_hash.add(start.bytes());
  std::vector<std::byte> piece;
  std::uint64_t count = 0;
  std::uint64_t entries_bytes = 0;
  bool malformed = start.frame.head_bytes == 0;
  for (std::uint64_t done = 0; done < start.frame.head_bytes; done += piece.size()) {
    piece.resize(static_cast<std::size_t>(
        std::min<std::uint64_t>(start.frame.head_bytes - done, kGrowthBytes)));
    const auto got = input_.read(piece);
    if (!got) return tl::unexpected(got.error());
    if (*got < piece.size())
      return fail_at(Errc::truncated, start.byte, "the input ends inside the end block");
    check_hash.add(piece);
    std::span<const std::byte> entries = piece;
    if (done == 0) {
      Cursor cursor = format::cursor_over(piece);
      count = cursor.varint();
      malformed = cursor.failed;
      entries = entries.subspan(static_cast<std::size_t>(cursor.at));
    }
    entries_hash.add(entries);
    entries_bytes += entries.size();
  }
  std::byte tail[format::kCheckBytes + format::kFooterBytes];
  const auto got = input_.read(tail);
  if (!got) return tl::unexpected(got.error());
  if (*got < format::kCheckBytes)
    return fail_at(Errc::truncated, start.byte, "the input ends inside the end block");
  Cursor cursor = format::cursor_over(tail);
  if (cursor.fixed(format::kCheckBytes) != static_cast<std::uint32_t>(check_hash.value()))
    return fail_at(Errc::corrupt, start.byte, "the end block is damaged: its check differs");
  if (start.frame.payload_bytes != 0) return unknown_payload(start);
  const bool index_matches = resumed_ || (count == blocks_ && entries_bytes == index_bytes_ &&
                                          entries_hash.value() == index_hash_.value());
  if (malformed || (count == 0 ? entries_bytes != 0 : !index_matches))
    return fail_at(Errc::corrupt, start.byte, "the index contradicts the blocks before it");
  if (auto ended = no_open_segment(start); !ended) return ended;
  if (*got < sizeof tail)
    return fail_at(Errc::truncated, start.byte,
                   "the input ends before the length of the end block");
  if (cursor.fixed(format::kFooterBytes) != start.frame.payload_at())
    return fail_at(Errc::corrupt, start.byte, "the length after the end block is not its length");
  in_stream_ = false;
  return {};
}

tl::unexpected<Error> BlockStream::unknown_payload(const BlockStart& start) {
  return fail_at(Errc::unsupported_feature, start.byte,
                 "the block has a payload that this version does not know: use a newer gdelta");
}

tl::unexpected<Error> BlockStream::payload_missing(const ChunkBlock& chunk) const {
  return tl::unexpected(Error{
      .code = Errc::truncated,
      .message = fmt::format("the input ends inside a chunk of {} bytes", chunk.block_bytes()),
      .chunk = chunk.number,
      .byte = chunk.byte});
}

Result<void> BlockStream::read_payload(const ChunkBlock& chunk, ByteBuffer& block) {
  const std::size_t begin = block.size();
  std::uint64_t done = 0;
  while (done < chunk.payload_bytes()) {
    const std::uint64_t next = std::min(chunk.payload_bytes(), done + std::max(done, kGrowthBytes));
    if (!block.resize(begin + static_cast<std::size_t>(next)))
      return tl::unexpected(Error{.code = Errc::out_of_memory,
                                  .message = "no memory for the bytes of a chunk",
                                  .chunk = chunk.number,
                                  .byte = chunk.byte});
    const auto got = input_.read(block.all().subspan(begin + static_cast<std::size_t>(done)));
    if (!got) return tl::unexpected(got.error());
    if (*got < next - done) return payload_missing(chunk);
    done = next;
  }
  return {};
}

Result<void> BlockStream::skip_payload(const ChunkBlock& chunk) {
  const auto skipped = input_.skip(chunk.payload_bytes());
  if (!skipped) return tl::unexpected(skipped.error());
  if (*skipped < chunk.payload_bytes()) return payload_missing(chunk);
  return {};
}

}  // namespace gdelta
