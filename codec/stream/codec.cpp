#include "gdelta/codec.h"

#include <fmt/core.h>

#include <algorithm>

#include "codec/stream/encode_plan.h"
#include "codec/stream/fresh_memory.h"
#include "codec/stream/input_planner.h"
#include "codec/stream/memory_batches.h"
#include "codec/stream/memory_decoder.h"
#include "codec/stream/memory_sinks.h"
#include "codec/stream/stream_emitter.h"
#include "gdelta/stream.h"

namespace gdelta {

namespace {

// ---- compress

/// What a look may see of `rest`.
std::span<const std::byte> ahead_of(const InputPlanner& planner, std::span<const std::byte> rest) {
  return rest.first(std::min(rest.size(), planner.look_bytes()));
}

/// Chunks of one call of the backend.
struct MemoryBatch {
  std::vector<EncodeJob> jobs;
  std::vector<std::shared_ptr<const Layout>> layouts;  // keeps those of the jobs
  std::uint64_t bytes = 0;

  void clear() {
    jobs.clear();
    layouts.clear();
    bytes = 0;
  }
};

/// The same chunks as a Writer's, in jobs that refer to `values`: nothing is copied.
class MemoryEncoder {
 public:
  MemoryEncoder(StreamSink& sink, const EncodeOptions& options, const EncodeBudget& budget)
      : planner_(options), cutter_(chunk_bytes_of(options)), batches_(sink, options, budget) {}

  Result<void> run(std::span<const std::byte> values) {
    if (auto opened = batches_.open(values.size()); !opened) return opened;
    know_next_chunk(values);
    batches_.emitter().describe(planner_.metadata(), planner_.note());
    while (!values.empty()) {
      know_next_chunk(values);
      if (batches_.is_full_before(cutter_.next().bytes))
        if (auto sent = batches_.send(planner_.settings(), values.size()); !sent) return sent;
      values = values.subspan(add_chunk(values));
    }
    return batches_.finish(planner_.settings());
  }

 private:
  void know_next_chunk(std::span<const std::byte> rest) {
    while (cutter_.is_open() && cutter_.next().bytes < rest.size()) {
      const auto unknown = rest.subspan(static_cast<std::size_t>(cutter_.next().bytes));
      cutter_.extend(planner_.look(ahead_of(planner_, unknown), unknown.size()));
    }
  }

  std::size_t add_chunk(std::span<const std::byte> rest) {
    MemoryBatch& batch = batches_.collecting();
    const ChunkExtents extents =
        cutter_.cut(std::min<std::uint64_t>(cutter_.next().bytes, rest.size()));
    std::size_t added = 0;
    for (const ChunkExtent& extent : {extents.first, extents.second}) {
      if (extent.bytes == 0) continue;
      const auto bytes = static_cast<std::size_t>(extent.bytes);
      if (!extent.opaque) batch.layouts.push_back(planner_.layout());
      batch.jobs.push_back({.values = rest.subspan(added, bytes),
                            .layout = extent.opaque ? &byte_layout() : planner_.layout().get(),
                            .opaque = extent.opaque,
                            .block = {},
                            .rows = planner_.rows()});
      added += bytes;
    }
    batch.bytes += added;
    return added;
  }

