// What a warp leaves of a chunk: the tasks of its columns, how many pages they have, and a verdict. For the kernel that parses
// heads, and the one that takes those which the host has read.
#pragma once

#include "codec/cuda/container/chunk_decode_cuda.h"
#include "codec/cuda/container/make_tasks.h"
#include "gdelta/error.h"
#include "kernels/deltas/stride_sums.cuh"

namespace gdelta::cuda {

/// Whether the kernels that are launched decode such a column.
__device__ inline bool is_launched(const ChunkKinds& kinds, const format::ColumnHead& head,
                                   const Column& column, ColumnPath path) {
  const format::ColumnModel& model = head.model;
  const format::DevicePrediction prediction = prediction_of(head);
  if (path == ColumnPath::copy || path == ColumnPath::fill) return kinds.placed;
  return (path == ColumnPath::page_warp
              ? kinds.warp_pages
              : (kinds.page_coders >> static_cast<int>(model.section.coder) & 1) != 0) &&
         (kinds.strides || model.front.num_strides == 0) &&
         (kinds.stride_pairs || model.front.num_strides < 2) &&
         (kinds.linear || prediction != format::DevicePrediction::runs) &&
         (prediction != format::DevicePrediction::segments ||
          (model.front.says_states ? kinds.segment_pages : kinds.segment_passes)) &&
         (kinds.maps || !format::maps_in_a_pass(model.front)) &&
         (kinds.map_passes || !has_map_passes(head, column)) &&
         (kinds.exceptions || head.exceptions == 0) &&
         (kinds.dictionaries || head.table_entries == 0);
}

/// Leaves a column with strides to a block, if there is a launch for such and `maps` are undone there.
__device__ inline void take_strides(const ParseArgs& args, const format::ColumnHead& head,
                                    const MapTask* maps, ColumnTask& task) {
  if ((args.stride_pages >> task.value_bytes & 1) == 0 || task.path != ColumnPath::page_warp ||
      !task.has_link(0) || is_wide(task.tuple) || !suits_slots(task) ||
      (maps != nullptr && maps->value_maps != nullptr && !maps->undone_before))
    return;
  const bool verified = args.verify && head.exceptions == 0 && head.table_entries == 0;
  task.path = verified ? ColumnPath::page_strides_verified : ColumnPath::page_strides;
}

/// Says which kernels have the pages of a task, and how many parts are verified behind them. All counts are zero before.
__device__ inline void count_parts(const DecodeCounts& counts, std::uint64_t at,
                                   const ColumnTask& task, std::uint32_t parts) {
  const TaskParts of_task = parts_of(task, parts);
  if (of_task.warp_pages > 0) counts.warp_pages[at] = of_task.warp_pages;
  if (of_task.map_pages > 0) counts.map_pages[at] = of_task.map_pages;
  if (of_task.block_pages > 0) counts.block_pages[at] = of_task.block_pages;
  if (of_task.segment_pages > 0) counts.segment_pages[at] = of_task.segment_pages;
  counts.parts[at] = of_task.unverified;
}

/// Of a column with dictionaries, whose decoded tables begin at `values`; of others there is nothing to do.
__device__ inline DictionaryTask make_dictionary_task(const ColumnTask& task,
                                                      const ChunkPlace& place,
                                                      const format::ColumnHead& head,
                                                      const Column& column, unsigned char* values,
                                                      bool looked_up_before) {
  DictionaryTask dictionary{};
  if (head.table_entries == 0) return dictionary;
  dictionary.value_maps = place.head + head.maps_at;
  dictionary.coded = task.section + head.tables_at();
  dictionary.values = values;
  dictionary.tables_at = task.section_at + head.tables_at();
  dictionary.type = static_cast<std::uint8_t>(column.type);
  dictionary.big_endian = column.big_endian;
  dictionary.looked_up_before = looked_up_before;
  return dictionary;
}

__device__ inline std::uint64_t to_multiple_of_16(std::uint64_t bytes) {
  return (bytes + 15) / 16 * 16;
}

/// Leaves nothing to do for a chunk; the whole warp calls it.
__device__ inline void clear_tasks(const ParseArgs& args, std::uint32_t chunk) {
  for (std::uint32_t slot = threadIdx.x & 31; slot < args.num_slots; slot += 32) {
    const std::uint64_t at = static_cast<std::uint64_t>(slot) * args.num_chunks + chunk;
    args.tasks[at].path = ColumnPath::none;
    args.tasks[at].num_pages = 0;
    args.tasks[at].num_strides = 0;
    args.count.counts.warp_pages[at] = 0;
    args.count.counts.map_pages[at] = 0;
    args.count.counts.block_pages[at] = 0;
    args.count.counts.parts[at] = 0;
    if (args.count.counts.segment_pages != nullptr) args.count.counts.segment_pages[at] = 0;
  }
  if (!args.segments.empty() && (threadIdx.x & 31) == 0)
    args.segments.chunks[chunk].lengths = nullptr;
}

/// Where the decoded tables of a chunk begin. Those of all chunks before have room (table_room).
__device__ inline std::uint64_t tables_of_chunk(const ParseArgs& args, const ChunkPlace& place) {
  return to_multiple_of_16(place.out_at / 8) +
         std::uint64_t{16} * (args.num_slots + 1) * place.chunk;
}

/// Counts the bytes that the decoded tables of a column take.
__device__ inline std::uint64_t decoded_table_bytes(const format::ColumnHead& head,
                                                    const Column& column) {
  return to_multiple_of_16(head.table_entries * format::type_bytes(column.type));
}

/// Whether there is room for them; if not, the table of chunks has others than these.
__device__ inline bool has_table_room(const ParseArgs& args, std::uint64_t values_at,
                                      std::uint64_t bytes) {
  return !args.kinds.dictionaries || bytes == 0 || values_at + bytes <= args.table_room;
}

__device__ inline bool is_for_host(const ParseArgs& args, const ChunkPlace& place,
                                   const ColumnPlace& of_column, const format::ColumnHead& head) {
  if (!head.decodes_on_device()) return true;
  if (host_joins_pages(format::type_bytes(of_column.column.type), of_column.column.tuple,
                       head.model))
    return true;
  const bool ragged = place.in_segments || of_column.slot == args.segments.slot;
  return head.table_entries > 0 && ragged && !args.segments.empty();
}

/// Leaves the task of a column; one thread calls it. `head_bytes` are those of place.head, where they are read the fastest.
__device__ inline void leave_task(const ParseArgs& args, const ChunkPlace& place,
                                  const ColumnPlace& of_column, const format::ColumnHead& head,
                                  const format::Byte* head_bytes, std::uint64_t values_at) {
  const Column& column = of_column.column;
  const ColumnPath path = path_of_task(head, column);
  const std::uint64_t at =
      static_cast<std::uint64_t>(of_column.slot) * args.num_chunks + place.chunk;
  unsigned char* const table_values = args.table_values + values_at;
  bool looked_up = false;
  ColumnTask task = make_task(args, place, head, path, of_column);
  if (args.kinds.maps) {
    MapTask maps = make_map_task(task, place, head, column);
    take_lane_maps(table_values, head_bytes, head, column, task, maps, args.lane_maps[at]);
    args.lane_maps[at].damaged_at = args.damaged_at + place.chunk;
    args.map_tasks[at] = maps;
    looked_up = looks_up_where_stored(head, column);
  }
  if (args.kinds.dictionaries)
    args.dictionaries[at] =
        make_dictionary_task(task, place, head, column, table_values, looked_up);
  if (args.verify && is_final(task, head, column)) task.path = verified_path(task);
  take_strides(args, head, args.kinds.maps ? args.map_tasks + at : nullptr, task);
  count_parts(args.count.counts, at, task, static_cast<std::uint32_t>(head.num_parts));
  args.tasks[at] = task;
}

/// The lengths of segments, as a column of a chunk of their own. Gives false if they are not those that the table says, or
/// have no room.
__device__ inline bool place_lengths(const ParseArgs& args, const ChunkPlace& place,
                                     const format::SegmentsHead& head, const TableChunk& from,
                                     const TableChunk& first, ChunkPlace& of_lengths) {
  const SegmentPlaces& segments = args.segments;
  if (segments.empty() || head.lengths != from.lengths || head.joins != from.joins) return false;
  const std::uint64_t at = lengths_place(from.lengths_at - first.lengths_at, place.chunk);
  if (at > segments.room || head.lengths > segments.room - at ||
      place.out_at + from.decoded_bytes > segments.residual_bytes)
    return false;
  constexpr Column kLengths = format::kLengthColumn;
  of_lengths = place;
  of_lengths.records = static_cast<std::uint32_t>(head.lengths);
  of_lengths.record_bytes = static_cast<std::uint32_t>(format::tuple_bytes(kLengths));
  of_lengths.out = reinterpret_cast<unsigned char*>(segments.lengths + at);
  of_lengths.in_segments = false;
  of_lengths.apart = false;
  return true;
}

__device__ inline ColumnPlace lengths_column(const ParseArgs& args) {
  constexpr Column kLengths = format::kLengthColumn;
  return {kLengths, 0, args.segments.slot, 0};
}

/// Leaves what a chunk says of its segments, whose lengths take `lengths_bytes` of the payload; one thread calls it.
__device__ inline void leave_segments(const ParseArgs& args, const ChunkPlace& place,
                                      const format::SegmentsHead& head, const TableChunk& from,
                                      const TableChunk& first, std::uint64_t lengths_bytes) {
  const SegmentPlaces& segments = args.segments;
  const std::uint64_t at = lengths_place(from.lengths_at - first.lengths_at, place.chunk);
  const std::uint64_t segment = from.segments_at - first.segments_at;
  const bool has_offsets = segments.offsets != nullptr && segment <= segments.num_offsets &&
                           head.begun() < segments.num_offsets - segment;
  segments.chunks[place.chunk] = {.lengths = segments.lengths + at,
                                  .starts = segments.starts + at,
                                  .offsets = has_offsets ? segments.offsets + segment : nullptr,
                                  .first_record = from.records_at - first.records_at,
                                  .section_at = place.section_at,
                                  .section_end = place.section_at + lengths_bytes,
                                  .num_lengths = static_cast<std::uint32_t>(head.lengths),
                                  .records = place.records,
                                  .heads = 0,
                                  .continues = head.continues(),
                                  .says_end = !head.goes_on() || place.chunk + 1 == args.num_chunks,
                                  .right = false};
}

/// The table of chunks, as a call has it.
struct TableView {
  ChunkTableHeader header;
  const TableColumn* columns;
  const TableChunk* chunks;  // from the first one of the call on

