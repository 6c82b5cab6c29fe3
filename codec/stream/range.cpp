#include <fmt/core.h>

#include <algorithm>
#include <new>
#include <numeric>

#include "codec/backend/steady_backend.h"
#include "codec/chunk/chunk_decode.h"
#include "codec/stream/decode_load.h"
#include "codec/stream/segment_ends.h"
#include "codec/stream/walk/byte_buffer.h"
#include "codec/stream/walk/byte_input.h"
#include "codec/stream/walk/file_structure.h"
#include "formats/gdelta/block_frame.h"
#include "formats/gdelta/chunk_block.h"
#include "gdelta/stream.h"

namespace gdelta {

namespace {

using format::UnknownModels;

/// What a range counts.
enum class CountedIn : std::uint8_t { bytes, records, segments };

/// A stretch of decoded bytes, of records or of segments.
struct Wanted {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  CountedIn counted_in = CountedIn::bytes;

  std::uint64_t first_of(const ChunkPlace& chunk) const {
    switch (counted_in) {
      case CountedIn::bytes:
        return chunk.decoded_at;
      case CountedIn::records:
        return chunk.records_at;
      case CountedIn::segments:
        break;
    }
    return chunk.segments_at - (chunk.segments.continues() ? 1 : 0);
  }
  std::uint64_t count_of(const ChunkPlace& chunk) const {
    switch (counted_in) {
      case CountedIn::bytes:
        return chunk.decoded_bytes;
      case CountedIn::records:
        return chunk.opaque ? 0 : chunk.records;
      case CountedIn::segments:
        break;
    }
    return chunk.segments.lengths;
  }
  std::uint64_t unit_bytes(const ChunkPlace& chunk) const {
    return counted_in == CountedIn::bytes ? 1 : chunk.layout->record_bytes();
  }
  bool begins_before(const ChunkPlace& chunk) const { return end <= first_of(chunk); }
  bool touches(const ChunkPlace& chunk) const {
    return begin < first_of(chunk) + count_of(chunk) && !begins_before(chunk) &&
           count_of(chunk) > 0;
  }
};

/// Chunks that are decoded in one call.
struct RangeBatch {
  std::vector<ChunkPlace> chunks;
  std::uint64_t decoded_bytes = 0;
  std::uint64_t held_bytes = 0;
  DecodeScratch scratch;  // of the chunk that needs most
  std::vector<format::ParsedChunk> parsed;
  std::vector<std::vector<std::uint32_t>> lengths;  // of their segments, once they are decoded
  std::optional<Error> behind;                      // what is wrong with the chunk after them
};

/// Bytes that are held while a chunk is decoded.
std::uint64_t held_for(const ChunkPlace& chunk) {
  return chunk.block_bytes + chunk.decoded_bytes + sizeof(ChunkPlace) + sizeof(DecodeJob) +
         2 * sizeof(format::ParsedChunk) + parsed_chunk_bytes(*chunk.layout) +
         chunk.segments.lengths * format::tuple_bytes(format::kLengthColumn);
}

}  // namespace

struct RangeReader::Impl {
  Impl(ReadAt read_at_in, std::uint64_t file_bytes_in, DecodeOptions options_in)
      : read_at(std::move(read_at_in)),
        file_bytes(file_bytes_in),
        options(std::move(options_in)),
        backend(options.device, options.threads) {}

  Result<void> read(const Wanted& wanted, const Sink& sink, const EndSink& ends = nullptr);

  Result<void> outside(const Wanted& wanted, std::uint64_t count) const;
  RangeBatch collect(ChunkCursor& cursor, const Wanted& wanted);
  Result<bool> add(RangeBatch& batch, const ChunkPlace& chunk);
  Error over_limit(const ChunkPlace& chunk, std::uint64_t needed) const;
  Error front_to_back(const ChunkPlace& chunk, Error error) const;
  Result<void> decode(RangeBatch& batch, ProgressMeter& progress);
  Result<void> deliver(const RangeBatch& batch, const Wanted& wanted, const Sink& sink);
  Result<void> deliver_segments(RangeBatch& batch, const Wanted& wanted, const Sink& sink,
                                const EndSink& ends);
  Result<void> hand_on(std::span<const std::byte> bytes, const Sink& sink);

