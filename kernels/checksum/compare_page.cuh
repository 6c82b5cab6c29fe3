// A page that a warp has decoded tile by tile, held against its check.
#pragma once

#include <cstdint>

#include "kernels/pages/page_view.cuh"
#include "kernels/words/load_anywhere.cuh"

namespace gdelta::cuda {

/// Reports a page of so many tiles that differs. The whole warp calls it. A Check gives check.value(tiles, tuples, thread).
template <class Check>
__device__ inline void compare_page(const Check& check, const ColumnTask& task,
                                    const PageView& page, unsigned tiles,
                                    unsigned long long* differs_at, int thread) {
  const std::uint32_t number = page.first / (kGroupValues * task.page_groups);
  const std::uint32_t value = check.value(tiles, page.tuples, thread);
  if (thread == 0 && value != load_u32_anywhere(task.part_checks() + 4 * number))
    report_page(task, page, differs_at);
}

}  // namespace gdelta::cuda
