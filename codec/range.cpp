#include <fmt/core.h>

#include <algorithm>
#include <new>

#include "byte_buffer.h"
#include "byte_input.h"
#include "file_structure.h"
#include "formats/gdelta/block_frame.h"
#include "formats/gdelta/chunk_block.h"
#include "gdelta/stream.h"
#include "steady_backend.h"

namespace gdelta {

namespace {

Error error_in(const ChunkPlace& chunk, std::uint64_t number, Errc code, std::string message) {
  return {code, std::move(message), number, chunk.byte};
}

/// Reads and checks the block of a chunk; what it says must be what the structure said.
Result<void> read_block(const ReadAt& read_at, const ChunkPlace& chunk, std::uint64_t number,
                        std::span<std::byte> block) {
  const auto got = read_fully(read_at, chunk.byte, block);
  if (!got) return tl::unexpected(got.error());
  const auto tag = chunk.opaque ? format::BlockTag::opaque_chunk : format::BlockTag::chunk;
  const auto contradiction = [&] {
    return tl::unexpected(
        error_in(chunk, number, Errc::corrupt, "the chunk is not what the index says it is"));
  };
  if (*got == 0 || block[0] != static_cast<std::byte>(tag)) return contradiction();
  auto parsed = format::parse_chunk_block(block.first(*got), chunk.byte, *chunk.layout);
  if (!parsed) {
    parsed.error().chunk = number;
    return tl::unexpected(std::move(parsed.error()));
  }
  if (parsed->block_bytes != chunk.block_bytes || parsed->head.records != chunk.records)
    return contradiction();
  return {};
}

/// Decodes chunks first … last - 1 in batches and hands bytes [begin, end) to the sink.
class RangeReader {
 public:
  RangeReader(const ReadAt& read_at, const FileStructure& structure, const DecodeOptions& options)
      : read_at_(read_at),
        structure_(structure),
        options_(options),
        backend_(options.device, options.threads),
        progress_(options.progress, options.progress_user) {}

  Result<void> read(std::uint64_t begin, std::uint64_t end, const Sink& sink) {
    if (begin == end) return {};
    if (auto opened = backend_.open(end - begin); !opened) return opened;
    const auto& chunks = structure_.chunks;
    auto chunk = std::upper_bound(chunks.begin(), chunks.end(), begin,
                                  [](std::uint64_t at, const ChunkPlace& place) {
                                    return at < place.decoded_at;
                                  }) -
                 1;
    while (chunk != chunks.end() && chunk->decoded_at < end) {
      const auto last = end_of_batch(chunk, end);
      if (last == chunk) return tl::unexpected(over_limit(*chunk));
      if (auto decoded = decode({chunk, last}, begin, end, sink); !decoded) return decoded;
      chunk = last;
    }
    return {};
  }

 private:
  using ChunkIterator = std::vector<ChunkPlace>::const_iterator;

  /// The first chunk that the batch and the memory limit do not hold any more; `first` itself where
  /// it alone exceeds the limit.
  ChunkIterator end_of_batch(ChunkIterator first, std::uint64_t end) const {
    std::uint64_t decoded = 0;
    std::uint64_t left = options_.memory_limit;
    ChunkIterator last = first;
    for (; last != structure_.chunks.end() && last->decoded_at < end; ++last) {
      const std::uint64_t needed = last->block_bytes + last->decoded_bytes;
      const bool batch_is_full =
          last != first && decoded + last->decoded_bytes > backend_.batch_bytes();
      if (batch_is_full || needed > left) break;
      decoded += last->decoded_bytes;
      left -= needed;
    }
    return last;
  }

  Error over_limit(const ChunkPlace& chunk) const {
    return error_in(chunk, static_cast<std::uint64_t>(&chunk - structure_.chunks.data()),
                    Errc::memory_limit,
                    fmt::format("decoding this chunk takes {} bytes, more than the memory limit of "
                                "{}: raise the limit",
                                chunk.block_bytes + chunk.decoded_bytes, options_.memory_limit));
  }

  Result<void> decode(std::span<const ChunkPlace> batch, std::uint64_t begin, std::uint64_t end,
                      const Sink& sink) {
    const auto first_number = static_cast<std::uint64_t>(batch.data() - structure_.chunks.data());
    std::uint64_t block_bytes = 0;
    std::uint64_t value_bytes = 0;
    for (const ChunkPlace& chunk : batch) {
      block_bytes += chunk.block_bytes;
      value_bytes += chunk.decoded_bytes;
    }
    if (!blocks_.resize(block_bytes) || !values_.resize(value_bytes))
      return fail(Errc::out_of_memory, "no memory for the decoded bytes of a batch of chunks");
    std::vector<DecodeJob> jobs(batch.size());
    std::optional<Error> unreadable;
    std::size_t block_at = 0;
    std::size_t value_at = 0;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const ChunkPlace& chunk = batch[i];
      const auto block = blocks_.all().subspan(block_at, chunk.block_bytes);
      if (auto read = read_block(read_at_, chunk, first_number + i, block); !read) {
        unreadable = read.error();
        jobs.resize(i);
        break;
      }
      jobs[i].block = block;
      jobs[i].byte = chunk.byte;
      jobs[i].number = first_number + i;
      jobs[i].layout = chunk.layout.get();
      jobs[i].out = values_.all().subspan(value_at, chunk.decoded_bytes);
      block_at += block.size();
      value_at += jobs[i].out.size();
    }
    if (auto decoded = backend_.decode(jobs, options_.verify, progress_); !decoded) return decoded;
    for (const DecodeJob& job : jobs)
      if (job.error) return tl::unexpected(*job.error);
    if (unreadable) return tl::unexpected(*unreadable);
    const std::uint64_t values_begin = batch.front().decoded_at;
    const std::uint64_t from = std::max(begin, values_begin) - values_begin;
    const std::uint64_t to = std::min(end - values_begin, value_bytes);
    return sink(std::as_const(values_).all().subspan(from, to - from));
  }

  const ReadAt& read_at_;
  const FileStructure& structure_;
  const DecodeOptions& options_;
  SteadyBackend backend_;
  ProgressMeter progress_;
  ByteBuffer blocks_;
  ByteBuffer values_;
};

}  // namespace

Result<void> read_range(const ReadAt& read_at, std::uint64_t file_bytes, std::uint64_t begin,
                        std::uint64_t end, const Sink& sink, const DecodeOptions& options) {
  try {
    const auto structure = read_structure(read_at, file_bytes);
    if (!structure) return tl::unexpected(structure.error());
    if (begin > end || end > structure->decoded_bytes)
      return fail(Errc::invalid_argument,
                  fmt::format("the range {}:{} does not lie in the {} decoded bytes", begin, end,
                              structure->decoded_bytes));
    return RangeReader(read_at, *structure, options).read(begin, end, sink);
  } catch (const std::bad_alloc&) {
    return fail(Errc::out_of_memory, "no memory to decompress");
  }
}

}  // namespace gdelta
