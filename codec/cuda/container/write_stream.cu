#include "codec/cuda/container/section_coder.h"
#include "codec/cuda/container/write_stream_cuda.h"
#include "formats/gdelta/chunk_head.h"
#include "kernels/checksum/xxh3_warp.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/words/copy_anywhere.cuh"

namespace gdelta::cuda {
namespace {

using format::Byte;

constexpr int kPlaceThreads = 1024;
constexpr int kPlaceWarps = kPlaceThreads / 32;
constexpr int kThreads = 256;
constexpr std::uint32_t kMostBlocks = 1 << 16;
constexpr int kRawSlices = 8;  // blocks that share a raw chunk
constexpr std::uint64_t kCheckBytes = format::kCheckBytes, kFooterBytes = 4;
constexpr auto kTagChunk = static_cast<Byte>(format::BlockTag::chunk);
constexpr auto kTagEnd = static_cast<Byte>(format::BlockTag::end);

// ---- Sizes

/// Orders of all lanes as the model states them: one byte, or one and one for each lane.
__device__ bool orders_alike(const PackTask& task) {
  for (int lane = 1; lane < task.tuple; ++lane) {
    if (task.orders[lane] != task.orders[0]) return false;
  }
  return true;
}

__device__ bool has_deltas(const PackTask& task) {
  return !orders_alike(task) || task.orders[0] > 0;
}

/// How a column's section is cut into parts, as its model says it.
struct Parts {
  std::uint32_t groups;
  std::uint32_t count;
  std::uint32_t ends;
};

__device__ Parts parts_of(const PackTask& task, const PackResult& result) {
  if (result.kind == SectionKind::constant) return {0, 1, 0};
  if (codes_residuals(result.kind)) return {task.page_groups, task.num_pages, task.num_pages};
  return {task.num_pages > 1 ? task.page_groups : 0, task.num_pages, 0};
}

/// A chunk, as its head needs it.
struct HeadView {
  const PackTask& task;
  const PackResult result;
  std::uint32_t coder_bytes;  // of the coder's own fields

