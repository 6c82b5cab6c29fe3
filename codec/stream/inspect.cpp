#include <fmt/core.h>

#include <algorithm>
#include <new>

#include "codec/coders/maps_in_pages.h"
#include "codec/coders/predictor.h"
#include "codec/stream/map_words.h"
#include "codec/stream/metadata_list.h"
#include "codec/stream/walk/block_stream.h"
#include "codec/stream/walk/byte_input.h"
#include "codec/stream/walk/file_structure.h"
#include "codec/stream/walk/memory_words.h"
#include "gdelta/stream.h"

namespace gdelta {

namespace {

// Beside an allocation, in the machine's bookkeeping.
constexpr std::uint64_t kAllocationBytes = 16;

/// Numbers layouts: the number rises if a chunk's layout is another one than that of the chunk
/// before.
class LayoutCounter {
 public:
  std::size_t number_of(const std::shared_ptr<const Layout>& layout) {
    if (layout != last_) {
      if (!last_ || *last_ != *layout) ++layouts_;
      last_ = layout;
    }
    return layouts_ - 1;
  }

 private:
  std::shared_ptr<const Layout> last_;  // what it says is compared once, not for every chunk
  std::size_t layouts_ = 0;
};

/// A column of `tuples` tuples.
ColumnInfo describe(const ChunkBlock& chunk, const format::ColumnHead& column, const Column& layout,
                    std::uint64_t tuples) {
  ColumnInfo info;
  info.coder = column.model.section.coder;
  info.compressed_bytes = column.column_bytes();
  const format::CoderTraits traits = format::coder_traits(info.coder);
  if (!traits.codes_residuals) return info;
  if (traits.parts == format::PartRule::pages) info.page_groups = column.model.section.part_groups;
  info.map = column.model.front.map;
  info.lane_map = column.model.front.lane_map;
  info.maps_in_a_pass = format::maps_in_a_pass(column.model.front);
  info.map_passes = has_map_passes(column, layout);
  info.dictionaries = column.table_entries > 0;
  info.coded_tables = column.table_coders != 0;
  const auto head =
      std::span(chunk.head).subspan(chunk.parsed.frame.head_at, chunk.parsed.frame.head_bytes);
  MapWords words = map_words(head, layout, column, tuples);
  info.map_words = std::move(words.values);
  info.lane_map_words = std::move(words.lanes);
  info.exceptions = column.exceptions;
  info.predictor = column.model.front.predictor;
  column_predictor(info.predictor).describe(head, column, layout.tuple, info);
  return info;
}

/// Describes it without what stands behind the stage that is not known.
ColumnInfo describe_unknown(const format::ParsedChunk& chunk, std::size_t number) {
  const format::ColumnHead& column = chunk.columns[number];
  ColumnInfo info;
  info.coder = column.model.section.coder;
  info.unknown = format::unknown_stage(chunk, number);
  info.compressed_bytes = column.column_bytes();
  return info;
}

std::vector<ColumnInfo> describe_columns(const ChunkBlock& chunk) {
  std::vector<ColumnInfo> columns;
  columns.reserve(chunk.parsed.columns.size());
  const auto& unknown = chunk.parsed.unknown;  // in rising order
  for (std::size_t c = 0; c < chunk.parsed.columns.size(); ++c)
    columns.push_back(
        std::binary_search(unknown.begin(), unknown.end(), c)
            ? describe_unknown(chunk.parsed, c)
            : describe(chunk, chunk.parsed.columns[c], chunk.layout->columns[c], chunk.records()));
  return columns;
}

/// Of the lengths of segments, if the chunk says them in a way that is known.
std::vector<ColumnInfo> describe_lengths(const ChunkBlock& chunk) {
  const std::uint64_t lengths = chunk.parsed.segments.lengths;
  if (lengths == 0 || chunk.parsed.lengths.num_parts == 0) return {};
  return {describe(chunk, chunk.parsed.lengths, format::kLengthColumn, lengths)};
}

ChunkInfo info_of(const ChunkPlace& place, LayoutCounter& layouts) {
  return {.number = place.number,
          .byte = place.byte,
          .block_bytes = place.block_bytes,
          .head = {},
          .records = place.records,
          .decoded_at = place.decoded_at,
          .decoded_bytes = place.decoded_bytes,
          .segments = place.segments.lengths,
          .continues = place.segments.continues(),
          .goes_on = place.segments.goes_on(),
          .opaque = place.opaque,
          .layout = place.opaque ? 0 : layouts.number_of(place.layout),
          .note = {},
          .columns = {}};
}

Result<FileTotals> visit_blocks(const ReadAt& read_at, std::uint64_t file_bytes,
                                const ChunkVisitor& visit, std::uint64_t memory_limit,
                                BlockStream::OnMetadata on_metadata) {
  FileInput input(read_at, file_bytes);
  BlockStream blocks(input, memory_limit, format::UnknownModels::listed);
  blocks.tell_metadata(std::move(on_metadata));
  LayoutCounter layouts;
  FileTotals totals;
  totals.compressed_bytes = file_bytes;
  for (;;) {
    auto chunk = blocks.next();
    if (!chunk) return tl::unexpected(std::move(chunk.error()));
    totals.streams = blocks.streams();
    if (!*chunk) return totals;
    if (auto skipped = blocks.skip_payload(**chunk); !skipped)
      return tl::unexpected(std::move(skipped.error()));
    const auto place = take_block(totals, **chunk);
    if (!place) return tl::unexpected(place.error());
    ChunkInfo info = info_of(*place, layouts);
    info.columns = describe_columns(**chunk);
    info.lengths = describe_lengths(**chunk);
    info.head = std::move((*chunk)->head);
    if (!place->opaque) info.note = blocks.note();
    if (auto visited = visit(info, *place->layout); !visited)
      return tl::unexpected(std::move(visited.error()));
  }
}

Result<FileTotals> visit_places(const ReadAt& read_at, std::uint64_t file_bytes,
                                const ChunkVisitor& visit, std::uint64_t memory_limit,
                                BlockStream::OnMetadata on_metadata) {
  const auto structure = FileStructure::read(read_at, file_bytes, memory_limit);
  if (!structure) return tl::unexpected(structure.error());
  const auto cursor = structure->from_start(read_at);
  if (on_metadata) cursor->tell_metadata(std::move(on_metadata));
  LayoutCounter layouts;
  for (;;) {
    const auto place = cursor->next();
    if (!place) return tl::unexpected(place.error());
    if (!*place) return structure->totals();
    if (auto visited = visit(info_of(**place, layouts), *(*place)->layout); !visited)
      return tl::unexpected(std::move(visited.error()));
  }
}

/// Collects what is visited, as long as it stays within the memory limit.
class Collector {
 public:
  explicit Collector(std::uint64_t memory_limit) : memory_limit_(memory_limit) {}

