// A warp parses a chunk's head. All threads read the same fields; the ends of parts, which are most
// of a head, is checked by all of them side by side, and so is the head's hash. The head is
// copied to shared memory first: read where it lies, it would be a chain of loads from memory, one
// for every field or stripe of the hash that begins a line.
#include <algorithm>

#include "codec/cuda/container/ans_fields_warp.cuh"
#include "codec/cuda/container/column_tasks.cuh"
#include "kernels/checksum/xxh3_warp.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/words/load_anywhere.cuh"

namespace gdelta::cuda {
namespace {

using format::Byte;
using format::ColumnHead;
using format::Cursor;
using format::HeadError;
using format::kCheckBytes;

constexpr int kParseChunksThreads = 128;
constexpr int kParseChunksWarps = kParseChunksThreads / 32;
constexpr std::uint32_t kParseChunksMostBlocks = 4096;
// If one block parses all chunks, it counts the pages of so many tasks, too: a launch less.
constexpr std::uint32_t kFewTasks = 256;
// The first words of a block that go to shared memory: more than the head of a megabyte of bytes.
constexpr int kStagedEach = 5;  // of a thread
constexpr int kParseChunksStagedWords = 32 * kStagedEach;
constexpr std::uint64_t kStagedBytes =
    16 * kParseChunksStagedWords - 15;  // at least these are of the block

struct ParseShared {
  xxh3::SharedSecret secret;
  uint4 staged[kParseChunksWarps][kParseChunksStagedWords];
  AnsBinStarts bin_starts[kParseChunksWarps];
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

/// Leaves the task of a column.
[[gnu::noinline]] __device__ Errc parse_column(const ParseArgs& args, const ChunkPlace& place,
                                               const ColumnPlace& of_column, ChunkModels& models) {
  const Column& column = of_column.column;
  ColumnHead head;
  const HeadError error =
      format::parse_model(models.cursor, column, place.records, models.total, head,
                          place.in_segments, ReadFieldsByWarp{models.bin_starts});
  if (error != HeadError::none) return code_of(error);
  if (is_for_host(args, place, of_column, head)) return Errc::needs_host;  // which checks the rest
  if (!check_part_ends(models.cursor.data, head)) return Errc::corrupt;
  models.launched &= is_launched(args.kinds, head, column, path_of(head.model.section, column));
  const std::uint64_t table_bytes = decoded_table_bytes(head, column);
  if (!has_table_room(args, models.values_at, table_bytes)) return Errc::corrupt;
  if ((threadIdx.x & 31) == 0)
    leave_task(args, place, of_column, head, models.cursor.data, models.values_at);
  models.values_at += table_bytes;
  models.total += head.column_bytes();
  return Errc::ok;
}

/// The same of the lengths of segments, whose numbers are those of the table.
__device__ Errc parse_lengths(const ParseArgs& args, const ChunkPlace& place,
                              const format::SegmentsHead& head, const TableChunk& from,
                              const TableChunk& first, ChunkModels& models) {
  ChunkPlace of_lengths;
  if (!place_lengths(args, place, head, from, first, of_lengths)) return Errc::corrupt;
  const Errc code = parse_column(args, of_lengths, lengths_column(args), models);
  if (code == Errc::ok && (threadIdx.x & 31) == 0)
    leave_segments(args, place, head, from, first, models.total);
  return code;
}

__device__ Errc parse_chunk(const ParseArgs& args, const xxh3::SharedSecret& secret, uint4* staged,
                            AnsBinStarts& bin_starts, const TableView& table, std::uint32_t chunk) {
  const TableChunk place = table.chunks[chunk];
  const TableChunk& first = table.chunks[0];
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

  const std::uint32_t record_bytes = opaque ? 1 : table.header.record_bytes;
  const std::uint32_t num_columns = opaque ? 1 : args.num_columns();
  cursor = Cursor{block + frame.head_at, frame.head_bytes};
  std::uint64_t records = 0;
  Byte kinds = 0;
  format::SegmentsHead segments;
  const HeadError error =
      format::parse_chunk_head(cursor, record_bytes, opaque, records, kinds, segments);
  if (error != HeadError::none) return code_of(error);
  const ChunkPlace chunk_place =
      table.place_of(args, chunk, args.stream + place.block_at + frame.head_at, frame.payload_at(),
                     records, segments.lengths > 0);
  ChunkModels models{cursor, frame.payload_bytes, tables_of_chunk(args, chunk_place), bin_starts};
  models.launched = args.kinds.opaque || !opaque;
  Errc code = Errc::ok;
  if (segments.lengths > 0) {
    code = parse_lengths(args, chunk_place, segments, place, first, models);
    if (code != Errc::ok) return code;
  }
  for (std::uint32_t c = 0; c < num_columns && records > 0 && code == Errc::ok; ++c) {
    const ColumnPlace of_column = table.column(c, opaque);
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

__global__ void __launch_bounds__(kParseChunksThreads)
    parse_chunks_kernel(const __grid_constant__ ParseArgs args, bool counts) {
  device::start_successor();
  __shared__ ParseShared shared;
  shared.secret.load();
  __syncthreads();  // the secret is there
  const int warp = threadIdx.x / 32;
  visit_chunks<kParseChunksWarps>(
      args, [](std::uint32_t) { return 0; },
      [&](const TableView& table, std::uint32_t chunk, int) {
        return parse_chunk(args, shared.secret, shared.staged[warp], shared.bin_starts[warp], table,
                           chunk);
      });
  if (counts) count_few(args.count);
}

}  // namespace

cudaError_t launch_parse_chunks(const ParseArgs& args, cudaStream_t stream) {
  if (args.num_chunks == 0) return cudaSuccess;
  const std::uint32_t blocks = std::min(
      (args.num_chunks + kParseChunksWarps - 1) / kParseChunksWarps, kParseChunksMostBlocks);
  const bool counts = blocks == 1 && args.count.num_tasks <= kFewTasks;
  const cudaError_t error =
      device::launch_kernel(parse_chunks_kernel, blocks, kParseChunksThreads, stream, args, counts);
  if (error != cudaSuccess || counts) return error;
  return launch_count_pages(args.count, stream);
}

}  // namespace gdelta::cuda
