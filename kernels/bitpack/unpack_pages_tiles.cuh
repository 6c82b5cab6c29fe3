// Blocks decode pages of up to four lanes as they have been prepared, one a chunk looks at its head, and both note what is
// wrong with the chunk.
#pragma once

#include <algorithm>

#include "kernels/bitpack/tile_page.cuh"
#include "kernels/checksum/xxh3_warp.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/shared_limit.h"
#include "kernels/pages/note_verdict.cuh"

namespace gdelta::cuda {

/// What a block that looks at a head shares; longer heads are read where they lie.
struct HeadShared {
  xxh3::SharedSecret secret;
  uint4 words[256];
};

/// Notes what one thread of the block has found wrong with its chunk.
__device__ inline void note_of_chunk(const TilePagesArgs& args, std::uint32_t chunk, Fault fault,
                                     std::int32_t code, std::uint64_t byte) {
  ChunkVerdict& verdict = args.verdicts[chunk];
  open_verdict(verdict, args.verdict_cells[chunk], args.call);
  if (fault != Fault::none) note_fault(verdict, fault, code, byte);
}

/// Where a chunk's content goes, counted from `out` on.
__device__ inline std::uint64_t place_of(const TilePagesArgs& args, const PreparedColumn& column) {
  return column.decoded_at - args.columns[0].decoded_at;
}
/// Whether the output has room for a chunk.
__device__ inline bool has_room(const TilePagesArgs& args, const PreparedColumn& column) {
  const std::uint64_t out_at = place_of(args, column);
  const std::uint64_t out_bytes = std::uint64_t{column.records} * args.record_bytes;
  bool fits = out_at <= args.out_bytes;
  fits &= out_bytes <= args.out_bytes - out_at;
  return fits;
}
/// Whether the stream has its block.
__device__ inline bool has_block(const TilePagesArgs& args, const PreparedColumn& column) {
  bool is_there = column.block_at <= args.stream_bytes;
  is_there &= column.block_bytes <= args.stream_bytes - column.block_at;
  return is_there;
}

/// Whether a chunk has room, its block is there, and its head what was prepared; the whole block calls it. Of every chunk a
/// block does so, so that every chunk has a verdict.
__device__ inline void look_at_head(HeadShared& shared, const TilePagesArgs& args,
                                    std::uint32_t chunk) {
  const PreparedColumn column = args.columns[chunk];
  std::int32_t code = 0;
  if (!has_room(args, column)) {
    code = args.codes.no_room;
  } else if (!has_block(args, column)) {
    code = args.codes.truncated;
  } else {
    const unsigned char* block = args.stream + column.block_at;
    const auto skew = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(block) & 15);
    const std::uint32_t words = (skew + column.hashed_bytes + 4 + 15) / 16;
    shared.secret.load();
    if (words <= sizeof shared.words / sizeof *shared.words) {
      const auto* const from = reinterpret_cast<const uint4*>(block - skew);
      for (std::uint32_t i = threadIdx.x; i < words; i += blockDim.x) shared.words[i] = from[i];
      block = reinterpret_cast<const unsigned char*>(shared.words) + skew;
    }
    __syncthreads();  // secret and head are there
    if (threadIdx.x >= 32) return;
    const std::uint64_t hash = xxh3::hash_by_warp(shared.secret, block, column.hashed_bytes);
    if (static_cast<std::uint32_t>(hash) != column.head_check ||
        load_u32_anywhere(block + column.hashed_bytes) != column.head_check)
      code = args.codes.corrupt;
  }
  if (threadIdx.x == 0)
    note_of_chunk(args, chunk, code == 0 ? Fault::none : Fault::head, code, column.block_at);
}

