// The device API's decoding half.
#include <algorithm>

#include "codec/cuda/column_kinds.h"
#include "codec/cuda/cuda_error.h"
#include "codec/cuda/decode_launch.h"
#include "codec/cuda/prepared_table.h"
#include "formats/gdelta/chunk_head.h"
#include "formats/gdelta/predictor_traits.h"
#include "gdelta/device.h"

namespace gdelta {
namespace {

static_assert(sizeof(ChunkStatus) == sizeof(cuda::ChunkVerdict));

bool is_aligned(const void* p, std::uintptr_t to) {
  return reinterpret_cast<std::uintptr_t>(p) % to == 0;
}

constexpr std::uint64_t kMostTasks = 1ull << 31;
constexpr std::uint64_t kUnknownPageGroups = 1ull << 32;  // more than the warp path takes

cuda::DeviceLayout device_layout_of(const ChunkTable& table) {
  return cuda::make_device_layout(table.layout, table.kinds.segments && table.lengths > 0);
}

/// What any `num_chunks` chunks have at most.
cuda::DecodeCall call_of(const ChunkTable& table, std::uint64_t num_chunks) {
  cuda::DecodeCall call;
  call.num_chunks = static_cast<std::uint32_t>(num_chunks);
  call.decoded_bytes = std::min(table.decoded_bytes, num_chunks * table.largest_chunk);
  call.lengths = std::min(table.lengths, num_chunks * table.most_lengths);
  call.kinds = table.kinds;
  call.prepared_pages = table.prepared_pages;
  call.table_chunks = table.num_chunks;
  call.heads_at = table.heads_at;
  call.ready = table.ready;
  return call;
}

Result<void> check_range(const ChunkTable& table, std::uint64_t first, std::uint64_t count) {
  if (first > table.num_chunks || count > table.num_chunks - first)
    return fail(Errc::invalid_argument, "the chunks asked for are not all in the table");
  if (count * (table.layout.columns.size() + 2) >= kMostTasks)
    return fail(Errc::invalid_argument, "too many columns times chunks for one call");
  return {};
}

void add_column(ChunkKinds& kinds, const ColumnInfo& column, int tuple) {
  cuda::add_column(kinds, column.coder, tuple,
                   column.page_groups > 0 ? column.page_groups : kUnknownPageGroups,
                   {.strides = static_cast<int>(column.strides.size()),
                    .linear = format::predictor_traits(column.predictor).device ==
                              format::DevicePrediction::runs,
                    .segments = cuda::segment_join_of(column.predictor, column.page_states),
                    .maps = column.maps_in_a_pass,
                    .map_passes = column.map_passes,
                    .exceptions = column.exceptions > 0,
                    .dictionaries = column.dictionaries});
}

format::SegmentsHead segments_of(const ChunkInfo& chunk) {
  const int joins =
      (chunk.continues ? format::kContinues : 0) | (chunk.goes_on ? format::kGoesOn : 0);
  return {.lengths = chunk.segments, .joins = static_cast<format::Byte>(joins)};
}

/// What there is in chunks that say their segments.
struct SegmentsBefore {
  std::uint64_t segments = 0;  // that begin
  std::uint64_t records = 0;
};

/// Adds what decoding a chunk takes: anything if its columns are not told, nothing if the host
/// decodes it.
void add_chunk(ChunkKinds& kinds, const ChunkInfo& chunk, const Layout& layout) {
  const auto is_for_host = [](const ColumnInfo& column) {
    return column.coded_tables || !format::decodes_on_device(column.coder, column.predictor);
  };
  kinds.segments |= chunk.segments > 0;  // of those for the host, too: they are found to be so
  if (std::any_of(chunk.columns.begin(), chunk.columns.end(), is_for_host) ||
      std::any_of(chunk.lengths.begin(), chunk.lengths.end(), is_for_host))
    return;
  kinds.opaque |= chunk.opaque;
  if (chunk.columns.size() != layout.columns.size()) kinds = {};
  for (std::size_t c = 0; c < chunk.columns.size() && c < layout.columns.size(); ++c)
    add_column(kinds, chunk.columns[c], layout.columns[c].tuple);
  for (const ColumnInfo& lengths : chunk.lengths) add_column(kinds, lengths, 1);
}

/// A chunk of the table, behind those in `table`, which it joins.
cuda::TableChunk take_chunk(ChunkTable& table, const ChunkInfo& chunk, SegmentsBefore& before) {
  const format::SegmentsHead segments = segments_of(chunk);
  const cuda::TableChunk entry{.block_at = chunk.byte,
                               .block_bytes = chunk.block_bytes,
                               .decoded_at = chunk.decoded_at,
                               .decoded_bytes = chunk.decoded_bytes,
                               .opaque = chunk.opaque ? 1u : 0u,
                               .lengths_at = table.lengths,
                               .segments_at = before.segments,
                               .records_at = before.records,
                               .lengths = static_cast<std::uint32_t>(chunk.segments),
                               .joins = segments.joins};
  table.largest_chunk = std::max(table.largest_chunk, chunk.decoded_bytes);
  table.decoded_bytes += chunk.decoded_bytes;
  table.lengths += chunk.segments;
  table.most_lengths = std::max(table.most_lengths, chunk.segments);
  if (chunk.segments > 0) {
    before.segments += segments.begun();
    before.records += chunk.records;
  }
  return entry;
}

/// All but what concerns the output.
Result<void> check_call(const DeviceDecode& decode) {
  if (decode.table == nullptr) return fail(Errc::invalid_argument, "there is no chunk table");
  const ChunkTable& table = *decode.table;
  if (auto checked = check_range(table, decode.first_chunk, decode.num_chunks); !checked)
    return checked;
  if (decode.num_chunks == 0) return {};
  if (decode.device_table == nullptr || decode.stream == nullptr || decode.status == nullptr ||
      decode.scratch == nullptr)
    return fail(Errc::invalid_argument, "a pointer to device memory is null");
  if (!is_aligned(decode.device_table, 16) || !is_aligned(decode.stream, 16) ||
      !is_aligned(decode.scratch, 256) || !is_aligned(decode.status, alignof(ChunkStatus)))
    return fail(Errc::invalid_argument,
                "table and stream must be aligned to 16 bytes, scratch to 256");
  if (decode.scratch_bytes <
      cuda::decode_scratch_bytes(device_layout_of(table), call_of(table, decode.num_chunks)))
    return fail(Errc::output_too_small,
                "the scratch memory is smaller than device_decode_scratch_bytes says");
  return {};
}

/// Without an output.
cuda::DecodeCall call_of(const DeviceDecode& decode) {
  cuda::DecodeCall call = call_of(*decode.table, decode.num_chunks);
  call.stream = static_cast<const unsigned char*>(decode.stream);
  call.stream_bytes = decode.stream_bytes;
  call.table = static_cast<const unsigned char*>(decode.device_table);
  call.first_chunk = decode.first_chunk;
  call.out_bytes = ~std::uint64_t{0};
  call.verdicts = reinterpret_cast<cuda::ChunkVerdict*>(decode.status);
  call.scratch = static_cast<unsigned char*>(decode.scratch);
  call.verify = decode.verify;
  return call;
}

}  // namespace

std::uint64_t chunk_table_bytes(const Layout& layout, std::uint64_t num_chunks) {
  return cuda::table_chunks_at(static_cast<std::uint32_t>(layout.columns.size())) +
         num_chunks * sizeof(cuda::TableChunk);
}

Result<ChunkTable> make_chunk_table(const StreamInfo& info) {
  ChunkTable table;
  std::optional<std::size_t> layout;
  std::vector<cuda::TableChunk> chunks;
  SegmentsBefore before;
  for (const ChunkInfo& chunk : info.chunks) {
    if (!chunk.opaque) {
      if (chunk.layout >= info.layouts.size())
        return fail(Errc::invalid_argument, "a chunk's layout is not in the list of layouts");
      if (layout && *layout != chunk.layout && info.layouts[*layout] != info.layouts[chunk.layout])
        return fail(Errc::unsupported_feature,
                    "the stream has chunks of more than one layout: decode them on the host");
      layout = chunk.layout;
    }
    chunks.push_back(take_chunk(table, chunk, before));
  }
  table.layout = layout ? info.layouts[*layout] : byte_layout();
  table.num_chunks = chunks.size();
  table.kinds = kNoChunkKinds;
  const Layout& opaque_layout = byte_layout();
  for (const ChunkInfo& chunk : info.chunks)
    add_chunk(table.kinds, chunk, chunk.opaque ? opaque_layout : table.layout);
  table.bytes = cuda::make_table_bytes(cuda::make_device_layout(table.layout), chunks);
  cuda::prepare_table(info, table);
  return table;
}

Result<std::uint64_t> device_decode_scratch_bytes(const ChunkTable& table,
                                                  std::uint64_t first_chunk,
                                                  std::uint64_t num_chunks) {
  if (auto checked = check_range(table, first_chunk, num_chunks); !checked)
    return tl::unexpected(checked.error());
  return cuda::decode_scratch_bytes(device_layout_of(table), call_of(table, num_chunks));
}

Result<void> device_decode(const DeviceDecode& decode, DeviceStream cuda_stream) {
  if (auto checked = check_call(decode); !checked) return checked;
  if (decode.num_chunks == 0) return {};
  if (decode.out == nullptr)
    return fail(Errc::invalid_argument, "a pointer to device memory is null");
  cuda::DecodeCall call = call_of(decode);
  call.out = static_cast<unsigned char*>(decode.out);
  call.out_bytes = decode.out_bytes;
  call.offsets = decode.offsets;
  call.num_offsets = decode.num_offsets;
  GDELTA_CUDA_TRY(cuda::launch_decode(device_layout_of(*decode.table), call, cuda_stream));
  return {};
}

Result<DevicePages> device_open_pages(const DeviceDecode& decode, std::size_t column,
                                      DeviceStream cuda_stream) {
  if (auto checked = check_call(decode); !checked) return tl::unexpected(checked.error());
  const ChunkTable& table = *decode.table;
  if (column >= table.layout.columns.size())
    return fail(Errc::invalid_argument, "the records have no such column");
  const ChunkKinds& kinds = table.kinds;
  if (cuda::is_wide(table.layout.columns[column].tuple) || kinds.page_coders != 0 ||
      kinds.strides || kinds.linear || kinds.maps || kinds.dictionaries || kinds.opaque ||
      table.lengths > 0)
    return fail(Errc::unsupported_feature,
                "not all columns are pages that a warp decodes alone: use device_decode");
  DevicePages pages;
  GDELTA_CUDA_TRY(cuda::launch_open_pages(device_layout_of(table), call_of(decode), column, pages,
                                          cuda_stream));
  return pages;
}

Result<void> device_close_pages(const DevicePages& pages, DeviceStream cuda_stream) {
  GDELTA_CUDA_TRY(cuda::launch_close_pages(pages, cuda_stream));
  return {};
}

}  // namespace gdelta
