// Content checksums: eight threads hash a piece of 4096 bytes, then eight threads of a warp hash a
// chunk's digests and settle its verdict.
#include "codec/cuda/container/chunk_decode_cuda.h"
#include "gdelta/error.h"
#include "kernels/checksum/xxh3_warp.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/device/warp.cuh"

namespace gdelta::cuda {
namespace {

constexpr int kThreads = 256;
constexpr std::uint64_t kMostBlocks = 16384;

__device__ const TableChunk* table_chunks(const VerifyArgs& args) {
  const auto& table = *reinterpret_cast<const ChunkTableHeader*>(args.table);
  return reinterpret_cast<const TableChunk*>(args.table + table_chunks_at(table.num_columns)) +
         args.first_chunk;
}

__global__ void __launch_bounds__(kThreads) hash_pieces_kernel(VerifyArgs args) {
  device::start_successor();
  __shared__ xxh3::SharedSecret secret;
  secret.load();
  __syncthreads();  // the secret is there
  device::wait_for_predecessor();
  const int thread = threadIdx.x & 31, quarter = thread / 8;
  const TableChunk* chunks = table_chunks(args);
  const std::uint64_t pieces = args.piece_starts[args.num_chunks];
  const std::uint64_t warp = (blockIdx.x * static_cast<std::uint64_t>(kThreads) + threadIdx.x) / 32;
  const std::uint64_t step = 4 * (gridDim.x * static_cast<std::uint64_t>(kThreads / 32));
  for (std::uint64_t first = 4 * warp; first < pieces; first += step) {
    std::uint32_t chunk = device::find_start(args.piece_starts, 0, args.num_chunks, first);
    const std::uint64_t piece = first + quarter;
    if (piece < pieces) {
      while (piece >= args.piece_starts[chunk + 1]) ++chunk;
      // A chunk that failed before has no bytes to hash.
      if (args.verdicts[chunk].code == static_cast<int>(Errc::ok)) {
        const std::uint64_t at = (piece - args.piece_starts[chunk]) * kChecksumPiece;
        const std::uint64_t left = chunks[chunk].decoded_bytes - at;
        const std::uint64_t digest = xxh3::hash_by_eight(
            secret, args.out + (chunks[chunk].decoded_at - chunks[0].decoded_at) + at,
            left < kChecksumPiece ? left : kChecksumPiece, thread & 7, 0xffu << (8 * quarter));
        if ((thread & 7) == 0) args.digests[piece] = digest;
      }
    }
    __syncwarp();
  }
}

// The last kernel: what follows it is the caller's, and is not started early.
__global__ void __launch_bounds__(kThreads) settle_verdicts_kernel(VerifyArgs args) {
  __shared__ xxh3::SharedSecret secret;
  secret.load();
  __syncthreads();  // the secret is there
  device::wait_for_predecessor();
  const int thread = threadIdx.x & 31;
  const TableChunk* chunks = table_chunks(args);
  const std::uint32_t warps = gridDim.x * (kThreads / 32);
  for (std::uint32_t chunk = (blockIdx.x * kThreads + threadIdx.x) / 32; chunk < args.num_chunks;
       chunk += warps) {
    const std::int32_t code = args.verdicts[chunk].code;
    const unsigned long long damaged_at = args.damaged_at[chunk];
    if (code != static_cast<int>(Errc::ok)) continue;
    if (damaged_at != kNoDamage) {
      if (thread == 0) args.verdicts[chunk] = {static_cast<int>(Errc::corrupt), 0, damaged_at};
      continue;
    }
    if (!args.verify) continue;
    const std::uint64_t begin = args.piece_starts[chunk], end = args.piece_starts[chunk + 1];
    const std::uint64_t content =
        xxh3::hash_by_eight(secret, reinterpret_cast<const unsigned char*>(args.digests + begin),
                            8 * (end - begin), thread & 7, 0xffu << (thread & ~7));
    if (thread == 0 && content != args.contents[chunk])
      args.verdicts[chunk] = {static_cast<int>(Errc::corrupt), 0, chunks[chunk].block_at};
  }
}

}  // namespace

cudaError_t launch_verify_chunks(const VerifyArgs& args, cudaStream_t stream) {
  if (args.num_chunks == 0) return cudaSuccess;
  if (args.verify && args.max_pieces > 0) {
    const std::uint64_t blocks = (args.max_pieces + 4 * kThreads / 32 - 1) / (4 * kThreads / 32);
    const auto grid = static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks);
    if (auto error = device::launch_after<hash_pieces_kernel>(grid, kThreads, stream, args))
      return error;
  }
  const std::uint64_t blocks = (args.num_chunks + kThreads / 32 - 1) / (kThreads / 32);
  const auto grid = static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks);
  return device::launch_after<settle_verdicts_kernel>(grid, kThreads, stream, args);
}

}  // namespace gdelta::cuda