/// Decodes a page of a chunk, if it has so many.
template <int ValueBytes, int Tuple>
__device__ inline void visit_page(TilePageShared<ValueBytes, Tuple>& shared,
                                  const TilePagesArgs& args, std::uint32_t chunk,
                                  std::uint32_t number) {
  const PreparedColumn column = args.columns[chunk];
  const std::uint32_t* const ends = args.page_ends + std::uint64_t{chunk} * args.most_pages;
  const std::uint32_t begin = number == 0 ? 0 : ends[number - 1], end = ends[number];
  open_warp_shared(shared.warps[device::warp_number()]);
  // Of what is not there, or has no room, the look at the head tells. Asked at once, so that all loads are on their way together.
  bool is_there = number < column.num_pages;
  is_there &= begin <= end;
  is_there &= has_block(args, column);
  is_there &= has_room(args, column);
  if (!is_there) return;
  const unsigned char* const block = args.stream + column.block_at;
  ColumnTask task{};
  task.section = block + column.section_at;
  task.directory = block + column.checks_at - 4 * std::uint64_t{column.num_pages};
  task.out = args.out + place_of(args, column) + args.column_offset;
  task.records = column.records;
  task.record_bytes = args.record_bytes;
  task.page_groups = column.page_groups;
  task.num_pages = column.num_pages;
  task.state_bytes = column.state_bytes;
  task.value_bytes = ValueBytes;
  task.tuple = Tuple;
  task.map = column.map;
  task.big_endian = args.big_endian;
  PageView page;
  page.section_begin = begin;
  page.num_bytes = end - begin;
  page.bytes = task.section + begin;
  page.find_tuples(task, number);
  const Fault fault = decode_page_by_tiles(shared, args, column, task, page, number);
  if (fault != Fault::none && threadIdx.x == 0)
    note_of_chunk(args, chunk, fault, args.codes.corrupt,
                  column.block_at + column.section_at + page.section_begin);
}

/// Blocks along x take pages, and along y chunks; of the first column one more along x looks at the head.
template <int ValueBytes, int Tuple>
__global__ void __launch_bounds__(32 * TilePageShape<ValueBytes, Tuple>::kMostWarps)
    unpack_pages_tiles_kernel(const __grid_constant__ TilePagesArgs args) {
  if (!args.is_last) device::start_successor();
  unsigned char* const room = device::dynamic_shared();
  const std::uint32_t chunk = blockIdx.y, heads = args.is_first ? 1 : 0;
  if (blockIdx.x < heads) {
    look_at_head(*reinterpret_cast<HeadShared*>(room), args, chunk);
  } else {
    visit_page(*reinterpret_cast<TilePageShared<ValueBytes, Tuple>*>(room), args, chunk,
               blockIdx.x - heads);
  }
  device::wait_for_predecessor();  // only what comes behind this kernel needs that
}

/// Warps of a block: as many as a page has tiles, but no more than keep a processor busy, and no more than take the same number
/// of rounds. `run_words`: of a thread's run in a tile. docs/history/pages.md has what was tried.
inline int choose_tile_warps(std::uint64_t pages, int processors, int tiles, int run_words) {
  constexpr int kBusyWords = 512;  // of all runs of a processor
  constexpr int kFewTiles = 5;     // that one warp takes one after the other
  const std::uint64_t busy =
      static_cast<std::uint64_t>(kBusyWords / run_words) * processors / pages;
  const int fewest = tiles > kFewTiles ? 2 : 1, most = std::min(tiles, kMostTileWarps);
  const int warps = std::clamp(static_cast<int>(std::min<std::uint64_t>(busy, most)), fewest, most);
  const int rounds = (tiles + warps - 1) / warps;
  return (tiles + rounds - 1) / rounds;
}

template <int ValueBytes>
cudaError_t launch_unpack_tiles_width(const TilePagesArgs& args, cudaStream_t stream) {
  return for_narrow_tuple(args.tuple, [&](auto lanes) {
    constexpr int kTuple = decltype(lanes)::value;
    using Shape = TilePageShape<ValueBytes, kTuple>;
    constexpr auto kKernel = unpack_pages_tiles_kernel<ValueBytes, kTuple>;
    if (auto error = device::raise_shared_limit(kKernel)) return error;
    int processors = 0;
    if (auto error = device::device_attribute<cudaDevAttrMultiProcessorCount>(processors))
      return error;
    const int warps = choose_tile_warps(std::uint64_t{args.most_pages} * args.num_chunks,
                                        processors, Shape::kMostTiles, Shape::kRunBytes / 4);
    const std::size_t shared =
        std::max(TilePageShared<ValueBytes, kTuple>::bytes(warps), sizeof(HeadShared));
    const dim3 grid(args.most_pages + (args.is_first ? 1 : 0), args.num_chunks);
    return args.is_first
               ? device::launch_kernel_with(kKernel, grid, 32 * warps, shared, stream, args)
               : device::launch_after_with<kKernel>(grid, 32 * warps, shared, stream, args);
  });
}

}  // namespace gdelta::cuda
