// A warp that takes pages from the slots of its block, sums them along their strides and stores them.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/bitpack/stride_slots.cuh"
#include "kernels/bitpack/unpack_pages_warp.cuh"
#include "kernels/deltas/finish_rows.cuh"

namespace gdelta::cuda {

/// The running sums of a link, which go on from page to page.
template <class Unit>
struct CarriedSums {
  Unit* sums;             // [columns]
  std::uint32_t columns;  // units of values, side by side
  std::uint32_t first;    // the one that the page begins with

  /// Of the page's column of that number.
  __device__ Unit& of(std::uint32_t column) const {
    const std::uint32_t at = first + column;
    return sums[at < columns ? at : at - columns];
  }
  /// The page's column that has this sum.
  __device__ std::uint32_t column_of(std::uint32_t sum) const {
    return sum < first ? sum + columns - first : sum - first;
  }
};

/// Of columns with few running sums it takes whole pages, each that many pages behind the one before as there are such warps,
/// and hands on what a page adds up to. Pages of columns with many are summed by half of these warps together, one page after
/// the other: each has some of the sums, and keeps them from page to page. The other half stores them.
template <int ValueBytes, int Tuple, bool kTogether>
class StrideSummer {
 public:
  using Block = StrideBlock<ValueBytes, Tuple, kTogether>;
  using Slot = StrideSlot<ValueBytes, Tuple>;
  using Shape = UnpackWarpShape<ValueBytes, Tuple>;

  __device__ StrideSummer(const Block& block, const UnpackArgs& args, std::uint32_t summer)
      : block_(block),
        args_(args),
        task_(*reinterpret_cast<ColumnTask*>(block.joined.tasks[summer])),
        summer_(summer) {}

  __device__ void run(const LaneMaps* all_maps) {
    const BlockColumns columns(args_);
    const std::uint32_t half = kTogether ? block_.warps_together() : 0;
    for (std::uint32_t round = 0; round < columns.rounds; ++round) {
      const std::uint32_t column = columns.in_round(round);
      const bool is_there = column < columns.end && block_.takes(args_.tasks[column]);
      if (device::warp_uniform<int>(is_there) == 0) continue;
      copy_task(column);
      lane_maps_ = task_.map == kMapsOfLanes ? all_maps + column : nullptr;
      if (kTogether && summer_ < half) {
        for_each_in_turn(0, 1, [&] { sum_share_of_page(); });
      } else {
        for_each_in_turn(summer_ - half, block_.ring.summers - half, [&] {
          kTogether ? wait_until_summed() : sum_page();
          store_page();
          device::barrier_arrive(block_.joined.stored + turn_.slot);
        });
      }
      pages_before_ += task_.num_pages;
    }
  }

 private:
  __device__ void copy_task(std::uint32_t column) {
    const int at = 16 * thread_;
    const auto* from = reinterpret_cast<const unsigned char*>(args_.tasks + column);
    __syncwarp();  // nobody needs the task before any more
    if (at < static_cast<int>(sizeof(ColumnTask)))
      *reinterpret_cast<uint4*>(reinterpret_cast<unsigned char*>(&task_) + at) =
          *reinterpret_cast<const uint4*>(from + at);
    __syncwarp();  // the task is there
  }

  // ---- Pages

  /// Pages of the column that are this warp's: of each `every` one behind the other, counted over all columns, that of this
  /// number.
  template <class Visit>
  __device__ void for_each_in_turn(std::uint32_t mine, std::uint32_t every, const Visit& visit) {
    const std::uint32_t first = (mine + every - pages_before_ % every) % every;
#pragma unroll 1
    for (number_ = first; number_ < task_.num_pages; number_ += every) {
      turn_ = StrideTurn::of(pages_before_ + number_, block_.ring.slots);
      page_.find_tuples(task_, number_);
      visit();
    }
  }
  __device__ void wait_until_decoded() const {
    device::barrier_wait(block_.joined.decoded + turn_.slot, turn_.parity);
  }

