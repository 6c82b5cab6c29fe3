#include "codec/stream/memory_decoder.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "codec/stream/decode_load.h"
#include "codec/stream/walk/byte_input.h"
#include "codec/stream/walk/memory_words.h"

namespace gdelta {
namespace {

/// Chunks that wait may take so much of what decoding may hold.
constexpr std::uint64_t kShareOfWaiting = 16;

/// What a chunk that waits takes.
std::uint64_t waiting_bytes(const ChunkBlock& chunk) {
  return sizeof chunk + chunk.head.size() + parsed_chunk_bytes(*chunk.layout);
}

void add_up_to_most(std::uint64_t& sum, std::uint64_t more) {
  sum += std::min(more, std::numeric_limits<std::uint64_t>::max() - sum);
}

std::uint64_t segments_begun(const format::ParsedChunk& chunk) {
  return chunk.segments.lengths > 0 ? chunk.segments.begun() : 0;
}

}  // namespace

std::uint64_t WholeNeed::bytes_with_offsets() const {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max(), kOffset = 8;
  std::uint64_t bytes = decoded_bytes;
  add_up_to_most(bytes, segments < kMost / kOffset ? (segments + 1) * kOffset : kMost);
  return bytes;
}

WholeNeed need_of(std::span<const std::byte> bytes, std::uint64_t memory_limit) {
  const ReadAt read_at = read_from(bytes);
  FileInput input(read_at, bytes.size());
  BlockStream blocks(input, memory_limit);
  WholeNeed need;
  std::vector<ChunkBlock> waiting;
  const std::uint64_t most_waiting = std::min(kMostNotesOfABatch, memory_limit / kShareOfWaiting);
  std::uint64_t all_waiting = 0;
  for (;;) {
    auto chunk = blocks.next();
    if (!chunk) return need;
    if (!*chunk) break;
    if (!blocks.skip_payload(**chunk)) return need;
    DecodeLoad alone(1);
    alone.add(**chunk);
    need.work_bytes = std::max(need.work_bytes, alone.work_bytes());
    add_up_to_most(need.decoded_bytes, (*chunk)->decoded_bytes);
    add_up_to_most(need.segments, segments_begun((*chunk)->parsed));
    all_waiting += waiting_bytes(**chunk);
    if ((*chunk)->number == 0 || all_waiting <= most_waiting)
      waiting.push_back(std::move(**chunk));
    else
      waiting.clear();
  }
  need.chunks = std::move(waiting);
  return need;
}

Result<void> check_limits(const WholeNeed& need, std::uint64_t held_bytes,
                          const DecodeOptions& options) {
  if (need.decoded_bytes > options.output_limit)
    return tl::unexpected(output_over_limit(options.output_limit));
  if (held_bytes > options.memory_limit || need.work_bytes > options.memory_limit - held_bytes)
    return fail(Errc::memory_limit,
                fmt::format("decoding the stream into {} takes {} more, which is beyond the memory "
                            "limit of {}: raise the limit or use a Reader",
                            needed_memory(std::max(held_bytes, need.decoded_bytes)),
                            needed_memory(need.work_bytes), allowed_memory(options.memory_limit)));
  return {};
}

MemoryDecoder::MemoryDecoder(std::span<const std::byte> bytes, std::span<std::byte> out,
                             const DecodeOptions& options, std::uint64_t memory_left,
                             const EndSink& ends)
    : bytes_(bytes),
      out_(out),
      options_(options),
      memory_left_(memory_left),
      ends_(ends),
      backend_(options.device, options.threads),
      progress_(options.progress, options.progress_user),
      batch_(cpu_threads(options.threads)) {}

Result<void> MemoryDecoder::run(std::vector<ChunkBlock>&& known) {
  if (!known.empty()) {
    for (ChunkBlock& chunk : known)
      if (auto added = add(std::move(chunk)); !added) return added;
    return decode_batch();
  }
  const ReadAt read_at = read_from(bytes_);
  FileInput input(read_at, bytes_.size());
  BlockStream blocks(input, memory_left_);
  for (;;) {
    auto chunk = blocks.next();
    // What stands before a damaged place is decoded first: the lowest chunk that fails is told.
    if (!chunk) return after_batch(std::move(chunk.error()));
    if (!*chunk) return decode_batch();
    if (auto skipped = blocks.skip_payload(**chunk); !skipped)
      return after_batch(std::move(skipped.error()));
    if (auto added = add(std::move(**chunk)); !added) return added;
  }
}

Result<void> MemoryDecoder::add(ChunkBlock&& chunk) {
  if (batch_.empty())
    if (auto opened = backend_.open(out_.size()); !opened) return opened;
  const BatchSize size = backend_.batch_size();
  const bool full = batch_.is_full_for(chunk, std::max(size.most_bytes, size.most_decoded_bytes)) ||
                    batch_.work_bytes_with(chunk) > memory_left_;
  if (!batch_.empty() && full)
    if (auto decoded = decode_batch(); !decoded) return decoded;
  const auto block = bytes_.subspan(static_cast<std::size_t>(chunk.byte),
                                    static_cast<std::size_t>(chunk.block_bytes()));
  const auto values = out_.subspan(done_bytes_, static_cast<std::size_t>(chunk.decoded_bytes));
  done_bytes_ += values.size();
  batch_.add(std::move(chunk), block, values);
  return {};
}

Result<void> MemoryDecoder::decode_batch() {
  if (batch_.empty()) return {};
  batch_.spread_within(memory_left_);
  if (auto decoded = batch_.decode(backend_, options_.verify, progress_); !decoded) return decoded;
  if (ends_)
    if (auto told = segment_ends_.tell(batch_, ends_); !told) return told;
  const std::size_t good = batch_.good_chunks();
  if (good < batch_.size()) return tl::unexpected(*batch_.error_of(good));
  batch_.clear(true);
  return {};
}

Result<void> MemoryDecoder::after_batch(Error error) {
  if (auto decoded = decode_batch(); !decoded) return decoded;
  return tl::unexpected(std::move(error));
}

}  // namespace gdelta
