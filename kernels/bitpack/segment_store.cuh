// Summed tuples on their way to their records: heads stand between them. A warp lays records out in a window of shared
// memory: each thread its run of tuples, of which it knows how many heads come before each, and a head for itself.
// Rows of 128 records leave it in units of 8 bytes, four rows at a time, and what is left of the last row waits for the
// next tile. The checks of parts, which count records, are made of the rows.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/bitpack/segment_sums.cuh"
#include "kernels/bitpack/segment_tile.cuh"
#include "kernels/bitpack/unpack_warp_shape.cuh"
#include "kernels/checksum/page_check.cuh"
#include "kernels/device/warp_uniform.cuh"
#include "kernels/pages/page_tile.cuh"

namespace gdelta::cuda {

template <int ValueBytes>
struct LaneOf;
template <>
struct LaneOf<2> {
  using Type = std::uint16_t;
};
template <>
struct LaneOf<4> {
  using Type = std::uint32_t;
};
template <>
struct LaneOf<8> {
  using Type = std::uint64_t;
};

/// Each thread of a warp has one for a page; the whole warp calls each of its functions.
template <int ValueBytes, int Tuple, bool kManyHeads>
struct SegmentStore {
  using Word = WordOf<ValueBytes>;
  using Lane = typename LaneOf<ValueBytes>::Type;
  using Shape = UnpackWarpShape<ValueBytes, Tuple>;
  using Shared = SegmentTileShared<ValueBytes, Tuple, kManyHeads>;
  static constexpr int kTupleBytes = Shape::kTupleBytes, kRun = Shape::kRunTuples;
  static constexpr std::uint32_t kTile = Shape::kTileTuples;
  static constexpr std::uint32_t kWindow = Shared::kWindowRecords;
  static constexpr std::uint32_t kRowWords = kRowRecords * kTupleBytes / 4;
  static constexpr int kLineLanes = Shared::kLineBytes / ValueBytes;
  static constexpr int kGapLanes = Shared::kGapBytes / ValueBytes;
  // Of 8 bytes, a thread's of a row.
  static constexpr int kThreadUnits = kRowWords / 64;
  static constexpr int kBatchRows = kThreadUnits <= 2 ? 4 : kThreadUnits <= 4 ? 2 : 1;
  static constexpr int kCountWords = kRun / 4;

  /// `of_heads`: where segments that have records begin; `num_heads` of them, which are the column's first tuples.
  __device__ SegmentStore(Shared& of_warp, const ColumnTask& of_column,
                          const std::uint32_t* of_heads, std::uint32_t num_heads,
                          const PageView& page, std::uint32_t first_tile,
                          std::uint32_t heads_before_page)
      : shared(of_warp),
        task(of_column),
        is_last(device::warp_uniform(page.first + page.tuples == task.records)),
        is_plain(device::warp_uniform(task.map == 0 && !task.big_endian)),
        follow_each_other(device::warp_uniform(task.record_bytes == kTupleBytes &&
                                               is_value_aligned(task.out, ValueBytes, ValueBytes))),
        in_units(device::warp_uniform((reinterpret_cast<std::uintptr_t>(task.out) & 7) == 0)),
        part_rows_of_all(device::warp_uniform(task.page_groups)) {
    if (thread == 0) {
      shared.starts = of_heads;
      shared.heads = num_heads;
      shared.page_end = page.first + page.tuples - num_heads;
    }
    __syncwarp();  // they are there
    heads_before = device::warp_uniform(heads_before_page);
    tile_first = page.first + (first_tile - 1) * kTile - num_heads;
    load_head(heads_before + thread, ahead);
    end_record = (page.first > num_heads ? page.first - num_heads : 0) + heads_before;
    first_record = end_record;
    const std::uint32_t row = first_record / kRowRecords;
    window_first = row * kRowRecords;
    part = row / part_rows_of_all;
    part_rows = row - part * part_rows_of_all;
  }

  /// Whether the first tuple of the page, no head, is the first behind one.
  __device__ bool begins_segment() const {
    const std::uint32_t others = first_record - heads_before;
    return __shfl_sync(device::kWholeWarp,
                       heads_before < shared.heads && ahead.start - heads_before == others ? 1 : 0,
                       0) != 0;
  }
  /// The head of the segment that the page begins in, which it goes on with.
  __device__ Word last_head(int lane) const { return head_lanes(heads_before - 1)[lane]; }