  __device__ void sum_page() {
    wait_until_decoded();
    unsigned char* sums = block_.joined.sums;
#pragma unroll 1
    for (int link = task_.num_strides; link-- > 0;) {
      with_units(link, [&](auto across) { sum_units<decltype(across)::value>(link, sums); });
      sums += stride_sums_bytes(task_, task_.strides[link], sum_bytes_in_slots(task_));
      __syncwarp();  // the link is summed
    }
    // Of links that the column lacks, too: the barriers of all keep step.
    for (int link = task_.num_strides; link < kMostLinks; ++link) leave_sums(link);
  }

  __device__ void sum_share_of_page() const {
    wait_until_decoded();
    with_units(0, [&](auto across) { sum_own_columns<decltype(across)::value>(); });
    device::barrier_arrive(block_.joined.summed + turn_.slot);
  }
  __device__ void wait_until_summed() const {
    device::barrier_wait(block_.joined.summed + turn_.slot, turn_.parity);
  }

  // ---- Units of values that are summed as one

  /// Calls use(how many values a unit has, as a constant).
  template <class Use>
  __device__ void with_units(int link, const Use& use) const {
    constexpr int kWide = 16 / Slot::kValueBytes;
    const int values = Block::across(task_, link);
    if (values == kWide) return use(std::integral_constant<int, kWide>{});
    if constexpr (kWide > 4) {
      if (values == 4) return use(std::integral_constant<int, 4>{});
    }
    use(std::integral_constant<int, 1>{});
  }

  template <int kValues>
  using Units = SlotUnits<Slot, kValues>;
  template <int kValues>
  using Carried = CarriedSums<typename Units<kValues>::Unit>;

  template <int kValues>
  __device__ Units<kValues> units() const {
    return {block_.slot(turn_)};
  }
  template <int kValues>
  __device__ Carried<kValues> carried_sums(int link, unsigned char* sums) const {
    const std::uint32_t stride = task_.strides[link].stride;
    return {reinterpret_cast<typename Units<kValues>::Unit*>(sums), stride * Tuple / kValues,
            page_.first % stride * Tuple / kValues};
  }

  /// Units of the page.
  template <class OfPage>
  __device__ std::uint32_t count() const {
    return (page_.tuples * Tuple + OfPage::kAcross - 1) / OfPage::kAcross;
  }

  // ---- Together

  /// Columns of which a thread takes some at a time, so that their loads are on their way together.
  template <int kValues>
  __device__ void sum_own_columns() const {
    using Word = typename Units<kValues>::Word;
    using Unit = typename Units<kValues>::Unit;
    constexpr int kBatch = 4;
    const Carried<kValues> carried = carried_sums<kValues>(0, block_.joined.sums);
    const Units<kValues> of_page = units<kValues>();
    const std::uint32_t all = count<Units<kValues>>(), step = 32 * block_.warps_together();
    if (number_ == 0) {
      const StrideTurn before = turn_.before(block_.ring.slots);
      device::barrier_wait(block_.joined.summed + before.slot, before.parity);
      // Nobody needs the sums of another column any more.
    }
#pragma unroll 1
    for (std::uint32_t first = 32 * summer_ + thread_; first < carried.columns;
         first += kBatch * step) {
      Word sums[kBatch] = {};
      std::uint32_t at[kBatch];
#pragma unroll
      for (int i = 0; i < kBatch; ++i) {
        const std::uint32_t number = first + i * step;
        const bool is_there = number < carried.columns;
        at[i] = is_there ? carried.column_of(number) : all;
        if (is_there && number_ > 0) sums[i] = carried.sums[number];
      }
#pragma unroll 1
      for (std::uint32_t row = 0; row < all; row += carried.columns) {
        Word rows[kBatch];
#pragma unroll
        for (int i = 0; i < kBatch; ++i)
          rows[i] = at[i] + row < all ? of_page.load(at[i] + row) : Word{};
#pragma unroll
        for (int i = 0; i < kBatch; ++i) {
          sums[i] += rows[i];
          if (at[i] + row < all) of_page.store(at[i] + row, sums[i]);
        }
      }
#pragma unroll
      for (int i = 0; i < kBatch; ++i)
        if (first + i * step < carried.columns)
          carried.sums[first + i * step] = static_cast<Unit>(sums[i]);
    }
  }

