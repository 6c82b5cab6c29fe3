// Which column a page belongs to, and where its bytes lie. Pages are numbered through all columns
// of a batch: those of task i are [starts[i], starts[i + 1]).
#pragma once

#include <cstdint>

#include "kernels/chunk/column_task.h"

namespace gdelta::cuda {

inline constexpr unsigned kWholeWarp = 0xffffffffu;

/// Four bytes from any address, in aligned loads: reads only words that hold one of them.
__device__ inline std::uint32_t load_u32_anywhere(const unsigned char* p) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  const auto* words = reinterpret_cast<const std::uint32_t*>(address & ~std::uintptr_t{3});
  const unsigned shift = 8 * (address & 3);
  return shift == 0 ? words[0] : __funnelshift_r(words[0], words[1], shift);
}

/// The last i in [begin, end) with starts[i] <= item; the whole warp calls it and gets it. A search
/// with 32 probes a round: three rounds find one of 32768 tasks.
__device__ inline std::uint32_t find_start(const std::uint64_t* starts, std::uint32_t begin,
                                           std::uint32_t end, std::uint64_t item) {
  const std::uint32_t thread = threadIdx.x & 31;
  while (end - begin > 1) {
    const std::uint32_t step = (end - begin + 31) / 32;
    const std::uint64_t probe = begin + static_cast<std::uint64_t>(thread) * step;
    const unsigned at_or_before = __ballot_sync(kWholeWarp, probe < end && starts[probe] <= item);
    begin += (31 - __clz(at_or_before)) * step;
    end = min(begin + step, end);
  }
  return begin;
}

/// One page and what its column says about it.
struct PageView {
  const unsigned char* bytes;
  std::uint32_t num_bytes;
  std::uint32_t section_begin;  // where it starts in the section
  std::uint32_t first;          // tuple
  std::uint32_t tuples;
  std::uint32_t groups;  // of each lane
};

__device__ inline PageView page_view(const ColumnTask& task, std::uint32_t page) {
  PageView view;
  view.section_begin = page == 0 ? 0 : load_u32_anywhere(task.directory + 4 * (page - 1));
  view.num_bytes = load_u32_anywhere(task.directory + 4 * page) - view.section_begin;
  view.bytes = task.section + view.section_begin;
  const std::uint32_t page_tuples = 128 * task.page_groups;
  view.first = page * page_tuples;
  view.tuples = min(page_tuples, task.records - view.first);
  view.groups = (view.tuples + 127) / 128;
  return view;
}

/// Notes a page that breaks a rule. The lowest offset of a chunk wins.
__device__ inline void report_page(const ColumnTask& task, const PageView& page,
                                   unsigned long long* damaged_at) {
  atomicMin(damaged_at + task.chunk, task.section_at + page.section_begin);
}

}  // namespace gdelta::cuda
