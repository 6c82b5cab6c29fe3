// Offsets and keys as bits, which is how scans read heads. For nvcc; nothing to link.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "gdelta/primitives/segments.h"

namespace gdelta {
namespace head_flags {

constexpr int kThreads = 256;
constexpr int kOffsetsOfThread = 8;
constexpr int kWordsOfWarp = 8;  // keys: words of bits that a warp writes at once

inline std::uint64_t words_of(std::uint64_t rows) { return rows / 32 + (rows % 32 != 0); }

/// A thread takes offsets that follow each other: if segments are short, they lie in few words, each of
/// which it writes once. They cross shared memory on their way, so that warps read whole lines.
template <class Offset>
__global__ void __launch_bounds__(kThreads)
    from_offsets(const Offset* offsets, std::uint64_t segments, std::uint64_t rows,
                 std::uint32_t* words) {
  constexpr int kPadded = kOffsetsOfThread + 1;  // threads meet different banks
  __shared__ std::uint64_t staging[kThreads * kPadded];
  const int id = threadIdx.x & 31;
  std::uint64_t* const staged = staging + (threadIdx.x - id) * kPadded;
  const std::uint64_t step = std::uint64_t{gridDim.x} * (kThreads * kOffsetsOfThread);
  for (std::uint64_t first =
           (std::uint64_t{blockIdx.x} * kThreads + threadIdx.x - id) * kOffsetsOfThread;
       first < segments; first += step) {
    std::uint64_t row[kOffsetsOfThread];
#pragma unroll
    for (int k = 0; k < kOffsetsOfThread; ++k) {
      const std::uint64_t segment = first + k * 32 + id;
      row[k] = segment < segments ? static_cast<std::uint64_t>(offsets[segment]) : rows;
    }
#pragma unroll
    for (int k = 0; k < kOffsetsOfThread; ++k) {
      const int i = k * 32 + id;
      staged[i + i / kOffsetsOfThread] = row[k];
    }
    __syncwarp();  // the warp's offsets are there
    std::uint64_t word = 0;
    unsigned bits = 0;
#pragma unroll
    for (int k = 0; k < kOffsetsOfThread; ++k) {
      const std::uint64_t own = staged[id * kPadded + k];
      if (own >= rows) continue;
      if (own / 32 != word) {
        if (bits != 0) atomicOr(words + word, bits);
        word = own / 32;
        bits = 0;
      }
      bits |= 1u << (own % 32);
    }
    if (bits != 0) atomicOr(words + word, bits);
    __syncwarp();  // read; may be overwritten
  }
}

template <class Key>
__global__ void __launch_bounds__(kThreads)
    from_keys(const Key* keys, std::uint64_t rows, std::uint64_t warps, std::uint32_t* words) {
  const int id = threadIdx.x & 31;
  const std::uint64_t step = std::uint64_t{gridDim.x} * (kThreads / 32);
  for (std::uint64_t warp = std::uint64_t{blockIdx.x} * (kThreads / 32) + threadIdx.x / 32;
       warp < warps; warp += step) {
    const std::uint64_t first = warp * kWordsOfWarp * 32;
    bool head[kWordsOfWarp];
#pragma unroll
    for (int w = 0; w < kWordsOfWarp; ++w) {
      const std::uint64_t row = first + w * 32 + id;
      head[w] = row < rows && (row == 0 || !(keys[row - 1] == keys[row]));
    }
    unsigned mine = 0;
#pragma unroll
    for (int w = 0; w < kWordsOfWarp; ++w) {
      const unsigned bits = __ballot_sync(~0u, head[w]);
      if (w == id) mine = bits;
    }
    const std::uint64_t word = warp * kWordsOfWarp + id;
    if (id < kWordsOfWarp && word * 32 < rows) words[word] = mine;
  }
}

template <class... Parameters, class... Arguments>
cudaError_t start(void (*kernel)(Parameters...), std::uint64_t blocks, cudaStream_t stream,
                  const Arguments&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(std::min<std::uint64_t>(blocks, 1 << 16)));
  config.blockDim = dim3(kThreads);
  config.stream = stream;
  return cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...);
}

}  // namespace head_flags

/// Scratch for the bits of `rows` rows: none if they are there already.  Units: bytes
inline std::size_t head_flags_bytes(const HeadFlags&, std::uint64_t) { return 0; }
inline std::size_t head_flags_bytes(const WholeArray&, std::uint64_t) { return 0; }
template <class Segments>
std::size_t head_flags_bytes(const Segments&, std::uint64_t rows) {
  return (head_flags::words_of(rows) * 4 + 255) / 256 * 256;
}

/// Enqueues what says in bits where segments begin; `flags` is where, afterwards.
/// Shapes      bits [head_flags_bytes], 256-byte aligned
/// Complexity  one read of the offsets or keys, one write of the bits (two, by offsets)
inline cudaError_t make_head_flags(const HeadFlags& heads, std::uint64_t, void*, HeadFlags* flags,
                                   cudaStream_t) {
  *flags = heads;
  return cudaSuccess;
}
/// No bits: there are no heads but that of row 0.
inline cudaError_t make_head_flags(const WholeArray&, std::uint64_t, void*, HeadFlags* flags,
                                   cudaStream_t) {
  flags->words = nullptr;
  return cudaSuccess;
}
template <class Offset>
cudaError_t make_head_flags(const SegmentOffsets<Offset>& segments, std::uint64_t rows, void* bits,
                            HeadFlags* flags, cudaStream_t stream) {
  using namespace head_flags;
  auto* const words = static_cast<std::uint32_t*>(bits);
  flags->words = words;
  const cudaError_t error = cudaMemsetAsync(bits, 0, words_of(rows) * 4, stream);
  if (error != cudaSuccess || segments.segments == 0) return error;
  return start(from_offsets<Offset>, segments.segments / (kThreads * kOffsetsOfThread) + 1, stream,
               segments.offsets, segments.segments, rows, words);
}
template <class Key>
cudaError_t make_head_flags(const SegmentKeys<Key>& segments, std::uint64_t rows, void* bits,
                            HeadFlags* flags, cudaStream_t stream) {
  using namespace head_flags;
  auto* const words = static_cast<std::uint32_t*>(bits);
  flags->words = words;
  const std::uint64_t warps = words_of(rows) / kWordsOfWarp + 1;
  return start(from_keys<Key>, warps / (kThreads / 32) + 1, stream, segments.keys, rows, warps,
               words);
}

}  // namespace gdelta