  // ---- A page alone

  template <int kValues>
  __device__ void sum_units(int link, unsigned char* sums) {
    const auto carried = carried_sums<kValues>(link, sums);
    if (carried.columns <= 32) {
      sum_side_by_side(units<kValues>(), link, carried);
    } else {
      sum_alone(units<kValues>(), link, carried);
    }
  }

  __device__ void wait_for_page_before(int link) const {
    const StrideTurn before = turn_.before(block_.ring.slots);
    device::barrier_wait(block_.joined.carried[link] + before.slot, before.parity);
  }
  /// The page before has left its sums; of the first page of a column they are zero.
  template <class Unit>
  __device__ void wait_for_sums(int link, const CarriedSums<Unit>& carried) const {
    wait_for_page_before(link);
    if (page_.first > 0) return;
    wait_for_page_before(0);
    for (std::uint32_t i = thread_; i < carried.columns; i += 32) carried.sums[i] = Unit{};
    __syncwarp();  // all sums are zero
  }
  __device__ void leave_sums(int link) const {
    device::barrier_arrive(block_.joined.carried[link] + turn_.slot);
  }

  /// Several threads have the rows of a column, one behind the other.
  template <class OfPage>
  __device__ void sum_side_by_side(const OfPage& units, int link,
                                   const CarriedSums<typename OfPage::Unit>& carried) const {
    using Word = typename OfPage::Word;
    const std::uint32_t columns = carried.columns, all = count<OfPage>();
    const std::uint32_t stretches = 32 / columns, stretch = thread_ / columns;
    const std::uint32_t column = thread_ % columns;
    // Of one row more, and odd: so the rows that threads are at meet different banks.
    const std::uint32_t rows_of_thread = (all / columns + stretches) / stretches | 1;
    const std::uint32_t begin = stretch * rows_of_thread * columns + column;
    const std::uint32_t end = stretch < stretches ? min(begin + rows_of_thread * columns, all) : 0;
    Word up_to{};  // of the threads of a column up to this one
    for_rows<false>(units, begin, end, columns, up_to);
    for (std::uint32_t distance = columns; distance < 32; distance *= 2) {
      const Word more = from_below(up_to, distance);
      if (static_cast<std::uint32_t>(thread_) >= distance) up_to += more;
    }
    Word sum = from_below(up_to, columns);
    if (stretch == 0) sum = Word{};
    wait_for_sums(link, carried);
    const auto before = static_cast<Word>(carried.of(column));
    __syncwarp();  // the sums have been read
    if (stretch == stretches - 1)
      carried.of(column) = static_cast<typename OfPage::Unit>(before + up_to);
    leave_sums(link);
    sum += before;
    for_rows<true>(units, begin, end, columns, sum);
  }

  /// Threads have columns of their own, several each. What a column adds up to waits in its last row, so that no more than
  /// that is left to do between two pages.
  template <class OfPage>
  __device__ void sum_alone(const OfPage& units, int link,
                            const CarriedSums<typename OfPage::Unit>& carried) const {
    using Word = typename OfPage::Word;
    const std::uint32_t columns = carried.columns, all = count<OfPage>();
    const std::uint32_t there = min(columns, all), farthest = (all - 1) / columns * columns;
    const auto last_of = [&](std::uint32_t column) {
      const std::uint32_t at = column + farthest;
      return at < all ? at : at - columns;
    };
#pragma unroll 1
    for (std::uint32_t column = thread_; column < there; column += 32) {
      Word sum{};
      for_rows<false>(units, column, all, columns, sum);
      units.store(last_of(column), sum);
    }
    wait_for_sums(link, carried);
#pragma unroll 2
    for (std::uint32_t column = thread_; column < there; column += 32) {
      const std::uint32_t last = last_of(column);
      const auto before = static_cast<Word>(carried.of(column));
      const Word sum = before + units.load(last);
      carried.of(column) = static_cast<typename OfPage::Unit>(sum);
      if (last != column) units.store(column, before + units.load(column));
      units.store(last, sum);
    }
    leave_sums(link);
#pragma unroll 1
    for (std::uint32_t column = thread_; column < there; column += 32) {
      const std::uint32_t last = last_of(column);
      Word sum{};
      for_rows<true>(units, column, last, columns, sum);
    }
  }

