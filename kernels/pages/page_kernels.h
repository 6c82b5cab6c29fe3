// The coders whose pages kernels decode, a row each: unpack, zigzag, sums of any order from the page's
// stored state, lanes interleaved, value map, byte order, store. Spec: formats/gdelta/spec.md, sections 5
// and 6.
//
// tasks    [num_tasks] on the device; those of the launch are [first_task, end_task)
// starts   [num_tasks + 1]: pages of the tasks of this path before each task
// damaged_at  [num chunks]: lowered to the offset of a page that breaks a rule of the format
// differs_at  [num chunks]: likewise, of a page whose content differs from its check
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

/// row(name, number): the coder's number in the format. `launch_NAME_pages_block` lies in the coder's
/// room and is an instance of page_decode_block.cuh.
#define GDELTA_PAGE_KERNELS(row) row(pack, 2) row(ans, 4)

namespace gdelta::cuda {

struct UnpackArgs {
  const ColumnTask* tasks;
  const std::uint64_t* starts;
  unsigned long long* damaged_at;
  std::uint32_t first_task;
  std::uint32_t end_task;
  unsigned long long* tickets;
  unsigned long long* differs_at;  // null: nothing is verified
};

inline constexpr int kPackPages = 2;  // the only coder with kernels of a warp a page, too

/// What the columns of a launch have in common.
struct PageClass {
  int value_bytes;
  int most_tuple;                  // 1: all have one lane, and all others more
  std::uint64_t column_pages = 0;  // about so many has each; 0: not known
};

/// Takes ColumnPath::page_block. `max_pages` bounds the grid: more than there are does no harm.
using LaunchPagesBlock = cudaError_t(const PageClass& pages, const UnpackArgs& args,
                                     std::uint64_t max_pages, cudaStream_t stream);
#define GDELTA_DECLARATION(name, number) LaunchPagesBlock launch_##name##_pages_block;
GDELTA_PAGE_KERNELS(GDELTA_DECLARATION)
#undef GDELTA_DECLARATION

}  // namespace gdelta::cuda