  /// Marks the next tile and lays heads in the window.
  /// Returns the marks of the thread's run. `place` takes the heads that marked tuples begin with, until they are summed.
  __device__ std::uint32_t mark(unsigned char* place) {
    const std::uint32_t heads = shared.heads, page_end = device::warp_uniform(shared.page_end);
    tile_first += kTile;
    const std::uint32_t tile_end = min(tile_first + kTile, page_end);
    const bool takes_all = is_last && tile_end == page_end;
    heads_after = heads_before;
    std::uint32_t most = 0;  // heads before a tuple
    // Of the tuple that the last head was before, and how many were before it.
    std::uint32_t last_before = ~0u, last_count = 0;
    while (true) {
      const std::uint32_t number = heads_after + thread, before = ahead.start - number;
      const bool is_mine = number < heads && (takes_all || before < tile_end);
      const int taken = __popc(__ballot_sync(device::kWholeWarp, is_mine));
      if (taken == 0) break;
      Head head;
      head.copy(ahead);
      heads_after += taken;
      load_head(heads_after + thread, ahead);
      std::uint32_t before_this = __shfl_up_sync(device::kWholeWarp, before, 1);
      if (thread == 0) before_this = last_before;
      const std::uint32_t begins =
          __ballot_sync(device::kWholeWarp, !is_mine || before != before_this);
      // Heads before the same tuple, up to this one.
      const std::uint32_t up_to_here = begins & ~0u >> (31 - thread);
      const std::uint32_t count = up_to_here != 0
                                      ? thread - (31 - __clz(static_cast<int>(up_to_here))) + 1
                                      : thread + 1 + last_count;
      if (is_mine) {
        lay_head(head, kWindow);
        const std::uint32_t tuple = before - tile_first;
        // The last head before a tuple is that of its segment: of the next 32 some may come later.
        if (tuple < kTile && (thread == 31 || (begins >> (thread + 1) & 1) != 0)) {
          most = max(most, count);
          reinterpret_cast<unsigned char*>(shared.counts)[tuple] =
              static_cast<unsigned char>(1 + min(count, kMostHeads));
          keep_head(place, tuple, head);
        }
      }
      __syncwarp();  // these heads are there, and those behind them may take their place
      if (taken < 32) break;
      last_before = __shfl_sync(device::kWholeWarp, before, 31);
      last_count = __shfl_sync(device::kWholeWarp, count, 31);
    }
    if (heads_after - heads_before > 32) prefetch_heads(heads_after - heads_before);
    is_crowded = __any_sync(device::kWholeWarp, most > kMostHeads);
    end_record = takes_all ? device::warp_uniform(task.records) : tile_end + heads_after;
    const Counts counts = run_counts();
    std::uint32_t own = 0, marks = 0;
#pragma unroll
    for (int i = kCountWords - 1; i >= 0; --i) {
      own = __dp4a(counts.words[i], kOnes, own);
      // The highest bit of each byte that is two or more, and the four of a word beside each other on its top.
      const std::uint32_t highest = (counts.words[i] + 0x7e7e7e7eu) & 0x80808080u;
      marks = __funnelshift_l(highest * 0x00204081u, marks, 4);
    }
    before_run = own;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2)
      device::add_from_below(before_run, distance);
    before_run += tile_first + heads_before - 1 - own;
    return marks;
  }

  /// The heads of marked tuples of a run, as SegmentSums takes them.
  struct MarkedHeads {
    static constexpr bool kAny = true;
    static constexpr int kVector = 16 / sizeof(Lane);
    const unsigned char* of_thread;

    /// Of tuples i to i + kVector - 1; rubbish where there is no mark.
    __device__ void load(int lane, int i, Word (&loaded)[kVector]) const {
      union {
        uint4 all;
        Lane lanes[kVector];
      } read;
      read.all = *reinterpret_cast<const uint4*>(of_thread + (lane * kRun + i) * 32 * sizeof(Lane));
#pragma unroll
      for (int j = 0; j < kVector; ++j) loaded[j] = read.lanes[j];
    }
  };
  __device__ MarkedHeads marked_heads(const unsigned char* place) const {
    return {place + 16 * thread};
  }

