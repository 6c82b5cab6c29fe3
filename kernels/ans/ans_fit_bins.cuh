// The bins of one table from its cells, by a warp: what ans_bins.h and ans_cuts.h do.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/ans/ans_encode_cuda.h"
#include "kernels/ans/ans_fit_rules.h"
#include "kernels/ans/log2_table.cuh"
#include "kernels/ans/turned_sign.cuh"
#include "kernels/device/warp_min.cuh"
#include "kernels/device/warp_uniform.cuh"

namespace gdelta::cuda {

/// While cuts are looked for.
template <class Word>
struct CutShared {
  /// A cell, as those see it that end with it.
  struct alignas(16) End {
    std::uint32_t rank;   // of the first value behind it
    std::uint32_t alone;  // what its values take in a bin of their own
    Word last;
  };
  End ends[kMostFitTables][kMostBinCells];  // of the cells that a warp looks at
  std::uint16_t
      count_logs[kMostTableSample + 1];  // of each number that a bin may have, its logarithm
  std::uint16_t chain[kMostFitTables][kMaxTableBins / 2];
  std::uint8_t lengths[kMostFitTables][AnsFitCells<Word>::kMost];
  Log2Table log2;
  unsigned long long bits[2];  // of the tables, and of the single one
};

/// The bins of a table of cells.
template <class Word>
class TableBins {
 public:
  using Cells = typename AnsFitCells<Word>::Table;

  __device__ TableBins(const Cells& table, CutShared<Word>& shared, int number)
      : table_(table),
        values_(device::warp_uniform(table.values)),
        cells_(device::warp_uniform(table.cells)),
        count_logs_(shared.count_logs),
        ends_(shared.ends[number]),
        lengths_(shared.lengths[number]),
        chain_(shared.chain[number]) {}

  /// Residuals that it is made of.
  __device__ std::uint32_t values() const { return values_; }

  /// Finds them; their bits, in 1/256. `bin_bits`: what one costs.
  __device__ std::uint64_t choose(std::uint32_t bin_bits, std::uint32_t most_bins) {
    for (;; bin_bits *= 2) {
      const std::uint32_t bits = find_cuts(bin_bits);
      if (keep_cuts(most_bins)) return bits;
    }
  }

  /// Bins that follow each other without gaps: those that were found, and what lies between them.
  __device__ void write_cuts(Word* lasts, std::uint8_t* names, std::uint16_t& num_bins) const {
    constexpr auto kHighest = static_cast<std::int64_t>(std::numeric_limits<Signed>::max());
    const auto put = [&](int number, std::int64_t first, int name) {
      if (number > 0) lasts[number - 1] = static_cast<Word>(first - 1);
      names[number] = static_cast<std::uint8_t>(name);
    };
    int size = 0;
    std::int64_t next = std::numeric_limits<Signed>::min();  // that no bin has yet
    bool open = true;
    for (int at = 0; at < bins_ && open; at += 32) {
      const int b = at + static_cast<int>(thread_);
      const std::int64_t first = b < bins_ ? first_of(b) : 0, last = b < bins_ ? last_of(b) : 0;
      // What its offsets reach is the bin's too.
      const std::uint64_t length =
          static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first);
      const int bits = device::highest_bit(length) + 1;
      const std::uint64_t reach = bits == 0 ? 0 : ~std::uint64_t{0} >> (64 - bits);
      const bool goes_on =
          reach < static_cast<std::uint64_t>(kHighest) - static_cast<std::uint64_t>(first);
      std::int64_t end = goes_on ? first + static_cast<std::int64_t>(reach) + 1 : 0;
      if (b + 1 < bins_) end = min(end, first_of(b + 1));
      // Behind the first that reaches the end there is none.
      const unsigned closed = __ballot_sync(device::kWholeWarp, b < bins_ && !goes_on);
      open = closed == 0;
      const bool mine = b < bins_ && (closed & ((1u << thread_) - 1)) == 0;
      const std::int64_t before = __shfl_up_sync(device::kWholeWarp, end, 1);
      const std::int64_t begin = thread_ == 0 ? next : before;
      const bool gap = mine && first > begin;
      const unsigned all = __ballot_sync(device::kWholeWarp, mine),
                     gaps = __ballot_sync(device::kWholeWarp, gap), below = (1u << thread_) - 1;
      const int number = size + __popc(all & below) + __popc(gaps & below) + (gap ? 1 : 0);
      if (gap) put(number - 1, begin, kUnknownName + b);
      if (mine) put(number, first, b);
      size += __popc(all) + __popc(gaps);
      next = __shfl_sync(device::kWholeWarp, end, __popc(all) - 1);
    }
    if (open && thread_ == 0) put(size, next, kUnknownName + bins_);
    if (thread_ == 0) num_bins = static_cast<std::uint16_t>(size + (open ? 1 : 0));
  }

 private:
  using Signed = std::make_signed_t<Word>;
  using End = typename CutShared<Word>::End;

  __device__ static std::int64_t signed_of(Word turned) {
    return static_cast<Signed>(turn_sign(turned));
  }
  // Bin b from the lowest; the chain has them from the highest.
  __device__ std::uint32_t cell_of(int b) const { return chain_[bins_ - 1 - b]; }
  __device__ std::int64_t first_of(int b) const { return signed_of(table_.firsts[cell_of(b)]); }
  __device__ std::int64_t last_of(int b) const {
    return signed_of(table_.lasts[(b + 1 < bins_ ? cell_of(b + 1) : cells_) - 1]);
  }

