#include "gdelta/codec.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <new>

#include "codec/backend/steady_backend.h"
#include "codec/stream/decode_load.h"
#include "codec/stream/encode_budget.h"
#include "codec/stream/encode_plan.h"
#include "codec/stream/stream_emitter.h"
#include "codec/stream/walk/block_stream.h"
#include "gdelta/stream.h"

namespace gdelta {

namespace {

// ---- compress

/// Encodes the collected jobs and appends them.
Result<void> encode_jobs(SteadyBackend& backend, std::vector<EncodeJob>& jobs,
                         const EncodeSettings& settings, StreamEmitter& emitter,
                         ProgressMeter& progress) {
  if (auto encoded = backend.encode(jobs, settings, progress); !encoded) return encoded;
  for (const EncodeJob& job : jobs)
    if (auto put = emitter.emit(job); !put) return put;
  jobs.clear();
  return {};
}

PlannedInput plan_whole_input(const EncodeOptions& options, std::span<const std::byte> values) {
  return plan_input(options, values.first(std::min(values.size(), kSampleBytes)), values.size());
}

/// The same chunks as a Writer's, in jobs that refer to `values`: nothing is copied.
Result<void> compress_to(const Sink& sink, std::span<const std::byte> values,
                         const EncodeOptions& options) {
  if (auto checked = check_options(options); !checked) return checked;
  StreamEmitter emitter(sink);
  if (values.empty()) return emitter.finish();
  const auto budget = encode_budget(options, false);
  if (!budget) return tl::unexpected(budget.error());
  SteadyBackend backend(budget->device, budget->threads);
  if (auto opened = backend.open(values.size()); !opened) return opened;
  const std::uint64_t most = std::min(backend.batch_bytes(), budget->batch_bytes);
  const PlannedInput planned = plan_whole_input(options, values);
  ChunkCutter cutter(planned.plan, chunk_bytes_of(options));
  const EncodeSettings settings = encode_settings(options, planned);
  ProgressMeter progress(options.progress, options.progress_user);
  std::vector<EncodeJob> jobs;
  std::uint64_t batch_bytes = 0;
  for (std::span<const std::byte> rest = values; !rest.empty();) {
    const Pieces pieces = cutter.cut(std::min<std::uint64_t>(cutter.next().bytes, rest.size()));
    for (const Piece& piece : {pieces.first, pieces.second}) {
      if (piece.bytes == 0) continue;
      const auto bytes = static_cast<std::size_t>(piece.bytes);
      jobs.push_back({rest.first(bytes),
                      piece.opaque ? &byte_layout() : &planned.plan.layout,
                      piece.opaque,
                      {}});
      rest = rest.subspan(bytes);
      batch_bytes += bytes;
    }
    if (!rest.empty() && batch_bytes + cutter.next().bytes <= most &&
        jobs.size() < kMostChunksToEncode)
      continue;
    if (auto encoded = encode_jobs(backend, jobs, settings, emitter, progress); !encoded)
      return encoded;
    batch_bytes = 0;
  }
  return emitter.finish();
}

// ---- decompress

/// What a file asks for, as far as its structure holds.
struct WholeNeed {
  std::uint64_t decoded_bytes = 0;  // at most the largest number there is
  std::uint64_t work_bytes = 0;     // of the chunk that needs most, beside block and values
};

WholeNeed need_of(const ReadAt& read_at, std::uint64_t file_bytes, std::uint64_t memory_limit) {
  FileInput input(read_at, file_bytes);
  BlockStream blocks(input, memory_limit);
  WholeNeed need;
  for (;;) {
    const auto chunk = blocks.next();
    if (!chunk || !*chunk || !blocks.skip_payload(**chunk)) return need;
    DecodeLoad alone(1);
    alone.add(**chunk);
    need.work_bytes = std::max(need.work_bytes, alone.work_bytes());
    need.decoded_bytes += std::min((*chunk)->decoded_bytes,
                                   std::numeric_limits<std::uint64_t>::max() - need.decoded_bytes);
  }
}

Result<void> check_limits(const WholeNeed& need, std::uint64_t held_bytes,
                          const DecodeOptions& options) {
  if (need.decoded_bytes > options.output_limit)
    return fail(Errc::output_limit,
                fmt::format("the stream decodes to {} bytes, more than the {} allowed: raise the "
                            "limit on the output",
                            need.decoded_bytes, options.output_limit));
  if (held_bytes > options.memory_limit || need.work_bytes > options.memory_limit - held_bytes)
    return fail(Errc::memory_limit,
                fmt::format("decoding the stream into {} bytes takes {} more, which is beyond the "
                            "memory limit of {}: raise the limit or use a Reader",
                            need.decoded_bytes, need.work_bytes, options.memory_limit));
  return {};
}

/// Decodes straight from `bytes` into `out`, which holds what they decode to.
class MemoryDecoder {
 public:
  /// Beside `out`, decoding may hold `memory_left` bytes.
  MemoryDecoder(std::span<const std::byte> bytes, std::span<std::byte> out,
                const DecodeOptions& options, std::uint64_t memory_left)
      : bytes_(bytes),
        out_(out),
        options_(options),
        memory_left_(memory_left),
        backend_(options.device, options.threads),
        progress_(options.progress, options.progress_user),
        load_(cpu_threads(options.threads)) {}

