// Where the bytes of a page lie, and what its column says about it. Pages are numbered through all
// columns of a batch: those of task i are [starts[i], starts[i + 1]).
#pragma once

#include <cstdint>

#include "kernels/pages/column_task.h"
#include "kernels/pages/page_limits.h"
#include "kernels/words/load_anywhere.cuh"

namespace gdelta::cuda {

/// One page and what its column says about it.
struct PageView {
  const unsigned char* bytes;
  std::uint32_t num_bytes;
  std::uint32_t section_begin;  // where it starts in the section
  std::uint32_t first;          // tuple
  std::uint32_t tuples;
  std::uint32_t groups;  // of each lane

  __device__ void find_tuples(const ColumnTask& task, std::uint32_t page) {
    const std::uint32_t page_tuples = kGroupValues * task.page_groups;
    first = page * page_tuples;
    tuples = min(page_tuples, task.records - first);
    groups = (tuples + kGroupValues - 1) / kGroupValues;
  }
};

__device__ inline PageView page_view(const ColumnTask& task, std::uint32_t page) {
  PageView view;
  view.section_begin = page == 0 ? 0 : load_u32_anywhere(task.directory + 4 * (page - 1));
  view.num_bytes = load_u32_anywhere(task.directory + 4 * page) - view.section_begin;
  view.bytes = task.section + view.section_begin;
  view.find_tuples(task, page);
  return view;
}

/// Notes a page that breaks a rule. The lowest offset of a chunk wins.
__device__ inline void report_page(const ColumnTask& task, const PageView& page,
                                   unsigned long long* damaged_at) {
  atomicMin(damaged_at + task.chunk, task.section_at + page.section_begin);
}

}  // namespace gdelta::cuda
