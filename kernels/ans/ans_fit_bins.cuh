// The bins of one table from its sorted sample, by a warp: what ans_bins.h and ans_cuts.h do.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/ans/ans_fit_sample.cuh"
#include "kernels/device/warp_min.cuh"

namespace gdelta::cuda {

/// Turns the highest bit, so that signed numbers sort as unsigned ones, and back.
template <class Word>
__device__ inline Word turn_sign(Word word) {
  return word ^ static_cast<Word>(Word{1} << (8 * sizeof(Word) - 1));
}

template <class Word>
class TableBins {
 public:
  using Room = typename AnsFitRoom<Word>::Table;

  /// Of `values` sorted residuals.
  __device__ TableBins(Room& room, std::uint32_t values, FitShared<Word>& shared, int table)
      : room_(room),
        values_(values),
        shared_(shared),
        lengths_(shared.lengths[table]),
        chain_(shared.chain[table]) {}

  /// Finds them; their bits, in 1/256. `bin_bits`: what one costs.
  __device__ std::uint64_t choose(std::uint32_t wanted_cells, std::uint32_t bin_bits,
                                  std::uint32_t most_bins) {
    if (values_ == 0) return 0;
    make_cells(wanted_cells);
    std::uint32_t bits = find_cuts(bin_bits);
    while (!keep_cuts(most_bins)) {
      bin_bits *= 2;
      bits = find_cuts(bin_bits);
    }
    return bits;
  }

  /// Bins that follow each other without gaps: those that were found, and what lies between them.
  __device__ void write_cuts(Word* lasts, std::uint8_t* offset_bits,
                             std::uint16_t& num_bins) const {
    constexpr auto kHighest = static_cast<std::int64_t>(std::numeric_limits<Signed>::max());
    const auto put = [&](int number, std::int64_t first, int bits) {
      if (number > 0) lasts[number - 1] = static_cast<Word>(first - 1);
      offset_bits[number] = static_cast<std::uint8_t>(bits);
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
      if (gap) put(number - 1, begin, kUnknown);
      if (mine) put(number, first, bits);
      size += __popc(all) + __popc(gaps);
      next = __shfl_sync(device::kWholeWarp, end, __popc(all) - 1);
    }
    if (open && thread_ == 0) put(size, next, kUnknown);
    if (thread_ == 0) num_bins = static_cast<std::uint16_t>(size + (open ? 1 : 0));
  }

 private:
  using Signed = std::make_signed_t<Word>;
  static constexpr int kUnknown = 255;

  __device__ static std::int64_t signed_of(Word turned) {
    return static_cast<Signed>(turn_sign(turned));
  }
  // Bin b from the lowest; the chain has them from the highest.
  __device__ std::uint32_t begin_of(int b) const { return room_.cells[chain_[bins_ - 1 - b]]; }
  __device__ std::int64_t first_of(int b) const { return signed_of(room_.sample[begin_of(b)]); }
  __device__ std::int64_t last_of(int b) const {
    const std::uint32_t end = b + 1 < bins_ ? begin_of(b + 1) : values_;
    return signed_of(room_.sample[end - 1]);
  }

  /// Where runs of equal values begin, and the end; returns how many there are.
  __device__ std::uint32_t find_runs() const {
    std::uint32_t runs = 0;
#pragma unroll 4
    for (std::uint32_t at = 0; at < values_; at += 32) {
      const std::uint32_t i = at + thread_;
      const bool begins = i < values_ && (i == 0 || room_.sample[i] != room_.sample[i - 1]);
      const unsigned all = __ballot_sync(device::kWholeWarp, begins);
      if (begins)
        room_.runs[runs + __popc(all & ((1u << thread_) - 1))] = static_cast<std::uint16_t>(i);
      runs += __popc(all);
    }
    if (thread_ == 0) room_.runs[runs] = static_cast<std::uint16_t>(values_);
    __syncwarp();  // all runs are known
    return runs;
  }