  Result<void> run() {
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
      if (auto added = add(**chunk); !added) return added;
    }
  }

 private:
  Result<void> add(const ChunkBlock& chunk) {
    if (jobs_.empty())
      if (auto opened = backend_.open(out_.size()); !opened) return opened;
    const auto decoded_bytes = static_cast<std::size_t>(chunk.decoded_bytes);
    DecodeLoad more = load_;
    more.add(chunk);
    const bool full = batch_bytes_ + decoded_bytes > backend_.batch_bytes() ||
                      more.chunks() > kMostChunksOfABatch || more.work_bytes() > memory_left_;
    if (!jobs_.empty() && full)
      if (auto decoded = decode_batch(); !decoded) return decoded;
    load_.add(chunk);
    DecodeJob job;
    job.block = bytes_.subspan(static_cast<std::size_t>(chunk.byte),
                               static_cast<std::size_t>(chunk.block_bytes()));
    job.byte = chunk.byte;
    job.number = chunk.number;
    job.layout = chunk.layout.get();
    job.out = out_.subspan(done_bytes_ + batch_bytes_, decoded_bytes);
    jobs_.push_back(std::move(job));
    layouts_.push_back(chunk.layout);
    batch_bytes_ += decoded_bytes;
    return {};
  }

  Result<void> decode_batch() {
    if (jobs_.empty()) return {};
    if (auto decoded = backend_.decode(jobs_, options_.verify, progress_); !decoded) return decoded;
    for (DecodeJob& job : jobs_)
      if (job.error) return tl::unexpected(std::move(*job.error));
    done_bytes_ += batch_bytes_;
    batch_bytes_ = 0;
    jobs_.clear();
    layouts_.clear();
    load_ = DecodeLoad(cpu_threads(options_.threads));
    return {};
  }

  Result<void> after_batch(Error error) {
    if (auto decoded = decode_batch(); !decoded) return decoded;
    return tl::unexpected(std::move(error));
  }

  std::span<const std::byte> bytes_;
  std::span<std::byte> out_;
  const DecodeOptions& options_;
  std::uint64_t memory_left_;
  SteadyBackend backend_;
  ProgressMeter progress_;
  DecodeLoad load_;
  std::vector<DecodeJob> jobs_;
  std::vector<std::shared_ptr<const Layout>> layouts_;  // keeps those of the jobs
  std::size_t batch_bytes_ = 0;
  std::size_t done_bytes_ = 0;
};

template <class Value, class Call>
Result<Value> with_memory_errors(Call call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return fail(Errc::out_of_memory, "no memory for the result");
  }
}

}  // namespace

Result<FoundLayout> find_layout(std::span<const std::byte> values, const EncodeOptions& options) {
  if (auto checked = check_options(options); !checked)
    return tl::unexpected(std::move(checked.error()));
  return with_memory_errors<FoundLayout>([&]() -> Result<FoundLayout> {
    PlannedInput planned = plan_whole_input(options, values);
    return FoundLayout{std::move(planned.plan.layout), planned.origin};
  });
}

