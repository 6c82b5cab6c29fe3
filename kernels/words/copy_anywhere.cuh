// Bytes from any address to any address, by as many threads as there are.
#pragma once

#include <cstdint>

#include "kernels/words/load_anywhere.cuh"

namespace gdelta::cuda {

/// Whole words of the target wherever it can. The last word goes byte by byte: a load for it might reach beyond
/// the source. This is thread `thread` of `threads`, four at least.
__device__ inline void copy_anywhere(const unsigned char* from, unsigned char* to,
                                     std::uint64_t bytes, std::uint64_t thread,
                                     std::uint64_t threads) {
  const std::uint64_t to_word = (4 - (reinterpret_cast<std::uintptr_t>(to) & 3)) & 3;
  const std::uint64_t lead = to_word < bytes ? to_word : bytes;
  const std::uint64_t all_words = (bytes - lead) / 4;
  const std::uint64_t words = all_words > 0 ? all_words - 1 : 0;
  for (std::uint64_t i = thread; i < words; i += threads)
    *reinterpret_cast<std::uint32_t*>(to + lead + 4 * i) = load_u32_anywhere(from + lead + 4 * i);
  const std::uint64_t rest = lead + 4 * words;
  if (thread < lead) to[thread] = from[thread];
  if (thread < bytes - rest) to[rest + thread] = from[rest + thread];
}

}  // namespace gdelta::cuda
