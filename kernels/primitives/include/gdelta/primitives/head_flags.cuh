// Offsets and keys as bits, which is how scans read heads. For nvcc; nothing to link.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "gdelta/primitives/segments.h"
#include "gdelta/start_kernel.cuh"

namespace gdelta {
namespace head_flags {

constexpr int kThreads = 256;
constexpr int kOffsetsOfThread = 8;
/// By offsets. 40 registers a thread, which leave room for six, take 2 % of the scan (segscan_bench).
constexpr int kBlocksOfMultiprocessor = 8;
constexpr unsigned kWordsOfBlock = 2048;  // by offsets: words of bits that a block owns
constexpr int kWordsOfWarp = 8;           // keys: words of bits that a warp writes at once

inline std::uint64_t words_of(std::uint64_t rows) { return rows / 32 + (rows % 32 != 0); }

/// How many of `count` rising offsets lie below `row`: a warp looks at 32 at a time.
template <class Offset>
__device__ std::uint64_t offsets_below(const Offset* offsets, std::uint64_t count,
                                       std::uint64_t row) {
  std::uint64_t low = 0, high = count;  // those before `low` lie below, those from `high` on do not
  while (low < high) {
    const std::uint64_t begin = low, size = high - low;
    const auto place = [&](unsigned part) { return begin + size * part / 33; };
    const bool below = static_cast<std::uint64_t>(offsets[place(threadIdx.x % 32 + 1)]) < row;
    const auto passed = static_cast<unsigned>(__popc(__ballot_sync(~0u, below)));
    if (passed < 32) high = place(passed + 1);
    if (passed > 0) low = place(passed) + 1;
  }
  return low;
}

/// The heads among a warp's offsets [first, end), of rows counted from `first_row`, to `words`. A thread
/// takes offsets that follow each other: if segments are short, they lie in few words, each of which it
/// meets once. They cross shared memory on their way, so that warps read whole lines. Returns whether
/// all are the same: segments without rows, and there may be more.
template <class Offset>
__device__ bool mark_heads(const Offset* offsets, std::uint64_t first, std::uint64_t end,
                           std::uint64_t first_row, std::uint32_t* staged, std::uint32_t* words) {
  constexpr int kPadded = kOffsetsOfThread + 1;  // threads meet different banks
  const int id = threadIdx.x & 31;
  std::uint32_t row[kOffsetsOfThread];
#pragma unroll
  for (int k = 0; k < kOffsetsOfThread; ++k) {
    const std::uint64_t segment = first + k * 32 + id;
    row[k] = segment < end ? static_cast<std::uint32_t>(offsets[segment] - first_row) : ~0u;
  }
#pragma unroll
  for (int k = 0; k < kOffsetsOfThread; ++k) {
    const int i = k * 32 + id;
    staged[i + i / kOffsetsOfThread] = row[k];
  }
  __syncwarp();  // the warp's offsets are there
  std::uint32_t word = 0, bits = 0;
#pragma unroll
  for (int k = 0; k < kOffsetsOfThread; ++k) {
    const std::uint32_t own = staged[id * kPadded + k];
    if (own == ~0u) continue;
    if (own / 32 != word) {
      if (bits != 0) atomicOr(words + word, bits);
      word = own / 32;
      bits = 0;
    }
    bits |= 1u << (own % 32);
  }
  if (bits != 0) atomicOr(words + word, bits);
  constexpr int kLast = 32 * kOffsetsOfThread - 1;
  const bool same = staged[0] == staged[kLast + kLast / kOffsetsOfThread];
  __syncwarp();  // read; may be overwritten
  return same;
}

/// A block owns the words of some rows, whose offsets it finds by a search: it collects their bits in
/// shared memory and writes every word once, also those without a head.
template <class Offset>
__global__ void __launch_bounds__(kThreads, kBlocksOfMultiprocessor)
    from_offsets(const Offset* offsets, std::uint64_t segments, std::uint64_t rows,
                 std::uint32_t* words) {
  __shared__ std::uint32_t staged[kThreads * (kOffsetsOfThread + 1)];
  __shared__ std::uint32_t collected[kWordsOfBlock];
  __shared__ std::uint64_t range[2];
  constexpr std::uint64_t kOffsetsOfBlock = kThreads * kOffsetsOfThread;
  constexpr std::uint64_t kRowsOfBlock = kWordsOfBlock * 32;
  const unsigned warp = threadIdx.x / 32;
  for (std::uint64_t first_row = blockIdx.x * kRowsOfBlock; first_row < rows;
       first_row += gridDim.x * kRowsOfBlock) {
    const std::uint64_t rest = rows - first_row;
    const std::uint64_t num_rows = rest < kRowsOfBlock ? rest : kRowsOfBlock;
    if (warp < 2) {
      const std::uint64_t found =
          offsets_below(offsets, segments, warp == 0 ? first_row : first_row + num_rows);
      if (threadIdx.x % 32 == 0) range[warp] = found;
    }
    for (unsigned w = threadIdx.x; w < kWordsOfBlock; w += kThreads) collected[w] = 0;
    __syncthreads();  // no bit is collected, and the range is there
    const std::uint64_t end = range[1];
    std::uint64_t first = range[0] + warp * 32 * kOffsetsOfThread;
    while (first < end) {
      std::uint64_t turns = 1;
      if (mark_heads(offsets, first, end, first_row, staged + warp * 32 * (kOffsetsOfThread + 1),
                     collected)) {
        const std::uint64_t beyond = offsets_below(offsets, end, offsets[first] + std::uint64_t{1});
        turns = max((beyond - first) / kOffsetsOfBlock, turns);  // those between are the same, too
      }
      first += turns * kOffsetsOfBlock;
    }
    __syncthreads();  // all bits are there
    for (unsigned w = threadIdx.x; w * 32 < num_rows; w += kThreads)
      words[first_row / 32 + w] = collected[w];
    __syncthreads();  // and written; the next rows may come
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

constexpr std::uint64_t kMostBlocks = 1 << 16;  ///< blocks stride over what is left

template <class... Parameters, class... Arguments>
cudaError_t start(void (*kernel)(Parameters...), std::uint64_t blocks, cudaStream_t stream,
                  const Arguments&... arguments) {
  return device::start_kernel(kernel, std::min(blocks, kMostBlocks), kThreads, stream,
                              arguments...);
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
/// Complexity  one read of the offsets or keys, one write of the bits
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
  return start(from_offsets<Offset>, words_of(rows) / kWordsOfBlock + 1, stream, segments.offsets,
               segments.segments, rows, words);
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
