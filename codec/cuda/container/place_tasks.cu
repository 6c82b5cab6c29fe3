// Everything is known but where stream, table and output are: a thread adds that to a word of a task, or finds the pages before
// one. A call begins with this kernel, whose code no cache has any more: there is little of it.
#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "codec/cuda/container/make_tasks.h"
#include "codec/cuda/container/place_tasks_cuda.h"
#include "codec/cuda/container/take_heads_cuda.h"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"

namespace gdelta::cuda {
namespace {

constexpr int kPlaceTasksThreads = 256;

/// What the kernel has to know of a call.
struct PlaceTasksArgs {
  const unsigned char* stream;  // as of ParseArgs
  const unsigned char* table;
  unsigned char* out;
  ReadyPlaces places;
  std::uint64_t heads_at;      // in the table: KnownChunks
  std::uint64_t table_chunks;  // of the whole table
  std::uint64_t first_chunk;
  std::uint32_t num_chunks;
  std::uint32_t num_slots;
  bool maps;  // there are MapTasks and LaneMaps
  bool verify;
  ColumnTask* tasks;               // [num_tasks]
  MapTask* map_tasks;              // [num_tasks]
  LaneMaps* lane_maps;             // [num_tasks]
  unsigned long long* damaged_at;  // [num_chunks]: becomes kNoDamage
  unsigned long long* differs_at;  // [num_chunks]: likewise
  CountArgs count;                 // of all tasks; its counts are not looked at
  SegmentPlaces segments;          // empty if no chunk says them
  unsigned char* columns;          // as of ApartColumns
};

/// Records of a kind: from where in the table, and to where.
struct RecordRow {
  ReadyRecords ready;
  std::uint64_t* to;
  std::uint32_t words;  // of eight bytes, of a record
  bool of_segments;     // of chunks, not of slots
};

struct PlaceShape {
  PlaceTasksArgs args;
  RecordRow rows[4];
  std::uint32_t num_rows;
  std::uint32_t count_blocks;      // of a TaskCount and a slot
  std::uint64_t bases[kNumBases];  // but for what only kernels know
};

/// What is added to a word of a record of this slot. The content of the first chunk was made for `decoded_at`.
__device__ std::uint64_t base_of(const PlaceShape& shape, std::uint32_t slot, Base base,
                                 std::uint64_t decoded_at) {
  const PlaceTasksArgs& args = shape.args;
  const std::uint64_t add = shape.bases[static_cast<int>(base)], first = args.first_chunk;
  if (base == Base::out) return add - decoded_at;
  if (base == Base::residuals || base == Base::columns)
    return add - apart_at(decoded_at, first * args.num_slots);
  // Records of the slots before are fewer here than in the table.
  if (base == Base::lane_maps)
    return add - slot * (args.table_chunks - args.num_chunks) * sizeof(LaneMaps);
  if (base < Base::lengths || base > Base::first_record) return add;
  const auto* const all = reinterpret_cast<const ReadyBefore*>(args.table + args.places.before_at);
  const ReadyBefore& before = all[first];
  return base == Base::offsets        ? add - before.segments * sizeof(std::uint64_t)
         : base == Base::first_record ? add - before.records
                                      : add - before.lengths * sizeof(std::uint32_t);
}

/// Word number `i` of the records of a slot.
__device__ void place_word(const PlaceShape& shape, const RecordRow& row, std::uint32_t slot,
                           std::uint32_t i) {
  const PlaceTasksArgs& args = shape.args;
  if (i >= args.num_chunks * row.words || (row.of_segments && slot > 0)) return;
  const std::uint64_t from = (slot * args.table_chunks + args.first_chunk) * row.words + i;
  const std::uint64_t made =
      reinterpret_cast<const std::uint64_t*>(args.table + row.ready.words_at)[from];
  const Base base = reinterpret_cast<const Base*>(args.table + row.ready.bases_at)[from];
  // Asked for by all, so that who needs it need not wait for the base first.
  const auto* const known = reinterpret_cast<const KnownChunk*>(args.table + args.heads_at);
  const std::uint64_t decoded_at = known[args.first_chunk].decoded_at;
  std::uint64_t word = made + base_of(shape, slot, base, decoded_at);
  if (base == Base::offsets && args.segments.offsets == nullptr) word = 0;
  row.to[slot * args.num_chunks * row.words + i] = word;
  // Pages begin with a look at the directory and the coder's fields, which lie in lines that nobody has read yet.
  if (base == Base::table) device::prefetch_to_l2(reinterpret_cast<const void*>(word));
  // Where the last segment of a call ends is an offset, whatever follows it in the table.
  static_assert(offsetof(SegmentedChunk, says_end) / 8 == sizeof(SegmentedChunk) / 8 - 1);
  if (row.of_segments && i + 1 == args.num_chunks * row.words)
    args.segments.chunks[args.num_chunks - 1].says_end = true;
}

__device__ std::uint64_t* starts_of(const CountArgs& args, TaskCount count) {
  return count == TaskCount::warp_pages    ? args.warp_starts
         : count == TaskCount::map_pages   ? args.map_starts
         : count == TaskCount::block_pages ? args.block_starts
         : count == TaskCount::parts       ? args.part_starts
                                           : args.segment_starts;
}

/// What comes before the task of a slot and chunk; behind the last one, all.
__device__ void place_start(const PlaceTasksArgs& args, TaskCount count, std::uint32_t slot,
                            std::uint32_t chunk) {
  const bool is_end = slot + 1 == args.num_slots && chunk == args.num_chunks;
  if (chunk >= args.num_chunks && !is_end) return;
  const std::uint64_t row = args.table_chunks + 1;
  const auto* before = reinterpret_cast<const std::uint32_t*>(args.table + args.places.counts_at) +
                       static_cast<std::uint32_t>(count) * args.num_slots * row + args.first_chunk;
  std::uint64_t start = before[slot * row + chunk] - before[slot * row];
#pragma unroll 1
  for (std::uint32_t s = 0; s < slot; ++s, before += row)
    start += before[args.num_chunks] - before[0];
  starts_of(args.count, count)[slot * args.num_chunks + chunk] = start;
}

__device__ void clear(const PlaceTasksArgs& args, std::uint32_t i) {
  if (i < args.count.num_tickets) args.count.tickets[i] = 0;
  if (i >= args.num_chunks) return;
  args.damaged_at[i] = kNoDamage;
  args.differs_at[i] = kNoDamage;
}

/// Blocks side by side have a row of records of a slot; behind the rows of a slot come its TaskCounts, one after the other.
__global__ void __launch_bounds__(kPlaceTasksThreads)
    place_tasks_kernel(const __grid_constant__ PlaceShape shape) {
  device::start_successor();
  const PlaceTasksArgs& args = shape.args;
  const std::uint32_t i = blockIdx.x * kPlaceTasksThreads + threadIdx.x;
  const std::uint32_t slot = blockIdx.y / (shape.num_rows + 1);
  const std::uint32_t row = blockIdx.y - slot * (shape.num_rows + 1);
  if (row < shape.num_rows) {
    place_word(shape, shape.rows[row], slot, i);
    if (row == 0 && slot == 0) clear(args, i);
    return;
  }
  const std::uint32_t count = blockIdx.x / shape.count_blocks;
  if (count < (args.segments.empty() ? kNumTaskCounts - 1 : kNumTaskCounts))
    place_start(args, static_cast<TaskCount>(count), slot,
                i - count * shape.count_blocks * kPlaceTasksThreads);
}
static_assert(static_cast<std::uint32_t>(TaskCount::segment_pages) == kNumTaskCounts - 1);

std::uint64_t from_made(const void* memory) {
  return reinterpret_cast<std::uintptr_t>(memory) - kMadeFor;
}

/// What is added so that a path becomes another, in the highest byte.
constexpr std::uint64_t from_path(ColumnPath verified, ColumnPath path) {
  return (static_cast<std::uint64_t>(path) - static_cast<std::uint64_t>(verified)) << 56;
}

std::uint32_t blocks_for(std::uint64_t threads) {
  return static_cast<std::uint32_t>((threads + kPlaceTasksThreads - 1) / kPlaceTasksThreads);
}

PlaceShape shape_of(const PlaceTasksArgs& args) {
  const ReadyPlaces& places = args.places;
  PlaceShape shape{.args = args,
                   .rows = {},
                   .num_rows = 0,
                   .count_blocks = blocks_for(std::uint64_t{args.num_chunks} + 1),
                   .bases = {}};
  const auto add_row = [&shape]<class Record>(const ReadyRecords& ready, Record* to) {
    static_assert(sizeof(Record) % 8 == 0);
    shape.rows[shape.num_rows++] = {.ready = ready,
                                    .to = reinterpret_cast<std::uint64_t*>(to),
                                    .words = sizeof(Record) / 8,
                                    .of_segments = std::is_same_v<Record, SegmentedChunk>};
  };
  add_row(places.tasks, args.tasks);
  if (args.maps) {
    add_row(places.map_tasks, args.map_tasks);
    add_row(places.lane_maps, args.lane_maps);
  }
  if (!args.segments.empty()) add_row(places.segments, args.segments.chunks);
  const auto base = [&shape](Base of) -> std::uint64_t& {
    return shape.bases[static_cast<int>(of)];
  };
  base(Base::stream) = from_made(args.stream);
  base(Base::table) = from_made(args.table);
  base(Base::out) = from_made(args.out);
  base(Base::lane_maps) = from_made(args.lane_maps) - args.first_chunk * sizeof(LaneMaps);
  base(Base::damaged_at) = from_made(args.damaged_at) - args.first_chunk * sizeof *args.damaged_at;
  base(Base::chunk) = -(args.first_chunk << 32);
  base(Base::residuals) = from_made(args.segments.residuals);
  base(Base::columns) = from_made(args.columns);
  base(Base::lengths) = from_made(args.segments.lengths);
  base(Base::starts) = from_made(args.segments.starts);
  base(Base::offsets) = from_made(args.segments.offsets);
  if (!args.verify) {
    base(Base::warp_path) = from_path(ColumnPath::page_warp_verified, ColumnPath::page_warp);
    base(Base::block_path) = from_path(ColumnPath::page_block_verified, ColumnPath::page_block);
  }
  return shape;
}

}  // namespace

cudaError_t launch_place_tasks(const ParseArgs& args, const ReadyArgs& ready, cudaStream_t stream) {
  if (args.num_chunks == 0) return cudaSuccess;
  const PlaceShape shape = shape_of({.stream = args.stream,
                                     .table = args.table,
                                     .out = args.out,
                                     .places = ready.places,
                                     .heads_at = ready.heads_at,
                                     .table_chunks = ready.table_chunks,
                                     .first_chunk = args.first_chunk,
                                     .num_chunks = args.num_chunks,
                                     .num_slots = args.num_slots,
                                     .maps = args.kinds.maps,
                                     .verify = args.verify,
                                     .tasks = args.tasks,
                                     .map_tasks = args.map_tasks,
                                     .lane_maps = args.lane_maps,
                                     .damaged_at = args.damaged_at,
                                     .differs_at = args.differs_at,
                                     .count = args.count,
                                     .segments = args.segments,
                                     .columns = args.apart.columns});
  std::uint32_t threads = args.count.num_tickets;
  for (const RecordRow& row : shape.rows) threads = std::max(threads, args.num_chunks * row.words);
  const dim3 grid(std::max(blocks_for(threads), kNumTaskCounts * shape.count_blocks),
                  (shape.num_rows + 1) * args.num_slots);
  return device::launch_kernel_with(place_tasks_kernel, grid, kPlaceTasksThreads, 0, stream, shape);
}

}  // namespace gdelta::cuda
