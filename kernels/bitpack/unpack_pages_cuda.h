// Decodes pages of the pack coder: unpack, exceptions, zigzag, sums of any order from the page's
// stored state, lanes interleaved, value map, byte order, store. Spec: formats/gdelta/spec.md,
// sections 5 and 6.
//
// tasks    [num_tasks] on the device; those of the launch are [first_task, end_task)
// starts   [num_tasks + 1]: pages of the tasks of this path before each task
// damaged_at  [num chunks]: lowered to the offset of a page that breaks a rule of the format
// tickets  one count from which the warps of a launch draw pages: zero before it and zero again
//          behind it; not shared by launches that may run at the same time. By blocks: unused
//
// Columns with stride links get their values as little-endian numbers before map and byte order;
// kernels/deltas/stride_undo_cuda.h finishes them. Pages are checked before they are followed, so
// hostile pages give a report and unspecified values, never an access outside section and column.
// Launch errors are returned; nothing synchronises.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/pages/column_task.h"

namespace gdelta::cuda {

struct UnpackArgs {
  const ColumnTask* tasks;
  const std::uint64_t* starts;
  unsigned long long* damaged_at;
  std::uint32_t first_task;
  std::uint32_t end_task;
  unsigned long long* tickets;
};

/// ColumnPath::pack_warp; every task of the launch has this width and tuple (1 ... 4).
/// `max_pages` bounds the grid: more than there are does no harm.
cudaError_t launch_unpack_pages_warp(int value_bytes, int tuple, const UnpackArgs& args,
                                     std::uint64_t max_pages, cudaStream_t stream);

/// ColumnPath::pack_block; widths of 1 to 4 bytes, or of 8.
cudaError_t launch_unpack_pages_block(bool wide, const UnpackArgs& args, std::uint64_t max_pages,
                                      cudaStream_t stream);

}  // namespace gdelta::cuda