  InputPlanner planner_;
  ChunkCutter cutter_;
  MemoryBatches<MemoryBatch> batches_;
};

Result<void> compress_to(StreamSink& sink, std::span<const std::byte> values,
                         const EncodeOptions& options) {
  if (auto checked = check_options(options); !checked) return checked;
  if (values.empty()) {
    StreamEmitter emitter(sink);
    emitter.describe(options.metadata, {});
    return emitter.finish();
  }
  const auto budget = encode_budget(options, false);
  if (!budget) return tl::unexpected(budget.error());
  return MemoryEncoder(sink, options, *budget).run(values);
}

}  // namespace

Result<FoundLayout> find_layout(std::span<const std::byte> values, const EncodeOptions& options) {
  if (auto checked = check_options(options); !checked)
    return tl::unexpected(std::move(checked.error()));
  return with_memory_errors<FoundLayout>([&]() -> Result<FoundLayout> {
    InputPlanner planner(options);
    planner.look(ahead_of(planner, values), values.size());
    return FoundLayout{*planner.layout(), planner.origin()};
  });
}

std::string_view origin_sentence(std::string_view origin) {
  if (origin == kGivenOrigin) return "given";
  if (origin == kFoundOrigin) return "found in a sample";
  return format::recognised_sentence(origin);
}

std::uint64_t compress_bound(std::uint64_t bytes, const EncodeOptions& options) {
  // Fields of a chunk's block and of its index entry at their longest; a model up to its checks; the
  // checks of parts, which have about 4096 values.
  constexpr std::uint64_t kChunkFraming = 1 + 4 + 5 + 5 + 1 + 4 + (1 + 5 + 4 + 5);
  constexpr std::uint64_t kModelBytes = 3 + 5 + 1 + 2 + 4;
  constexpr std::uint64_t kShortestPart = 3072;
  constexpr std::uint64_t kStreamFraming = 64;
  constexpr std::uint64_t kForeignMetadata = 32;
  // Rounding to whole records takes at most half of a chunk's bytes; heads, tails and torn records
  // add chunks of their own.
  const std::uint64_t chunks = bytes / std::max<std::uint64_t>(chunk_bytes_of(options) / 2, 1) + 4;
  const std::uint64_t columns =
      options.layout ? options.layout->columns.size()
                     : std::min<std::uint64_t>(kMaxColumns, std::max<std::uint64_t>(bytes, 1));
  // A column of a chunk has a byte at least.
  const std::uint64_t models = kModelBytes * std::min(chunks * columns, bytes);
  const std::uint64_t layouts = 2 * (2 * columns + 16);
  // Arrays behind the first are as long as it takes for their blocks to be within a share of them.
  const std::uint64_t more_arrays = options.layout ? 0 : bytes / 16;
  std::uint64_t metadata = kForeignMetadata;
  for (const MetadataEntry& entry : options.metadata)
    metadata += 2 + 3 + entry.key.size() + entry.value.size();
  return bytes + 2 * metadata + 4 * (bytes / kShortestPart) + chunks * kChunkFraming + models +
         layouts + kStreamFraming + more_arrays;
}

Result<std::vector<std::byte>> compress(std::span<const std::byte> values,
                                        const EncodeOptions& options) {
  return with_memory_errors<std::vector<std::byte>>([&]() -> Result<std::vector<std::byte>> {
    std::vector<std::byte> out;
    VectorSink sink(out, options.threads);
    if (auto done = compress_to(sink, values, options); !done)
      return tl::unexpected(std::move(done.error()));
    if (out.capacity() / 2 > out.size()) out.shrink_to_fit();  // more was expected
    return out;
  });
}

Result<std::uint64_t> compress_into(std::span<const std::byte> values, std::span<std::byte> out,
                                    const EncodeOptions& options) {
  return with_memory_errors<std::uint64_t>([&]() -> Result<std::uint64_t> {
    Workers workers(cpu_threads(options.threads));
    RoomSink sink(out, workers);
    if (auto done = compress_to(sink, values, options); !done)
      return tl::unexpected(std::move(done.error()));
    return sink.used();
  });
}

Result<std::vector<std::byte>> decompress(std::span<const std::byte> bytes,
                                          const DecodeOptions& options) {
  return with_memory_errors<std::vector<std::byte>>([&]() -> Result<std::vector<std::byte>> {
    WholeNeed need = need_of(bytes, options.memory_limit);
    if (auto checked = check_limits(need, need.decoded_bytes, options); !checked)
      return tl::unexpected(std::move(checked.error()));
    const auto size = static_cast<std::size_t>(need.decoded_bytes);
    std::vector<std::byte> out;
    fresh_room(out, size, options.threads);
    out.resize(size);
    const std::uint64_t left = options.memory_limit - need.decoded_bytes;
    if (auto done = MemoryDecoder(bytes, out, options, left).run(std::move(need.chunks)); !done)
      return tl::unexpected(std::move(done.error()));
    return out;
  });
}

Result<std::uint64_t> decompress_into(std::span<const std::byte> bytes, std::span<std::byte> out,
                                      const DecodeOptions& options) {
  return with_memory_errors<std::uint64_t>([&]() -> Result<std::uint64_t> {
    WholeNeed need = need_of(bytes, options.memory_limit);
    if (need.decoded_bytes > out.size())
      return fail(Errc::output_too_small, fmt::format("the stream decodes to {} bytes, there is "
                                                      "room for {}",
                                                      need.decoded_bytes, out.size()));
    if (auto checked = check_limits(need, 0, options); !checked)
      return tl::unexpected(std::move(checked.error()));
    const auto room = out.first(static_cast<std::size_t>(need.decoded_bytes));
    MemoryDecoder decoder(bytes, room, options, options.memory_limit);
    if (auto done = decoder.run(std::move(need.chunks)); !done)
      return tl::unexpected(std::move(done.error()));
    return need.decoded_bytes;
  });
}

Result<std::vector<std::byte>> decompress_range(std::span<const std::byte> bytes,
                                                std::uint64_t begin, std::uint64_t end,
                                                const DecodeOptions& options) {
  return with_memory_errors<std::vector<std::byte>>([&]() -> Result<std::vector<std::byte>> {
    auto reader = RangeReader::open(read_from(bytes), bytes.size(), options);
    if (!reader) return tl::unexpected(std::move(reader.error()));
    std::vector<std::byte> out;
    if (begin <= end && end <= reader->totals().decoded_bytes &&
        end - begin <= options.output_limit)
      reserve_if_possible(out, end - begin);  // if not, it grows
    const Sink append = [&](std::span<const std::byte> values) -> Result<void> {
      if (out.capacity() - out.size() >= values.size())
        populate(out.data() + out.size(), values.size(), options.threads);
      out.insert(out.end(), values.begin(), values.end());
      return {};
    };
    if (auto done = reader->read(begin, end, append); !done)
      return tl::unexpected(std::move(done.error()));
    return out;
  });
}

std::string_view library_version() { return GDELTA_VERSION; }

}  // namespace gdelta