  ReadAt read_at;
  std::uint64_t file_bytes;
  DecodeOptions options;
  FileStructure structure;
  SteadyBackend backend;
  std::uint64_t delivered_bytes = 0;  // of the range
  SegmentEnds segment_ends;           // of the range
  std::optional<ChunkPlace> pending;  // found, but not in the batch any more
  ByteBuffer blocks;                  // of the batch, one after the other
  ByteBuffer values;
  std::uint64_t last_held = 0;  // by the batch before
};

/// If a block is not what the structure said, a reader that begins at the front has the word: its
/// error, if it finds one. `error` otherwise, or that the index lies.
Error RangeReader::Impl::front_to_back(const ChunkPlace& chunk, Error error) const {
  const auto walked = walk_file(read_at, file_bytes, options.memory_limit, UnknownModels::refused);
  if (!walked) return walked.error();
  if (error.code == Errc::memory_limit || !chunk.end_block_byte) return error;
  return {.code = Errc::corrupt,
          .message = "the index contradicts the blocks before it",
          .chunk = std::nullopt,
          .byte = chunk.end_block_byte};
}

Error RangeReader::Impl::over_limit(const ChunkPlace& chunk, std::uint64_t needed) const {
  return front_to_back(chunk,
                       chunk_over_limit(chunk.number, chunk.byte, needed, options.memory_limit));
}

/// Whether `error` is that of the chunk that the structure has named: nothing contradicts it.
bool is_of_a_later_version(const Error& error, std::span<const std::byte> block,
                           const ChunkPlace& chunk) {
  if (error.code != Errc::unsupported_feature) return false;
  const format::IndexEntry entry = format::chunk_entry(block);
  return entry.is_chunk() && entry.check == chunk.check;
}

/// Reads and checks the block of a chunk; what it says must be what the structure said. False if
/// the batch would hold too much with it.
Result<bool> RangeReader::Impl::add(RangeBatch& batch, const ChunkPlace& chunk) {
  const std::size_t begin = blocks.size();
  if (!blocks.resize(begin + static_cast<std::size_t>(chunk.block_bytes)))
    return fail(Errc::out_of_memory, "no memory for the bytes of a batch of chunks");
  const auto block = blocks.all().subspan(begin);
  const auto got = read_fully(read_at, chunk.byte, block);
  if (!got) return tl::unexpected(got.error());
  auto parsed = format::parse_chunk_block(block.first(*got), chunk.byte, *chunk.layout);
  if (!parsed && is_of_a_later_version(parsed.error(), block, chunk)) {
    parsed.error().chunk = chunk.number;
    return tl::unexpected(std::move(parsed.error()));
  }
  if (!parsed || parsed->opaque() != chunk.opaque ||
      parsed->frame.block_bytes() != chunk.block_bytes || parsed->records != chunk.records ||
      parsed->segments != chunk.segments || format::chunk_entry(block).check != chunk.check)
    return tl::unexpected(
        front_to_back(chunk, {.code = Errc::corrupt,
                              .message = "the chunk has changed while it was read",
                              .chunk = chunk.number,
                              .byte = chunk.byte}));
  const std::uint64_t held = held_for(chunk);
  DecodeScratch scratch = decode_scratch(*chunk.layout, *parsed);
  scratch.cover(batch.scratch);
  const auto at_once = std::min<std::uint64_t>(
      batch.chunks.size() + 1, static_cast<std::uint64_t>(cpu_threads(options.threads)));
  const std::uint64_t needed = batch.held_bytes + held + at_once * scratch.bytes;
  if (needed > options.memory_limit) {
    if (batch.chunks.empty()) return tl::unexpected(over_limit(chunk, needed));
    return blocks.resize(begin) && false;
  }
  batch.chunks.push_back(chunk);
  batch.decoded_bytes += chunk.decoded_bytes;
  batch.held_bytes += held;
  batch.scratch = scratch;
  batch.parsed.push_back(std::move(*parsed));
  return true;
}

/// The next chunks that are wanted, as many as a call of the backend and the memory limit hold. None
/// at the end.
RangeBatch RangeReader::Impl::collect(ChunkCursor& cursor, const Wanted& wanted) {
  RangeBatch batch;
  blocks.clear();
  if (last_held > options.memory_limit / kKeptShare) {  // the next may need it in another place
    blocks = {};
    values = {};
  }
  for (;;) {
    if (!pending) {
      auto next = cursor.next();
      if (!next) batch.behind = std::move(next.error());
      if (!next || !*next || wanted.begins_before(**next)) return batch;
      if (!wanted.touches(**next)) continue;
      pending = std::move(*next);
    }
    const std::uint64_t held = held_for(*pending);
    const bool full = batch.decoded_bytes + pending->decoded_bytes >
                          backend.batch_size().bytes_of(pending->decoded_bytes) ||
                      batch.held_bytes + held > options.memory_limit ||
                      batch.chunks.size() == kMostChunksOfABatch;
    if (full && !batch.chunks.empty()) return batch;
    if (held > options.memory_limit) {
      batch.behind = over_limit(*pending, held);
      return batch;
    }
    auto added = add(batch, *pending);
    if (!added) batch.behind = std::move(added.error());
    if (!added || !*added) return batch;
    pending.reset();
  }
}

Result<void> RangeReader::Impl::decode(RangeBatch& batch, ProgressMeter& progress) {
  values.clear();
  if (!values.resize(static_cast<std::size_t>(batch.decoded_bytes)))
    return fail(Errc::out_of_memory, "no memory for the decoded bytes of a batch of chunks");
  const auto threads = static_cast<std::uint64_t>(cpu_threads(options.threads));
  const std::uint64_t at_once = std::min<std::uint64_t>(batch.chunks.size(), threads);
  const bool spread =
      batch.held_bytes + at_once * batch.scratch.bytes + threads * batch.scratch.more_bytes <=
      options.memory_limit;
  std::vector<DecodeJob> jobs(batch.chunks.size());
  std::size_t block_at = 0;
  std::size_t value_at = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const ChunkPlace& chunk = batch.chunks[i];
    jobs[i].block =
        std::as_const(blocks).all().subspan(block_at, static_cast<std::size_t>(chunk.block_bytes));
    jobs[i].parsed = std::move(batch.parsed[i]);
    jobs[i].alone = !spread;
    jobs[i].byte = chunk.byte;
    jobs[i].number = chunk.number;
    jobs[i].layout = chunk.layout.get();
    jobs[i].out = values.all().subspan(value_at, static_cast<std::size_t>(chunk.decoded_bytes));
    block_at += jobs[i].block.size();
    value_at += jobs[i].out.size();
  }
  if (auto decoded = backend.decode(jobs, options.verify, progress); !decoded) return decoded;
  for (DecodeJob& job : jobs) {
    if (job.error) return tl::unexpected(std::move(*job.error));
    batch.lengths.push_back(std::move(job.lengths));
  }
  return {};
}

