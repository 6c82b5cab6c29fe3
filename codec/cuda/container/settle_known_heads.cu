// Heads that the host has read are held against the stream's, a warp a chunk, while the pages are decoded; nothing that a kernel
// did rests on the stream's. Then verdicts are settled.
#include "codec/cuda/container/known_chunk.cuh"
#include "codec/cuda/container/place_tasks_cuda.h"
#include "gdelta/error.h"
#include "kernels/device/launch.cuh"

namespace gdelta::cuda {
namespace {

constexpr int kSettleKnownHeadsThreads = 256;
constexpr int kSettleKnownHeadsWarps = kSettleKnownHeadsThreads / 32;

/// Whether tasks were made for a chunk where it is, and its head is the one that they were made of. The whole warp calls it.
__device__ bool is_as_known(const SettleKnownHeadsArgs& args, std::uint64_t chunk) {
  const auto& header = *reinterpret_cast<const ChunkTableHeader*>(args.table);
  const auto& place =
      reinterpret_cast<const TableChunk*>(args.table + args.chunks_at)[args.first_chunk + chunk];
  const auto& known =
      reinterpret_cast<const KnownChunk*>(args.table + args.heads_at)[args.first_chunk + chunk];
  return known.block_at == place.block_at && known.decoded_at == place.decoded_at &&
         place.block_at <= args.stream_bytes &&
         place.block_bytes <= args.stream_bytes - place.block_at &&
         is_of_one_piece(known, header, place) &&
         are_same(args.stream + place.block_at, args.table + known.head_at, known.head_bytes);
}

// The last kernel: what follows it is the caller's, and is not started early. Stream and table are the caller's, too, who had them
// ready before the first kernel of the call: they are read before what the kernels in between write.
__global__ void __launch_bounds__(kSettleKnownHeadsThreads)
    settle_known_heads_kernel(const __grid_constant__ SettleKnownHeadsArgs args) {
  const std::uint32_t chunk = blockIdx.x * kSettleKnownHeadsWarps + threadIdx.x / 32;
  const bool is_there = chunk < args.settle.num_chunks;
  const bool same = is_there && is_as_known(args, chunk);
  device::wait_for_predecessor();
  if (!is_there || threadIdx.x % 32 != 0) return;
  std::uint64_t at = kNoDamage;
  if (!same) {
    at = reinterpret_cast<const TableChunk*>(args.table + args.chunks_at)[args.first_chunk + chunk]
             .block_at;
  } else {
    at = args.settle.damaged_at[chunk];
    if (at == kNoDamage) at = args.settle.differs_at[chunk];
  }
  const bool ok = at == kNoDamage;
  args.settle.verdicts[chunk] = {static_cast<int>(ok ? Errc::ok : Errc::corrupt), 0, ok ? 0 : at};
}

}  // namespace

cudaError_t launch_settle_known_heads(const SettleKnownHeadsArgs& args, cudaStream_t stream) {
  if (args.settle.num_chunks == 0) return cudaSuccess;
  return device::launch_after<settle_known_heads_kernel>(
      (args.settle.num_chunks + kSettleKnownHeadsWarps - 1) / kSettleKnownHeadsWarps,
      kSettleKnownHeadsThreads, stream, args);
}

}  // namespace gdelta::cuda