  /// Takes the thread's run of the tile that has been marked, and stores what rows are whole.
  /// `place`: where heads of marked tuples were.
  __device__ void take(Word (&values)[Tuple][kRun], unsigned char* place) {
    if (!is_plain) {
#pragma unroll
      for (int lane = 0; lane < Tuple; ++lane) {
#pragma unroll
        for (int i = 0; i < kRun; ++i) values[lane][i] = finish(values[lane][i]);
      }
    }
    // Whether nobody has to ask which tuples there are.
    const bool is_whole = static_cast<int>(tile_first) >= 0 &&
                          tile_first + kTile <= device::warp_uniform(shared.page_end) &&
                          !is_crowded;
    if (is_whole && end_record - window_first <= kWindow) {
      lay_tuples(values, run_counts(), (before_run - window_first) * Tuple);
    } else {
      lay_some(values, place);
    }
    Counts ones;
#pragma unroll
    for (int i = 0; i < kCountWords; ++i) ones.words[i] = kOnes;
    reinterpret_cast<decltype(ones.all)*>(shared.counts)[thread] = ones.all;
    __syncwarp();  // records are where they belong
    const std::uint32_t rows = (end_record - window_first) / kRowRecords;
    store_rows<kBatchRows>(rows);
    if (rows > 0) {
      __syncwarp();  // the first row has been read
      keep_row(rows);
    }
    heads_before = heads_after;
  }

  __device__ void close() {
    __syncwarp();  // the last row is at its place
    if (end_record > window_first) {
      store_part_of_row(0, end_record - window_first);
      ++part_rows;
    }
    if (part_rows > 0) add_to_part();
  }

 private:
  static constexpr std::uint32_t kOnes = 0x01010101;
  union Counts {
    std::conditional_t<kCountWords == 4, uint4, uint2> all;
    std::uint32_t words[kCountWords];
  };
  struct Head {
    std::uint32_t start;
    Word values[Tuple];

    __device__ void copy(const Head& head) {
      start = head.start;
#pragma unroll
      for (int lane = 0; lane < Tuple; ++lane) values[lane] = head.values[lane];
    }
  };
  __device__ const Lane* head_lanes(std::uint32_t number) const {
    return reinterpret_cast<const Lane*>(task.segments.residuals) +
           static_cast<std::uint64_t>(number) * Tuple;
  }
  __device__ void load_head(std::uint32_t number, Head& head) const {
    if (number >= shared.heads) {
      head.start = 0;
      return;
    }
    head.start = shared.starts[number];
#pragma unroll
    for (int lane = 0; lane < Tuple; ++lane) head.values[lane] = head_lanes(number)[lane];
  }

  /// Asks for so many heads behind those that are on their way, as the next tile may have: 32 at a time they would be waited
  /// for again and again.
  __device__ void prefetch_heads(std::uint32_t count) const {
    constexpr std::uint32_t kLine = 32;  // bytes
    const std::uint32_t first = heads_after + 32, end = min(first + count, shared.heads);
    for (std::uint32_t at = 0; first + at < end; at += 32 * kLine / 4) {
      const std::uint32_t number = first + at + kLine / 4 * thread;
      if (number >= end) continue;
      device::prefetch_to_l2(shared.starts + number);
      device::prefetch_to_l2(head_lanes(number));
    }
  }
  __device__ Counts run_counts() const {
    Counts counts;
    counts.all = reinterpret_cast<const decltype(counts.all)*>(shared.counts)[thread];
    return counts;
  }
  /// Says which head a marked tuple begins with, where its thread loads it.
  __device__ void keep_head(unsigned char* place, std::uint32_t tuple, const Head& head) const {
    constexpr std::uint32_t kVector = MarkedHeads::kVector;
    const std::uint32_t of_thread = tuple / kRun, i = tuple % kRun;
#pragma unroll
    for (int lane = 0; lane < Tuple; ++lane)
      reinterpret_cast<Lane*>(
          place)[(lane * kRun + i / kVector * kVector) * 32 + of_thread * kVector + i % kVector] =
          static_cast<Lane>(head.values[lane]);
  }

  __device__ Word finish(Word value) const {
    return finish_value(value, ValueBytes, task.map, task.big_endian);
  }

