// Checks of parts in device memory: compared with those that heads give, or written for heads to come.
// Spec: formats/gdelta/spec.md, section 7. A warp takes a part. Cannot fail; nothing synchronises.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/pages/column_task.h"
#include "kernels/pages/pack_task.h"

namespace gdelta::cuda {

struct CompareChecksArgs {
  const ColumnTask* tasks;
  const std::uint64_t* part_starts;  // [num_tasks + 1]: parts of the tasks before
  std::uint32_t num_tasks;
  std::uint64_t max_parts;         // bounds the grid
  bool in_segments;                // there may be parts of ColumnPath::page_segments
  unsigned long long* differs_at;  // [chunk]: the lowest offset of a part that differs
};
/// Compares every part of decoded columns: a warp a part, and a thread where pages have left its polynomial. Starts as launch_after has it.
cudaError_t launch_compare_checks(const CompareChecksArgs& args, cudaStream_t stream);

/// Parts of a column that is encoded are as long as its pages; launch_choose_sections sees to constants.
struct MakeChecksArgs {
  const PackTask* tasks;
  std::uint32_t num_tasks;
  std::uint64_t max_parts;
  std::uint32_t* part_checks;  // [pages of all tasks], task after task
};
cudaError_t launch_make_checks(const MakeChecksArgs& args, cudaStream_t stream);

}  // namespace gdelta::cuda
