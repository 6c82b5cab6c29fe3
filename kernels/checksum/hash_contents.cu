// Eight threads hash a piece, then eight threads a chunk's digests.
#include "kernels/checksum/hash_contents_cuda.h"
#include "kernels/checksum/xxh3_warp.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/warp.cuh"

namespace gdelta::cuda {
namespace {

constexpr int kThreads = 256;
constexpr std::uint64_t kTeams = kThreads / 8;
constexpr std::uint64_t kMostBlocks = 16384;

__global__ void __launch_bounds__(kThreads) hash_content_pieces_kernel(HashArgs args) {
  __shared__ xxh3::SharedSecret secret;
  secret.load();
  __syncthreads();  // the secret is there
  const int thread = threadIdx.x & 31, quarter = thread / 8;
  const std::uint64_t pieces = args.piece_starts[args.num_chunks];
  const std::uint64_t step = gridDim.x * kTeams;
  for (std::uint64_t first = blockIdx.x * kTeams + threadIdx.x / 32 * 4; first < pieces;
       first += step) {
    std::uint32_t chunk = device::find_start(args.piece_starts, 0, args.num_chunks, first);
    const std::uint64_t piece = first + quarter;
    if (piece < pieces) {
      while (piece >= args.piece_starts[chunk + 1]) ++chunk;
      const ContentBytes content = args.chunks[chunk];
      const std::uint64_t at = (piece - args.piece_starts[chunk]) * kChecksumPiece;
      const std::uint64_t left = content.num_bytes - at;
      const std::uint64_t digest = xxh3::hash_by_eight(
          secret, content.bytes + at, left < kChecksumPiece ? left : kChecksumPiece, thread & 7,
          0xffu << (8 * quarter));
      if ((thread & 7) == 0) args.digests[piece] = digest;
    }
    __syncwarp();
  }
}

__global__ void __launch_bounds__(kThreads) hash_digests_kernel(HashArgs args) {
  __shared__ xxh3::SharedSecret secret;
  secret.load();
  __syncthreads();  // the secret is there
  const int thread = threadIdx.x & 31;
  const unsigned mask = 0xffu << (thread & ~7);
  const std::uint64_t step = gridDim.x * kTeams;
  for (std::uint64_t chunk = blockIdx.x * kTeams + threadIdx.x / 8; chunk < args.num_chunks;
       chunk += step) {
    const std::uint64_t begin = args.piece_starts[chunk], end = args.piece_starts[chunk + 1];
    const std::uint64_t content =
        xxh3::hash_by_eight(secret, reinterpret_cast<const unsigned char*>(args.digests + begin),
                            8 * (end - begin), thread & 7, mask);
    if ((thread & 7) == 0) args.contents[chunk] = content;
  }
}

unsigned grid_of(std::uint64_t items) {
  const std::uint64_t blocks = (items + kTeams - 1) / kTeams;
  return static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks);
}

}  // namespace

cudaError_t launch_hash_contents(const HashArgs& args, cudaStream_t stream) {
  if (args.num_chunks == 0) return cudaSuccess;
  if (auto error = device::launch_kernel(hash_content_pieces_kernel, grid_of(args.max_pieces),
                                         kThreads, stream, args))
    return error;
  return device::launch_kernel(hash_digests_kernel, grid_of(args.num_chunks), kThreads, stream,
                               args);
}

}  // namespace gdelta::cuda
