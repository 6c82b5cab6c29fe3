#include "codec/stream/segments_encoder.h"

#include <vector>

#include "codec/chunk/chunk_sizes.h"
#include "codec/coders/workers.h"
#include "codec/stream/encode_plan.h"
#include "codec/stream/memory_batches.h"
#include "codec/stream/segment_options.h"
#include "codec/stream/segment_range.h"

namespace gdelta {
namespace {

struct SegmentsBatch {
  std::vector<EncodeJob> jobs;
  std::vector<SegmentRange> ranges;                 // of each
  std::vector<std::vector<std::uint32_t>> lengths;  // likewise
  std::uint64_t bytes = 0;

  void add(const SegmentRange& range, std::span<const std::byte> values, const Layout& layout) {
    jobs.push_back({.values = values, .layout = &layout, .block = {}});
    ranges.push_back(range);
    bytes += values.size() + range.num_lengths() * sizeof(std::uint32_t);
  }
  void make_lengths(Workers& workers) {
    lengths.resize(jobs.size());
    workers.for_each(jobs.size(), [this](std::size_t i) {
      lengths[i] = ranges[i].lengths();
      jobs[i].segments = {.lengths = lengths[i],
                          .continues = ranges[i].continues(),
                          .goes_on = ranges[i].goes_on()};
    });
  }
  void clear() {
    jobs.clear();
    ranges.clear();
    bytes = 0;
  }
};

class SegmentsEncoder {
 public:
  SegmentsEncoder(StreamSink& sink, const EncodeOptions& options, const EncodeBudget& budget)
      : layout_(*options.layout),
        settings_(segment_settings(options)),
        most_records_(records_per_chunk(chunk_bytes_of(options), layout_.record_bytes())),
        most_lengths_(lengths_per_chunk(chunk_bytes_of(options))),
        workers_(cpu_threads(budget.threads)),
        batches_(sink, options, budget) {
    batches_.emitter().describe(options.metadata, note_of_segments(options));
  }

  Result<void> run(std::span<const std::uint64_t> offsets, std::span<const std::byte> values) {
    if (auto opened = batches_.open(values.size()); !opened) return opened;
    const std::uint64_t record_bytes = layout_.record_bytes();
    const auto next_range = [&](std::uint64_t record) {
      return first_range(offsets, record, most_records_, most_lengths_);
    };
    for (SegmentRange range = next_range(0); !range.empty(); range = next_range(range.end)) {
      const auto begin = static_cast<std::size_t>(range.begin * record_bytes);
      const auto bytes = static_cast<std::size_t>(range.records() * record_bytes);
      if (batches_.is_full_before(bytes))
        if (auto sent = send(values.size() - begin); !sent) return sent;
      batches_.collecting().add(range, values.subspan(begin, bytes), layout_);
      const std::uint64_t ended = range.num_lengths() - (range.goes_on() ? 1 : 0);
      offsets = offsets.subspan(static_cast<std::size_t>(ended));
    }
    batches_.collecting().make_lengths(workers_);
    return batches_.finish(settings_);
  }

 private:
  Result<void> send(std::uint64_t left) {
    batches_.collecting().make_lengths(workers_);
    return batches_.send(settings_, left);
  }

  const Layout& layout_;
  EncodeSettings settings_;
  std::uint64_t most_records_, most_lengths_;  // of a chunk
  Workers workers_;
  MemoryBatches<SegmentsBatch> batches_;
};

}  // namespace

Result<void> encode_segments(StreamSink& sink, std::span<const std::uint64_t> offsets,
                             std::span<const std::byte> values, const EncodeOptions& options) {
  const auto budget = encode_budget(with_lengths(options), false);
  if (!budget) return tl::unexpected(budget.error());
  return SegmentsEncoder(sink, options, *budget).run(offsets, values);
}

}  // namespace gdelta