  // ---- Rows of a column

  /// Adds units begin, begin + step, ... before `end`, which are a column's, to its sum; kStores: which they become.
  template <bool kStores, class OfPage>
  __device__ void for_rows(const OfPage& units, std::uint32_t begin, std::uint32_t end,
                           std::uint32_t step, typename OfPage::Word& sum) const {
    using Word = typename OfPage::Word;
    constexpr int kRows = 8;
#pragma unroll 1
    for (std::uint32_t i = begin; i < end; i += kRows * step) {
      Word rows[kRows];
#pragma unroll
      for (int row = 0; row < kRows; ++row)
        rows[row] = i + row * step < end ? units.load(i + row * step) : Word{};
#pragma unroll
      for (int row = 0; row < kRows; ++row) {
        sum += rows[row];
        if (kStores && i + row * step < end) units.store(i + row * step, sum);
      }
    }
  }

  // ---- Storing

  /// The thread's run of a tile.
  __device__ void get_values(const unsigned char* tile,
                             WordOf<ValueBytes> (&values)[Tuple][Shape::kRunTuples]) const {
    constexpr int kBits = 8 * Slot::kValueBytes;
    std::uint32_t words[Slot::Shape::kRunBytes / 4];
    get_run<typename Slot::Shape>(tile, words, thread_);
#pragma unroll
    for (int n = 0; n < Tuple * Shape::kRunTuples; ++n) {
      auto& value = values[n % Tuple][n / Tuple];
      if constexpr (kBits == 64) {
        value = words[2 * n] | std::uint64_t{words[2 * n + 1]} << 32;
      } else {
        value = words[kBits * n / 32] >> (kBits * n % 32) & (~0u >> (32 - kBits));
      }
    }
  }

  /// Undoes map and byte order on the way.
  __device__ void store_page() const {
    const bool verified = task_.path == ColumnPath::page_strides_verified;
    const std::uint32_t expected =
        verified ? load_u32_anywhere(task_.part_checks() + 4 * number_) : 0;
    const bool finishes = lane_maps_ != nullptr || task_.map != 0 || task_.big_endian;
    TileStore<ValueBytes, Tuple, true> store{args_.differs_at};
    store.open(task_, page_);
    unsigned char* tile = block_.slot(turn_);
    unsigned tiles = 0;
#pragma unroll 1
    for (std::uint32_t at = 0; at < page_.tuples; at += Shape::kTileTuples, ++tiles) {
      const std::uint32_t left = page_.tuples - at;
      if (finishes || Slot::kValueBytes != ValueBytes) {
        WordOf<ValueBytes> values[Tuple][Shape::kRunTuples];
        get_values(tile, values);
        if (finishes) {
#pragma unroll
          for (int lane = 0; lane < Tuple; ++lane)
            finish_rows(task_, lane_maps_, lane, ValueBytes, values[lane]);
        }
        store.take(values, left, thread_);
        __syncwarp();  // the tile has been read
        store.store(tile, left, task_, thread_);
      } else {
        if (verified) {
          get_run<Shape>(tile, store.words, thread_);
          store.take_words(left, thread_);
        }
        store.send(tile, left, task_, thread_);
      }
      tile += Slot::kTileBytes;
    }
    if (verified && store.check.value(tiles, page_.tuples, thread_) != expected && thread_ == 0)
      report_page(task_, page_view(task_, number_), args_.differs_at);
  }

  const Block& block_;
  const UnpackArgs& args_;
  ColumnTask& task_;
  const LaneMaps* lane_maps_ = nullptr;
  const std::uint32_t summer_;  // the warp's number among those that sum
  const int thread_ = device::thread_of_warp();
  std::uint32_t pages_before_ = 0;  // of columns before
  std::uint32_t number_ = 0;        // of the page, in its column
  StrideTurn turn_{};               // of the page
  PageView page_{};                 // its tuples
};

}  // namespace gdelta::cuda