  /// A cell, as the search for cuts asks for it; those behind the last one are empty.
  struct Cell {
    std::uint32_t begin, end;  // in the sample
    Word first = 0, last = 0;
  };
  __device__ Cell cell(std::uint32_t number) const {
    Cell cell{values_, values_};
    if (number >= cells_) return cell;
    cell.begin = table_.begins[number];
    cell.end = table_.begins[number + 1];
    cell.first = table_.firsts[number];
    cell.last = table_.lasts[number];
    return cell;
  }

  /// Finds the bin that ends with each cell so that it and those before it cost least; the bits of all. Thread
  /// i looks at the last cell that may begin it of those whose number is i modulo kMostBinCells. A sample takes
  /// less than 2^27 (4096 values of 76 bits, in 1/256), and bins are made dearer only until there are few: sums
  /// stay far below kNone.
  ///
  /// Two cells go side by side: only the bin that is the second alone waits for what the first one costs. What values
  /// take in bins that end with the next two is found while those are compared.
  __device__ std::uint32_t find_cuts(std::uint32_t bin_bits) const {
    static_assert(kMostBinCells == 32);
    constexpr std::uint32_t kNone = 0xf0000000;
    const std::uint32_t all = count_logs_[values_];
    const auto value_bits = [&](std::uint32_t values, Word length) {
      const auto offset_bits = static_cast<std::uint32_t>(device::highest_bit(length) + 1);
      return values * (all - count_logs_[values] + (offset_bits << kFixedLog2Bits));
    };
    std::uint32_t least = 0, begin = 0, cost_before = kNone;
    Word first = 0;
    Cell next = cell(thread_);
    for (std::uint32_t base = 0; base < cells_; base += 32) {
      const Cell own = next;
      next = cell(base + 32 + thread_);
      __syncwarp();  // the ends before have been read
      ends_[thread_] = {own.end, value_bits(own.end - own.begin, own.last - own.first), own.last};
      __syncwarp();  // all ends are there
      // What values take in a bin that ends with a cell, which comes behind that of the call before.
      const auto cost_of = [&](std::uint32_t number, const End& end) {
        if (thread_ == number) {
          begin = own.begin;
          first = own.first;
        }
        return value_bits(end.rank - begin, end.last - first);
      };
      const std::uint32_t count = min(cells_ - base, 32u);
      unsigned nearest = 0;  // of thread i: which begin the cheapest bins that end with cell i
      std::uint32_t one = cost_of(0, ends_[0]), two = cost_of(1, ends_[1]);
      std::uint32_t alone = ends_[1].alone;
#pragma unroll 1
      for (std::uint32_t i = 0; i < count; i += 2) {
        const std::uint32_t next_one = min(i + 2, 31u), next_two = min(i + 3, 31u);
        const End end_one = ends_[next_one], end_two = ends_[next_two];
        const bool is_one = thread_ == i, is_two = thread_ == i + 1;
        if (is_one) cost_before = least + bin_bits;
        const std::uint32_t cost = cost_before + one, cost_two = cost_before + two;
        const std::uint32_t of_one = device::warp_min(cost);
        const std::uint32_t of_farther = device::warp_min(is_two ? ~0u : cost_two);
        one = cost_of(next_one, end_one);
        two = cost_of(next_two, end_two);
        const std::uint32_t of_nearest = of_one + bin_bits + alone;
        const std::uint32_t of_two = min(of_farther, of_nearest);
        alone = end_two.alone;
        if (is_two) cost_before = of_one + bin_bits;
        const unsigned begin_one = __ballot_sync(device::kWholeWarp, cost == of_one);
        const unsigned begin_two =
            __ballot_sync(device::kWholeWarp, (is_two ? of_nearest : cost_two) == of_two);
        if (is_one) nearest = begin_one;
        if (is_two) nearest = begin_two;
        least = i + 1 < count ? of_two : of_one;
      }
      // Of equals the nearest: that of the thread itself, then those before it, then those from the highest on.
      if (thread_ < count)
        lengths_[base + thread_] = static_cast<std::uint8_t>(
            __clz(static_cast<int>(__funnelshift_l(nearest, nearest, 31 - thread_))));
    }
    __syncwarp();  // all bins are there
    return least;
  }

  /// Notes the cells that begin bins, from the highest down; false if there are too many.
  __device__ bool keep_cuts(std::uint32_t most_bins) {
    std::uint32_t count = 0;
    for (std::uint32_t end = cells_; end > 0; ++count) {
      if (count == most_bins) return false;
      end -= device::warp_uniform(lengths_[end - 1]) + 1u;
      if (thread_ == 0) chain_[count] = static_cast<std::uint16_t>(end);
    }
    bins_ = static_cast<int>(count);
    __syncwarp();  // the chain is there
    return true;
  }

  const Cells& table_;
  std::uint32_t values_, cells_;
  const std::uint16_t* count_logs_;
  End* ends_;
  std::uint8_t* lengths_;  // of the bin that ends with each cell: cells but one
  std::uint16_t* chain_;
  std::uint32_t thread_ = threadIdx.x % 32;
  int bins_ = 0;
};

}  // namespace gdelta::cuda