std::uint64_t compress_bound(std::uint64_t bytes, const EncodeOptions& options) {
  // Fields of a chunk's head and of its index entry at their longest, and one byte of model a
  // column.
  constexpr std::uint64_t kChunkFraming = 1 + 4 + 5 + 5 + 8 + 4 + (1 + 5 + 5);
  constexpr std::uint64_t kStreamFraming = 64;
  // Rounding to whole records takes at most half of a chunk's bytes; heads, tails and torn records
  // add chunks of their own.
  const std::uint64_t chunks = bytes / std::max<std::uint64_t>(chunk_bytes_of(options) / 2, 1) + 4;
  const std::uint64_t columns =
      options.layout ? options.layout->columns.size()
                     : std::min<std::uint64_t>(kMaxColumns, std::max<std::uint64_t>(bytes, 1));
  const std::uint64_t layouts = 2 * (2 * columns + 16);
  return bytes + chunks * (kChunkFraming + columns) + layouts + kStreamFraming;
}

Result<std::vector<std::byte>> compress(std::span<const std::byte> values,
                                        const EncodeOptions& options) {
  return with_memory_errors<std::vector<std::byte>>([&]() -> Result<std::vector<std::byte>> {
    std::vector<std::byte> out;
    const Sink append = [&out](std::span<const std::byte> bytes) -> Result<void> {
      out.insert(out.end(), bytes.begin(), bytes.end());
      return {};
    };
    if (auto done = compress_to(append, values, options); !done)
      return tl::unexpected(std::move(done.error()));
    return out;
  });
}

Result<std::vector<std::byte>> decompress(std::span<const std::byte> bytes,
                                          const DecodeOptions& options) {
  return with_memory_errors<std::vector<std::byte>>([&]() -> Result<std::vector<std::byte>> {
    const WholeNeed need = need_of(read_from(bytes), bytes.size(), options.memory_limit);
    if (auto checked = check_limits(need, need.decoded_bytes, options); !checked)
      return tl::unexpected(std::move(checked.error()));
    std::vector<std::byte> out(static_cast<std::size_t>(need.decoded_bytes));
    const std::uint64_t left = options.memory_limit - need.decoded_bytes;
    if (auto done = MemoryDecoder(bytes, out, options, left).run(); !done)
      return tl::unexpected(std::move(done.error()));
    return out;
  });
}

Result<std::uint64_t> decompress_into(std::span<const std::byte> bytes, std::span<std::byte> out,
                                      const DecodeOptions& options) {
  return with_memory_errors<std::uint64_t>([&]() -> Result<std::uint64_t> {
    const WholeNeed need = need_of(read_from(bytes), bytes.size(), options.memory_limit);
    if (need.decoded_bytes > out.size())
      return fail(Errc::output_too_small, fmt::format("the stream decodes to {} bytes, there is "
                                                      "room for {}",
                                                      need.decoded_bytes, out.size()));
    if (auto checked = check_limits(need, 0, options); !checked)
      return tl::unexpected(std::move(checked.error()));
    const auto room = out.first(static_cast<std::size_t>(need.decoded_bytes));
    if (auto done = MemoryDecoder(bytes, room, options, options.memory_limit).run(); !done)
      return tl::unexpected(std::move(done.error()));
    return need.decoded_bytes;
  });
}

Result<std::vector<std::byte>> decompress_range(std::span<const std::byte> bytes,
                                                std::uint64_t begin, std::uint64_t end,
                                                const DecodeOptions& options) {
  return with_memory_errors<std::vector<std::byte>>([&]() -> Result<std::vector<std::byte>> {
    std::vector<std::byte> out;
    const Sink append = [&out](std::span<const std::byte> values) -> Result<void> {
      out.insert(out.end(), values.begin(), values.end());
      return {};
    };
    if (auto done = read_range(read_from(bytes), bytes.size(), begin, end, append, options); !done)
      return tl::unexpected(std::move(done.error()));
    return out;
  });
}

std::string_view library_version() { return GDELTA_VERSION; }

}  // namespace gdelta
