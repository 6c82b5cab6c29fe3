#include "codec/cuda/container/write_stream_cuda.h"

#include <algorithm>

#include "codec/cuda/container/exact_maps.cuh"
#include "codec/cuda/container/section_coder.h"
#include "codec/cuda/container/warp_sink.cuh"
#include "formats/gdelta/head_writer.h"
#include "kernels/checksum/xxh3_warp.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/words/copy_anywhere.cuh"
#include "kernels/words/lane_steps.h"

namespace gdelta::cuda {
namespace {

using format::Byte;

constexpr int kPlaceThreads = 1024;
constexpr int kPlaceWarps = kPlaceThreads / 32;
constexpr int kSizeThreads = 32;
constexpr int kWriteStreamThreads = 256;
constexpr std::uint32_t kWriteStreamMostBlocks = 1 << 16;
constexpr int kRawSlices = 8;  // blocks that share a raw chunk
constexpr std::uint64_t kCheckBytes = format::kCheckBytes, kFooterBytes = 4;

// ---- What heads say

/// Bytes of a block up to its payload.
__device__ std::uint64_t frame_bytes(format::BlockTag tag, std::uint64_t head,
                                     std::uint64_t payload) {
  format::ByteCount count;
  format::write_block_frame(count, tag, head, payload);
  return count.total + head + kCheckBytes;
}

/// How a column's section is cut into parts.
__device__ std::uint32_t part_groups(const PackTask& task, format::PartRule rule) {
  switch (rule) {
    case format::PartRule::one:
      return 0;
    case format::PartRule::pages:
      return task.page_groups;
    case format::PartRule::any:
      break;
  }
  return task.num_pages > 1 ? task.page_groups : 0;
}

/// A device plans no stride but one that was asked for.
__device__ format::StrideLink stride_of(const PackTask& task) {
  return {task.strides[0].stride, static_cast<std::uint8_t>(task.strides[0].order)};
}

/// `stride`: that of the task, if it has one.
__device__ format::FrontToWrite front_of(const PackTask& task, const format::StrideLink& stride) {
  format::FrontToWrite front;
  front.map = static_cast<ValueMap>(task.map);
  front.links = {.tuple = task.tuple,
                 .orders = task.orders,
                 .num_strides = task.num_strides,
                 .strides = &stride};
  front.predictor = format::needed_predictor(format::kUsualPredictor, front.links);
  return front;
}

/// A column of a chunk, as the chunk's head needs it.
struct ColumnToWrite {
  const PackTask& task;
  const PackResult& result;
  const format::CoderTraits traits;
  const format::StrideLink stride;  // the model points to it
  format::ModelToWrite model;

  __device__ ColumnToWrite(const WrittenColumn& column, std::uint32_t chunk)
      : task(column.pack.tasks[chunk]),
        result(column.pack.results[chunk]),
        traits(format::coder_traits(coder_of(result.kind))),
        stride(stride_of(task)) {
    model.column_bytes = column_bytes();
    model.section.coder = coder_of(result.kind);
    model.section.part_groups = part_groups(task, traits.parts);
    const std::uint64_t parts = format::num_parts(model.section, task.records);
    model.checks = {column.pack.part_checks + task.first_page, parts};
    // Constants have their own.
    if (task.is_mapped() && traits.device != format::DeviceDecoding::fill)
      model.checks = {column.mapped_checks + chunk * column.mapped_parts, parts};
    if (!traits.codes_residuals) return;
    model.front = front_of(task, stride);
    if (task.is_mapped()) {
      model.front.map = static_cast<ValueMap>(column.maps.chunks[chunk].map);
      model.front.map_fields = {column.maps.fields_of(chunk), task.map_bytes};
    }
    if (task.has_steps()) {
      model.front.lane_map = format::lane_map_of(static_cast<int>(LaneStepKind::minus));
      model.front.lane_map_fields = {column.steps.of(chunk), task.step_bytes};
    }
    model.fields = column.fields.of(chunk);
    model.ends = {column.pack.page_ends + task.first_page, parts};
  }

  ColumnToWrite(const ColumnToWrite&) = delete;