/// Hands over what is wanted of the batch's values: all but some of the first and the last chunk.
Result<void> RangeReader::Impl::deliver(const RangeBatch& batch, const Wanted& wanted,
                                        const Sink& sink) {
  const ChunkPlace& first = batch.chunks.front();
  const ChunkPlace& last = batch.chunks.back();
  const std::uint64_t first_at = wanted.first_of(first);
  const std::uint64_t last_end = wanted.first_of(last) + wanted.count_of(last);
  const std::uint64_t before =
      wanted.begin > first_at ? (wanted.begin - first_at) * wanted.unit_bytes(first) : 0;
  const std::uint64_t behind =
      last_end > wanted.end ? (last_end - wanted.end) * wanted.unit_bytes(last) : 0;
  const auto bytes = std::as_const(values).all().subspan(
      static_cast<std::size_t>(before),
      static_cast<std::size_t>(batch.decoded_bytes - before - behind));
  return hand_on(bytes, sink);
}

/// Delivers of each chunk the records of the segments that are wanted, and where those end.
Result<void> RangeReader::Impl::deliver_segments(RangeBatch& batch, const Wanted& wanted,
                                                 const Sink& sink, const EndSink& ends) {
  std::uint64_t at = 0;  // of the chunk, in the decoded bytes of the batch
  for (std::size_t i = 0; i < batch.chunks.size(); ++i) {
    const ChunkPlace& chunk = batch.chunks[i];
    std::span<const std::uint32_t> lengths = batch.lengths[i];
    const std::uint64_t first = wanted.first_of(chunk);
    const auto before = static_cast<std::size_t>(std::max(wanted.begin, first) - first);
    const auto count =
        static_cast<std::size_t>(std::min(wanted.end, first + lengths.size()) - first) - before;
    const bool has_last = before + count == lengths.size();
    const std::uint64_t record_bytes = chunk.layout->record_bytes();
    const std::uint64_t passed = std::accumulate(
        lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(before), std::uint64_t{0});
    lengths = lengths.subspan(before, count);
    const std::uint64_t records = std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0});
    const int joins = has_last && chunk.segments.goes_on() ? format::kGoesOn : 0;
    const auto bytes =
        std::as_const(values).all().subspan(static_cast<std::size_t>(at + passed * record_bytes),
                                            static_cast<std::size_t>(records * record_bytes));
    if (auto handed = hand_on(bytes, sink); !handed) return handed;
    if (auto told = segment_ends.tell(
            lengths, {.lengths = count, .joins = static_cast<format::Byte>(joins)}, ends);
        !told)
      return told;
    at += chunk.decoded_bytes;
  }
  return {};
}

Result<void> RangeReader::Impl::hand_on(std::span<const std::byte> bytes, const Sink& sink) {
  if (bytes.empty()) return {};
  if (bytes.size() > options.output_limit - delivered_bytes)
    return tl::unexpected(output_over_limit(options.output_limit));
  delivered_bytes += bytes.size();
  return sink(bytes);
}

const char* name_of(CountedIn counted_in) {
  return counted_in == CountedIn::bytes     ? "decoded bytes"
         : counted_in == CountedIn::records ? "records"
                                            : "segments";
}

