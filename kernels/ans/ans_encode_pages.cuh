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

/// The table that a thread's run has, and in which of its bins each residual is, in a byte each.
struct alignas(16) AnsRunNames {
  int table;
  std::uint64_t bins;

  __device__ std::uint32_t bin(int i) const {
    const auto four = static_cast<std::uint32_t>(i < 4 ? bins : bins >> 32);
    return __byte_perm(four, 0, 0x4440 | (i & 3));
  }
};

/// Those of a page's runs as classification has left them: lane by lane and tile by tile, or from the last lane of the last
/// tile on. One run is loaded ahead.
class AnsNamesAhead {
 public:
  template <class Word>
  __device__ AnsNamesAhead(const AnsEncodeArgs<Word>& args, const AnsPageView& page,
                           const AnsPageShape& shape, bool is_backward)
      : last_lane_(shape.tuple - 1), runs_(static_cast<std::uint32_t>(shape.tiles) * shape.tuple) {
    const int begin = kAnsRun * static_cast<int>(threadIdx.x & 31), tile = shape.tile_tuples();
    const auto first = is_backward ? static_cast<std::uint32_t>(shape.tiles - 1) * tile : 0;
    count_ = static_cast<int>(page.tuples - first) - begin;
    bins_ = args.bins + page.at + first + begin;
    selectors_ = args.selectors + page.at + (begin >> shape.span_bits);
    to_lane_ = static_cast<int>(page.tuples);
    to_tile_ = tile - last_lane_ * to_lane_;
    to_count_ = -tile;
    to_selector_ = shape.spans;
    if (is_backward) {
      bins_ += last_lane_ * to_lane_;
      selectors_ += static_cast<std::uint64_t>(runs_ - 1) * shape.spans;
      to_lane_ = -to_lane_;
      to_tile_ = -to_tile_;
      to_count_ = tile;
      to_selector_ = -to_selector_;
    }
    const auto address = reinterpret_cast<std::uintptr_t>(args.bins + page.at);
    are_aligned_ = device::warp_uniform(address % kAnsRun == 0 && page.tuples % kAnsRun == 0);
    load();
  }

  __device__ AnsRunNames next() {
    const AnsRunNames names = names_;
    if (--runs_ > 0) {
      const bool is_last = lane_ == last_lane_;
      lane_ = is_last ? 0 : lane_ + 1;
      bins_ += is_last ? to_tile_ : to_lane_;
      count_ += is_last ? to_count_ : 0;
      selectors_ += to_selector_;
      load();
    }
    return names;
  }

 private:
  /// At most as many residuals as a tile has tuples are behind the run's begin.
  __device__ void load() {
    names_ = {};
    if (count_ <= 0) return;
    names_.table = *selectors_;
    names_.bins = are_aligned_ && count_ >= kAnsRun ? *reinterpret_cast<const std::uint64_t*>(bins_)
                                                    : load_byte_run(bins_, count_);
  }

  const std::uint8_t* bins_;
  const std::uint8_t* selectors_;
  int to_lane_, to_tile_, to_count_, to_selector_;
  int last_lane_, lane_ = 0;  // in the order in which they come
  std::uint32_t runs_;        // that are left
  int count_;                 // tuples from the run on
  bool are_aligned_;          // the runs of all lanes
  AnsRunNames names_;
};

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
