// Split: the values that are not marked, then the marked ones, each in their order. The marks are
// counted, a thirty-second of the values' size at most; then one scan writes values straight to
// their place. For nvcc; nothing to link.
#pragma once

#include "gdelta/primitives/enumerate.cuh"

namespace gdelta {
namespace split_detail {

template <class Count>
__global__ void __launch_bounds__(head_flags::kThreads)
    count_unmarked(std::uint64_t count, const std::uint32_t* words, Count* unmarked) {
  Count sum = 0;
  for (std::uint64_t w = std::uint64_t{blockIdx.x} * head_flags::kThreads + threadIdx.x;
       w * 32 < count; w += std::uint64_t{gridDim.x} * head_flags::kThreads) {
    const std::uint64_t rest = count - w * 32;
    const unsigned real = rest < 32 ? (1u << rest) - 1 : ~0u;
    sum += __popc(~words[w] & real);
  }
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0 && sum != 0) atomicAdd(unmarked, sum);
}

/// With how many marked values come before.
template <class Value>
struct StoreSplit {
  enumerate_detail::LoadMark<std::uint64_t> mark;
  const Value* in;
  Value* out;
  const unsigned long long* unmarked;
  __device__ void operator()(std::uint64_t i, std::uint64_t before) const {
    out[mark(i) != 0 ? *unmarked + before : i - before] = in[i];
  }
};

}  // namespace split_detail

/// Scratch that `split` needs.  Units: bytes
inline std::size_t split_scratch_bytes(std::uint64_t count) {
  return scan_custom_scratch_bytes<std::uint64_t>({.count = count});
}

/// Enqueues a stable split, and how many values are not marked to `unmarked`.
/// Shapes      in, out [count], not the same;  unmarked [1];  device memory;  scratch, 256-byte
///             aligned
/// Errors      cudaErrorInvalidValue (too little scratch), or the launch's own
/// Complexity  three reads of the marks, of which one counts them before, a read and a write of the values
/// Threads     any; work is ordered by `stream`; nothing waits for the device
template <class Value>
cudaError_t split(std::uint64_t count, const Value* in, const Marks& marks, Value* out,
                  unsigned long long* unmarked, void* scratch, std::size_t scratch_bytes,
                  cudaStream_t stream) {
  using namespace split_detail;
  if (const cudaError_t error = cudaMemsetAsync(unmarked, 0, sizeof(*unmarked), stream))
    return error;
  if (count == 0) return cudaSuccess;
  constexpr std::uint64_t kWordsOfBlock = head_flags::kThreads * 8;
  const cudaError_t error = head_flags::start(count_unmarked<unsigned long long>,
                                              head_flags::words_of(count) / kWordsOfBlock + 1,
                                              stream, count, marks.words, unmarked);
  if (error != cudaSuccess) return error;
  const enumerate_detail::LoadMark<std::uint64_t> mark{marks.words, true};
  return custom_scan::launch<std::uint64_t>(
      {.count = count, .exclusive = true}, mark,
      StoreSplit<Value>{.mark = mark, .in = in, .out = out, .unmarked = unmarked},
      enumerate_detail::Add{}, std::uint64_t{0}, scratch, scratch_bytes, stream);
}

}  // namespace gdelta
