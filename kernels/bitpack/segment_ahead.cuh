// What the launches before have left for a page that is summed inside segments, fetched one page ahead, so that the page
// does not wait for one before it can ask for the next.
#pragma once

#include <cuda_pipeline_primitives.h>

#include <cstddef>
#include <cstdint>

#include "kernels/deltas/segment_pages.h"
#include "kernels/deltas/segment_undo_cuda.h"
#include "kernels/device/ptx.cuh"
#include "kernels/device/warp_uniform.cuh"

namespace gdelta::cuda {

/// What there is of a page, as it lies where it comes from.
template <int Tuple>
struct PageAhead {
  // They begin at any byte of the first word: one that says how, one a lane, one of heads.
  static constexpr int kOrderWords = (3 + Tuple + 2 + 3) / 4;

  const std::uint32_t* starts;  // of the chunk
  std::uint32_t heads, flags;
  std::uint32_t heads_before;              // the page
  std::uint32_t order_words[kOrderWords];  // of the head

  __device__ bool right() const {
    constexpr unsigned kByte =
        offsetof(SegmentedChunk, right) - offsetof(SegmentedChunk, heads) - sizeof(heads);
    return (flags >> (8 * kByte) & 0xff) != 0;
  }
  __device__ SegmentOrders orders(const ColumnTask& task) const {
    return {reinterpret_cast<const std::uint8_t*>(order_words) +
                (reinterpret_cast<std::uintptr_t>(task.segments.orders) & 3),
            Tuple};
  }
};
static_assert(offsetof(SegmentedChunk, starts) % 8 == 0 &&
              offsetof(SegmentedChunk, heads) % 8 == 0);

/// Of the page that is next and of the one behind it.
template <int Tuple>
struct PagesAhead {
  PageAhead<Tuple> pages[2];
};

/// Each thread of a warp has one; the whole warp calls each of its functions.
template <int Tuple>
struct SegmentAhead {
  __device__ SegmentAhead(PagesAhead<Tuple>& of_warp, const SegmentedChunk* of_chunks)
      : shared(of_warp), chunks(of_chunks) {}

  /// Asks for what there is of a page.
  __device__ void fetch(const ColumnTask& task, std::uint32_t number) {
    PageAhead<Tuple>& page = shared.pages[fetched];
    fetched ^= 1;
    if (!device::warp_uniform(task.path == ColumnPath::page_segments)) return;
    const SegmentedChunk& chunk = chunks[task.chunk];
    if (thread == 0) __pipeline_memcpy_async(&page.starts, &chunk.starts, 8);
    if (thread == 1) __pipeline_memcpy_async(&page.heads, &chunk.heads, 8);
    if (thread == 2)
      __pipeline_memcpy_async(&page.heads_before,
                              &segment_pages(task, task.segments.residuals)[number].heads_before,
                              4);
    const auto orders_at = reinterpret_cast<std::uintptr_t>(task.segments.orders);
    if (thread >= 8 && thread < 8 + PageAhead<Tuple>::kOrderWords)
      __pipeline_memcpy_async(
          &page.order_words[thread - 8],
          reinterpret_cast<const std::uint32_t*>(orders_at & ~std::uintptr_t{3}) + (thread - 8), 4);
  }
  /// Takes what has come, page by page.
  __device__ const PageAhead<Tuple>& take() {
    const int slot = taken;
    taken ^= 1;
    return shared.pages[slot];
  }

  PagesAhead<Tuple>& shared;
  const SegmentedChunk* const chunks;
  const int thread = device::thread_of_warp();
  int fetched = 0, taken = 0;  // places of the next ones
};

}  // namespace gdelta::cuda
