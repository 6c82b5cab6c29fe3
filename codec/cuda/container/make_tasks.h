// What kernels have to know of a column, from what its head says. Kernels make tasks so, of heads that they parse or take, and
// the host, of heads that it has read.
#pragma once

#include "codec/coders/maps_in_pages.h"
#include "codec/coders/segments_in_pages.h"
#include "codec/cuda/container/chunk_decode_cuda.h"
#include "formats/gdelta/chunk_head.h"

namespace gdelta::cuda {

// Fields that have been parsed once need no end.
inline constexpr std::uint64_t kNoEnd = ~std::uint64_t{0};

GDELTA_HD inline ColumnPath path_of(const format::Section& section, const Column& column) {
  switch (format::coder_traits(section.coder).device) {
    case format::DeviceDecoding::none:
      break;
    case format::DeviceDecoding::copy:
      return ColumnPath::copy;
    case format::DeviceDecoding::fill:
      return ColumnPath::fill;
    case format::DeviceDecoding::pages:
      return ColumnPath::page_block;
    case format::DeviceDecoding::warp_pages:
      return fits_warp_path(section.part_groups, column.tuple) ? ColumnPath::page_warp
                                                               : ColumnPath::page_block;
  }
  return ColumnPath::none;
}

/// The path that a task is made with.
GDELTA_HD inline ColumnPath path_of_task(const format::ColumnHead& head, const Column& column) {
  return head.model.front.says_states ? ColumnPath::page_segments
                                      : path_of(head.model.section, column);
}

GDELTA_HD inline format::DevicePrediction prediction_of(const format::ColumnHead& head) {
  return format::predictor_traits(head.model.front.predictor).device;
}

/// What a chunk's columns have in common.
struct ChunkPlace {
  const format::Byte* head;  // its fields, in the stream or as the host has read them
  std::uint64_t section_at;  // of the first column, in the stream
  std::uint32_t records;
  std::uint32_t record_bytes;
  unsigned char* out;
  std::uint64_t out_at;  // from the content of the first chunk on
  std::uint32_t chunk;
  bool in_segments;
  bool apart;  // its columns go to ParseArgs::apart
};

/// A column, or the lengths of segments.
struct ColumnPlace {
  Column column;
  std::uint32_t number;
  std::uint32_t slot;
  std::uint32_t offset;  // in the record
};

/// Where a column goes that has a place of its own, of so many bytes and columns before it. Columns do not overlap, and begin at
/// multiples of 16.
GDELTA_HD constexpr std::uint64_t apart_at(std::uint64_t bytes_before,
                                           std::uint64_t columns_before) {
  return (bytes_before + kApartRoom * columns_before) / 16 * 16;
}
GDELTA_HD inline std::uint64_t apart_at(const ParseArgs& args, const ChunkPlace& place,
                                        const ColumnPlace& column) {
  const std::uint64_t columns_before =
      static_cast<std::uint64_t>(place.chunk) * args.num_slots + column.number;
  const std::uint64_t bytes_before =
      place.out_at + static_cast<std::uint64_t>(place.records) * column.offset;
  return apart_at(bytes_before, columns_before);
}

GDELTA_HD inline ColumnTask make_task(const ParseArgs& args, const ChunkPlace& place,
                                      const format::ColumnHead& head, ColumnPath path,
                                      const ColumnPlace& of_column) {
  const format::ColumnModel& model = head.model;
  const Column& column = of_column.column;
  ColumnTask task{};
  task.section_at = place.section_at + head.section_at;
  task.section = args.stream + task.section_at;
  task.directory = place.head + head.part_ends_at;
  task.fields = place.head + head.fields_at;
  task.out = place.apart ? args.apart.columns + apart_at(args, place, of_column)
                         : place.out + of_column.offset;
  task.records = place.records;
  task.record_bytes =
      place.apart ? static_cast<std::uint32_t>(format::tuple_bytes(column)) : place.record_bytes;
  task.page_groups = model.section.part_groups;
  task.chunk = place.chunk;
  task.num_strides = model.front.num_strides;
  for (int link = 0; link < model.front.num_strides; ++link)
    task.strides[link] = {model.front.strides[link].stride, model.front.strides[link].order};
  const format::Byte* const fields = place.head + head.predictor_at;
  const format::DevicePrediction prediction = prediction_of(head);
  if (prediction == format::DevicePrediction::orders)
    task.orders = format::orders_by_lane(fields, column.tuple, model.front.orders);
  if (prediction == format::DevicePrediction::runs) {
    task.num_strides = kLinearLinks;
    task.linear = fields;
  }
  if (prediction == format::DevicePrediction::segments) {
    task.num_strides = kSegmentLinks;
    unsigned char* const residuals = args.segments.residuals + apart_at(args, place, of_column);
    task.segments = {fields, residuals};
    if (path != ColumnPath::page_segments) {
      task.segments.residuals = task.out;
      task.out = residuals;
      task.record_bytes = static_cast<std::uint32_t>(format::tuple_bytes(column));
    }
  }
  task.value_bytes = static_cast<std::uint8_t>(format::type_bytes(column.type));
  task.tuple = column.tuple;
  task.order = model.front.orders[0];
  if (!format::maps_in_a_pass(model.front)) {
    task.map = static_cast<std::uint8_t>(model.front.map);
    task.big_endian = column.big_endian;
  }
  task.coder = static_cast<std::uint8_t>(model.section.coder);
  task.path = path;
  if (path >= ColumnPath::page_warp) {
    task.num_pages = static_cast<std::uint32_t>(head.num_parts);
    task.state_bytes = format::page_state_bytes(model.front, column);
  }
  return task;
}

/// Reads the maps of a column whose maps are undone where values are stored, and whose decoded tables begin at `values`.
[[gnu::noinline]] GDELTA_HD inline void read_lane_maps(const ColumnTask& task,
                                                       const unsigned char* values,
                                                       const format::Byte* head_bytes,
                                                       const format::ColumnHead& head,
                                                       const Column& column, LaneMaps& maps) {
  const format::Front& front = head.model.front;
  format::Front again;
  std::uint64_t exceptions = 0;
  format::Cursor cursor{head_bytes, kNoEnd};
  cursor.at = head.maps_at;
  const bool is_plain = front.map != ValueMap::by_lane && !format::has_fields(front.map);
  for (LaneMapping& lane : maps.lanes)
    lane = {is_plain ? static_cast<std::uint8_t>(front.map) : std::uint8_t{0}, 0, 0};
  format::parse_value_maps(
      cursor, column, task.value_bytes, kNoEnd, again, exceptions,
      [&](int lane, const format::MapFields& fields) {
        if (fields.table.entries == 0) {
          maps.lanes[lane] = {static_cast<std::uint8_t>(fields.map), fields.step, fields.offset};
        } else if (looks_up_where_stored(head, column)) {
          maps.lanes[lane] = look_up_mapping(values, fields.table.entries);
        }
      });
  std::uint32_t num_steps = 0;
  cursor.at = head.lane_map_at;
  format::parse_lane_map(cursor, column, again, [&](const format::LaneStepFields& step) {
    maps.steps[num_steps++] =
        packed_step({step.target, step.source, static_cast<LaneStepKind>(step.kind)});
  });
  maps.has_maps = false;
  for (const LaneMapping& lane : maps.lanes) maps.has_maps |= lane.map != 0;
  maps.table_at = task.section_at + head.tables_at();
  maps.num_steps = static_cast<std::uint8_t>(num_steps);
  maps.big_endian = column.big_endian;
}

/// The task of a column whose maps have a pass of their own; of others there is nothing to do.
GDELTA_HD inline MapTask make_map_task(const ColumnTask& task, const ChunkPlace& place,
                                       const format::ColumnHead& head, const Column& column) {
  MapTask maps{};
  if (!format::maps_in_a_pass(head.model.front)) return maps;
  maps.value_maps = place.head + head.maps_at;
  maps.lane_map = place.head + head.lane_map_at;
  maps.exceptions = task.section + head.section_bytes;
  maps.exceptions_at = task.section_at + head.section_bytes;
  maps.num_exceptions = static_cast<std::uint32_t>(head.exceptions);
  maps.type = static_cast<std::uint8_t>(column.type);
  maps.big_endian = column.big_endian;
  return maps;
}

/// Leaves maps to the kernels that store values, if those undo them; of others there is nothing to do. `values` as of
/// read_lane_maps.
GDELTA_HD inline void take_lane_maps(const unsigned char* values, const format::Byte* head_bytes,
                                     const format::ColumnHead& head, const Column& column,
                                     ColumnTask& task, MapTask& maps, LaneMaps& lane_maps) {
  if (maps.value_maps == nullptr || !undoes_maps_where_stored(head, column)) return;
  read_lane_maps(task, values, head_bytes, head, column, lane_maps);
  maps.undone_before = true;
  if (!lane_maps.has_maps && lane_maps.num_steps == 0) {  // nothing but indices
    task.big_endian = column.big_endian;
    return;
  }
  task.map = kMapsOfLanes;
  if (task.num_strides == 0) task.linear = reinterpret_cast<const unsigned char*>(&lane_maps);
}

/// Whether nothing changes what the pages of a column leave.
GDELTA_HD inline bool is_final(const ColumnTask& task, const format::ColumnHead& head,
                               const Column& column) {
  return !head.is_finished_later() ||
         (lane_maps_of(task) != nullptr && head.exceptions == 0 && !has_map_passes(head, column));
}

/// The path of a task whose pages leave its values, if they are verified: by those kernels if they can.
GDELTA_HD inline ColumnPath verified_path(const ColumnTask& task) {
  if (task.path == ColumnPath::page_warp &&
      has_whole_words(task.value_bytes, task.tuple, task.record_bytes))
    return ColumnPath::page_warp_verified;
  if (task.path == ColumnPath::page_block && task.coder == kCheckedPages && !is_wide(task.tuple))
    return ColumnPath::page_block_verified;
  return task.path;
}

/// The pages of a task, by the kernels that have them, and the parts that are verified behind them.
struct TaskParts {
  std::uint32_t warp_pages;
  std::uint32_t map_pages;
  std::uint32_t block_pages;
  std::uint32_t segment_pages;
  std::uint32_t unverified;
};
GDELTA_HD inline TaskParts parts_of(const ColumnTask& task, std::uint32_t parts) {
  const bool by_warps = task.path == ColumnPath::page_warp_verified;
  const bool by_blocks = task.path == ColumnPath::page_block_verified;
  TaskParts counts{};
  if (task.path == ColumnPath::page_warp || by_warps)
    (lane_maps_of(task) != nullptr ? counts.map_pages : counts.warp_pages) = parts;
  if (task.path == ColumnPath::page_block || by_blocks) counts.block_pages = parts;
  if (task.path == ColumnPath::page_segments) counts.segment_pages = parts;
  const bool verified = by_warps || by_blocks || task.path == ColumnPath::page_strides_verified;
  counts.unverified = verified ? 0 : parts;
  return counts;
}

}  // namespace gdelta::cuda
