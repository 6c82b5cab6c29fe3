// A warp takes a chunk whose head the host has read: it holds the head against that of the stream, and each thread leaves the
// task of a column. Of the head nothing is believed but what the host has read.
#include <algorithm>

#include "codec/cuda/container/column_tasks.cuh"
#include "codec/cuda/container/known_chunk.cuh"
#include "codec/cuda/container/take_heads_cuda.h"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/device/warp.cuh"

namespace gdelta::cuda {
namespace {

using format::Byte;
using format::ColumnHead;

constexpr int kTakeHeadsThreads = 64;
constexpr int kTakeHeadsWarps = kTakeHeadsThreads / 32;
constexpr std::uint32_t kTakeHeadsMostBlocks = 4096;
// Models of so many columns go to shared memory, beside the look at the head; more are read where they lie.
constexpr std::uint32_t kStagedModels = 4;
constexpr std::uint32_t kTakeHeadsStagedWords = (kStagedModels * sizeof(ColumnHead) + 15) / 16;

/// Leaves the task of a column, unless the host decodes it or what is launched does not.
__device__ Errc take_column(const ParseArgs& args, const ChunkPlace& place,
                            const ColumnPlace& of_column, const ColumnHead& head,
                            std::uint64_t values_at, bool opaque) {
  if (is_for_host(args, place, of_column, head)) return Errc::needs_host;
  // If not, the table's kinds are those of other chunks.
  if ((opaque && !args.kinds.opaque) ||
      !is_launched(args.kinds, head, of_column.column,
                   path_of(head.model.section, of_column.column)) ||
      !has_table_room(args, values_at, decoded_table_bytes(head, of_column.column)))
    return Errc::corrupt;
  leave_task(args, place, of_column, head, place.head, values_at);
  return Errc::ok;
}

/// The verdict on what has both: a chunk is the host's if one column is, whatever the others are.
__device__ Errc joined(Errc a, Errc b) {
  if (a == Errc::needs_host || b == Errc::needs_host) return Errc::needs_host;
  return a == Errc::ok ? b : a;
}
/// What all threads say together, which is ok, needs_host or corrupt.
__device__ Errc verdict_of(Errc own) {
  if (__any_sync(device::kWholeWarp, own == Errc::needs_host)) return Errc::needs_host;
  return __any_sync(device::kWholeWarp, own != Errc::ok) ? Errc::corrupt : Errc::ok;
}

__device__ Errc take_lengths(const ParseArgs& args, const ChunkPlace& place,
                             const KnownChunk& known, const TableView& table,
                             const ColumnHead& head) {
  const format::SegmentsHead segments{known.lengths, static_cast<Byte>(known.joins)};
  const TableChunk &from = table.chunks[place.chunk], &first = table.chunks[0];
  ChunkPlace of_lengths;
  if (!place_lengths(args, place, segments, from, first, of_lengths)) return Errc::corrupt;
  const Errc code = take_column(args, of_lengths, lengths_column(args), head, 0, false);
  if (code == Errc::ok) leave_segments(args, place, segments, from, first, head.column_bytes());
  return code;
}

/// The models of a chunk, where they are read the fastest. They are there when the warp has waited for them.
__device__ const ColumnHead* stage_models(const ColumnHead* models, std::uint32_t count,
                                          uint4* staged) {
  if (count > kStagedModels) return models;
  const auto* const words = reinterpret_cast<const uint4*>(models);
  const std::uint32_t num_words = (count * sizeof(ColumnHead) + 15) / 16;
  for (std::uint32_t i = threadIdx.x & 31; i < num_words; i += 32)
    device::park(staged + i, words + i);
  return reinterpret_cast<const ColumnHead*>(staged);
}

__device__ Errc take_chunk(const ParseArgs& args, const KnownChunk& known, const TableView& table,
                           std::uint32_t chunk, uint4* staged) {
  if (!is_of_one_piece(known, table.header, table.chunks[chunk])) return Errc::corrupt;
  const std::uint32_t thread = threadIdx.x & 31;
  const bool opaque = table.chunks[chunk].opaque != 0, in_segments = known.lengths > 0;
  const std::uint32_t num_columns = known.records == 0 ? 0 : opaque ? 1 : args.num_columns();
  const auto* models =
      stage_models(reinterpret_cast<const ColumnHead*>(args.table + known.models_at),
                   num_columns + (in_segments ? 1 : 0), staged);
  const Byte* const head = args.table + known.head_at;
  const bool same = are_same(args.stream + table.chunks[chunk].block_at, head, known.head_bytes);
  device::wait_for_parked();
  __syncwarp();  // models are there
  if (!same) return Errc::corrupt;
  const ChunkPlace place = table.place_of(args, chunk, head + known.fields_at, known.head_bytes,
                                          known.records, in_segments);
  Errc own = Errc::ok;
  if (in_segments) {
    if (thread == 0) own = take_lengths(args, place, known, table, *models);
    ++models;
  }
  std::uint64_t values_at = tables_of_chunk(args, place);
  for (std::uint32_t before = 0; before < num_columns; before += 32) {
    const std::uint32_t c = before + thread;
    const bool is_there = c < num_columns;
    const ColumnPlace of_column = table.column(is_there ? c : 0, opaque);
    const std::uint64_t bytes = is_there ? decoded_table_bytes(models[c], of_column.column) : 0;
    const std::uint64_t behind = values_at + device::warp_prefix(bytes);
    if (is_there)
      own = joined(own, take_column(args, place, of_column, models[c], behind - bytes, opaque));
    values_at = __shfl_sync(device::kWholeWarp, behind, 31);
  }
  return verdict_of(own);
}

__global__ void __launch_bounds__(kTakeHeadsThreads)
    take_heads_kernel(const __grid_constant__ ParseArgs args, const std::uint64_t heads_at) {
  device::start_successor();
  __shared__ uint4 staged[kTakeHeadsWarps][kTakeHeadsStagedWords];
  const auto* const known =
      reinterpret_cast<const KnownChunk*>(args.table + heads_at) + args.first_chunk;
  visit_chunks<kTakeHeadsWarps>(
      args, [known](std::uint32_t chunk) { return known[chunk]; },
      [&](const TableView& table, std::uint32_t chunk, const KnownChunk& of_chunk) {
        return take_chunk(args, of_chunk, table, chunk, staged[threadIdx.x / 32]);
      });
}

}  // namespace

cudaError_t launch_take_heads(const ParseArgs& args, std::uint64_t heads_at, cudaStream_t stream) {
  if (args.num_chunks == 0) return cudaSuccess;
  const std::uint32_t blocks =
      std::min((args.num_chunks + kTakeHeadsWarps - 1) / kTakeHeadsWarps, kTakeHeadsMostBlocks);
  if (auto error = device::launch_kernel(take_heads_kernel, blocks, kTakeHeadsThreads, stream, args,
                                         heads_at))
    return error;
  return launch_count_pages(args.count, stream);
}

}  // namespace gdelta::cuda
