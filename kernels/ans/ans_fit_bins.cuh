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
      : room_(room), values_(values), shared_(shared), chain_(shared.chain[table]) {
    use(shared.cells[table]);
  }

  /// Finds them; their bits, in 1/256. `bin_bits`: what one costs.
  __device__ std::uint64_t choose(std::uint32_t wanted_cells, std::uint32_t bin_bits,
                                  std::uint32_t most_bins) {
    if (values_ == 0) return 0;
    make_cells(wanted_cells);
    if (cells_ > CellRoom<Word>::kCells) use(room_);
    look_up_cells();
    find_cuts(bin_bits);
    while (!keep_cuts(most_bins)) {
      bin_bits *= 2;
      find_cuts(bin_bits);
    }
    return cost_[cells_];
  }

  /// Bins that follow each other without gaps: those that were found, and what lies between them. By one
  /// thread.
  __device__ void write_cuts(Word* lasts, std::uint8_t* offset_bits,
                             std::uint16_t& num_bins) const {
    using Signed = std::make_signed_t<Word>;
    constexpr auto kHighest = static_cast<std::int64_t>(std::numeric_limits<Signed>::max());
    int size = 0;
    const auto add = [&](std::int64_t first, int bits) {
      if (size > 0) lasts[size - 1] = static_cast<Word>(first - 1);
      offset_bits[size++] = static_cast<std::uint8_t>(bits);
    };
    std::int64_t next = std::numeric_limits<Signed>::min();  // that no bin has yet
    bool open = true;
    for (int b = 0; b < bins_ && open; ++b) {
      const std::int64_t first = first_of(b);
      if (first > next) add(next, kUnknown);
      // What its offsets reach is the bin's too.
      const std::uint64_t length =
          static_cast<std::uint64_t>(last_of(b)) - static_cast<std::uint64_t>(first);
      const int bits = device::highest_bit(length) + 1;
      add(first, bits);
      const std::uint64_t reach = bits == 0 ? 0 : ~std::uint64_t{0} >> (64 - bits);
      open = reach < static_cast<std::uint64_t>(kHighest) - static_cast<std::uint64_t>(first);
      if (!open) break;
      next = first + static_cast<std::int64_t>(reach) + 1;
      if (b + 1 < bins_ && first_of(b + 1) < next) next = first_of(b + 1);
    }
    if (open) add(next, kUnknown);
    num_bins = static_cast<std::uint16_t>(size);
  }

 private:
  static constexpr int kUnknown = 255;

  template <class Cells>
  __device__ void use(Cells& cells) {
    first_ = cells.first;
    cost_ = cells.cost;
    before_ = cells.before;
  }

  /// What the search for cuts asks often.
  __device__ void look_up_cells() const {
    const std::uint32_t thread = threadIdx.x & 31;
    for (std::uint32_t cell = thread; cell <= cells_; cell += 32) {
      before_[cell] = room_.before[cell];
      if (cell == cells_) break;
      first_[cell] = room_.sample[room_.before[cell]];
      room_.last[cell] = room_.sample[room_.before[cell + 1] - 1u];
    }
    __syncwarp();  // all cells are there
  }

  __device__ static std::int64_t signed_of(Word turned) {
    return static_cast<std::make_signed_t<Word>>(turn_sign(turned));
  }
  // Bin b from the lowest; the chain has them from the highest.
  __device__ std::uint32_t cell_of(int b) const { return chain_[bins_ - 1 - b]; }
  __device__ std::int64_t first_of(int b) const { return signed_of(first_[cell_of(b)]); }
  __device__ std::int64_t last_of(int b) const {
    const std::uint32_t end = b + 1 < bins_ ? cell_of(b + 1) : cells_;
    return signed_of(room_.last[end - 1]);
  }

  /// Where runs of equal values begin, and the end; returns how many there are.
  __device__ std::uint32_t find_runs(std::uint16_t* starts) const {
    const int thread = threadIdx.x & 31;
    std::uint32_t runs = 0;
    for (std::uint32_t at = 0; at < values_; at += 32) {
      const std::uint32_t i = at + thread;
      const bool begins = i < values_ && (i == 0 || room_.sample[i] != room_.sample[i - 1]);
      const unsigned all = __ballot_sync(device::kWholeWarp, begins);
      if (begins) starts[runs + __popc(all & ((1u << thread) - 1))] = static_cast<std::uint16_t>(i);
      runs += __popc(all);
    }
    if (thread == 0) starts[runs] = static_cast<std::uint16_t>(values_);
    __syncwarp();  // all runs are known
    return runs;
  }

  /// A value that is frequent by itself is a cell by itself; others share cells of about equal count.
  __device__ void make_cells(std::uint32_t wanted) {
    const int thread = threadIdx.x & 31;
    std::uint16_t* const starts = room_.runs;
    const std::uint32_t runs = find_runs(starts);
    const std::uint32_t share = max(values_ / wanted, 1u);
    cells_ = 0;
    for (std::uint32_t run = 0; run < runs;) {
      const std::uint32_t mine = run + thread, begin = starts[run];
      bool heavy = false, ends = false;
      if (mine < runs) {
        const std::uint32_t end = starts[mine + 1], count = end - starts[mine];
        heavy = count > 1 && kLightest * count >= share;
        ends = mine + 1 == runs || end - begin >= share;
      }
      // A heavy one ends the cell before it; the first ends its own.
      const unsigned stops = __ballot_sync(device::kWholeWarp, ends || heavy) & device::kWholeWarp;
      const unsigned heavies = __ballot_sync(device::kWholeWarp, heavy);
      const int stop = __popc(~stops & (stops - 1));
      const bool before = stop > 0 && (heavies >> stop & 1) != 0;
      if (thread == 0) room_.before[cells_] = static_cast<std::uint16_t>(begin);
      ++cells_;
      run += stop + (before ? 0 : 1);
    }
    if (thread == 0) room_.before[cells_] = static_cast<std::uint16_t>(values_);
    __syncwarp();  // all cells are there
  }

  /// The least of this thread's and of those of the threads before it.
  __device__ static std::uint32_t least_so_far(std::uint32_t value) {
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2)
      value = min(value, __shfl_up_sync(device::kWholeWarp, value, distance));
    return value;
  }

  /// The least cost of the cells before each, and after all of them. A sample takes less than 2^27 (4096
  /// values of 76 bits, in 1/256), and a bin no more than twice that, or there would be one: sums stay below
  /// 2^32.
  __device__ void find_cuts(std::uint32_t bin_bits) const {
    const std::uint32_t thread = threadIdx.x & 31;
    const std::uint32_t all = shared_.log2.of(values_);
    if (thread == 0) cost_[0] = 0;
    __syncwarp();  // the first cost is there
    for (std::uint32_t end = 1; end <= cells_; ++end) {
      const std::uint32_t before_end = before_[end];
      const Word last = room_.last[end - 1];
      std::uint32_t least = ~0u, least_from = 0;
      bool goes_on = true;
      for (std::uint32_t top = end; top > 0 && goes_on; top -= min(top, 32u)) {
        const bool mine = thread < top;
        const std::uint32_t from = mine ? top - 1 - thread : 0, values = before_end - before_[from];
        const auto offset_bits = static_cast<std::uint32_t>(
            device::highest_bit(static_cast<Word>(last - first_[from])) + 1);
        const std::uint32_t bits_of_one =
            all - shared_.log2.of(values) + (offset_bits << kFixedLog2Bits);
        const std::uint32_t cost = mine ? cost_[from] + values * bits_of_one + bin_bits : ~0u;
        // Longer bins are worse by more and more: from the first on that is worse by so much than the least
        // before it, none is looked at. If none is, compared with the least of all, there is no such one.
        const std::uint32_t allowed = (values << kFixedLog2Bits) * kHopeless + 4 * bin_bits;
        std::uint32_t best = min(device::warp_min(cost), least), looked_at = 32;
        if (__any_sync(device::kWholeWarp, mine && cost - best > allowed)) {
          const std::uint32_t so_far = min(least_so_far(cost), least);
          const unsigned stops = __ballot_sync(device::kWholeWarp, mine && cost - so_far > allowed);
          goes_on = stops == 0;
          if (!goes_on) looked_at = __popc(~stops & (stops - 1)) + 1;
          best = __shfl_sync(device::kWholeWarp, so_far, static_cast<int>(looked_at - 1));
        }
        if (best < least) {
          const unsigned who =
              __ballot_sync(device::kWholeWarp, cost == best && thread < looked_at);
          least = best;
          least_from = top - 1 - __popc(~who & (who - 1));
        }
      }
      if (thread == 0) {
        cost_[end] = least;
        room_.from[end] = static_cast<std::uint16_t>(least_from);
      }
      __syncwarp();  // this cost is there
    }
  }

  /// Notes the cells that begin bins, from the highest down; false if there are too many.
  __device__ bool keep_cuts(std::uint32_t most_bins) {
    std::uint32_t count = 0;
    for (std::uint32_t end = cells_; end > 0; end = room_.from[end]) {
      if (count == most_bins) return false;
      if ((threadIdx.x & 31) == 0) chain_[count] = room_.from[end];
      ++count;
    }
    bins_ = static_cast<int>(count);
    __syncwarp();  // the chain is there
    return true;
  }

  Room& room_;
  std::uint32_t values_;
  FitShared<Word>& shared_;
  std::uint16_t* chain_;
  // Of each cell, in shared memory or in the room.
  Word* first_;
  std::uint32_t* cost_;
  std::uint16_t* before_;
  std::uint32_t cells_ = 0;
  int bins_ = 0;
};

}  // namespace gdelta::cuda
