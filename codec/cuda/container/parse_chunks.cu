// A warp parses a chunk's head. All threads read the same fields; the page directory, which is most
// of a head, is checked by all of them side by side, and the head's hash by eight. The head is
// copied to shared memory first: read where it lies, it would be a chain of loads from memory, one
// for every field or stripe of the hash that begins a line.
#include "codec/cuda/container/chunk_decode_cuda.h"
#include "formats/gdelta/chunk_head.h"
#include "gdelta/error.h"
#include "kernels/checksum/xxh3_warp.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/words/load_anywhere.cuh"

namespace gdelta::cuda {
namespace {

using format::Byte;
using format::ColumnModel;
using format::Cursor;
using format::HeadError;

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;
constexpr std::uint32_t kMostBlocks = 4096;
constexpr std::uint64_t kMaxHeadBytes = 1ull << 24;
constexpr int kCheckBytes = 4;
constexpr Byte kTagChunk = 2, kTagOpaque = 3;
// The first words of a block that go to shared memory: more than the head of a megabyte of bytes.
constexpr int kStagedEach = 3;  // of a thread
constexpr int kStagedWords = 32 * kStagedEach;
constexpr std::uint64_t kStagedBytes = 16 * kStagedWords - 15;  // at least these are of the block

struct ParseShared {
  xxh3::SharedSecret secret;
  uint4 staged[kWarps][kStagedWords];
};

struct ParsedColumn {
  ColumnModel model;
  std::uint64_t num_pages = 0;
  std::uint64_t directory_at = 0;  // in the head
  std::uint64_t orders_at = 0;     // in the head; 0: all lanes alike
  std::uint64_t section_bytes = 0;
  bool needs_host = false;
};

__device__ Errc code_of(HeadError error) {
  return error == HeadError::unsupported ? Errc::unsupported_feature : Errc::corrupt;
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

/// Whether the page ends never fall; the whole warp looks. `end` becomes the last of them.
__device__ bool check_directory(const Byte* ends, std::uint64_t num_pages, std::uint64_t& end) {
  bool rising = true;
  for (std::uint64_t page = (threadIdx.x & 31) + 1; page < num_pages; page += 32)
    rising &= load_u32_anywhere(ends + 4 * (page - 1)) <= load_u32_anywhere(ends + 4 * page);
  end = load_u32_anywhere(ends + 4 * (num_pages - 1));
  return __all_sync(device::kWholeWarp, rising);
}

/// format::parse_column_head, with the directory checked by the warp and zstd left to the host.
__device__ Errc parse_column(Cursor& cursor, const Column& column, std::uint64_t records,
                             ParsedColumn& parsed) {
  const std::uint64_t tuple_bytes =
      static_cast<std::uint64_t>(format::type_bytes(column.type)) * column.tuple;
  const Byte coder = cursor.byte();
  if (cursor.failed) return Errc::corrupt;
  if (coder >= format::kNumCoders) return Errc::unsupported_feature;
  parsed.model.coder = static_cast<Coder>(coder);
  if (parsed.model.coder == Coder::raw) {
    parsed.section_bytes = records * tuple_bytes;
    return Errc::ok;
  }
  if (parsed.model.coder == Coder::constant) {
    parsed.section_bytes = tuple_bytes;
    return Errc::ok;
  }
  const std::uint64_t links_at = cursor.at;
  const HeadError error = format::detail::parse_links(cursor, column, records, parsed.model);
  if (error != HeadError::none) return code_of(error);
  if (parsed.model.coder == Coder::zstd) {
    parsed.needs_host = true;
    return Errc::ok;
  }
  if (cursor.data[links_at + 1] == format::kOrdersPerLane) parsed.orders_at = links_at + 2;
  const std::uint64_t page_groups = cursor.varint();
  if (cursor.failed || page_groups < 1 || page_groups > format::kMaxPageGroups ||
      page_groups * column.tuple > format::kMaxPageGroups)
    return Errc::corrupt;
  parsed.model.page_groups = static_cast<std::uint32_t>(page_groups);
  parsed.num_pages = format::num_pages(parsed.model, records);
  parsed.directory_at = cursor.at;
  if (!cursor.skip(4 * parsed.num_pages)) return Errc::corrupt;
  if (!check_directory(cursor.data + parsed.directory_at, parsed.num_pages, parsed.section_bytes))
    return Errc::corrupt;
  return Errc::ok;
}

__device__ ColumnPath path_of(const ColumnModel& model, const Column& column) {
  if (model.coder == Coder::raw) return ColumnPath::copy;
  if (model.coder == Coder::constant) return ColumnPath::fill;
  return fits_warp_path(model.page_groups, column.tuple) ? ColumnPath::pack_warp
                                                         : ColumnPath::pack_block;
}

/// Whether the kernels that are launched decode such a column.
__device__ bool is_launched(const ChunkKinds& kinds, const ColumnModel& model, ColumnPath path) {
  if (path == ColumnPath::copy || path == ColumnPath::fill) return kinds.placed;
  return (kinds.block_pages || path == ColumnPath::pack_warp) &&
         (kinds.strides || model.num_strides == 0);
}

__device__ ColumnTask make_task(const ParseArgs& args, const TableChunk& place,
                                const format::ChunkHead& head, std::uint64_t head_at,
                                std::uint64_t section_at, const ParsedColumn& parsed,
                                ColumnPath path, const Column& column, std::uint32_t record_bytes,
                                std::uint32_t column_offset, std::uint64_t out_at,
                                std::uint32_t chunk) {
  const ColumnModel& model = parsed.model;
  ColumnTask task{};
  task.section = args.stream + section_at;
  task.directory = args.stream + place.block_at + head_at + parsed.directory_at;
  if (parsed.orders_at > 0) task.orders = args.stream + place.block_at + head_at + parsed.orders_at;
  task.out = args.out + out_at + column_offset;
  task.section_at = section_at;
  task.section_bytes = parsed.section_bytes;
  task.records = static_cast<std::uint32_t>(head.records);
  task.record_bytes = record_bytes;
  task.page_groups = model.page_groups;
  task.num_pages = static_cast<std::uint32_t>(parsed.num_pages);
  task.chunk = chunk;
  task.num_strides = model.num_strides;
  for (int link = 0; link < model.num_strides; ++link)
    task.strides[link] = {model.strides[link].stride, model.strides[link].order};
  task.value_bytes = static_cast<std::uint8_t>(format::type_bytes(column.type));
  task.tuple = column.tuple;
  task.order = model.orders[0];
  task.ordered = model.map == format::ValueMap::ordered;
  task.big_endian = column.big_endian;
  task.path = path;
  if (path >= ColumnPath::pack_warp) task.state_bytes = format::page_state_bytes(model, column);
  return task;
}

/// Leaves nothing to do for a chunk; the whole warp calls it.
__device__ void clear_tasks(const ParseArgs& args, std::uint32_t chunk) {
  for (std::uint32_t slot = threadIdx.x & 31; slot < args.num_slots; slot += 32) {
    const std::uint64_t at = static_cast<std::uint64_t>(slot) * args.num_chunks + chunk;
    args.tasks[at].path = ColumnPath::none;
    args.tasks[at].num_pages = 0;
    args.tasks[at].num_strides = 0;
    args.counts.warp_pages[at] = 0;
    args.counts.block_pages[at] = 0;
  }
}

__device__ Errc parse_chunk(const ParseArgs& args, const xxh3::SharedSecret& secret, uint4* staged,
                            std::uint32_t chunk, const ChunkTableHeader& table,
                            const TableColumn* columns, const TableChunk& place,
                            std::uint64_t out_at) {
  const int thread = threadIdx.x & 31;
  if (place.block_at > args.stream_bytes || place.block_bytes > args.stream_bytes - place.block_at)
    return Errc::truncated;
  const Byte* block = stage_block(args.stream + place.block_at, place.block_bytes, staged);
  Cursor frame{block, place.block_bytes};
  const Byte tag = frame.byte();
  bool cut = frame.failed;
  if (!cut) {  // does the varint end inside the block?
    std::uint64_t at = 1;
    int i = 0;
    while (i < format::kMaxVarintBytes && at < place.block_bytes && block[at] >= 0x80) ++i, ++at;
    cut = i < format::kMaxVarintBytes && at >= place.block_bytes;
  }
  if (cut) return Errc::truncated;
  const std::uint64_t head_bytes = frame.varint();
  const std::uint64_t head_at = frame.at;
  if (!frame.failed && (frame.left() < kCheckBytes || frame.left() - kCheckBytes < head_bytes))
    return Errc::truncated;
  if (frame.failed || (tag != kTagChunk && tag != kTagOpaque) || head_bytes > kMaxHeadBytes)
    return Errc::corrupt;
  const std::uint64_t check_at = head_at + head_bytes;
  if (check_at + kCheckBytes > kStagedBytes) block = args.stream + place.block_at;
  const std::uint64_t hash =
      xxh3::hash_by_eight(secret, block, check_at, thread & 7, 0xffu << (thread & ~7));
  if (format::load_le(block + check_at, kCheckBytes) != (hash & 0xffffffffu)) return Errc::corrupt;
  const bool opaque = tag == kTagOpaque;
  if (opaque != (place.opaque != 0)) return Errc::corrupt;

  const std::uint32_t record_bytes = opaque ? 1 : table.record_bytes;
  const std::uint32_t num_columns = opaque ? 1 : args.num_slots - 1;
  Cursor cursor{block + head_at, head_bytes};
  format::ChunkHead head;
  const HeadError error = format::parse_chunk_head(cursor, record_bytes, head);
  if (error != HeadError::none) return code_of(error);
  std::uint64_t section_at = check_at + kCheckBytes, total = 0;
  bool needs_host = false, launched = args.kinds.opaque || !opaque;
  for (std::uint32_t c = 0; c < num_columns; ++c) {
    const Column column = opaque ? Column{ValueType::u8, 1, false}
                                 : Column{static_cast<ValueType>(columns[c].type), columns[c].tuple,
                                          columns[c].big_endian != 0};
    ParsedColumn parsed;
    const Errc code = parse_column(cursor, column, head.records, parsed);
    if (code != Errc::ok) return code;
    if (parsed.needs_host) {
      needs_host = true;  // the host checks the rest
      break;
    }
    const ColumnPath path = path_of(parsed.model, column);
    launched &= is_launched(args.kinds, parsed.model, path);
    if (thread == 0) {
      const std::uint32_t slot = opaque ? table.opaque_slot : columns[c].slot;
      const std::uint64_t at = static_cast<std::uint64_t>(slot) * args.num_chunks + chunk;
      args.tasks[at] =
          make_task(args, place, head, head_at, place.block_at + section_at + total, parsed, path,
                    column, record_bytes, opaque ? 0 : columns[c].offset, out_at, chunk);
      const auto pages = static_cast<std::uint32_t>(parsed.num_pages);
      if (path == ColumnPath::pack_warp) args.counts.warp_pages[at] = pages;
      if (path == ColumnPath::pack_block) args.counts.block_pages[at] = pages;
    }
    total += parsed.section_bytes;
  }
  if (head.records * record_bytes != place.decoded_bytes) return Errc::corrupt;
  if (needs_host) return Errc::needs_host;
  if (!cursor.done() || total != head.payload_bytes) return Errc::corrupt;
  if (place.block_bytes - section_at < head.payload_bytes) return Errc::truncated;
  if (!launched) return Errc::corrupt;  // the table's kinds are those of other chunks
  if (thread == 0) args.contents[chunk] = head.content;
  return Errc::ok;
}

__global__ void __launch_bounds__(kThreads) parse_chunks_kernel(ParseArgs args) {
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
      reinterpret_cast<const TableChunk*>(args.table + table_chunks_at(args.num_slots - 1));
  const std::uint32_t warps = gridDim.x * kWarps;
  for (std::uint32_t chunk = (blockIdx.x * kThreads + threadIdx.x) / 32; chunk < args.num_chunks;
       chunk += warps) {
    clear_tasks(args, chunk);
    __syncwarp();  // empty tasks do not overwrite full ones
    const TableChunk place = chunks[args.first_chunk + chunk];
    const std::uint64_t out_at = place.decoded_at - chunks[args.first_chunk].decoded_at;
    Errc code =
        out_at > args.out_bytes || place.decoded_bytes > args.out_bytes - out_at
            ? Errc::output_too_small
            : parse_chunk(args, shared.secret, staged, chunk, table, columns, place, out_at);
    if (code != Errc::ok) {
      __syncwarp();  // tasks of the columns before the damage are taken back
      clear_tasks(args, chunk);
    }
    if (thread == 0) {
      args.verdicts[chunk] = {static_cast<std::int32_t>(code), 0,
                              code == Errc::ok ? 0 : place.block_at};
      args.damaged_at[chunk] = kNoDamage;
      // A chunk that is ok is shorter than 2^32 pieces.
      args.counts.pieces[chunk] =
          code == Errc::ok ? static_cast<std::uint32_t>((place.decoded_bytes + kChecksumPiece - 1) /
                                                        kChecksumPiece)
                           : 0;
    }
  }
}

}  // namespace

cudaError_t launch_parse_chunks(const ParseArgs& args, cudaStream_t stream) {
  if (args.num_chunks == 0) return cudaSuccess;
  const std::uint32_t blocks = (args.num_chunks + kWarps - 1) / kWarps;
  return device::launch_kernel(parse_chunks_kernel, blocks < kMostBlocks ? blocks : kMostBlocks,
                               kThreads, stream, args);
}

}  // namespace gdelta::cuda
