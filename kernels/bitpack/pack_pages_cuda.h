// Encodes columns with the pack coder: value map, stride links, differences of any order, zigzag,
// the best width of every group, and pages written to their place. Spec: formats/gdelta/spec.md,
// sections 5 and 6; the rules that the format leaves to the encoder: codec/chunk/chunk_encode.h.
//
// A warp works on a unit: up to 32 consecutive groups of one page, of wide tuples a strip of its lanes, so that each of its
// threads can choose the width of one. Sizes come first, then the pages are written by a second look at the
// values, which costs a read and spares a copy.
//
// All memory is the caller's; nothing synchronises; launch errors are returned; kernels cannot
// fail. Arrays are in device memory. A task is a column of a chunk; tasks are numbered so that those
// of 8-byte values come last.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/pages/pack_task.h"

namespace gdelta::cuda {

/// What has become of a column: the values are left as they are, all tuples are equal, or pages.
enum class SectionKind : std::uint32_t { raw = 0, constant = 1, pack = 2, ans = 4 };

GDELTA_HD constexpr bool codes_residuals(SectionKind kind) {
  return kind == SectionKind::pack || kind == SectionKind::ans;
}

/// Bytes of a unit's groups and of its exceptions.
struct UnitBytes {
  std::uint32_t groups;
  std::uint32_t exceptions;
};

/// What has become of a column.
struct PackResult {
  std::uint64_t section_at;     // in the output
  std::uint32_t section_bytes;  // of any kind
  SectionKind kind;
};

/// Tasks of which lanes lose others (PackTask::has_steps), in any order, in device memory.
struct SteppedTasks {
  std::uint32_t* count;  // null: there are none
  std::uint32_t* numbers;
};

struct PackArgs {
  PackTask* tasks;
  std::uint32_t num_tasks;
  std::uint64_t* unit_starts;  // [num_tasks + 1]: units of the tasks before
  std::uint16_t* descriptors;  // [num_units × 32]
  UnitBytes* unit_bytes;       // [num_units]
  std::uint32_t* differs;      // [num_tasks]: 1 if not all tuples are equal
  std::uint32_t* page_ends;    // [num_pages]: counted from the start of the section
  std::uint32_t* part_checks;  // [num_pages]; of a constant the first alone
  PackResult* results;         // [num_tasks]
  unsigned char* out;
  SteppedTasks stepped;
};

/// The tasks of one launch: [first_task, end_task), all of 8-byte values or none. `num_units` of
/// them bounds the grid.
struct PackRange {
  std::uint32_t first_task;
  std::uint32_t end_task;
  std::uint64_t num_units;
  bool wide;
  /// Where tasks may have steps: the units of each, of which the last task may have fewer.
  std::uint32_t even_units = 0;
  /// What every task has, if all are alike and takes_warp_pages() holds of each; otherwise 0.
  std::uint8_t value_bytes = 0;
  std::uint8_t tuple = 0;
  /// By pages of narrow tuples: some tasks may have one stride of order 1.
  bool has_strides = false;

  bool by_pages() const { return tuple > 0; }
  /// Whether the first look makes the checks of pages, too.
  bool makes_checks() const { return by_pages() && !is_wide(tuple); }
};

/// Whether a column can be encoded a warp a page or a strip, each thread with runs of consecutive tuples.
inline bool takes_warp_pages(const PackTask& task) {
  if (task.has_strips()) return task.num_strides == 0;
  const bool one_before =
      task.num_strides == 0 || (task.num_strides == 1 && task.strides[0].order == 1);
  return task.record_bytes == static_cast<std::uint32_t>(task.value_bytes) * task.tuple &&
         one_before && is_page_of_a_warp(task.page_groups, task.tuple);
}

/// Says so in `range` if these are the values of all its tasks, and each can.
inline void set_by_pages(PackRange& range, const PackTask* tasks) {
  if (range.first_task == range.end_task) return;
  const PackTask& first = tasks[range.first_task];
  bool has_strides = false;
  for (std::uint32_t t = range.first_task; t < range.end_task; ++t) {
    if (!takes_warp_pages(tasks[t]) || tasks[t].value_bytes != first.value_bytes ||
        tasks[t].tuple != first.tuple)
      return;
    has_strides |= tasks[t].num_strides > 0;
  }
  range.value_bytes = first.value_bytes;
  range.tuple = first.tuple;
  range.has_strides = has_strides;
}

/// Fills descriptors and unit_bytes; sets differs if two tuples do (it must be zero before); fills part_checks, if
/// the range makes_checks().
cudaError_t launch_size_units(const PackArgs& args, const PackRange& range, cudaStream_t stream);

/// Computes from these: page_ends, kind and section_bytes of every result, and the checks of constants.
cudaError_t launch_choose_sections(const PackArgs& args, cudaStream_t stream);

/// Places sections of residuals one after the other; the others take no room. total_bytes [1].
cudaError_t launch_place_sections(const PackArgs& args, std::uint64_t* total_bytes,
                                  cudaStream_t stream);

/// Writes every section of kind pack to out + section_at. By pages it may begin while the kernel before it
/// still runs: that one must not begin before the results are there, and is waited for at the end.
cudaError_t launch_write_pages(const PackArgs& args, const PackRange& range, cudaStream_t stream);

}  // namespace gdelta::cuda
