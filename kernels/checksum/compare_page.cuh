// A page that a warp has decoded, held against its check.
#pragma once

#include <cstdint>

#include "kernels/pages/page_view.cuh"
#include "kernels/words/load_anywhere.cuh"

namespace gdelta::cuda {

/// Reports a page whose check is not `value`. The whole warp calls it.
__device__ inline void compare_page(std::uint32_t value, const ColumnTask& task,
                                    const PageView& page, unsigned long long* differs_at,
                                    int thread) {
  const std::uint32_t number = page.first / (kGroupValues * task.page_groups);
  if (thread == 0 && value != load_u32_anywhere(task.part_checks() + 4 * number))
    report_page(task, page, differs_at);
}

}  // namespace gdelta::cuda
