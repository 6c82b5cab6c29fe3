// A warp parses a chunk's head. All threads read the same fields; the ends of parts, which are most
// of a head, is checked by all of them side by side, and so is the head's hash. The head is
// copied to shared memory first: read where it lies, it would be a chain of loads from memory, one
// for every field or stripe of the hash that begins a line.
#include <algorithm>

#include "codec/coders/segments_in_pages.h"
#include "codec/cuda/container/ans_fields_warp.cuh"
#include "codec/cuda/container/chunk_decode_cuda.h"
#include "formats/gdelta/chunk_head.h"
#include "gdelta/error.h"
#include "kernels/checksum/xxh3_warp.cuh"
#include "kernels/deltas/stride_rounds.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/words/load_anywhere.cuh"

namespace gdelta::cuda {
namespace {

using format::Byte;
using format::ColumnHead;
using format::ColumnModel;
using format::Cursor;
using format::DevicePrediction;
using format::HeadError;
using format::kCheckBytes;
using format::Section;

// Fields that have been parsed once need no end.
constexpr std::uint64_t kNoEnd = ~std::uint64_t{0};
constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;
constexpr std::uint32_t kMostBlocks = 4096;
// If one block parses all chunks, it counts the pages of so many tasks, too: a launch less.
constexpr std::uint32_t kFewTasks = 256;
// The first words of a block that go to shared memory: more than the head of a megabyte of bytes.
constexpr int kStagedEach = 5;  // of a thread
constexpr int kStagedWords = 32 * kStagedEach;
constexpr std::uint64_t kStagedBytes = 16 * kStagedWords - 15;  // at least these are of the block

struct ParseShared {
  xxh3::SharedSecret secret;
  uint4 staged[kWarps][kStagedWords];
  AnsBinStarts bin_starts[kWarps];
};

/// Reads over the fields of a coder, as format::parse_coder_fields does.
struct ReadFieldsByWarp {
  AnsBinStarts& bin_starts;