  Result<void> add(const ChunkInfo& chunk, const Layout& layout) {
    const bool new_layout = !chunk.opaque && chunk.layout == info.layouts.size();
    // A list that grows is held twice for a moment, once at double size.
    held_ += 3 * sizeof(ChunkInfo) + chunk.head.size() +
             (chunk.columns.empty() ? 0 : 2 * kAllocationBytes);
    const auto hold = [&](const ColumnInfo& column) {
      held_ += sizeof column + column.orders.size() * sizeof(int) +
               column.strides.size() * sizeof column.strides[0] + column.unknown.size() +
               column.map_words.size() + column.lane_map_words.size() + 4 * kAllocationBytes;
    };
    for (const ColumnInfo& column : chunk.columns) hold(column);
    for (const ColumnInfo& lengths : chunk.lengths) hold(lengths);
    if (new_layout)
      held_ += 3 * sizeof(Layout) + layout.columns.size() * sizeof(Column) + kAllocationBytes;
    if (held_ > memory_limit_)
      return tl::unexpected(Error{
          .code = Errc::memory_limit,
          .message =
              fmt::format("the description of the chunks up to this one takes more than the "
                          "memory limit of {}: raise the limit or visit the chunks one by one",
                          allowed_memory(memory_limit_)),
          .chunk = chunk.number,
          .byte = chunk.byte});
    if (new_layout) info.layouts.push_back(layout);
    info.chunks.push_back(chunk);
    return {};
  }

  StreamInfo info;

 private:
  std::uint64_t memory_limit_;
  std::uint64_t held_ = 0;
};

Result<FileTotals> visit_all(const ReadAt& read_at, std::uint64_t file_bytes,
                             const ChunkVisitor& visit, const InspectOptions& options,
                             BlockStream::OnMetadata on_metadata) {
  try {
    const auto visit_file = options.models ? visit_blocks : visit_places;
    return visit_file(read_at, file_bytes, visit, options.memory_limit, std::move(on_metadata));
  } catch (const std::bad_alloc&) {
    return fail(Errc::out_of_memory, "no memory to describe the file");
  }
}

}  // namespace

Result<FileTotals> visit_chunks(const ReadAt& read_at, std::uint64_t file_bytes,
                                const ChunkVisitor& visit, const InspectOptions& options) {
  return visit_all(read_at, file_bytes, visit, options, nullptr);
}

Result<StreamInfo> inspect(const ReadAt& read_at, std::uint64_t file_bytes,
                           const InspectOptions& options) {
  Collector collector(options.memory_limit);
  MetadataList list(options.memory_limit);
  const auto totals = visit_all(
      read_at, file_bytes,
      [&collector](const ChunkInfo& chunk, const Layout& layout) {
        return collector.add(chunk, layout);
      },
      options, [&list](std::vector<MetadataEntry>&& entries) { list.add(std::move(entries)); });
  if (!totals) return tl::unexpected(totals.error());
  collector.info.streams = totals->streams;
  collector.info.compressed_bytes = totals->compressed_bytes;
  collector.info.decoded_bytes = totals->decoded_bytes;
  auto metadata = list.take();
  if (!metadata) return tl::unexpected(std::move(metadata.error()));
  collector.info.metadata = std::move(*metadata);
  return std::move(collector.info);
}

Result<StreamInfo> inspect(std::span<const std::byte> bytes, const InspectOptions& options) {
  return inspect(read_from(bytes), bytes.size(), options);
}

}  // namespace gdelta
