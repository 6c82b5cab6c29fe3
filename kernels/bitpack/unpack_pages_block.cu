// Pages of the pack coder for page_decode_block.cuh. Fields are read straight from the page.
#include "kernels/bitpack/group_layout.h"
#include "kernels/pages/page_decode_block.cuh"

namespace gdelta::cuda {
namespace {

using page_block::kOwnValues;
using page_block::kThreads;
using page_block::kWarps;

template <class Word>
struct PackShared {
  std::uint32_t group_at[kMaxPageGroups];      // in units of 16 bytes, from the first group
  std::uint32_t exception_at[kMaxPageGroups];  // in bytes, from the first exception
  Word patch[kWarps][kGroupValues];            // zero between uses
  std::uint32_t warp_groups[kWarps], warp_exceptions[kWarps];
  std::uint32_t all_groups, all_exceptions;
};

/// `width` bits (1 ... 64) from bit `bit` after `p` on; reads only aligned words that hold some.
template <class Word>
__device__ Word read_bits(const unsigned char* p, unsigned bit, int width) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  bit += 8 * (address & 3);
  const auto* words =
      reinterpret_cast<const std::uint32_t*>(address & ~std::uintptr_t{3}) + (bit >> 5);
  const unsigned shift = bit & 31, last = shift + width;
  const std::uint32_t w0 = words[0], w1 = last > 32 ? words[1] : 0;
  Word value = __funnelshift_r(w0, w1, shift);
  if constexpr (sizeof(Word) == 8) {
    const std::uint32_t w2 = last > 64 ? words[2] : 0;
    value |= static_cast<Word>(__funnelshift_r(w1, w2, shift)) << 32;
  }
  return value & value_mask<Word>(width);
}

__device__ GroupDescriptor load_descriptor(const ColumnTask& task, const PageView& page,
                                           std::uint32_t group) {
  const unsigned char* p = page.bytes + task.state_bytes + 2 * group;
  return {static_cast<std::uint32_t>(p[0] | (p[1] << 8))};
}

/// Checks all descriptors and finds what lies before each group. All threads get the verdict.
template <class Word>
__device__ bool place_groups(PackShared<Word>& shared, const ColumnTask& task, const PageView& page,
                             std::uint32_t all_groups) {
  const int of_block = threadIdx.x, warp = of_block / 32, thread = of_block & 31;
  constexpr std::uint32_t kEach = kMaxPageGroups / kThreads;
  const std::uint32_t first = of_block * kEach;
  bool valid = true;
  std::uint32_t groups = 0, exceptions = 0;
  for (std::uint32_t i = 0; i < kEach && first + i < all_groups; ++i) {
    const GroupDescriptor descriptor = load_descriptor(task, page, first + i);
    valid &= descriptor.valid(8 * task.value_bytes);
    shared.group_at[first + i] = groups;
    shared.exception_at[first + i] = exceptions;
    groups += descriptor.width();
    exceptions += descriptor.exception_bytes();
  }
  std::uint32_t to[2] = {groups, exceptions};
  scan::scan_threads<scan::SumAlgebra<std::uint32_t, std::uint32_t>, 2>(thread, 1, 32, to);
  if (thread == 31) {
    shared.warp_groups[warp] = to[0];
    shared.warp_exceptions[warp] = to[1];
  }
  __syncthreads();  // the sums of all warps are there
  std::uint32_t groups_before = to[0] - groups;
  std::uint32_t exceptions_before = to[1] - exceptions;
  for (int w = 0; w < warp; ++w) {
    groups_before += shared.warp_groups[w];
    exceptions_before += shared.warp_exceptions[w];
  }
  for (std::uint32_t i = 0; i < kEach && first + i < all_groups; ++i) {
    shared.group_at[first + i] += groups_before;
    shared.exception_at[first + i] += exceptions_before;
  }
  if (of_block == kThreads - 1) {
    shared.all_groups = groups_before + groups;
    shared.all_exceptions = exceptions_before + exceptions;
  }
  return __syncthreads_and(valid);  // and every place is written
}

template <class Word>
struct PackSource {
  using Shared = PackShared<Word>;

  __device__ static void clear(Shared& shared) {
    for (int i = threadIdx.x; i < kWarps * kGroupValues; i += kThreads)
      shared.patch[i / kGroupValues][i % kGroupValues] = 0;
  }

  __device__ static std::uint32_t head_bytes(const ColumnTask& task, const PageView& page) {
    return task.state_bytes + 2 * page.groups * task.tuple;
  }

  __device__ static bool open(Shared& shared, const ColumnTask& task, const PageView& page) {
    if (page.num_bytes < head_bytes(task, page)) return false;
    return place_groups(shared, task, page, page.groups * task.tuple) &&
           head_bytes(task, page) + 16 * shared.all_groups + shared.all_exceptions ==
               page.num_bytes;
  }

  __device__ static bool load(Shared& shared, const ColumnTask& task, const PageView& page,
                              std::uint32_t row, int lane, Word (&run)[kOwnValues]) {
    const int thread = threadIdx.x & 31, warp = threadIdx.x / 32;
    const unsigned char* groups = page.bytes + head_bytes(task, page);
    const unsigned char* exceptions = groups + 16 * shared.all_groups;
    const std::uint32_t group = lane * page.groups + row;
    const GroupDescriptor descriptor = load_descriptor(task, page, group);
    const int width = descriptor.width();
    if (width > 0) {
      const unsigned char* p = groups + 16 * shared.group_at[group];
#pragma unroll
      for (int i = 0; i < kOwnValues; ++i) {
        const int residual = kOwnValues * thread + i;
        const int slot = 16 * (residual & 7) + (residual >> 3);
        run[i] = read_bits<Word>(p, slot * width, width);
      }
    }
    bool valid = true;
    if (descriptor.exceptions() > 0) {
      const unsigned char* positions = exceptions + shared.exception_at[group];
      const unsigned char* highs = positions + descriptor.exceptions();
      const int high_bytes = descriptor.high_bytes();
      const Word largest = largest_high<Word>(width, 8 * task.value_bytes);
      Word* patch = shared.patch[warp];
      for (int i = thread; i < descriptor.exceptions(); i += 32) {
        const int position = positions[i], before = i == 0 ? -1 : positions[i - 1];
        const Word high = load_value<Word>(highs + i * high_bytes, high_bytes, false);
        if (valid_exception(before, position, high, largest)) {
          // Atomically: a page that is refused may name a position again.
          auto* words = reinterpret_cast<unsigned*>(patch + position);
          const Word bits = high << width;
          atomicOr(words, static_cast<unsigned>(bits));
          if constexpr (sizeof(Word) == 8) atomicOr(words + 1, static_cast<unsigned>(bits >> 32));
        } else {
          valid = false;
        }
      }
      __syncwarp();  // all patches are in
#pragma unroll
      for (int i = 0; i < kOwnValues; ++i) {
        run[i] |= patch[kOwnValues * thread + i];
        patch[kOwnValues * thread + i] = 0;
      }
      __syncwarp();  // and taken out again
    }
    return valid;
  }
};

}  // namespace

cudaError_t launch_pack_pages_block(const PageClass& pages, const UnpackArgs& args,
                                    std::uint64_t max_pages, cudaStream_t stream) {
  return page_block::launch<PackSource, kPackPages>(pages.value_bytes == 8, args, max_pages,
                                                    stream);
}

}  // namespace gdelta::cuda
