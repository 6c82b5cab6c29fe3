// Bytes from any address to any address, by as many threads as there are. Nothing is read beyond the source.
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

/// 16 bytes that begin `skew` bytes behind an aligned vector `low`, before which end those of `high`.
__device__ inline uint4 join_vectors(const uint4& low, const uint4& high, unsigned skew) {
  const unsigned bits = 8 * (skew & 3);
  const auto join = [bits](std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d,
                           std::uint32_t e) {
    return make_uint4(__funnelshift_r(a, b, bits), __funnelshift_r(b, c, bits),
                      __funnelshift_r(c, d, bits), __funnelshift_r(d, e, bits));
  };
  switch (skew / 4) {
    case 0:
      return join(low.x, low.y, low.z, low.w, high.x);
    case 1:
      return join(low.y, low.z, low.w, high.x, high.y);
    case 2:
      return join(low.z, low.w, high.x, high.y, high.z);
    default:
      return join(low.w, high.x, high.y, high.z, high.w);
  }
}

/// The same of many bytes, in vectors of 16, several of which a thread has under way.
__device__ inline void copy_long(const unsigned char* from, unsigned char* to, std::uint64_t bytes,
                                 std::uint64_t thread, std::uint64_t threads) {
  constexpr std::uint64_t kVector = 16;
  constexpr int kUnderWay = 4;
  const std::uint64_t lead =
      min(-reinterpret_cast<std::uintptr_t>(to) & (kVector - 1), std::uintptr_t{bytes});
  const std::uint64_t vectors = (bytes - lead) / kVector;
  const auto skew =
      static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(from + lead) & (kVector - 1));
  // Each takes two aligned ones of the source, which may reach beyond its begin and its end.
  const std::uint64_t first = skew > lead ? 1 : 0;
  const bool ends_beyond = skew > 0 && bytes - lead - kVector * vectors < kVector - skew;
  const std::uint64_t end = max(first, vectors > 0 && ends_beyond ? vectors - 1 : vectors);
  const auto* const source = reinterpret_cast<const uint4*>(from + lead - skew);
  auto* const target = reinterpret_cast<uint4*>(to + lead);
  for (std::uint64_t i = first + thread; i < end; i += kUnderWay * threads) {
    uint4 low[kUnderWay], high[kUnderWay];
#pragma unroll
    for (int k = 0; k < kUnderWay; ++k) {
      const std::uint64_t at = i + k * threads;
      if (at >= end) continue;
      low[k] = source[at];
      if (skew > 0) high[k] = source[at + 1];
    }
#pragma unroll
    for (int k = 0; k < kUnderWay; ++k) {
      const std::uint64_t at = i + k * threads;
      if (at < end) target[at] = skew > 0 ? join_vectors(low[k], high[k], skew) : low[k];
    }
  }
  const std::uint64_t begin = min(lead + kVector * first, bytes), rest = lead + kVector * end;
  for (std::uint64_t i = thread; i < begin; i += threads) to[i] = from[i];
  for (std::uint64_t i = max(rest, begin) + thread; i < bytes; i += threads) to[i] = from[i];
}

}  // namespace gdelta::cuda
