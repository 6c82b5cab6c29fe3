// Which values of the array a tile holds, and copies between them and shared memory.
#pragma once

#include <cstdint>

#include "kernels/scan/scan_launch.cuh"

namespace gdelta::scan {

/// A tile of contiguous values. A backward scan numbers tiles from the end of the array. The last
/// tile is cut; its missing values come after all others in scan order, so what shared memory holds
/// there reaches no result.
struct Span {
  std::int64_t first;  ///< array index of the tile's slot 0; negative if a backward tile is cut
  int low;             ///< slots [low, high) exist
  int high;
};

__device__ __forceinline__ Span tile_span(const Job& job, std::uint64_t tile) {
  const std::int64_t size = job.geometry.tile_values;
  const std::int64_t count = static_cast<std::int64_t>(job.count);
  const std::int64_t begin = static_cast<std::int64_t>(tile) * size;
  Span span;
  span.first = job.backward ? count - begin - size : begin;
  span.low = span.first < 0 ? static_cast<int>(-span.first) : 0;
  span.high =
      count - span.first < size ? static_cast<int>(count - span.first) : static_cast<int>(size);
  return span;
}

/// Byte addresses of a span in an array: all of it, and the part made of whole 16-byte granules.
struct ByteRange {
  std::intptr_t origin;  ///< address of slot 0
  std::intptr_t begin;
  std::intptr_t end;
  std::intptr_t inner_begin;
  std::intptr_t inner_end;  ///< not above inner_begin if there is no whole granule
};

__device__ __forceinline__ ByteRange byte_range(const void* array, const Span& span,
                                                int value_bytes) {
  ByteRange r;
  r.origin = reinterpret_cast<std::intptr_t>(array) + span.first * value_bytes;
  r.begin = r.origin + static_cast<std::intptr_t>(span.low) * value_bytes;
  r.end = r.origin + static_cast<std::intptr_t>(span.high) * value_bytes;
  r.inner_begin = (r.begin + 15) & ~std::intptr_t{15};
  r.inner_end = r.end & ~std::intptr_t{15};
  return r;
}

/// Calls f(address) for every value outside the whole granules; all threads of the block take part.
template <class Storage, class F>
__device__ __forceinline__ void for_each_edge_value(const ByteRange& r, int thread, int threads,
                                                    F f) {
  const bool none = r.inner_begin >= r.inner_end;
  const std::intptr_t head_end = none ? r.end : r.inner_begin;
  for (std::intptr_t a = r.begin + thread * static_cast<int>(sizeof(Storage)); a < head_end;
       a += threads * static_cast<int>(sizeof(Storage))) {
    f(a);
  }
  if (none) return;
  for (std::intptr_t a = r.inner_end + thread * static_cast<int>(sizeof(Storage)); a < r.end;
       a += threads * static_cast<int>(sizeof(Storage))) {
    f(a);
  }
}

/// The whole granules of a range to shared memory. The loads of a batch are under way before the
/// first is needed.
template <int kBatch>
__device__ __forceinline__ void load_granules(unsigned char* slot0, const ByteRange& r, int thread,
                                              int threads) {
  for (std::intptr_t a = r.inner_begin + thread * 16; a < r.inner_end; a += threads * 16 * kBatch) {
    uint4 v[kBatch];
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      const std::intptr_t b = a + i * threads * 16;
      if (b < r.inner_end) v[i] = __ldcs(reinterpret_cast<const uint4*>(b));
    }
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      const std::intptr_t b = a + i * threads * 16;
      if (b < r.inner_end) *reinterpret_cast<uint4*>(slot0 + (b - r.origin)) = v[i];
    }
  }
}

/// Array to shared memory. Slot i lies at tile + (origin mod 16) + i values.
template <class Storage>
__device__ __forceinline__ void load_span(unsigned char* tile, const void* in, const Span& span,
                                          int thread, int threads) {
  const ByteRange r = byte_range(in, span, sizeof(Storage));
  unsigned char* slot0 = tile + (r.origin & 15);
  load_granules<4>(slot0, r, thread, threads);
  for_each_edge_value<Storage>(r, thread, threads, [&](std::intptr_t a) {
    *reinterpret_cast<Storage*>(slot0 + (a - r.origin)) = *reinterpret_cast<const Storage*>(a);
  });
}

/// Shared memory, laid out for `in_origin`, to the array. Buffers that differ mod 16 are stored
/// value by value.
template <class Storage>
__device__ __forceinline__ void store_span(const unsigned char* tile, int shift, void* out,
                                           const Span& span, int thread, int threads) {
  const ByteRange r = byte_range(out, span, sizeof(Storage));
  const unsigned char* slot0 = tile + shift;
  if ((r.origin & 15) != shift) {
    for (int i = span.low + thread; i < span.high; i += threads) {
      reinterpret_cast<Storage*>(r.origin)[i] = reinterpret_cast<const Storage*>(slot0)[i];
    }
    return;
  }
  for (std::intptr_t a = r.inner_begin + thread * 16; a < r.inner_end; a += threads * 16) {
    __stcs(reinterpret_cast<uint4*>(a), *reinterpret_cast<const uint4*>(slot0 + (a - r.origin)));
  }
  for_each_edge_value<Storage>(r, thread, threads, [&](std::intptr_t a) {
    *reinterpret_cast<Storage*>(a) = *reinterpret_cast<const Storage*>(slot0 + (a - r.origin));
  });
}

}  // namespace gdelta::scan