  explicit __device__ TableView(const ParseArgs& args)
      : header(*reinterpret_cast<const ChunkTableHeader*>(args.table)),
        columns(reinterpret_cast<const TableColumn*>(args.table + table_columns_at())),
        // The header says how many columns there are, too, but the chunks' place need not wait for it.
        chunks(
            reinterpret_cast<const TableChunk*>(args.table + table_chunks_at(args.num_columns())) +
            args.first_chunk) {}

  /// Column number `c` of a chunk's records, or of an opaque chunk the only one.
  __device__ ColumnPlace column(std::uint32_t c, bool opaque) const {
    if (opaque) return {Column{ValueType::u8, 1, false}, c, header.opaque_slot, 0};
    return {Column{static_cast<ValueType>(columns[c].type), columns[c].tuple,
                   columns[c].big_endian != 0},
            c, columns[c].slot, columns[c].offset};
  }

  /// A chunk whose head's fields begin at `fields`, and its payload so many bytes behind the start of the block.
  __device__ ChunkPlace place_of(const ParseArgs& args, std::uint32_t chunk,
                                 const format::Byte* fields, std::uint64_t payload_at,
                                 std::uint64_t records, bool in_segments) const {
    const std::uint64_t out_at = chunks[chunk].decoded_at - chunks[0].decoded_at;
    return {.head = fields,
            .section_at = chunks[chunk].block_at + payload_at,
            .records = static_cast<std::uint32_t>(records),
            .record_bytes = chunks[chunk].opaque != 0 ? 1 : header.record_bytes,
            .out = args.out + out_at,
            .out_at = out_at,
            .chunk = chunk,
            .in_segments = in_segments,
            .apart = args.apart.columns != nullptr && chunks[chunk].opaque == 0};
  }
};

/// Calls take(table, chunk, look(chunk)) for every chunk, a warp each, which leaves its tasks and gives its verdict. Of chunks
/// that do not lie in the stream, or have no room, and of all that fail, no tasks remain. What `look` loads is on its way
/// beside what the table says.
template <int Warps, class Look, class Take>
__device__ inline void visit_chunks(const ParseArgs& args, const Look& look, const Take& take) {
  const TableView table(args);
  for (std::uint32_t chunk = blockIdx.x * Warps + threadIdx.x / 32; chunk < args.num_chunks;
       chunk += gridDim.x * Warps) {
    const TableChunk place = table.chunks[chunk];
    const auto seen = look(chunk);
    clear_tasks(args, chunk);
    __syncwarp();  // empty tasks do not overwrite full ones
    const std::uint64_t out_at = place.decoded_at - table.chunks[0].decoded_at;
    Errc code = Errc::ok;
    if (out_at > args.out_bytes || place.decoded_bytes > args.out_bytes - out_at)
      code = Errc::output_too_small;
    else if (args.apart.columns != nullptr && out_at + place.decoded_bytes > args.apart.bytes)
      code = Errc::corrupt;  // or the table has others than these
    else if (place.block_at > args.stream_bytes ||
             place.block_bytes > args.stream_bytes - place.block_at)
      code = Errc::truncated;
    else
      code = take(table, chunk, seen);
    if (code != Errc::ok) {
      __syncwarp();  // tasks of the columns before the damage are taken back
      clear_tasks(args, chunk);
    }
    if ((threadIdx.x & 31) == 0) {
      args.verdicts[chunk] = {static_cast<std::int32_t>(code), 0,
                              code == Errc::ok ? 0 : place.block_at};
      args.damaged_at[chunk] = kNoDamage;
      args.differs_at[chunk] = kNoDamage;
    }
  }
}

}  // namespace gdelta::cuda