  __device__ bool has_tables() const { return traits.codes_residuals && task.table_bytes > 0; }
  __device__ std::uint64_t column_bytes() const {
    return result.section_bytes + (has_tables() ? task.table_bytes : 0);
  }
};

/// The columns of a record. One alone is known where the kernel's arguments are.
template <bool kAlone>
struct Columns {
  const WriteArgs& args;

  __device__ std::uint32_t count() const { return kAlone ? 1 : args.num_columns(); }
  __device__ const WrittenColumn& operator[](std::uint32_t number) const {
    return kAlone || number == 0 ? args.first : args.others[number - 1];
  }
};

/// Tuples of a chunk's columns.
__device__ std::uint32_t records_of(const WriteArgs& args, std::uint32_t chunk) {
  return args.first.pack.tasks[chunk].records;
}

/// Calls visit(number, column) for each column as well.
template <bool kAlone, class Sink, class Visit>
__device__ void write_chunk_head(Sink& sink, const Columns<kAlone>& columns, std::uint32_t chunk,
                                 const Visit& visit) {
  format::write_chunk_fields(sink, records_of(columns.args, chunk), {});
  for (std::uint32_t c = 0; c < columns.count(); ++c) {
    const ColumnToWrite column(columns[c], chunk);
    format::write_model(sink, column.model);
    visit(c, column);
  }
}

/// The chunk's entry in the index.
template <class Sink>
__device__ void write_entry(Sink& sink, std::uint32_t records, std::uint64_t block_bytes,
                            std::uint32_t check) {
  format::write_entry_start(sink, {.tag = static_cast<std::uint8_t>(format::BlockTag::chunk),
                                   .block_bytes = block_bytes,
                                   .check = check,
                                   .number = records});
}

/// The head of the end block, but for the entries of chunks.
template <class Sink>
__device__ void write_end_head(Sink& sink, const WriteArgs& args) {
  // With one chunk or none there is nothing to find.
  const bool has_index = args.num_chunks() > 1;
  sink.varint(has_index ? std::uint64_t{args.num_chunks()} + 1 : 0);
  if (has_index) sink.bytes({args.layout_entry, args.layout_entry_bytes});
}

// ---- Places: two running sums over the chunks, by one block

struct BlockSums {
  std::uint64_t blocks, entries;
};

__device__ BlockSums operator+(BlockSums a, BlockSums b) {
  return {a.blocks + b.blocks, a.entries + b.entries};
}

__device__ TableChunk* table_chunks(const WriteArgs& args) {
  return reinterpret_cast<TableChunk*>(args.table + table_chunks_at(args.num_columns()));
}

// A thread a chunk, spread over the device. Sizes stand where places will: of the block up to a section in section_at, of the
// entry in entries; opaque says whether any column has tables.
template <bool kAlone>
__global__ void __launch_bounds__(kSizeThreads)
    size_blocks_kernel(const __grid_constant__ WriteArgs args) {
  const Columns<kAlone> columns{args};
  device::start_successor();
  device::wait_for_predecessor();
  const std::uint32_t chunk = blockIdx.x * kSizeThreads + threadIdx.x;
  if (chunk >= args.num_chunks()) return;
  std::uint64_t payload = 0;
  bool has_tables = false;
  format::ByteCount head;
  write_chunk_head(head, columns, chunk, [&](std::uint32_t c, const ColumnToWrite& column) {
    columns[c].pack.results[chunk].section_at = payload;
    payload += column.column_bytes();
    has_tables |= column.has_tables();
  });
  const std::uint32_t records = records_of(args, chunk);
  const std::uint64_t frame = frame_bytes(format::BlockTag::chunk, head.total, payload);
  for (std::uint32_t c = 0; c < columns.count(); ++c)
    columns[c].pack.results[chunk].section_at += frame;
  const std::uint64_t block_bytes = frame + payload;
  format::ByteCount entry;
  write_entry(entry, records, block_bytes, 0);
  args.entries[chunk] = entry.total;
  table_chunks(args)[chunk] = {
      .block_at = 0,
      .block_bytes = block_bytes,
      .decoded_at = chunk * args.chunk_bytes,
      .decoded_bytes = std::uint64_t{records} * args.table_header.record_bytes,
      .opaque = has_tables ? 1u : 0u};
}

template <bool kAlone>
__global__ void __launch_bounds__(kPlaceThreads)
    place_blocks_kernel(const __grid_constant__ WriteArgs args) {
  const Columns<kAlone> columns{args};
  device::start_successor();
  device::wait_for_predecessor();
  __shared__ BlockSums warp_sums[kPlaceWarps];
  const std::uint32_t num_chunks = args.num_chunks();
  const int of_block = threadIdx.x, thread = of_block & 31, warp = of_block / 32;
  TableChunk* const chunks = table_chunks(args);
  BlockSums carry{0, 0};
  bool has_tables = false;
  for (std::uint32_t first = 0; first < num_chunks; first += kPlaceThreads) {
    const std::uint32_t chunk = first + of_block;
    BlockSums mine{0, 0};
    if (chunk < num_chunks) {
      mine = {chunks[chunk].block_bytes, args.entries[chunk]};
      has_tables |= chunks[chunk].opaque != 0;
    }
    BlockSums sum = mine;
    for (int distance = 1; distance < 32; distance *= 2) {
      const BlockSums before{__shfl_up_sync(device::kWholeWarp, sum.blocks, distance),
                             __shfl_up_sync(device::kWholeWarp, sum.entries, distance)};
      if (thread >= distance) sum = sum + before;
    }
    if (thread == 31) warp_sums[warp] = sum;
    __syncthreads();  // the sums of all warps are there
    BlockSums all = carry;
    sum = sum + carry;
    for (int w = 0; w < kPlaceWarps; ++w) {
      if (w < warp) sum = sum + warp_sums[w];
      all = all + warp_sums[w];
    }
    if (chunk < num_chunks) {
      const std::uint64_t block_at = args.prefix_bytes + sum.blocks - mine.blocks;
      for (std::uint32_t c = 0; c < columns.count(); ++c)
        columns[c].pack.results[chunk].section_at += block_at;
      args.entries[chunk] = sum.entries - mine.entries;
      chunks[chunk].block_at = block_at;
      chunks[chunk].opaque = 0;
    }
    carry = all;
    __syncthreads();  // and have been read
  }
  const bool any_has_tables = __syncthreads_or(has_tables) != 0;
  if (of_block > 0) return;
  format::ByteCount end_head;
  write_end_head(end_head, args);
  StreamPlaces places;
  places.end_at = args.prefix_bytes + carry.blocks;
  places.entries_bytes = num_chunks > 1 ? carry.entries : 0;
  places.has_tables = any_has_tables ? 1 : 0;
  const std::uint64_t end_bytes =
      frame_bytes(format::BlockTag::end, end_head.total + places.entries_bytes, 0);
  places.entries_at = places.end_at + end_bytes - kCheckBytes - places.entries_bytes;
  *args.places = places;
  *args.stream_bytes = places.end_at + end_bytes + kFooterBytes;
  *reinterpret_cast<ChunkTableHeader*>(args.table) = args.table_header;
  auto* const table_columns = reinterpret_cast<TableColumn*>(args.table + table_columns_at());
  for (std::uint32_t c = 0; c < columns.count(); ++c) table_columns[c] = columns[c].in_table;
}

// ---- Heads of chunks, a warp each

template <bool kAlone>
__device__ void write_chunk(const WriteArgs& args, const xxh3::SharedSecret& secret,
                            std::uint32_t chunk) {
  const Columns<kAlone> columns{args};
  const int thread = threadIdx.x & 31;
  std::uint64_t payload = 0;
  format::ByteCount head;
  write_chunk_head(head, columns, chunk, [&](std::uint32_t, const ColumnToWrite& column) {
    payload += column.column_bytes();
  });
  const std::uint64_t frame = frame_bytes(format::BlockTag::chunk, head.total, payload);
  const std::uint64_t check_at = frame - kCheckBytes;
  Byte* const block = args.out() + args.first.pack.results[chunk].section_at - frame;
  WarpSink sink{block, thread};
  format::write_block_frame(sink, format::BlockTag::chunk, head.total, payload);
  write_chunk_head(sink, columns, chunk, [&](std::uint32_t, const ColumnToWrite& column) {
    if (column.traits.device != format::DeviceDecoding::fill) return;
    for (std::uint32_t b = thread; b < column.result.section_bytes; b += 32)
      args.out()[column.result.section_at + b] = column.task.decoded()[b];
  });
  __syncwarp();  // the head is written before it is hashed
  const std::uint64_t hash = xxh3::hash_by_warp(secret, block, check_at);
  const auto check = static_cast<std::uint32_t>(hash);
  sink.le(kCheckBytes, check);
  if (args.num_chunks() == 1) return;  // there is no index
  WarpSink entry{args.out() + args.places->entries_at + args.entries[chunk], thread};
  write_entry(entry, records_of(args, chunk), frame + payload, check);
}

// What starts behind it finds all places: it does so when every block is through with waiting for them.
template <bool kAlone>
__global__ void __launch_bounds__(kWriteStreamThreads)
    write_heads_kernel(const __grid_constant__ WriteArgs args) {
  __shared__ xxh3::SharedSecret secret;
  secret.load();
  __syncthreads();  // the secret is there
  device::wait_for_predecessor();
  device::start_successor();
  const std::uint32_t warps = gridDim.x * (kWriteStreamThreads / 32);
  for (std::uint32_t chunk = (blockIdx.x * kWriteStreamThreads + threadIdx.x) / 32;
       chunk < args.num_chunks(); chunk += warps)
    write_chunk<kAlone>(args, secret, chunk);
}

// ---- Sections that are the values, and what follows others

/// The tables of lanes with a dictionary, one behind the other; threads share the work.
__device__ void copy_tables(const ExactMaps& maps, std::uint32_t chunk, Byte* out,
                            std::uint32_t thread, std::uint32_t threads) {
  const ExactLane* const lanes = maps.lanes_of(chunk);
  for (std::uint32_t lane = 0; lane < maps.tuple; ++lane) {
    if (!has_table(lanes[lane])) continue;
    const std::uint32_t bytes = maps.tables_of(chunk)[lane].fields.bytes;
    const std::uint64_t number = std::uint64_t{chunk} * maps.tuple + lane;
    copy_anywhere(reinterpret_cast<const Byte*>(maps.tables.coded_of(number)), out, bytes, thread,
                  threads);
    out += bytes;
  }
}

// The last kernel: what follows it is the caller's, and is not started early.
template <bool kAlone>
__global__ void __launch_bounds__(kWriteStreamThreads)
    copy_rest_kernel(const __grid_constant__ WriteArgs args) {
  const Columns<kAlone> columns{args};
  device::wait_for_predecessor();
  const std::uint64_t items = std::uint64_t{args.num_chunks()} * kRawSlices;
  const bool has_tables = args.places->has_tables != 0;
  for (std::uint64_t item = blockIdx.x; item < items; item += gridDim.x) {
    const auto chunk = static_cast<std::uint32_t>(item / kRawSlices);
    const std::uint32_t thread = item % kRawSlices * kWriteStreamThreads + threadIdx.x;
    constexpr std::uint32_t kCopying = kRawSlices * kWriteStreamThreads;
    for (std::uint32_t c = 0; c < columns.count(); ++c) {
      const WrittenColumn& column = columns[c];
      const PackResult result = column.pack.results[chunk];
      const PackTask& task = column.pack.tasks[chunk];
      const format::CoderTraits traits = format::coder_traits(coder_of(result.kind));
      Byte* const section = args.out() + result.section_at;
      if (traits.device == format::DeviceDecoding::copy)
        copy_long(task.decoded(), section, result.section_bytes, thread, kCopying);
      if (has_tables && traits.codes_residuals && task.table_bytes > 0)
        copy_tables(column.maps, chunk, section + result.section_bytes, thread, kCopying);
    }
  }
}

// ---- The ends of the stream, by one warp, when the entries of the index are there

__global__ void write_ends_kernel(const __grid_constant__ WriteArgs args) {
  __shared__ xxh3::SharedSecret secret;
  device::start_successor();
  secret.load();
  device::wait_for_predecessor();
  const int thread = threadIdx.x;
  Byte* const out = args.out();
  const StreamPlaces places = *args.places;
  if (thread == 0) {
    for (std::uint32_t i = 0; i < args.prefix_bytes; ++i) out[i] = args.prefix[i];
  }
  format::ByteCount head;
  write_end_head(head, args);
  Byte* const end = out + places.end_at;
  WarpSink sink{end, thread};
  format::write_block_frame(sink, format::BlockTag::end, head.total + places.entries_bytes, 0);
  write_end_head(sink, args);
  sink.at += places.entries_bytes;  // which are there
  const auto check_at = static_cast<std::uint64_t>(sink.at - end);
  __syncthreads();  // the secret and the head are there
  const std::uint64_t hash = xxh3::hash_by_warp(secret, end, check_at);
  sink.le(kCheckBytes, static_cast<std::uint32_t>(hash));
  sink.le(kFooterBytes, check_at + kCheckBytes);
}

// ---- Columns behind the first

constexpr std::uint32_t kKeptAtOnce = 8;  // fewer than 4 KiB travel with a launch
struct KeptColumns {
  WrittenColumn columns[kKeptAtOnce];
};

__global__ void keep_columns_kernel(const __grid_constant__ KeptColumns kept, std::uint32_t count,
                                    WrittenColumn* to) {
  if (threadIdx.x < count) to[threadIdx.x] = kept.columns[threadIdx.x];
}
static_assert(sizeof(KeptColumns) < 4000 && sizeof(WriteArgs) < 4000);

unsigned grid_of(std::uint64_t blocks) {
  return static_cast<unsigned>(blocks < kWriteStreamMostBlocks ? blocks : kWriteStreamMostBlocks);
}

template <bool kAlone>
cudaError_t place_blocks(const WriteArgs& args, cudaStream_t stream) {
  const std::uint32_t blocks = (args.num_chunks() + kSizeThreads - 1) / kSizeThreads;
  if (blocks > 0) {
    if (auto error =
            device::launch_after<size_blocks_kernel<kAlone>>(blocks, kSizeThreads, stream, args))
      return error;
  }
  return device::launch_after<place_blocks_kernel<kAlone>>(1, kPlaceThreads, stream, args);
}

template <bool kAlone>
cudaError_t write_heads(const WriteArgs& args, cudaStream_t stream) {
  constexpr std::uint64_t kWarps = kWriteStreamThreads / 32;
  const std::uint64_t chunks = args.num_chunks();
  if (chunks == 0) return cudaSuccess;
  const unsigned grid = grid_of((chunks + kWarps - 1) / kWarps);
  return device::launch_after<write_heads_kernel<kAlone>>(grid, kWriteStreamThreads, stream, args);
}

template <bool kAlone>
cudaError_t copy_rest(const WriteArgs& args, cudaStream_t stream) {
  const std::uint64_t chunks = args.num_chunks();
  if (chunks == 0) return cudaSuccess;
  // Where no chunk is raw, blocks only ask whether theirs is.
  constexpr std::uint64_t kMostCopying = 2048;
  const auto grid = static_cast<unsigned>(std::min(chunks * kRawSlices, kMostCopying));
  return device::launch_after<copy_rest_kernel<kAlone>>(grid, kWriteStreamThreads, stream, args);
}

bool has_one_column(const WriteArgs& args) { return args.num_columns() == 1; }

}  // namespace

cudaError_t launch_keep_columns(const WriteArgs& args, const WrittenColumn* others,
                                cudaStream_t stream) {
  const std::uint32_t all = args.num_columns() - 1;
  for (std::uint32_t first = 0; first < all; first += kKeptAtOnce) {
    const std::uint32_t count = std::min(kKeptAtOnce, all - first);
    KeptColumns kept{};
    std::copy_n(others + first, count, kept.columns);
    if (auto error = device::launch_kernel(keep_columns_kernel, 1, 32, stream, kept, count,
                                           args.others + first))
      return error;
  }
  return cudaSuccess;
}

cudaError_t launch_place_blocks(const WriteArgs& args, cudaStream_t stream) {
  return has_one_column(args) ? place_blocks<true>(args, stream)
                              : place_blocks<false>(args, stream);
}

cudaError_t launch_write_frames(const WriteArgs& args, cudaStream_t stream) {
  const auto heads = has_one_column(args) ? write_heads<true> : write_heads<false>;
  if (auto error = heads(args, stream)) return error;
  return device::launch_after<write_ends_kernel>(1, 32, stream, args);
}

cudaError_t launch_copy_rest(const WriteArgs& args, cudaStream_t stream) {
  return has_one_column(args) ? copy_rest<true>(args, stream) : copy_rest<false>(args, stream);
}

}  // namespace gdelta::cuda
