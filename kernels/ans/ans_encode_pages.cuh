// What kernels that encode ans have in common: where a page's residuals lie, and how a grid goes over pages.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/ans/ans_encode_cuda.h"
#include "kernels/device/highest_bit.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/device/warp_uniform.cuh"

namespace gdelta::cuda {

inline constexpr int kAnsPageWarps = 8;

/// A page of a column.
struct AnsPageView {
  std::uint32_t number;  // among those of all tasks
  std::uint32_t first;   // tuple of the chunk
  std::uint32_t tuples;
  std::uint64_t at;  // of its first value among those of all tasks

  __device__ AnsPageView(const PackTask& task, std::uint32_t page)
      : number(task.first_page + page), first(page * kGroupValues * task.page_groups) {
    tuples = min(kGroupValues * task.page_groups, task.records - first);
    at = task.first_value + static_cast<std::uint64_t>(first) * task.tuple;
  }
};

/// By the tables that have been made.
template <class Word>
__device__ inline AnsPageShape page_shape(const AnsEncodeTables<Word>& tables, const PackTask& task,
                                          const AnsPageView& page) {
  return ans_page_shape(page.tuples, task.tuple, tables.span_bits, tables.tables);
}

/// For what each block has, pages of one task, as many as it has warps: calls enter(task), visit_page(task,
/// page) warp by warp, and leave(task).
template <class Args, class Enter, class VisitPage, class Leave>
__device__ void for_each_bundle(const Args& args, const Enter& enter, const VisitPage& visit_page,
                                const Leave& leave) {
  const std::uint64_t bundles = (args.most_pages + kAnsPageWarps - 1) / kAnsPageWarps;
  for (std::uint64_t item = blockIdx.x; item < bundles * args.num_tasks; item += gridDim.x) {
    const auto task = static_cast<std::uint32_t>(item / bundles);
    const auto first = static_cast<std::uint32_t>(item % bundles) * kAnsPageWarps;
    if (first >= args.tasks[task].num_pages) continue;
    enter(task);
    __syncthreads();  // what the block shares is there
    const std::uint32_t page = first + device::warp_number();
    if (page < args.tasks[task].num_pages) visit_page(task, page);
    __syncthreads();  // all pages are done
    leave(task);
  }
}

template <class Args>
unsigned bundle_grid(const Args& args) {
  constexpr std::uint64_t kMostBlocks = 1 << 16;
  const std::uint64_t bundles =
      (args.most_pages + kAnsPageWarps - 1) / kAnsPageWarps * std::uint64_t{args.num_tasks};
  return static_cast<unsigned>(bundles < kMostBlocks ? bundles : kMostBlocks);
}

/// A thread's run of what it has `count` of: zero behind it.
template <class Word>
__device__ inline void load_run(const Word* from, int count, Word (&run)[kAnsRun]) {
  constexpr int kEach = 16 / sizeof(Word);
  if (count >= kAnsRun && reinterpret_cast<std::uintptr_t>(from) % 16 == 0) {
#pragma unroll
    for (int i = 0; i < kAnsRun; i += kEach) {
      union {
        uint4 vector;
        Word words[kEach];
      } piece;
      piece.vector = *reinterpret_cast<const uint4*>(from + i);
#pragma unroll
      for (int j = 0; j < kEach; ++j) run[i + j] = piece.words[j];
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < kAnsRun; ++i) run[i] = i < count ? from[i] : 0;
}

/// The same of bytes, the first in the lowest.
__device__ inline std::uint64_t load_byte_run(const std::uint8_t* from, int count) {
  if (count >= kAnsRun && reinterpret_cast<std::uintptr_t>(from) % kAnsRun == 0)
    return *reinterpret_cast<const std::uint64_t*>(from);
  std::uint64_t run = 0;
#pragma unroll
  for (int i = 0; i < kAnsRun; ++i)
    if (i < count) run |= static_cast<std::uint64_t>(from[i]) << (8 * i);
  return run;
}

__device__ inline void store_byte_run(std::uint8_t* to, int count, std::uint64_t run) {
  if (count >= kAnsRun && reinterpret_cast<std::uintptr_t>(to) % kAnsRun == 0) {
    *reinterpret_cast<std::uint64_t*>(to) = run;
    return;
  }
#pragma unroll
  for (int i = 0; i < kAnsRun; ++i)
    if (i < count) to[i] = static_cast<std::uint8_t>(run >> (8 * i));
}

/// SizeClasses<2, 256>::of.
template <class Word>
__device__ inline std::uint32_t coarse_class(Word residual) {
  using Signed = std::make_signed_t<Word>;
  const auto sign = static_cast<Word>(static_cast<Signed>(residual) >> (8 * sizeof(Word) - 1));
  const Word size = residual ^ sign;
  const int exponent = device::highest_bit(static_cast<Word>(size | 4));
  const std::uint32_t number =
      size < 4 ? static_cast<std::uint32_t>(size)
               : 4 * (exponent - 1) + (static_cast<std::uint32_t>(size >> (exponent - 2)) & 3);
  return (kCoarseClasses / 2 + number) ^ (sign != 0 ? kCoarseClasses - 1 : 0);
}

}  // namespace gdelta::cuda