  __device__ HeadView(const WriteArgs& args, std::uint32_t chunk)
      : task(args.pack.tasks[chunk]),
        result(args.pack.results[chunk]),
        coder_bytes(codes_residuals(result.kind) ? args.fields.count(chunk) : 0) {}
};

/// Bytes of a model's fields behind model_bytes.
__device__ std::uint64_t field_bytes(const HeadView& head) {
  const auto& [task, result, coder_bytes] = head;
  const Parts parts = parts_of(task, result);
  std::uint64_t bytes = format::varint_bytes(result.section_bytes) + 1 + coder_bytes;
  if (codes_residuals(result.kind)) {
    bytes += 3;
    if (has_deltas(task)) bytes += (orders_alike(task) ? 1 : 1 + task.tuple) + 1;
  }
  return bytes + format::varint_bytes(parts.groups) +
         4 * (static_cast<std::uint64_t>(parts.ends) + parts.count);
}

__device__ std::uint64_t head_bytes(const HeadView& head) {
  const std::uint64_t fields = field_bytes(head);
  return format::varint_bytes(head.task.records) + 1 + format::varint_bytes(fields) + fields;
}

/// Bytes of a block up to its payload.
__device__ std::uint64_t frame_bytes(std::uint64_t head, std::uint64_t payload) {
  return 1 + format::varint_bytes(head) + format::varint_bytes(payload) + head + kCheckBytes;
}

// ---- Places: two running sums over the chunks, by one block

struct BlockSums {
  std::uint64_t blocks, entries;
};

__device__ BlockSums operator+(BlockSums a, BlockSums b) {
  return {a.blocks + b.blocks, a.entries + b.entries};
}

__global__ void __launch_bounds__(kPlaceThreads) place_blocks_kernel(WriteArgs args) {
  device::start_successor();
  device::wait_for_predecessor();
  __shared__ BlockSums warp_sums[kPlaceWarps];
  const std::uint32_t num_chunks = args.pack.num_tasks;
  const int of_block = threadIdx.x, thread = of_block & 31, warp = of_block / 32;
  auto* const table_chunks = reinterpret_cast<TableChunk*>(args.table + table_chunks_at(1));
  BlockSums carry{0, 0};
  for (std::uint32_t first = 0; first < num_chunks; first += kPlaceThreads) {
    const std::uint32_t chunk = first + of_block;
    BlockSums mine{0, 0};
    std::uint64_t frame = 0, decoded_bytes = 0;
    if (chunk < num_chunks) {
      const HeadView head(args, chunk);
      const auto& [task, result, coder_bytes] = head;
      frame = frame_bytes(head_bytes(head), result.section_bytes);
      decoded_bytes = task.raw_bytes();
      mine.blocks = frame + result.section_bytes;
      mine.entries =
          1 + format::varint_bytes(mine.blocks) + kCheckBytes + format::varint_bytes(task.records);
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
      args.pack.results[chunk].section_at = block_at + frame;
      args.entries[chunk] = sum.entries - mine.entries;
      table_chunks[chunk] = {.block_at = block_at,
                             .block_bytes = mine.blocks,
                             .decoded_at = chunk * args.chunk_bytes,
                             .decoded_bytes = decoded_bytes,
                             .opaque = 0};
    }
    carry = all;
    __syncthreads();  // and have been read
  }
  if (of_block > 0) return;
  // With one chunk or none there is nothing to find.
  const bool has_index = num_chunks > 1;
  StreamPlaces places;
  places.end_at = args.prefix_bytes + carry.blocks;
  places.entries_bytes = has_index ? kLayoutEntryBytes + carry.entries : 0;
  const std::uint64_t head =
      format::varint_bytes(has_index ? std::uint64_t{num_chunks} + 1 : 0) + places.entries_bytes;
  const std::uint64_t end_bytes = frame_bytes(head, 0);
  places.entries_at = places.end_at + end_bytes - kCheckBytes - carry.entries;
  *args.places = places;
  *args.stream_bytes = places.end_at + end_bytes + kFooterBytes;
  *reinterpret_cast<ChunkTableHeader*>(args.table) = args.table_header;
  *reinterpret_cast<TableColumn*>(args.table + table_columns_at()) = args.table_column;
}

// ---- Heads of chunks, a warp each

/// The fields of a head up to the coder's own; by one thread.
__device__ void write_fields(Byte* p, const HeadView& head) {
  const auto& [task, result, coder_bytes] = head;
  p += format::write_varint(p, task.records);
  *p++ = format::kChunkKinds;
  p += format::write_varint(p, field_bytes(head));
  p += format::write_varint(p, result.section_bytes);
  *p++ = static_cast<Byte>(coder_of(result.kind));
  if (codes_residuals(result.kind)) {
    *p++ = task.map;
    *p++ = static_cast<Byte>(format::LaneMap::none);
    *p++ = static_cast<Byte>(has_deltas(task) ? format::kUsualPredictor : Predictor::none);
    if (has_deltas(task)) {
      if (orders_alike(task)) {
        *p++ = task.orders[0];
      } else {
        *p++ = format::kOrdersPerLane;
        for (int lane = 0; lane < task.tuple; ++lane) *p++ = task.orders[lane];
      }
      *p++ = 0;  // no strides
    }
  }
}

__device__ void write_head(const WriteArgs& args, const xxh3::SharedSecret& secret,
                           std::uint32_t chunk) {
  const int thread = threadIdx.x & 31;
  const HeadView view(args, chunk);
  const auto& [task, result, coder_bytes] = view;
  const Parts parts = parts_of(task, result);
  const std::uint64_t head = head_bytes(view);
  const std::uint64_t check_at = frame_bytes(head, result.section_bytes) - kCheckBytes;
  Byte* const block = args.pack.out + result.section_at - check_at - kCheckBytes;
  if (thread == 0) {
    Byte* p = block;
    *p++ = kTagChunk;
    p += format::write_varint(p, head);
    p += format::write_varint(p, result.section_bytes);
    write_fields(p, view);
  }
  Byte* const checks = block + check_at - 4 * static_cast<std::uint64_t>(parts.count);
  Byte* const ends = checks - 4 * static_cast<std::uint64_t>(parts.ends);
  Byte* const groups = ends - format::varint_bytes(parts.groups);
  if (thread == 0) format::write_varint(groups, parts.groups);
  for (std::uint32_t i = thread; i < coder_bytes; i += 32)
    groups[static_cast<int>(i) - static_cast<int>(coder_bytes)] = args.fields.of(chunk)[i];
  for (std::uint32_t part = thread; part < parts.count; part += 32) {
    const std::uint64_t at = 4 * static_cast<std::uint64_t>(part);
    format::store_le(checks + at, 4, args.pack.part_checks[task.first_page + part]);
    if (part < parts.ends)
      format::store_le(ends + at, 4, args.pack.page_ends[task.first_page + part]);
  }
  if (result.kind == SectionKind::constant) {
    for (std::uint32_t b = thread; b < result.section_bytes; b += 32)
      args.pack.out[result.section_at + b] = task.values[b];
  }
  __syncwarp();  // the head is written before it is hashed
  const std::uint64_t hash =
      xxh3::hash_by_eight(secret, block, check_at, thread & 7, 0xffu << (thread & ~7));
  if (thread > 0) return;
  format::store_le(block + check_at, kCheckBytes, hash);
  if (args.pack.num_tasks == 1) return;  // there is no index
  Byte* entry = args.pack.out + args.places->entries_at + args.entries[chunk];
  *entry++ = kTagChunk;
  entry += format::write_varint(entry, check_at + kCheckBytes + result.section_bytes);
  format::store_le(entry, kCheckBytes, hash);
  format::write_varint(entry + kCheckBytes, task.records);
}

// What starts behind it finds all places: it does so when every block is through with waiting for them.
__global__ void __launch_bounds__(kThreads) write_heads_kernel(WriteArgs args) {
  __shared__ xxh3::SharedSecret secret;
  secret.load();
  __syncthreads();  // the secret is there
  device::wait_for_predecessor();
  device::start_successor();
  const std::uint32_t warps = gridDim.x * (kThreads / 32);
  for (std::uint32_t chunk = (blockIdx.x * kThreads + threadIdx.x) / 32;
       chunk < args.pack.num_tasks; chunk += warps)
    write_head(args, secret, chunk);
}

// ---- Raw sections

// The last kernel: what follows it is the caller's, and is not started early.
__global__ void __launch_bounds__(kThreads) copy_raw_kernel(WriteArgs args) {
  device::wait_for_predecessor();
  const std::uint64_t items = static_cast<std::uint64_t>(args.pack.num_tasks) * kRawSlices;
  for (std::uint64_t item = blockIdx.x; item < items; item += gridDim.x) {
    const PackResult result = args.pack.results[item / kRawSlices];
    if (result.kind != SectionKind::raw) continue;
    copy_anywhere(args.pack.tasks[item / kRawSlices].values, args.pack.out + result.section_at,
                  result.section_bytes, item % kRawSlices * kThreads + threadIdx.x,
                  std::uint64_t{kRawSlices} * kThreads);
  }
}

// ---- The ends of the stream, by one warp, when the entries of the index are there

__global__ void write_ends_kernel(WriteArgs args) {
  __shared__ xxh3::SharedSecret secret;
  device::start_successor();
  secret.load();
  device::wait_for_predecessor();
  const int thread = threadIdx.x;
  Byte* const out = args.pack.out;
  const StreamPlaces places = *args.places;
  const std::uint64_t count = args.pack.num_tasks > 1 ? std::uint64_t{args.pack.num_tasks} + 1 : 0;
  const std::uint64_t head = format::varint_bytes(count) + places.entries_bytes;
  const std::uint64_t check_at = frame_bytes(head, 0) - kCheckBytes;
  Byte* const end = out + places.end_at;
  if (thread == 0) {
    for (std::uint32_t i = 0; i < args.prefix_bytes; ++i) out[i] = args.prefix[i];
    Byte* p = end;
    *p++ = kTagEnd;
    p += format::write_varint(p, head);
    p += format::write_varint(p, 0);  // no payload
    p += format::write_varint(p, count);
    for (int i = 0; count > 0 && i < kLayoutEntryBytes; ++i) *p++ = args.layout_entry[i];
  }
  __syncthreads();  // the secret and the head are there
  const std::uint64_t hash =
      xxh3::hash_by_eight(secret, end, check_at, thread & 7, 0xffu << (thread & ~7));
  if (thread > 0) return;
  format::store_le(end + check_at, kCheckBytes, hash);
  format::store_le(end + check_at + kCheckBytes, kFooterBytes, check_at + kCheckBytes);
}

unsigned grid_of(std::uint64_t blocks) {
  return static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks);
}

}  // namespace

cudaError_t launch_place_blocks(const WriteArgs& args, cudaStream_t stream) {
  return device::launch_after<place_blocks_kernel>(1, kPlaceThreads, stream, args);
}

cudaError_t launch_write_frames(const WriteArgs& args, cudaStream_t stream) {
  constexpr std::uint64_t kWarps = kThreads / 32;
  const std::uint64_t chunks = args.pack.num_tasks;
  if (chunks > 0) {
    const unsigned grid = grid_of((chunks + kWarps - 1) / kWarps);
    if (auto error = device::launch_after<write_heads_kernel>(grid, kThreads, stream, args))
      return error;
  }
  return device::launch_after<write_ends_kernel>(1, 32, stream, args);
}

cudaError_t launch_copy_raw(const WriteArgs& args, cudaStream_t stream) {
  const std::uint64_t chunks = args.pack.num_tasks;
  if (chunks == 0) return cudaSuccess;
  return device::launch_after<copy_raw_kernel>(grid_of(chunks * kRawSlices), kThreads, stream,
                                               args);
}

}  // namespace gdelta::cuda