  /// A value that is frequent by itself is a cell by itself; others share a cell whose first ones have about
  /// the same rank.
  __device__ void make_cells(std::uint32_t wanted) {
    const std::uint32_t runs = find_runs();
    const std::uint32_t share = max(values_ / wanted, 1u);
    const int share_bits = device::highest_bit(share);
    const auto heavy = [&](std::uint32_t count) { return count > 1 && kLightest * count >= share; };
    cells_ = 0;
    for (std::uint32_t at = 0; at < runs; at += 32) {
      const std::uint32_t run = at + thread_;
      bool begins = false;
      std::uint32_t begin = 0;
      if (run < runs) {
        begin = room_.runs[run];
        const std::uint32_t end = room_.runs[run + 1], before = run == 0 ? 0 : room_.runs[run - 1];
        begins = run == 0 || heavy(end - begin) || heavy(begin - before) ||
                 begin >> share_bits != before >> share_bits;
      }
      const unsigned all = __ballot_sync(device::kWholeWarp, begins);
      if (begins)
        room_.cells[cells_ + __popc(all & ((1u << thread_) - 1))] =
            static_cast<std::uint16_t>(begin);
      cells_ += __popc(all);
    }
    if (thread_ == 0) room_.cells[cells_] = static_cast<std::uint16_t>(values_);
    __syncwarp();  // all cells are there
  }

  /// A cell, as the search for cuts asks for it.
  struct Cell {
    std::uint32_t begin = 0, end = 0;  // in the sample
    Word first = 0, last = 0;
  };
  __device__ Cell cell(std::uint32_t number) const {
    Cell cell;
    if (number >= cells_) return cell;
    cell.begin = room_.cells[number];
    cell.end = room_.cells[number + 1];
    cell.first = room_.sample[cell.begin];
    cell.last = room_.sample[cell.end - 1];
    return cell;
  }

  /// Finds the bin that ends with each cell so that it and those before it cost least; the bits of all. Thread
  /// i looks at the last cell that may begin it of those whose number is i modulo kMostBinCells. A sample takes
  /// less than 2^27 (4096 values of 76 bits, in 1/256), and bins are made dearer only until there are few: sums
  /// stay far below kNone.
  __device__ std::uint32_t find_cuts(std::uint32_t bin_bits) const {
    static_assert(kMostBinCells == 32);
    constexpr std::uint32_t kNone = 0xf0000000;
    const std::uint32_t all = shared_.log2.of(values_);
    std::uint32_t least = 0, begin = 0, cost_before = kNone;
    Word first = 0;
    Cell next = cell(thread_);
    for (std::uint32_t base = 0; base < cells_; base += 32) {
      const Cell own = next;
      next = cell(base + 32 + thread_);
      const std::uint32_t count = min(cells_ - base, 32u);
      std::uint32_t length = 0;
#pragma unroll 2
      for (std::uint32_t i = 0; i < count; ++i) {
        if (thread_ == i) {
          begin = own.begin;
          first = own.first;
          cost_before = least + bin_bits;
        }
        const std::uint32_t end = __shfl_sync(device::kWholeWarp, own.end, static_cast<int>(i));
        const Word last = __shfl_sync(device::kWholeWarp, own.last, static_cast<int>(i));
        const std::uint32_t values = end - begin;
        const auto offset_bits =
            static_cast<std::uint32_t>(device::highest_bit(static_cast<Word>(last - first)) + 1);
        const std::uint32_t cost = cost_before + values * (all - shared_.log2.of(values) +
                                                           (offset_bits << kFixedLog2Bits));
        least = device::warp_min(cost);
        // Of equals the nearest: that of thread i, then those before it, then those from the highest on.
        const unsigned who = __ballot_sync(device::kWholeWarp, cost == least);
        const auto farther = static_cast<std::uint32_t>(__clz(__funnelshift_l(who, who, 31 - i)));
        if (thread_ == i) length = farther;
      }
      if (thread_ < count) lengths_[base + thread_] = static_cast<std::uint8_t>(length);
    }
    __syncwarp();  // all bins are there
    return least;
  }

  /// Notes the cells that begin bins, from the highest down; false if there are too many.
  __device__ bool keep_cuts(std::uint32_t most_bins) {
    std::uint32_t count = 0;
    for (std::uint32_t end = cells_; end > 0; ++count) {
      if (count == most_bins) return false;
      end -= lengths_[end - 1] + 1u;
      if (thread_ == 0) chain_[count] = static_cast<std::uint16_t>(end);
    }
    bins_ = static_cast<int>(count);
    __syncwarp();  // the chain is there
    return true;
  }

  Room& room_;
  std::uint32_t values_;
  FitShared<Word>& shared_;
  std::uint8_t* lengths_;  // of the bin that ends with each cell: cells but one
  std::uint16_t* chain_;
  std::uint32_t thread_ = threadIdx.x % 32;
  std::uint32_t cells_ = 0;
  int bins_ = 0;
};

}  // namespace gdelta::cuda