/// If the file is damaged, that is the reason why the range is not there.
Result<void> RangeReader::Impl::outside(const Wanted& wanted, std::uint64_t count) const {
  const auto walked = walk_file(read_at, file_bytes, options.memory_limit, UnknownModels::listed);
  if (!walked) return tl::unexpected(walked.error());
  return fail(Errc::invalid_argument,
              fmt::format("there are {} {}; the range {}:{} does not lie in them", count,
                          name_of(wanted.counted_in), wanted.begin, wanted.end));
}

Result<void> RangeReader::Impl::read(const Wanted& wanted, const Sink& sink, const EndSink& ends) {
  const FileTotals& totals = structure.totals();
  const std::uint64_t count = wanted.counted_in == CountedIn::records    ? totals.records
                              : wanted.counted_in == CountedIn::segments ? totals.segments
                                                                         : totals.decoded_bytes;
  if (wanted.begin > wanted.end || wanted.end > count) return outside(wanted, count);
  if (wanted.begin == wanted.end) return {};
  const std::uint64_t decoded_bytes =
      wanted.counted_in == CountedIn::bytes ? wanted.end - wanted.begin : totals.decoded_bytes;
  if (auto opened = backend.open(decoded_bytes); !opened) return opened;
  pending.reset();
  delivered_bytes = 0;
  segment_ends = {};
  ProgressMeter progress(options.progress, options.progress_user);
  const auto cursor =
      wanted.counted_in == CountedIn::records    ? structure.from_record(read_at, wanted.begin)
      : wanted.counted_in == CountedIn::segments ? structure.from_segment(read_at, wanted.begin)
                                                 : structure.from_byte(read_at, wanted.begin);
  for (;;) {
    auto batch = collect(*cursor, wanted);
    if (!batch.chunks.empty()) {
      if (auto decoded = decode(batch, progress); !decoded) return decoded;
      auto delivered = wanted.counted_in == CountedIn::segments
                           ? deliver_segments(batch, wanted, sink, ends)
                           : deliver(batch, wanted, sink);
      if (!delivered) return delivered;
      last_held = batch.held_bytes;
    }
    if (batch.behind) return tl::unexpected(std::move(*batch.behind));
    if (batch.chunks.empty()) return {};
  }
}

RangeReader::RangeReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RangeReader::RangeReader(RangeReader&&) noexcept = default;
RangeReader& RangeReader::operator=(RangeReader&&) noexcept = default;
RangeReader::~RangeReader() = default;

Result<RangeReader> RangeReader::open(ReadAt read_at, std::uint64_t file_bytes,
                                      DecodeOptions options) {
  try {
    auto impl = std::make_unique<Impl>(std::move(read_at), file_bytes, std::move(options));
    auto structure = FileStructure::read(impl->read_at, file_bytes, impl->options.memory_limit);
    if (!structure) return tl::unexpected(std::move(structure.error()));
    impl->structure = std::move(*structure);
    return RangeReader(std::move(impl));
  } catch (const std::bad_alloc&) {
    return fail(Errc::out_of_memory, "no memory for the structure of the file");
  }
}

const FileTotals& RangeReader::totals() const { return impl_->structure.totals(); }

Result<void> RangeReader::read(std::uint64_t begin, std::uint64_t end, const Sink& sink) {
  try {
    return impl_->read({begin, end, CountedIn::bytes}, sink);
  } catch (const std::bad_alloc&) {
    return fail(Errc::out_of_memory, "no memory to decompress");
  }
}

Result<void> RangeReader::read_records(std::uint64_t begin, std::uint64_t end, const Sink& sink) {
  try {
    return impl_->read({begin, end, CountedIn::records}, sink);
  } catch (const std::bad_alloc&) {
    return fail(Errc::out_of_memory, "no memory to decompress");
  }
}

Result<void> RangeReader::read_segments(std::uint64_t begin, std::uint64_t end, const Sink& sink,
                                        const EndSink& ends) {
  try {
    return impl_->read({begin, end, CountedIn::segments}, sink, ends);
  } catch (const std::bad_alloc&) {
    return fail(Errc::out_of_memory, "no memory to decompress");
  }
}

std::string RangeReader::device() const { return impl_->backend.name(); }
std::vector<std::string> RangeReader::take_warnings() { return impl_->backend.take_warnings(); }

Result<void> read_range(const ReadAt& read_at, std::uint64_t file_bytes, std::uint64_t begin,
                        std::uint64_t end, const Sink& sink, const DecodeOptions& options) {
  auto reader = RangeReader::open(read_at, file_bytes, options);
  if (!reader) return tl::unexpected(std::move(reader.error()));
  return reader->read(begin, end, sink);
}

}  // namespace gdelta