  /// A lane of the window, which has those of its records one behind the other.
  __device__ Lane& lane_at(std::uint32_t lane) const {
    return reinterpret_cast<Lane*>(shared.window)[lane + lane / kLineLanes * kGapLanes];
  }
  /// Unit number 32 i + thread of a row.
  __device__ unsigned char* unit_at(std::uint32_t row, int i) const {
    constexpr std::uint32_t kLine = Shared::kLineBytes + Shared::kGapBytes;
    return shared.window + row * (kTupleBytes * kLine) + i * (2 * kLine) +
           (8 * thread + thread / 16 * Shared::kGapBytes);
  }
  __device__ uint2 load_unit(std::uint32_t row, int i) const {
    const unsigned char* const from = unit_at(row, i);
    if constexpr (ValueBytes == 8) return *reinterpret_cast<const uint2*>(from);
    const auto* const words = reinterpret_cast<const std::uint32_t*>(from);
    return make_uint2(words[0], words[1]);
  }

  /// Lays a head if it is among the first `there` records of the window.
  __device__ void lay_head(const Head& head, std::uint32_t there) const {
    const std::uint32_t record = head.start - window_first;
    if (record >= there) return;
#pragma unroll
    for (int lane = 0; lane < Tuple; ++lane)
      lane_at(record * Tuple + lane) =
          static_cast<Lane>(is_plain ? head.values[lane] : finish(head.values[lane]));
  }
  /// Lays the thread's tuples; `at`: the first lane of the record before them if no head were.
  __device__ void lay_tuples(const Word (&values)[Tuple][kRun], const Counts& counts,
                             std::uint32_t at) const {
#pragma unroll
    for (int i = 0; i < kRun; ++i) {
      constexpr std::uint32_t kEach = kOnes * Tuple;
      const std::uint32_t first = __dp4a(counts.words[i / 4], kEach >> (24 - i % 4 * 8), at);
      if (i % 4 == 3) at = first;
#pragma unroll
      for (int lane = 0; lane < Tuple; ++lane)
        lane_at(first + lane) = static_cast<Lane>(values[lane][i]);
    }
  }

