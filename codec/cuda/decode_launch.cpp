#include "codec/cuda/decode_launch.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <random>

#include "codec/cuda/container/join_records_cuda.h"
#include "codec/cuda/container/place_columns_cuda.h"
#include "codec/cuda/container/place_tasks_cuda.h"
#include "codec/cuda/container/take_heads_cuda.h"
#include "codec/cuda/prepared_table.h"
#include "codec/cuda/ready_tasks.h"
#include "formats/gdelta/coder_traits.h"
#include "formats/gdelta/predictors/linear_fields.h"
#include "kernels/bitpack/segment_pages_cuda.h"
#include "kernels/bitpack/stride_pages_cuda.h"
#include "kernels/bitpack/unpack_pages_cuda.h"
#include "kernels/bitpack/unpack_pages_tiles_cuda.h"
#include "kernels/deltas/stride_undo_cuda.h"
#include "kernels/linear/linear_undo_cuda.h"
#include "kernels/pages/page_limits.h"

namespace gdelta::cuda {
namespace {

constexpr std::uint64_t kUsualPartBytes = 4096;
constexpr std::uint64_t kFewRecords = 8;  // of a segment, if many tuples are heads
constexpr int kFewestRunBits = format::kMinLinearRunBits;

/// Launches the kernels of every coder that may have such pages.
cudaError_t launch_block_pages(std::uint32_t coders, const PageClass& pages, const UnpackArgs& args,
                               std::uint64_t max_pages, cudaStream_t stream) {
#define GDELTA_LAUNCH(name, number)                                                             \
  if ((coders >> (number)&1) != 0) {                                                            \
    if (auto error = launch_##name##_pages_block(pages, args, max_pages, stream)) return error; \
  }
  GDELTA_PAGE_KERNELS(GDELTA_LAUNCH)
#undef GDELTA_LAUNCH
  return cudaSuccess;
}

// The rows of page_kernels.h are coders of coders.h that a device decodes by pages.
#define GDELTA_CHECK(name, number)                         \
  static_assert(static_cast<int>(Coder::name) == number && \
                format::coder_traits(Coder::name).device >= format::DeviceDecoding::pages);
GDELTA_PAGE_KERNELS(GDELTA_CHECK)
#undef GDELTA_CHECK

bool is_opaque_alone(const DeviceLayout& device_layout, const SlotClass& slots) {
  return slots.first_slot == device_layout.opaque_slot &&
         slots.end_slot == device_layout.opaque_slot + 1;
}

/// Whether some columns are not verified where they are decoded.
bool has_parts_to_compare(const DeviceLayout& device_layout, const ChunkKinds& kinds) {
  return kinds.placed || kinds.strides || kinds.linear || kinds.map_passes || kinds.exceptions ||
         kinds.segments || (kinds.page_coders & ~(1u << kCheckedPages)) != 0 ||
         !std::all_of(device_layout.columns.begin(), device_layout.columns.end(),
                      [&](const TableColumn& column) {
                        const int bytes = value_bytes(static_cast<ValueType>(column.type));
                        const std::uint64_t record_bytes =
                            device_layout.apart ? static_cast<std::uint64_t>(bytes) * column.tuple
                                                : device_layout.record_bytes;
                        return has_whole_words(bytes, column.tuple, record_bytes) &&
                               (kinds.page_coders == 0 || !is_wide(column.tuple));
                      });
}

UnpackArgs args_of(const SlotClass& slots, const DecodeCall& call, const DecodeScratch& scratch,
                   const std::uint64_t* starts, unsigned long long* tickets) {
  return {.tasks = scratch.tasks,
          .starts = starts,
          .damaged_at = scratch.damaged_at,
          .first_task = slots.first_slot * call.num_chunks,
          .end_task = slots.end_slot * call.num_chunks,
          .tickets = tickets,
          .differs_at = call.verify ? scratch.differs_at : nullptr};
}

// What all sections decode to.
std::uint64_t all_bytes(const DecodeCall& call) {
  return call.decoded_bytes + call.lengths * format::tuple_bytes(format::kLengthColumn);
}

// At most, if pages of `slots` have so many bytes or more.
std::uint64_t most_pages(const SlotClass& slots, const DecodeCall& call, std::uint64_t page_bytes) {
  return (slots.end_slot - slots.first_slot) * (all_bytes(call) / page_bytes + call.num_chunks);
}

std::uint64_t most_warp_pages(const SlotClass& slots, const DecodeCall& call) {
  const int fewest_lanes = is_wide(slots.most_tuple) ? kWarpPathTuple + 1 : slots.most_tuple;
  const std::uint64_t tuple_bytes = static_cast<std::uint64_t>(slots.value_bytes) * fewest_lanes;
  return most_pages(slots, call, kGroupValues * tuple_bytes);
}

// Calls launch(slots) for all classes of narrow tuples, as far as there may be such columns.
template <class Launch>
cudaError_t for_narrow_classes(const DeviceLayout& device_layout, const DecodeCall& call,
                               const Launch& launch) {
  for (const SlotClass& slots : device_layout.classes) {
    if (is_wide(slots.most_tuple) || (is_opaque_alone(device_layout, slots) && !call.kinds.opaque))
      continue;
    if (auto error = launch(slots)) return error;
  }
  return cudaSuccess;
}

// The widths of which so many columns are summed along strides that each is a block's, a bit for each.
cudaError_t widths_of_stride_pages(const DeviceLayout& device_layout, const DecodeCall& call,
                                   std::uint32_t& widths) {
  widths = 0;
  if (!call.kinds.strides) return cudaSuccess;
  const std::uint64_t columns = std::min<std::uint64_t>(
      call.kinds.stride_columns, call.num_chunks * device_layout.columns.size());
  std::uint32_t lacking = 0;
  const auto add = [&](const SlotClass& slots) {
    std::uint64_t enough = 0;
    bool has_room = false;
    if (auto error = enough_stride_columns(enough)) return error;
    if (auto error = has_room_for_stride_pages(slots.value_bytes, slots.most_tuple, has_room))
      return error;
    (has_room && columns >= enough ? widths : lacking) |= 1u << slots.value_bytes;
    return cudaSuccess;
  };
  const cudaError_t error = for_narrow_classes(device_layout, call, add);
  widths &= ~lacking;
  return error;
}

ParseArgs parse_args(const DeviceLayout& device_layout, const DecodeCall& call,
                     const DecodeScratch& scratch) {
  const CountArgs count{.counts = scratch.counts,
                        .num_tasks = device_layout.num_slots * call.num_chunks,
                        .warp_starts = scratch.warp_starts,
                        .map_starts = scratch.map_starts,
                        .block_starts = scratch.block_starts,
                        .part_starts = scratch.part_starts,
                        .tickets = scratch.tickets,
                        .num_tickets = static_cast<std::uint32_t>(device_layout.classes.size()),
                        .segment_starts = scratch.segment_starts};
  return {.stream = call.stream,
          .stream_bytes = call.stream_bytes,
          .table = call.table,
          .first_chunk = call.first_chunk,
          .num_chunks = call.num_chunks,
          .num_slots = device_layout.num_slots,
          .out = call.out,
          .out_bytes = call.out_bytes,
          .tasks = scratch.tasks,
          .map_tasks = scratch.map_tasks,
          .dictionaries = scratch.dictionaries,
          .table_values = scratch.table_values,
          .table_room = scratch.table_room,
          .lane_maps = scratch.lane_maps,
          .verdicts = call.verdicts,
          .damaged_at = scratch.damaged_at,
          .differs_at = scratch.differs_at,
          .count = count,
          .kinds = call.kinds,
          .verify = call.verify,
          .stride_pages = 0,
          .segments = scratch.segments,
          .apart = scratch.apart};
}

// All heads parsed, or found to be those that are known, and pages counted. `stride_pages`: the widths that have a launch for
// ColumnPath::page_strides.
cudaError_t launch_heads(const DeviceLayout& device_layout, const DecodeCall& call,
                         const DecodeScratch& scratch, std::uint32_t stride_pages,
                         cudaStream_t stream) {
  ParseArgs parse = parse_args(device_layout, call, scratch);
  parse.stride_pages = stride_pages;
  return call.heads_at > 0 ? launch_take_heads(parse, call.heads_at, stream)
                           : launch_parse_chunks(parse, stream);
}

// Whether the tasks that the host has made serve a call: nothing is missing of their stream, and there is room for any chunks of
// which the call may have so many.
bool is_ready(const DeviceLayout& device_layout, const DecodeCall& call) {
  const ReadyTasks& ready = call.ready;
  const std::uint64_t decoded_bytes =
      std::min(ready.decoded_bytes, call.num_chunks * ready.largest_chunk);
  return ready.at > 0 && call.heads_at > 0 && allows(call.kinds, ready.kinds) &&
         device_layout.in_segments == ready.kinds.segments &&
         call.stream_bytes >= ready.stream_bytes && call.out_bytes >= decoded_bytes &&
         call.decoded_bytes >= decoded_bytes &&
         call.lengths >= std::min(ready.lengths, call.num_chunks * ready.most_lengths) &&
         (call.offsets == nullptr || call.num_offsets > ready.segments);
}

// What launch_heads leaves, but for verdicts, of chunks whose heads launch_settle_ready looks at.
cudaError_t launch_ready_tasks(const DeviceLayout& device_layout, const DecodeCall& call,
                               const DecodeScratch& scratch, cudaStream_t stream) {
  return launch_place_tasks(
      parse_args(device_layout, call, scratch),
      {.places = ready_places(call.ready.at, device_layout.num_slots, call.table_chunks,
                              call.kinds.maps, call.kinds.segments),
       .heads_at = call.heads_at,
       .table_chunks = call.table_chunks},
      stream);
}

cudaError_t launch_settle_ready(const DeviceLayout& device_layout, const DecodeCall& call,
                                const SettleArgs& settle, cudaStream_t stream) {
  return launch_settle_known_heads(
      {.settle = settle,
       .stream = call.stream,
       .stream_bytes = call.stream_bytes,
       .table = call.table,
       .heads_at = call.heads_at,
       .chunks_at = table_chunks_at(static_cast<std::uint32_t>(device_layout.columns.size())),
       .first_chunk = call.first_chunk},
      stream);
}

// Of more columns launches take too long.
constexpr std::uint64_t kFewColumns = 4;

// Of more pages warps make enough of each other's waiting: the sooner the more there is to do for a thread of a block (docs/decode_calls.md).
std::uint64_t few_pages(const TableColumn& column) {
  const int bytes = value_bytes(static_cast<ValueType>(column.type));
  return bytes == 1 || bytes == 8 || column.tuple > 2 ? 2048 : 16384;
}

// Whether blocks decode the pages of a call as they have been prepared.
bool is_small(const DeviceLayout& device_layout, const DecodeCall& call) {
  const std::span<const std::uint32_t> columns = call.prepared_pages;
  if (columns.empty() || columns.size() > kFewColumns || !may_be_prepared(call.kinds)) return false;
  std::uint64_t pages = 0, few = few_pages(device_layout.columns.front());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    pages += columns[c];
    few = std::min(few, few_pages(device_layout.columns[c]));
  }
  return pages * call.num_chunks <= few;
}

// A number that no call of this process has had. What is left in scratch memory is not such a number, but for a chance of 2^-63.
std::uint64_t number_of_call() {
  static std::atomic<std::uint64_t> next{std::uint64_t{std::random_device{}()} << 32 |
                                         std::random_device{}()};
  return next.fetch_add(1, std::memory_order_relaxed);
}

// Whether work on the stream is recorded, to be done any number of times. Then a call has no number of its own.
bool is_captured(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
  return cudaStreamIsCapturing(stream, &status) != cudaSuccess ||
         status != cudaStreamCaptureStatusNone;
}

// All of a small call: a launch for each column, of which the first holds heads against what was prepared.
cudaError_t launch_small(const DeviceLayout& device_layout, const DecodeCall& call,
                         const DecodeScratch& scratch, cudaStream_t stream) {
  const std::uint64_t number = number_of_call();
  const std::uint64_t num_columns = call.prepared_pages.size(), chunks = call.table_chunks;
  const auto* const columns = reinterpret_cast<const PreparedColumn*>(
      call.table + prepared_columns_at(num_columns, chunks));
  std::uint64_t pages_before = 0;
  for (std::uint64_t c = 0; c < num_columns; pages_before += call.prepared_pages[c++]) {
    const TableColumn& column = device_layout.columns[c];
    const auto* const ends = reinterpret_cast<const std::uint32_t*>(
        call.table + prepared_ends_at(num_columns, chunks, pages_before));
    const TilePagesArgs args{
        .columns = columns + c * chunks + call.first_chunk,
        .page_ends = ends + call.first_chunk * call.prepared_pages[c],
        .num_chunks = call.num_chunks,
        .most_pages = call.prepared_pages[c],
        .stream = call.stream,
        .stream_bytes = call.stream_bytes,
        .out = call.out,
        .out_bytes = call.out_bytes,
        .column_offset = column.offset,
        .record_bytes = static_cast<std::uint32_t>(device_layout.record_bytes),
        .value_bytes = static_cast<std::uint8_t>(value_bytes(static_cast<ValueType>(column.type))),
        .tuple = column.tuple,
        .big_endian = column.big_endian != 0,
        .verify = call.verify,
        .is_first = c == 0,
        .is_last = c + 1 == num_columns,
        .codes = {.corrupt = static_cast<std::int32_t>(Errc::corrupt),
                  .truncated = static_cast<std::int32_t>(Errc::truncated),
                  .no_room = static_cast<std::int32_t>(Errc::output_too_small)},
        .verdicts = call.verdicts,
        .verdict_cells = scratch.verdict_cells,
        .call = number};
    if (auto error = launch_unpack_pages_tiles(args, stream)) return error;
  }
  return cudaSuccess;
}

// Short pages, by warps: a launch for each width and narrow tuple there is, another of those with LaneMaps, and one for
// each width of wide ones.
cudaError_t launch_warp_pages(const DeviceLayout& device_layout, const DecodeCall& call,
                              const DecodeScratch& scratch, cudaStream_t stream) {
  unsigned long long* tickets = scratch.tickets;
  for (const SlotClass& slots : device_layout.classes) {
    if (is_opaque_alone(device_layout, slots) && !call.kinds.opaque) continue;
    UnpackArgs args = args_of(slots, call, scratch, scratch.warp_starts, tickets++);
    const std::uint64_t most = most_warp_pages(slots, call);
    if (auto error =
            launch_unpack_pages_warp(slots.value_bytes, slots.most_tuple, args, most, stream))
      return error;
    if (!call.kinds.maps || is_wide(slots.most_tuple)) continue;
    args.starts = scratch.map_starts;
    if (auto error =
            launch_unpack_pages_maps(slots.value_bytes, slots.most_tuple, args, most, stream))
      return error;
  }
  return cudaSuccess;
}

// Columns that blocks sum along their strides: for each of these widths and each narrow tuple.
cudaError_t launch_strided_columns(const DeviceLayout& device_layout, const DecodeCall& call,
                                   const DecodeScratch& scratch, std::uint32_t widths,
                                   cudaStream_t stream) {
  return for_narrow_classes(device_layout, call, [&](const SlotClass& slots) {
    if ((widths >> slots.value_bytes & 1) == 0) return cudaSuccess;
    return launch_stride_pages(slots.value_bytes, slots.most_tuple,
                               args_of(slots, call, scratch, nullptr, nullptr), scratch.lane_maps,
                               stream);
  });
}

// About how many pages a column has; 0: not known.
std::uint64_t guess_column_pages(const DeviceLayout& device_layout, const DecodeCall& call) {
  if (call.kinds.page_groups == 0) return 0;
  const std::uint64_t records =
      call.decoded_bytes / std::max(device_layout.record_bytes * call.num_chunks, std::uint64_t{1});
  const std::uint64_t of_page = kGroupValues * call.kinds.page_groups;
  return std::max((records + of_page / 2) / of_page, std::uint64_t{1});
}

// All other pages: for each width, and one lane or more, a launch of each coder.
cudaError_t launch_long_pages(const DeviceLayout& device_layout, const DecodeCall& call,
                              const DecodeScratch& scratch, cudaStream_t stream) {
  unsigned long long* tickets = scratch.tickets;
  const std::uint64_t column_pages = guess_column_pages(device_layout, call);
  for (const SlotClass& slots : device_layout.classes) {
    if (is_opaque_alone(device_layout, slots) && !call.kinds.opaque) continue;
    const UnpackArgs args = args_of(slots, call, scratch, scratch.block_starts, tickets++);
    const std::uint64_t most = most_pages(slots, call, kGroupValues);
    const PageClass pages = {.value_bytes = slots.value_bytes,
                             .most_tuple = slots.most_tuple,
                             .column_pages = column_pages};
    if (auto error = launch_block_pages(call.kinds.page_coders, pages, args, most, stream))
      return error;
  }
  return cudaSuccess;
}

// What is predicted linearly, for each width.
cudaError_t launch_linear_fronts(const DeviceLayout& device_layout, const DecodeCall& call,
                                 const DecodeScratch& scratch, cudaStream_t stream) {
  for (const SlotClass& slots : device_layout.classes) {
    if (is_opaque_alone(device_layout, slots) && !call.kinds.opaque) continue;
    const std::uint32_t tasks = (slots.end_slot - slots.first_slot) * call.num_chunks;
    const std::uint64_t most =
        tasks + all_bytes(call) / (static_cast<std::uint64_t>(slots.value_bytes) << kFewestRunBits);
    const std::uint32_t first = slots.first_slot * call.num_chunks;
    if (auto error = launch_linear_undo(scratch.tasks + first, scratch.lane_maps + first, tasks,
                                        slots.value_bytes, slots.most_tuple, most, stream))
      return error;
  }
  return cudaSuccess;
}

// Maps of the columns of some slots, as far as they are not undone where values are stored.
cudaError_t launch_maps(const DecodeCall& call, const DecodeScratch& scratch,
                        std::uint32_t first_slot, std::uint32_t end_slot, cudaStream_t stream) {
  const std::uint32_t first = first_slot * call.num_chunks;
  const UndoMapsArgs undo{.tasks = scratch.tasks + first,
                          .maps = scratch.map_tasks + first,
                          .num_tasks = end_slot * call.num_chunks - first,
                          .damaged_at = scratch.damaged_at};
  if (call.kinds.map_passes) {
    if (auto error = launch_undo_maps(undo, all_bytes(call), stream)) return error;
  }
  return call.kinds.exceptions ? launch_place_exceptions(undo, all_bytes(call), stream)
                               : cudaSuccess;
}

// Lengths, and what they are needed for: columns that are predicted inside segments.
cudaError_t launch_segments(const DeviceLayout& device_layout, const DecodeCall& call,
                            const DecodeScratch& scratch, cudaStream_t stream) {
  const SegmentPlaces& segments = scratch.segments;
  if (call.kinds.maps) {
    if (auto error = launch_maps(call, scratch, segments.slot, segments.slot + 1, stream))
      return error;
  }
  const MeasureSegmentsArgs measure{.chunks = segments.chunks,
                                    .num_chunks = call.num_chunks,
                                    .tasks = scratch.tasks,
                                    .lengths_slot = segments.slot,
                                    .damaged_at = scratch.damaged_at};
  if (auto error = launch_measure_segments(measure, call.lengths, stream)) return error;
  for (const SlotClass& slots : device_layout.classes) {
    if (slots.first_slot == segments.slot || is_opaque_alone(device_layout, slots)) continue;
    const JoinSegmentsArgs join{
        .tasks = scratch.tasks + slots.first_slot * call.num_chunks,
        .num_tasks = (slots.end_slot - slots.first_slot) * call.num_chunks,
        .chunks = segments.chunks,
        .record_bytes = static_cast<std::uint32_t>(device_layout.record_bytes)};
    const SegmentPagesArgs pages{
        .pages = args_of(slots, call, scratch, scratch.segment_starts,
                         scratch.tickets + (&slots - device_layout.classes.data())),
        .chunks = segments.chunks,
        .many_heads = call.lengths * kFewRecords * device_layout.record_bytes > call.decoded_bytes};
    const bool in_pages =
        call.kinds.segment_pages && fits_segment_pages(slots.value_bytes, slots.most_tuple, 0);
    const std::uint64_t most = most_warp_pages(slots, call);
    if (in_pages) {
      if (auto error =
              launch_segment_heads(slots.value_bytes, slots.most_tuple, pages, most, stream))
        return error;
      if (auto error =
              launch_sum_segment_pages(slots.value_bytes, slots.most_tuple, pages, most, stream))
        return error;
    }
    if (call.kinds.segment_passes) {
      if (auto error = launch_join_segments(join, slots.value_bytes, slots.most_tuple, stream))
        return error;
    }
  }
  return cudaSuccess;
}

}  // namespace

// The first kernel is launched as any other, so what the caller enqueued before it is done when it
// starts. Each of the others may start early (launch_after) but reads and writes no memory of
// the device, unless no kernel of the call writes it, before it has waited until the one before it, which has waited likewise, is
// done with all its writes visible: whatever reads or overwrites something comes behind everything before it
// in this list. The last one lets nothing start early, so the caller's next work finds all of it
// done.
cudaError_t launch_decode(const DeviceLayout& device_layout, const DecodeCall& asked,
                          cudaStream_t stream) {
  if (asked.num_chunks == 0) return cudaSuccess;
  DecodeCall call = asked;
  std::uint32_t stride_pages = 0;
  if (auto error = widths_of_stride_pages(device_layout, call, stride_pages)) return error;
  // Which of its columns blocks sum along strides is found by kernels.
  const bool ready = is_ready(device_layout, call) && stride_pages == 0;
  if (ready) call.kinds = call.ready.kinds;
  ScratchLayout layout(call.scratch);
  const DecodeScratch scratch = take_scratch(layout, device_layout, call);
  if (is_small(device_layout, call) && !is_captured(stream))
    return launch_small(device_layout, call, scratch, stream);
  const std::uint32_t num_tasks = device_layout.num_slots * call.num_chunks;

  if (auto error = ready ? launch_ready_tasks(device_layout, call, scratch, stream)
                         : launch_heads(device_layout, call, scratch, stride_pages, stream))
    return error;

  const UndoDictionariesArgs dictionaries{.tasks = scratch.tasks,
                                          .dictionaries = scratch.dictionaries,
                                          .num_tasks = num_tasks,
                                          .damaged_at = scratch.damaged_at};
  if (call.kinds.dictionaries) {
    if (auto error = launch_expand_tables(dictionaries, all_bytes(call), stream)) return error;
  }
  if (call.kinds.placed) {
    if (auto error = launch_place_columns(scratch.tasks, num_tasks, all_bytes(call), stream))
      return error;
  }
  if (call.kinds.warp_pages) {
    if (auto error = launch_warp_pages(device_layout, call, scratch, stream)) return error;
  }
  if (stride_pages != 0) {
    if (auto error = launch_strided_columns(device_layout, call, scratch, stride_pages, stream))
      return error;
  }
  if (call.kinds.page_coders != 0) {
    if (auto error = launch_long_pages(device_layout, call, scratch, stream)) return error;
  }
  if (call.kinds.strides) {
    if (auto error = launch_stride_undo(scratch.tasks, scratch.lane_maps, num_tasks,
                                        call.kinds.stride_pairs, stream))
      return error;
  }
  if (call.kinds.linear) {
    if (auto error = launch_linear_fronts(device_layout, call, scratch, stream)) return error;
  }
  if (device_layout.in_segments) {
    if (auto error = launch_segments(device_layout, call, scratch, stream)) return error;
  }
  if (call.kinds.maps) {
    const std::uint32_t slots = device_layout.num_slots - (device_layout.in_segments ? 1 : 0);
    if (auto error = launch_maps(call, scratch, 0, slots, stream)) return error;
  }
  if (call.kinds.dictionaries && call.kinds.map_passes) {
    if (auto error = launch_look_up(dictionaries, all_bytes(call), stream)) return error;
  }
  if (call.verify && has_parts_to_compare(device_layout, call.kinds)) {
    // A guess that suits columns alone; it only sizes the grid.
    const CompareChecksArgs compare{.tasks = scratch.tasks,
                                    .part_starts = scratch.part_starts,
                                    .num_tasks = num_tasks,
                                    .max_parts = num_tasks + all_bytes(call) / kUsualPartBytes,
                                    .in_segments = call.kinds.segments,
                                    .differs_at = scratch.differs_at};
    if (auto error = launch_compare_checks(compare, stream)) return error;
  }
  if (device_layout.apart) {
    const JoinRecordsArgs join{
        .tasks = scratch.tasks,
        .table = call.table,
        .first_chunk = call.first_chunk,
        .num_chunks = call.num_chunks,
        .num_columns = static_cast<std::uint32_t>(device_layout.columns.size()),
        .record_bytes = static_cast<std::uint32_t>(device_layout.record_bytes),
        .out = call.out};
    if (auto error = launch_join_records(join, call.decoded_bytes, stream)) return error;
  }
  const SettleArgs settle{.num_chunks = call.num_chunks,
                          .damaged_at = scratch.damaged_at,
                          .differs_at = scratch.differs_at,
                          .verdicts = call.verdicts};
  return ready ? launch_settle_ready(device_layout, call, settle, stream)
               : launch_settle_verdicts(settle, stream);
}

cudaError_t launch_open_pages(const DeviceLayout& device_layout, const DecodeCall& call,
                              std::size_t column, DevicePages& pages, cudaStream_t stream) {
  ScratchLayout layout(call.scratch);
  DecodeScratch scratch = take_scratch(layout, device_layout, call);
  scratch.apart = {};  // readers tell records by where these would go
  const std::uint32_t slot = device_layout.columns[column].slot;
  const auto slots =
      std::find_if(device_layout.classes.begin(), device_layout.classes.end(),
                   [slot](const SlotClass& candidate) { return slot < candidate.end_slot; });
  SlotClass own = *slots;
  own.first_slot = slot;
  own.end_slot = slot + 1;
  pages = {.tasks = scratch.tasks,
           .starts = scratch.warp_starts,
           .first_task = slot * call.num_chunks,
           .end_task = (slot + 1) * call.num_chunks,
           .tickets = scratch.tickets + (slots - device_layout.classes.begin()),
           .damaged_at = scratch.damaged_at,
           .differs_at = scratch.differs_at,
           .verdicts = call.verdicts,
           .num_chunks = call.num_chunks,
           .value_bytes = own.value_bytes,
           .tuple = device_layout.columns[column].tuple,
           .verify = call.verify,
           .most_pages = most_warp_pages(own, call)};
  return call.num_chunks == 0 ? cudaSuccess : launch_heads(device_layout, call, scratch, 0, stream);
}

cudaError_t launch_close_pages(const DevicePages& pages, cudaStream_t stream) {
  const SettleArgs settle{.num_chunks = pages.num_chunks,
                          .damaged_at = pages.damaged_at,
                          .differs_at = pages.differs_at,
                          .verdicts = pages.verdicts,
                          .read = pages.tasks + pages.first_task};
  return launch_settle_verdicts(settle, stream);
}

}  // namespace gdelta::cuda