  __device__ HeadError operator()(format::CoderFields fields, Cursor& cursor,
                                  int value_bits) const {
    return fields == format::CoderFields::ans
               ? read_ans_fields(cursor, value_bits, bin_starts)
               : format::parse_coder_fields(fields, cursor, value_bits);
  }
};

__device__ Errc code_of(HeadError error) {
  return error == HeadError::unsupported ? Errc::unsupported_feature
         : error == HeadError::truncated ? Errc::truncated
                                         : Errc::corrupt;
}

/// The block's first bytes in shared memory, by loads that are all on their way at once. The block
/// lies in the stream, so the words that hold some of its bytes are readable; others are not read.
__device__ const Byte* stage_block(const Byte* block, std::uint64_t block_bytes, uint4* staged) {
  const int thread = threadIdx.x & 31;
  const auto skew = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(block) & 15);
  const auto* from = reinterpret_cast<const uint4*>(block - skew);
  const std::uint64_t words = (skew + block_bytes + 15) / 16;
  uint4 mine[kStagedEach];
#pragma unroll
  for (int i = 0; i < kStagedEach; ++i) {
    if (32 * i + thread < words) mine[i] = from[32 * i + thread];
  }
  __syncwarp();  // the block before this one has been read
#pragma unroll
  for (int i = 0; i < kStagedEach; ++i) {
    if (32 * i + thread < words) staged[32 * i + thread] = mine[i];
  }
  __syncwarp();  // this one is there
  return reinterpret_cast<const Byte*>(staged) + skew;
}

/// format::part_ends_rise; the whole warp looks.
__device__ bool check_part_ends(const Byte* head_bytes, const ColumnHead& head) {
  if (head.num_ends() == 0) return true;
  const Byte* const ends = head_bytes + head.part_ends_at;
  bool rising = true;
  for (std::uint64_t part = (threadIdx.x & 31) + 1; part < head.num_parts; part += 32)
    rising &= load_u32_anywhere(ends + 4 * (part - 1)) <= load_u32_anywhere(ends + 4 * part);
  rising &= load_u32_anywhere(ends + 4 * (head.num_parts - 1)) == head.section_bytes;
  return __all_sync(device::kWholeWarp, rising);
}

__device__ ColumnPath path_of(const Section& section, const Column& column) {
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

__device__ DevicePrediction prediction_of(const ColumnHead& head) {
  return format::predictor_traits(head.model.front.predictor).device;
}

/// Whether the kernels that are launched decode such a column.
__device__ bool is_launched(const ChunkKinds& kinds, const ColumnHead& head, ColumnPath path) {
  const ColumnModel& model = head.model;
  const DevicePrediction prediction = prediction_of(head);
  if (path == ColumnPath::copy || path == ColumnPath::fill) return kinds.placed;
  return (path == ColumnPath::page_warp ||
          (kinds.page_coders >> static_cast<int>(model.section.coder) & 1) != 0) &&
         (kinds.strides || model.front.num_strides == 0) &&
         (kinds.stride_pairs || model.front.num_strides < 2) &&
         (kinds.linear || prediction != DevicePrediction::runs) &&
         (prediction != DevicePrediction::segments ||
          (model.front.says_states ? kinds.segment_pages : kinds.segment_passes)) &&
         (kinds.maps || !format::maps_in_a_pass(model.front)) &&
         (kinds.dictionaries || head.table_entries == 0);
}

/// What a chunk's columns have in common.
struct ChunkPlace {
  const Byte* head;          // in the stream
  std::uint64_t section_at;  // of the first column, in the stream
  std::uint32_t records;
  std::uint32_t record_bytes;
  unsigned char* out;
  std::uint64_t out_at;  // from the content of the first chunk on
  std::uint32_t chunk;
  bool in_segments;
};

/// A column, or the lengths of segments.
struct ColumnPlace {
  Column column;
  std::uint32_t number;
  std::uint32_t slot;
  std::uint32_t offset;  // in the record
};

/// The models of a chunk, one after the other.
struct ChunkModels {
  Cursor cursor;
  std::uint64_t payload_bytes;
  std::uint64_t values_at;  // where the decoded tables of the next column begin
  AnsBinStarts& bin_starts;
  std::uint64_t total = 0;  // of the payload, that of the columns so far
  bool launched = true;     // the kernels that are launched decode them

  __device__ bool done() const { return cursor.done() && total == payload_bytes; }
};

/// Where the residuals of a column of segments go. Columns do not overlap, and begin at multiples of 16.
__device__ unsigned char* residuals_of(const ParseArgs& args, const ChunkPlace& place,
                                       const ColumnPlace& column) {
  const std::uint64_t columns_before =
      static_cast<std::uint64_t>(place.chunk) * args.num_slots + column.number;
  const std::uint64_t bytes_before =
      place.out_at + static_cast<std::uint64_t>(place.records) * column.offset;
  return args.segments.residuals + (bytes_before + kResidualsRoom * columns_before) / 16 * 16;
}

__device__ ColumnTask make_task(const ParseArgs& args, const ChunkPlace& place,
                                const ColumnHead& head, ColumnPath path,
                                const ColumnPlace& of_column) {
  const ColumnModel& model = head.model;
  const Column& column = of_column.column;
  ColumnTask task{};
  task.section_at = place.section_at + head.section_at;
  task.section = args.stream + task.section_at;
  task.directory = place.head + head.part_ends_at;
  task.fields = place.head + head.fields_at;
  task.out = place.out + of_column.offset;
  task.records = place.records;
  task.record_bytes = place.record_bytes;
  task.page_groups = model.section.part_groups;
  task.chunk = place.chunk;
  task.num_strides = model.front.num_strides;
  for (int link = 0; link < model.front.num_strides; ++link)
    task.strides[link] = {model.front.strides[link].stride, model.front.strides[link].order};
  const Byte* const fields = place.head + head.predictor_at;
  const DevicePrediction prediction = prediction_of(head);
  if (prediction == DevicePrediction::orders)
    task.orders = format::orders_by_lane(fields, column.tuple, model.front.orders);
  if (prediction == DevicePrediction::runs) {
    task.num_strides = kLinearLinks;
    task.linear = fields;
  }
  if (prediction == DevicePrediction::segments) {
    task.num_strides = kSegmentLinks;
    unsigned char* const residuals = residuals_of(args, place, of_column);
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

/// Reads the maps of a column. Gives false if they are more than kernels undo where values are stored: those of
/// linear prediction, of the last stride link or, without either, of pages whose kernels do so.
[[gnu::noinline]] __device__ bool read_lane_maps(const ColumnTask& task, const Byte* head_bytes,
                                                 const ColumnHead& head, const Column& column,
                                                 LaneMaps& maps) {
  const format::Front& front = head.model.front;
  const bool are_last = task.is_linear() || front.num_strides > 0 || pages_undo_lane_maps(task);
  if (task.tuple > LaneMaps::kMostLanes || prediction_of(head) == DevicePrediction::segments ||
      !are_last)
    return false;
  format::Front again;
  std::uint64_t exceptions = 0;
  Cursor cursor{head_bytes, kNoEnd};
  cursor.at = head.maps_at;
  const bool is_plain = front.map != ValueMap::by_lane && !format::has_fields(front.map);
  for (LaneMapping& lane : maps.lanes)
    lane = {is_plain ? static_cast<std::uint8_t>(front.map) : std::uint8_t{0}, 0, 0};
  format::parse_value_maps(
      cursor, column, task.value_bytes, kNoEnd, again, exceptions,
      [&](int lane, const format::MapFields& fields) {
        // Of dictionaries indices are stored, which are looked up later.
        if (fields.table.entries == 0)
          maps.lanes[lane] = {static_cast<std::uint8_t>(fields.map), fields.step, fields.offset};
      });
  std::uint32_t num_steps = 0;
  cursor.at = head.lane_map_at;
  format::parse_lane_map(cursor, column, again, [&](const format::LaneStepFields& step) {
    if (num_steps < LaneMaps::kMostSteps)
      maps.steps[num_steps] =
          packed_step({step.target, step.source, static_cast<LaneStepKind>(step.kind)});
    ++num_steps;
  });
  if (num_steps > LaneMaps::kMostSteps || (front.num_strides > 0 && num_steps > 0)) return false;
  maps.has_maps = false;
  for (const LaneMapping& lane : maps.lanes) {
    if (!is_undone_by_value(lane.map)) return false;
    maps.has_maps |= lane.map != 0;
  }
  maps.num_steps = static_cast<std::uint8_t>(num_steps);
  maps.big_endian = column.big_endian;
  return true;
}

/// The task of a column whose maps have a pass of their own; of others there is nothing to do.
__device__ MapTask make_map_task(const ColumnTask& task, const ChunkPlace& place,
                                 const ColumnHead& head, const Column& column) {
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

/// Leaves maps to the kernels that store values, if those undo them; of others there is nothing to do.
__device__ void take_lane_maps(const Byte* head_bytes, const ColumnHead& head, const Column& column,
                               ColumnTask& task, MapTask& maps, LaneMaps& lane_maps) {
  if (maps.value_maps == nullptr || !read_lane_maps(task, head_bytes, head, column, lane_maps))
    return;
  maps.undone_before = true;
  if (!lane_maps.has_maps && lane_maps.num_steps == 0) {  // nothing but indices
    task.big_endian = column.big_endian;
    return;
  }
  task.map = kMapsOfLanes;
  if (task.num_strides == 0) task.linear = reinterpret_cast<const unsigned char*>(&lane_maps);
}

/// Whether nothing changes what the pages of a column leave.
__device__ bool is_final(const ColumnTask& task, const ColumnHead& head) {
  return !head.is_finished_later() ||
         (lane_maps_of(task) != nullptr && head.exceptions == 0 && head.table_entries == 0);
}

/// The path of a task whose pages leave its values, if they are verified: by those kernels if they can.
__device__ ColumnPath verified_path(const ColumnTask& task) {
  if (task.path == ColumnPath::page_warp &&
      has_whole_words(task.value_bytes, task.tuple, task.record_bytes))
    return ColumnPath::page_warp_verified;
  if (task.path == ColumnPath::page_block && task.coder == kCheckedPages && !is_wide(task.tuple))
    return ColumnPath::page_block_verified;
  return task.path;
}

/// Leaves a column with strides to a block, if there is a launch for such and `maps` are undone there.
__device__ void take_strides(const ParseArgs& args, const ColumnHead& head, const MapTask* maps,
                             ColumnTask& task) {
  if ((args.stride_pages >> task.value_bytes & 1) == 0 || task.path != ColumnPath::page_warp ||
      !task.has_link(0) || is_wide(task.tuple) || !fits_stride_rounds(task) ||
      (maps != nullptr && maps->value_maps != nullptr && !maps->undone_before))
    return;
  const bool verified = args.verify && head.exceptions == 0 && head.table_entries == 0;
  task.path = verified ? ColumnPath::page_strides_verified : ColumnPath::page_strides;
}

/// Says which kernels have the pages of a task, and whether its parts are verified behind them.
__device__ void count_parts(const DecodeCounts& counts, std::uint64_t at, const ColumnTask& task,
                            std::uint32_t parts) {
  const bool by_warps = task.path == ColumnPath::page_warp_verified;
  const bool by_blocks = task.path == ColumnPath::page_block_verified;
  if (task.path == ColumnPath::page_warp || by_warps)
    (lane_maps_of(task) != nullptr ? counts.map_pages : counts.warp_pages)[at] = parts;
  if (task.path == ColumnPath::page_block || by_blocks) counts.block_pages[at] = parts;
  if (task.path == ColumnPath::page_segments) counts.segment_pages[at] = parts;
  const bool verified = by_warps || by_blocks || task.path == ColumnPath::page_strides_verified;
  counts.parts[at] = verified ? 0 : parts;
}

/// Of a column with dictionaries, whose decoded tables begin at `values`; of others there is nothing to do.
__device__ DictionaryTask make_dictionary_task(const ColumnTask& task, const ChunkPlace& place,
                                               const ColumnHead& head, const Column& column,
                                               unsigned char* values) {
  DictionaryTask dictionary{};
  if (head.table_entries == 0) return dictionary;
  dictionary.value_maps = place.head + head.maps_at;
  dictionary.coded = task.section + head.tables_at();
  dictionary.values = values;
  dictionary.tables_at = task.section_at + head.tables_at();
  dictionary.type = static_cast<std::uint8_t>(column.type);
  dictionary.big_endian = column.big_endian;
  return dictionary;
}

__device__ std::uint64_t to_multiple_of_16(std::uint64_t bytes) { return (bytes + 15) / 16 * 16; }

/// Leaves nothing to do for a chunk; the whole warp calls it.
__device__ void clear_tasks(const ParseArgs& args, std::uint32_t chunk) {
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

/// Leaves the task of a column.
[[gnu::noinline]] __device__ Errc parse_column(const ParseArgs& args, const ChunkPlace& place,
                                               const ColumnPlace& of_column, ChunkModels& models) {
  const Column& column = of_column.column;
  ColumnHead head;
  const HeadError error =
      format::parse_model(models.cursor, column, place.records, models.total, head,
                          place.in_segments, ReadFieldsByWarp{models.bin_starts});
  if (error != HeadError::none) return code_of(error);
  if (!head.decodes_on_device()) return Errc::needs_host;  // which checks the rest
  if (host_joins_pages(format::type_bytes(column.type), column.tuple, head.model))
    return Errc::needs_host;
  const bool ragged = place.in_segments || of_column.slot == args.segments.slot;
  if (head.table_entries > 0 && ragged && !args.segments.empty()) return Errc::needs_host;
  if (!check_part_ends(models.cursor.data, head)) return Errc::corrupt;
  ColumnPath path = path_of(head.model.section, column);
  models.launched &= is_launched(args.kinds, head, path);
  const std::uint64_t table_bytes =
      to_multiple_of_16(head.table_entries * format::type_bytes(column.type));
  // If there is no room, the table has other chunks than these.
  if (args.kinds.dictionaries && table_bytes > 0 &&
      models.values_at + table_bytes > args.table_room)
    return Errc::corrupt;
  if (head.model.front.says_states) path = ColumnPath::page_segments;
  if ((threadIdx.x & 31) == 0) {
    const std::uint64_t at =
        static_cast<std::uint64_t>(of_column.slot) * args.num_chunks + place.chunk;
    ColumnTask& task = args.tasks[at];
    task = make_task(args, place, head, path, of_column);
    if (args.kinds.maps) {
      args.map_tasks[at] = make_map_task(task, place, head, column);
      take_lane_maps(models.cursor.data, head, column, task, args.map_tasks[at],
                     args.lane_maps[at]);
    }
    if (args.kinds.dictionaries)
      args.dictionaries[at] =
          make_dictionary_task(task, place, head, column, args.table_values + models.values_at);
    if (args.verify && is_final(task, head)) task.path = verified_path(task);
    take_strides(args, head, args.kinds.maps ? args.map_tasks + at : nullptr, task);
    count_parts(args.count.counts, at, task, static_cast<std::uint32_t>(head.num_parts));
  }
  models.values_at += table_bytes;
  models.total += head.column_bytes();
  return Errc::ok;
}

/// The same of the lengths of segments, whose numbers are those of the table.
__device__ Errc parse_lengths(const ParseArgs& args, const ChunkPlace& place,
                              const format::SegmentsHead& head, const TableChunk& from,
                              const TableChunk& first, ChunkModels& models) {
  const SegmentPlaces& segments = args.segments;
  if (segments.empty() || head.lengths != from.lengths || head.joins != from.joins)
    return Errc::corrupt;
  const std::uint64_t at = lengths_place(from.lengths_at - first.lengths_at, place.chunk);
  if (at > segments.room || head.lengths > segments.room - at ||
      place.out_at + from.decoded_bytes > segments.residual_bytes)
    return Errc::corrupt;
  constexpr Column kLengths = format::kLengthColumn;
  ChunkPlace of_lengths = place;
  of_lengths.records = static_cast<std::uint32_t>(head.lengths);
  of_lengths.record_bytes = static_cast<std::uint32_t>(format::tuple_bytes(kLengths));
  of_lengths.out = reinterpret_cast<unsigned char*>(segments.lengths + at);
  of_lengths.in_segments = false;
  const Errc code = parse_column(args, of_lengths, {kLengths, 0, segments.slot, 0}, models);
  if (code != Errc::ok || (threadIdx.x & 31) != 0) return code;
  const std::uint64_t segment = from.segments_at - first.segments_at;
  const bool has_offsets = segments.offsets != nullptr && segment <= segments.num_offsets &&
                           head.begun() < segments.num_offsets - segment;
  segments.chunks[place.chunk] = {.lengths = segments.lengths + at,
                                  .starts = segments.starts + at,
                                  .offsets = has_offsets ? segments.offsets + segment : nullptr,
                                  .first_record = from.records_at - first.records_at,
                                  .section_at = place.section_at,
                                  .section_end = place.section_at + models.total,
                                  .num_lengths = static_cast<std::uint32_t>(head.lengths),
                                  .records = place.records,
                                  .heads = 0,
                                  .continues = head.continues(),
                                  .says_end = !head.goes_on() || place.chunk + 1 == args.num_chunks,
                                  .right = false};
  return code;
}

__device__ Errc parse_chunk(const ParseArgs& args, const xxh3::SharedSecret& secret, uint4* staged,
                            AnsBinStarts& bin_starts, std::uint32_t chunk,
                            const ChunkTableHeader& table, const TableColumn* columns,
                            const TableChunk& place, const TableChunk& first) {
  const std::uint64_t out_at = place.decoded_at - first.decoded_at;
  if (place.block_at > args.stream_bytes || place.block_bytes > args.stream_bytes - place.block_at)
    return Errc::truncated;
  const Byte* block = stage_block(args.stream + place.block_at, place.block_bytes, staged);
  Cursor cursor{block, place.block_bytes};
  format::BlockFrame frame;
  const HeadError frame_error = format::parse_block_frame(cursor, frame);
  if (frame_error != HeadError::none) return code_of(frame_error);
  if (cursor.left() < kCheckBytes || cursor.left() - kCheckBytes < frame.head_bytes)
    return Errc::truncated;
  const std::uint64_t check_at = frame.check_at();
  if (check_at + kCheckBytes > kStagedBytes) block = args.stream + place.block_at;
  const std::uint64_t hash = xxh3::hash_by_warp(secret, block, check_at);
  if (load_u32_anywhere(block + check_at) != static_cast<std::uint32_t>(hash)) return Errc::corrupt;
  const bool opaque = frame.tag == format::BlockTag::opaque_chunk;
  if (!format::is_known_tag(frame.tag)) return Errc::unsupported_feature;
  if (!frame.is_chunk() || opaque != (place.opaque != 0)) return Errc::corrupt;

  const std::uint32_t record_bytes = opaque ? 1 : table.record_bytes;
  const std::uint32_t num_columns = opaque ? 1 : args.num_columns();
  cursor = Cursor{block + frame.head_at, frame.head_bytes};
  std::uint64_t records = 0;
  Byte kinds = 0;
  format::SegmentsHead segments;
  const HeadError error =
      format::parse_chunk_head(cursor, record_bytes, opaque, records, kinds, segments);
  if (error != HeadError::none) return code_of(error);
  const ChunkPlace chunk_place{.head = args.stream + place.block_at + frame.head_at,
                               .section_at = place.block_at + frame.payload_at(),
                               .records = static_cast<std::uint32_t>(records),
                               .record_bytes = record_bytes,
                               .out = args.out + out_at,
                               .out_at = out_at,
                               .chunk = chunk,
                               .in_segments = segments.lengths > 0};
  // Those of all chunks before have room (table_room).
  const std::uint64_t values_at =
      to_multiple_of_16(out_at / 8) + std::uint64_t{16} * (args.num_slots + 1) * chunk;
  ChunkModels models{cursor, frame.payload_bytes, values_at, bin_starts};
  models.launched = args.kinds.opaque || !opaque;
  Errc code = Errc::ok;
  if (segments.lengths > 0) {
    code = parse_lengths(args, chunk_place, segments, place, first, models);
    if (code != Errc::ok) return code;
  }
  for (std::uint32_t c = 0; c < num_columns && records > 0 && code == Errc::ok; ++c) {
    const ColumnPlace of_column =
        opaque ? ColumnPlace{Column{ValueType::u8, 1, false}, c, table.opaque_slot, 0}
               : ColumnPlace{Column{static_cast<ValueType>(columns[c].type), columns[c].tuple,
                                    columns[c].big_endian != 0},
                             c, columns[c].slot, columns[c].offset};
    code = parse_column(args, chunk_place, of_column, models);
    if (code != Errc::ok && code != Errc::needs_host) return code;
  }
  if (records * record_bytes != place.decoded_bytes) return Errc::corrupt;
  if (code != Errc::ok) return code;
  if (!models.done()) return Errc::corrupt;
  if (place.block_bytes - frame.payload_at() < frame.payload_bytes) return Errc::truncated;
  return models.launched ? Errc::ok
                         : Errc::corrupt;  // or the table's kinds are those of other chunks
}

/// starts[i] = sum of counts[0 ... i - 1]; starts[items] the sum of all. The whole warp calls it.
__device__ void sum_by_warp(const std::uint32_t* counts, std::uint32_t items,
                            std::uint64_t* starts) {
  const std::uint32_t thread = threadIdx.x & 31;
  std::uint64_t before = 0;
  for (std::uint32_t first = 0; first < items; first += 32) {
    const std::uint32_t item = first + thread;
    const std::uint64_t count = item < items ? counts[item] : 0;
    const std::uint64_t sum = before + device::warp_prefix(count);
    if (item < items) starts[item] = sum - count;
    before = __shfl_sync(device::kWholeWarp, sum, 31);
  }
  if (thread == 0) starts[items] = before;
}

/// What count_pages does, by one block whose threads have parsed all chunks.
__device__ void count_few(const CountArgs& args) {
  __syncthreads();  // all counts are there
  const int warp = threadIdx.x / 32;
  if (warp == 0) {
    for (std::uint32_t i = threadIdx.x; i < args.num_tickets; i += 32) args.tickets[i] = 0;
    sum_by_warp(args.counts.warp_pages, args.num_tasks, args.warp_starts);
  } else if (warp == 1) {
    sum_by_warp(args.counts.map_pages, args.num_tasks, args.map_starts);
  } else if (warp == 2) {
    sum_by_warp(args.counts.block_pages, args.num_tasks, args.block_starts);
  } else {
    sum_by_warp(args.counts.parts, args.num_tasks, args.part_starts);
    if (args.counts.segment_pages != nullptr)
      sum_by_warp(args.counts.segment_pages, args.num_tasks, args.segment_starts);
  }
}

__global__ void __launch_bounds__(kThreads)
    parse_chunks_kernel(const __grid_constant__ ParseArgs args, bool counts) {
  device::start_successor();
  __shared__ ParseShared shared;
  shared.secret.load();
  __syncthreads();  // the secret is there
  const int thread = threadIdx.x & 31;
  uint4* const staged = shared.staged[threadIdx.x / 32];
  const ChunkTableHeader table = *reinterpret_cast<const ChunkTableHeader*>(args.table);
  const auto* columns = reinterpret_cast<const TableColumn*>(args.table + table_columns_at());
  // The header says how many columns there are, too, but the chunks' place need not wait for it.
  const auto* chunks =
      reinterpret_cast<const TableChunk*>(args.table + table_chunks_at(args.num_columns()));
  const std::uint32_t warps = gridDim.x * kWarps;
  for (std::uint32_t chunk = (blockIdx.x * kThreads + threadIdx.x) / 32; chunk < args.num_chunks;
       chunk += warps) {
    clear_tasks(args, chunk);
    __syncwarp();  // empty tasks do not overwrite full ones
    const TableChunk place = chunks[args.first_chunk + chunk];
    const TableChunk& first = chunks[args.first_chunk];
    const std::uint64_t out_at = place.decoded_at - first.decoded_at;
    Errc code = out_at > args.out_bytes || place.decoded_bytes > args.out_bytes - out_at
                    ? Errc::output_too_small
                    : parse_chunk(args, shared.secret, staged, shared.bin_starts[threadIdx.x / 32],
                                  chunk, table, columns, place, first);
    if (code != Errc::ok) {
      __syncwarp();  // tasks of the columns before the damage are taken back
      clear_tasks(args, chunk);
    }
    if (thread == 0) {
      args.verdicts[chunk] = {static_cast<std::int32_t>(code), 0,
                              code == Errc::ok ? 0 : place.block_at};
      args.damaged_at[chunk] = kNoDamage;
      args.differs_at[chunk] = kNoDamage;
    }
  }
  if (counts) count_few(args.count);
}

}  // namespace

cudaError_t launch_parse_chunks(const ParseArgs& args, cudaStream_t stream) {
  if (args.num_chunks == 0) return cudaSuccess;
  const std::uint32_t blocks = std::min((args.num_chunks + kWarps - 1) / kWarps, kMostBlocks);
  const bool counts = blocks == 1 && args.count.num_tasks <= kFewTasks;
  const cudaError_t error =
      device::launch_kernel(parse_chunks_kernel, blocks, kThreads, stream, args, counts);
  if (error != cudaSuccess || counts) return error;
  return launch_count_pages(args.count, stream);
}

}  // namespace gdelta::cuda