  /// Heads before a tuple of the tile, where they are too many to be counted.
  __device__ std::uint32_t heads_before_tuple(std::uint32_t tuple) const {
    std::uint32_t begin = heads_before, end = heads_after;  // of those that may come before it
    while (begin < end) {
      const std::uint32_t middle = begin + (end - begin) / 2;
      if (shared.starts[middle] - middle <= tuple) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return begin;
  }
  /// Lays the thread's tuples at `from` among the first `there` records of the window, one by one.
  __device__ void lay_kept(const Lane* from, std::uint32_t there) const {
    const auto* const counts =
        reinterpret_cast<const unsigned char*>(shared.counts) + kRun * thread;
    std::uint32_t record = before_run;
#pragma unroll 1
    for (int i = 0; i < kRun; ++i) {
      const std::uint32_t tuple = tile_first + kRun * thread + i;
      record = is_crowded ? tuple + heads_before_tuple(tuple) : record + counts[i];
      if (static_cast<int>(tuple) < 0 || record - window_first >= there) continue;
#pragma unroll
      for (int lane = 0; lane < Tuple; ++lane)
        lane_at((record - window_first) * Tuple + lane) = from[32 * (lane * kRun + i)];
    }
  }
  /// Lays the tuples of a tile that is not whole, or has more records than the window: that is emptied until the rest
  /// fits. They are kept at `place`.
  __device__ void lay_some(const Word (&values)[Tuple][kRun], unsigned char* place) {
    __syncwarp();  // all heads have been taken
    Lane* const kept = reinterpret_cast<Lane*>(place) + thread;
#pragma unroll
    for (int lane = 0; lane < Tuple; ++lane) {
#pragma unroll
      for (int i = 0; i < kRun; ++i)
        kept[32 * (lane * kRun + i)] = static_cast<Lane>(values[lane][i]);
    }
    while (true) {
      const std::uint32_t there = min(end_record - window_first, kWindow);
      lay_kept(kept, there);
      if (end_record - window_first == there) return;
      __syncwarp();  // records are where they belong
      store_rows<1>(kWindow / kRowRecords);
      __syncwarp();  // rows have been read
      // The last head that may have been laid, and those behind it.
      const std::uint32_t laid =
          heads_before == heads_after
              ? heads_after
              : device::find_start(shared.starts, heads_before, heads_after, window_first);
      for (std::uint32_t first = laid; first < heads_after; first += 32) {
        Head head;
        load_head(first + thread, head);
        if (first + thread < heads_after) lay_head(head, kWindow);
      }
    }
  }

  /// Stores the first rows of the window, which are whole but for what the page's first row has of pages before it.
  template <int kBatch>
  __device__ void store_rows(std::uint32_t rows) {
    for (std::uint32_t row = 0, stored; row < rows; row += stored) {
      stored = 1;
      if (!follow_each_other || first_record > window_first + row * kRowRecords) {
        store_part_of_row(row, kRowRecords);
      } else if (!in_units) {
        store_row_of_lanes(row);
      } else if (kBatch > 1 && row + kBatch <= rows && part_rows + kBatch <= part_rows_of_all) {
        store_whole_rows<kBatch>(row);
        stored = kBatch;
      } else {
        store_whole_rows<1>(row);
      }
      part_rows += stored;
      if (part_rows == part_rows_of_all) {
        add_to_part();
        ++part;
        part_rows = 0;
      }
    }
    window_first += rows * kRowRecords;
  }
  __device__ unsigned char* row_out(std::uint32_t row) const {
    return task.out + static_cast<std::uint64_t>(window_first + row * kRowRecords) * kTupleBytes;
  }
  /// Stores rows whose records follow each other, of one part.
  template <int kRows>
  __device__ void store_whole_rows(std::uint32_t row) {
    uint2* const to = reinterpret_cast<uint2*>(row_out(row)) + thread;
    uint2 units[kRows][kThreadUnits];
    load_rows(row, units);
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
#pragma unroll
      for (int i = 0; i < kThreadUnits; ++i) __stcs(to + 32 * (kThreadUnits * k + i), units[k][i]);
    }
    add_rows(units);
  }
  /// The same at addresses that are no multiples of a unit.
  __device__ void store_row_of_lanes(std::uint32_t row) {
    Lane* const to = reinterpret_cast<Lane*>(row_out(row)) + thread;
#pragma unroll
    for (std::uint32_t i = 0; i < kRowRecords * Tuple / 32; ++i)
      __stcs(to + 32 * i, lane_at(row * kRowRecords * Tuple + 32 * i + thread));
    uint2 units[1][kThreadUnits];
    load_rows(row, units);
    add_rows(units);
  }
  /// Stores the records of a row from the page's first on and before `end`.
  __device__ void store_part_of_row(std::uint32_t row, std::uint32_t end) {
    const std::uint32_t row_first = window_first + row * kRowRecords;
    const std::uint32_t begin = first_record > row_first ? first_record - row_first : 0;
    uint2 units[1][kThreadUnits];
    load_rows(row, units);
    store_lanes(task.out + static_cast<std::uint64_t>(row_first) * task.record_bytes, row, begin,
                end);
    keep_records(units[0], begin, end);
    add_rows(units);
  }
  template <int kRows>
  __device__ void load_rows(std::uint32_t row, uint2 (&units)[kRows][kThreadUnits]) const {
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
#pragma unroll
      for (int i = 0; i < kThreadUnits; ++i) units[k][i] = load_unit(row + k, i);
    }
  }
  __device__ void store_lanes(unsigned char* to, std::uint32_t row, std::uint32_t begin,
                              std::uint32_t end) const {
    const bool aligned = is_value_aligned(task.out, task.record_bytes, ValueBytes);
#pragma unroll 1
    for (std::uint32_t i = thread; i < kRowRecords * Tuple; i += 32) {
      const std::uint32_t record = i / Tuple;
      if (record >= begin && record < end)
        store_value<Word>(
            to + static_cast<std::uint64_t>(record) * task.record_bytes + i % Tuple * ValueBytes,
            ValueBytes, aligned, lane_at(row * kRowRecords * Tuple + i));
    }
  }
  /// Makes what is not of records from `begin` on and before `end` zero.
  __device__ void keep_records(uint2 (&units)[kThreadUnits], std::uint32_t begin,
                               std::uint32_t end) const {
    const auto is_kept = [&](std::uint32_t byte) {
      return byte >= begin * kTupleBytes && byte < end * kTupleBytes;
    };
    const auto keep = [&](std::uint32_t& word, std::uint32_t byte) {
      if constexpr (kTupleBytes % 4 == 0) {
        if (!is_kept(byte)) word = 0;
      } else {
        if (!is_kept(byte)) word &= 0xffff0000u;
        if (!is_kept(byte + 2)) word &= 0xffffu;
      }
    };
#pragma unroll
    for (int i = 0; i < kThreadUnits; ++i) {
      const std::uint32_t byte = 8 * (32 * i + thread);
      keep(units[i].x, byte);
      keep(units[i].y, byte + 4);
    }
  }
  /// Moves a row of the window, the last one, to its beginning.
  __device__ void keep_row(std::uint32_t row) {
    if (row * kRowRecords >= kWindow) return;  // beyond the window there is nothing of a row
#pragma unroll
    for (int i = 0; i < kThreadUnits; ++i) {
      const uint2 unit = load_unit(row, i);
      if constexpr (ValueBytes == 8) {
        *reinterpret_cast<uint2*>(unit_at(0, i)) = unit;
      } else {
        auto* const words = reinterpret_cast<std::uint32_t*>(unit_at(0, i));
        words[0] = unit.x;
        words[1] = unit.y;
      }
    }
  }

  /// What the words of a thread's units of rows are multiplied by.
  template <int kRows>
  struct RowPowers {
    std::uint64_t of[kRows][kThreadUnits][2] = {};
    std::uint64_t back = 1;  // and what lies before the rows

    constexpr RowPowers() {
      for (int k = kRows - 1; k >= 0; --k, back *= inverse_of(check_power(kRowWords))) {
        for (int i = 0; i < kThreadUnits; ++i) {
          of[k][i][0] = back * check_power(64 * i);
          of[k][i][1] = back * check_power(64 * i + 1);
        }
      }
    }
  };
  /// Adds rows of a part to the polynomial, which begins with the last row's first word.
  template <int kRows>
  __device__ void add_rows(const uint2 (&units)[kRows][kThreadUnits]) {
    constexpr RowPowers<kRows> kPowers;
    std::uint64_t first = check * kPowers.back, second = 0;  // two chains of products
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
#pragma unroll
      for (int i = 0; i < kThreadUnits; ++i) {
        first += units[k][i].x * kPowers.of[k][i][0];
        second += units[k][i].y * kPowers.of[k][i][1];
      }
    }
    check = first + second;
  }
  /// Adds the polynomial to that of its part, of which so many rows have been seen.
  __device__ void add_to_part() {
    // Powers are made here, not kept in registers.
    const std::uint64_t mine =
        check * small_power<check_power(2)>(static_cast<unsigned>(device::forget(thread)));
    const std::uint64_t sum =
        device::warp_sum(mine) * small_power<check_power(kRowWords)>(part_rows - 1);
    if (thread == 0)
      atomicAdd(reinterpret_cast<unsigned long long*>(
                    &segment_pages(task, task.segments.residuals)[part].check),
                static_cast<unsigned long long>(sum));
    check = 0;
  }

  Shared& shared;
  const ColumnTask& task;
  const bool is_last;
  const bool is_plain;                   // no map and no byte order are to be undone
  const bool follow_each_other;          // records where they go, at multiples of the width
  const bool in_units;                   // and rows are whole units there
  const std::uint32_t part_rows_of_all;  // of each part
  const int thread = device::thread_of_warp();
  std::uint32_t heads_before;  // the tile
  std::uint32_t heads_after;
  std::uint32_t first_record;     // of the page
  std::uint32_t end_record;       // of the tile
  std::uint32_t tile_first;       // tuples that are no heads before it; below zero if it has heads
  bool is_crowded;                // the tile
  std::uint32_t before_run;       // the record before the thread's run if no head were before that
  Head ahead;                     // number heads_before + thread, or as many behind heads_after
  std::uint32_t window_first;     // the window's first record
  std::uint32_t part_rows, part;  // rows of the part that have been seen
  std::uint64_t check = 0;        // of those of this page
};

}  // namespace gdelta::cuda
