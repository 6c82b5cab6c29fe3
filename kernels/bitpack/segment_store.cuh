// Summed tuples on their way to their records: heads stand between them. A warp lays records out in a window of shared
// memory: each thread its run of tuples, of which it knows how many heads come before each, and a head for itself.
// Rows of 128 records leave it as vectors, and what is left of the last row waits for the next tile. The checks of
// parts, which count records, are made of the rows.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/bitpack/segment_sums.cuh"
#include "kernels/bitpack/unpack_warp_shape.cuh"
#include "kernels/checksum/page_check.cuh"
#include "kernels/pages/page_tile.cuh"

namespace gdelta::cuda {

inline constexpr std::uint32_t kRowRecords = kGroupValues;  // a part is whole rows
/// A tuple that has more heads right before it makes its tile a crowded one.
inline constexpr std::uint32_t kMostHeads = 200;

template <int ValueBytes, int Tuple>
struct SegmentTileShared {
  static constexpr int kTile = UnpackWarpShape<ValueBytes, Tuple>::kTileTuples;
  static constexpr int kTupleBytes = ValueBytes * Tuple;
  // Of a tile, of the row that was left before it, and of most tiles' heads.
  static constexpr int kWindowRecords = kTile + kRowRecords * (Tuple == 1 ? 2 : 1);

  std::uint32_t marks[kTile / 32];  // a bit for each tuple that is the first behind a head
  alignas(16)
      std::uint32_t counts[kTile / 4];  // a byte for each tuple: 1, and the heads right before it
  alignas(16) unsigned char window[kWindowRecords * kTupleBytes];

  /// The whole warp calls it before the first page.
  __device__ void open(int thread) {
    for (int i = thread; i < kTile / 32; i += 32) marks[i] = 0;
    for (int i = thread; i < kTile / 4; i += 32) counts[i] = 0x01010101;
    __syncwarp();  // both are there
  }
};

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
template <int ValueBytes, int Tuple>
struct SegmentStore {
  using Word = WordOf<ValueBytes>;
  using Lane = typename LaneOf<ValueBytes>::Type;
  using Shape = UnpackWarpShape<ValueBytes, Tuple>;
  using Shared = SegmentTileShared<ValueBytes, Tuple>;
  static constexpr int kTupleBytes = Shape::kTupleBytes, kRun = Shape::kRunTuples;
  static constexpr std::uint32_t kTile = Shape::kTileTuples;
  static constexpr std::uint32_t kWindow = Shared::kWindowRecords;
  static constexpr std::uint32_t kRowWords = kRowRecords * kTupleBytes / 4;
  static constexpr std::uint32_t kRowPieces = kRowWords / 4;  // of 16 bytes
  static constexpr int kThreadPieces = (kRowPieces + 31) / 32;
  static constexpr int kCountWords = kRun / 4;

  /// `of_heads`: where segments that have records begin; `num_heads` of them, which are the column's first tuples.
  __device__ SegmentStore(Shared& of_warp, const ColumnTask& of_column,
                          const std::uint32_t* of_heads, std::uint32_t num_heads,
                          const PageView& page, SegmentPage* of_pages, std::uint32_t number)
      : shared(of_warp),
        task(of_column),
        pages(of_pages),
        starts(of_heads),
        heads(num_heads),
        page_end(page.first + page.tuples - heads),
        is_last(page.first + page.tuples == task.records),
        rows_of_part(task.page_groups),
        is_plain(task.map == 0 && !task.big_endian),
        follow_each_other(task.record_bytes == kTupleBytes &&
                          is_value_aligned(task.out, ValueBytes, ValueBytes)),
        in_vectors((reinterpret_cast<std::uintptr_t>(task.out) & 15) == 0) {
    heads_before = pages[number].heads_before;
    load_head(heads_before + thread, ahead);
    end_record = (page.first > heads ? page.first - heads : 0) + heads_before;
    first_record = end_record;
    const std::uint32_t row = first_record / kRowRecords;
    window_first = row * kRowRecords;
    part = row / rows_of_part;
    part_rows = row - part * rows_of_part;
  }

  /// Whether the first tuple of the page, no head, is the first behind one.
  __device__ bool begins_segment() const {
    const std::uint32_t others = first_record - heads_before;
    return __shfl_sync(device::kWholeWarp,
                       heads_before < heads && ahead.start - heads_before == others ? 1 : 0,
                       0) != 0;
  }
  /// The head of the segment that the page begins in, which it goes on with.
  __device__ Word last_head(int lane) const { return head_lanes(heads_before - 1)[lane]; }

  /// Marks the tile that begins with the page's tuple `first`, which counts heads, too, and lays heads in the window.
  /// Returns the marks of the thread's run. `place` takes the heads that marked tuples begin with, until they are summed.
  __device__ std::uint32_t mark(unsigned char* place, std::uint32_t first) {
    tile_first = first - heads;
    const std::uint32_t tile_end = min(tile_first + kTile, page_end);
    const bool takes_all = is_last && tile_end == page_end;
    heads_after = heads_before;
    bool crowds = false;
    for (int taken = 32; taken == 32;) {
      const std::uint32_t number = heads_after + thread, before = ahead.start - number;
      const std::uint32_t before_next = __shfl_down_sync(device::kWholeWarp, before, 1);
      const bool is_mine = number < heads && (takes_all || before < tile_end);
      taken = __popc(__ballot_sync(device::kWholeWarp, is_mine));
      if (taken == 0) break;
      Head head;
      head.copy(ahead);
      heads_after += taken;
      load_head(heads_after + thread, ahead);
      if (is_mine) {
        lay_head(head, kWindow);
        const std::uint32_t tuple = before - tile_first;
        if (tuple < kTile) {
          crowds |= count(tuple);
          // The last head before the tuple is that of its segment: 32 others may come later, and the next one now.
          if (thread == 31 || before_next != before) keep_head(place, tuple, head);
        }
      }
      __syncwarp();  // these heads are there, and those behind them may take their place
    }
    is_crowded = __any_sync(device::kWholeWarp, crowds);
    end_record = takes_all ? task.records : tile_end + heads_after;
    constexpr int kRunsOfWord = 32 / kRun;
    return shared.marks[thread / kRunsOfWord] >> (thread % kRunsOfWord * kRun) & ((1u << kRun) - 1);
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
  __device__ void take(Word (&values)[Tuple][kRun]) {
    if (!is_plain) {
#pragma unroll
      for (int lane = 0; lane < Tuple; ++lane) {
#pragma unroll
        for (int i = 0; i < kRun; ++i) values[lane][i] = finish(values[lane][i]);
      }
    }
    Counts counts;
    auto& of_run = reinterpret_cast<decltype(counts.all)*>(shared.counts)[thread];
    counts.all = of_run;
    std::uint32_t before = 0;
#pragma unroll
    for (int i = 0; i < kCountWords; ++i) before = __dp4a(counts.words[i], kOnes, before);
    const std::uint32_t own = before;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) device::add_from_below(before, distance);
    before += tile_first + heads_before - 1 - own;
    Counts ones;
#pragma unroll
    for (int i = 0; i < kCountWords; ++i) ones.words[i] = kOnes;
    of_run = ones.all;
    __syncwarp();  // marks have been read
    if (thread < static_cast<int>(kTile / 32)) shared.marks[thread] = 0;
    // Whether nobody has to ask which tuples there are.
    const bool is_whole =
        static_cast<int>(tile_first) >= 0 && tile_first + kTile <= page_end && !is_crowded;
    if (is_whole && end_record - window_first <= kWindow) {
      lay_tuples<true>(values, counts, (before - window_first) * kTupleBytes, kWindow);
    } else {
      lay_some(values, counts, before);
    }
    __syncwarp();  // records are where they belong
    const std::uint32_t rows = (end_record - window_first) / kRowRecords;
    store_rows(rows);
    if (rows > 0) {
      __syncwarp();  // the first row has been read
      keep_row(rows);
    }
    heads_before = heads_after;
    __syncwarp();  // rows have been read, and the last one is at its place
  }

  __device__ void close() {
    if (end_record > window_first) store_part_of_row(0, end_record - window_first);
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
    return reinterpret_cast<const Lane*>(task.segments.out) +
           static_cast<std::uint64_t>(number) * Tuple;
  }
  __device__ void load_head(std::uint32_t number, Head& head) const {
    if (number >= heads) {
      head.start = 0;
      return;
    }
    head.start = starts[number];
#pragma unroll
    for (int lane = 0; lane < Tuple; ++lane) head.values[lane] = head_lanes(number)[lane];
  }

  /// Marks a tuple and counts a head before it. Returns whether there are too many to be counted.
  __device__ bool count(std::uint32_t tuple) {
    atomicOr(&shared.marks[tuple / 32], 1u << tuple % 32);
    const std::uint32_t shift = 8 * (tuple % 4);
    const std::uint32_t counted = atomicAdd(&shared.counts[tuple / 4], 1u << shift);
    const bool crowds = (counted >> shift & 0xff) > kMostHeads;
    if (crowds) atomicAdd(&shared.counts[tuple / 4], 0u - (1u << shift));
    return crowds;
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

  /// Where a byte of the window lies: runs that threads write, and pieces that they read, meet different banks.
  __device__ static std::uint32_t spread(std::uint32_t byte) { return byte ^ (byte >> 3 & 0x70); }
  __device__ Lane& lane_at(std::uint32_t byte) const {
    return *reinterpret_cast<Lane*>(shared.window + spread(byte));
  }
  __device__ uint4& piece_at(std::uint32_t piece) const {
    return *reinterpret_cast<uint4*>(shared.window + spread(16 * piece));
  }

  /// Lays a head if it is among the first `there` records of the window.
  __device__ void lay_head(const Head& head, std::uint32_t there) const {
    const std::uint32_t record = head.start - window_first;
    if (record >= there) return;
#pragma unroll
    for (int lane = 0; lane < Tuple; ++lane)
      lane_at(record * kTupleBytes + lane * ValueBytes) =
          static_cast<Lane>(is_plain ? head.values[lane] : finish(head.values[lane]));
  }
  /// Lays the thread's tuples; `at`: the byte of the record before them if no head were.
  template <bool kWhole>
  __device__ void lay_tuples(const Word (&values)[Tuple][kRun], const Counts& counts,
                             std::uint32_t at, std::uint32_t there) const {
#pragma unroll
    for (int i = 0; i < kRun; ++i) {
      constexpr std::uint32_t kEach = kOnes * kTupleBytes;
      const std::uint32_t byte = __dp4a(counts.words[i / 4], kEach >> (24 - i % 4 * 8), at);
      if (i % 4 == 3) at = byte;
      if (!kWhole && byte >= there * kTupleBytes) continue;
#pragma unroll
      for (int lane = 0; lane < Tuple; ++lane)
        lane_at(byte + lane * ValueBytes) = static_cast<Lane>(values[lane][i]);
    }
  }
  /// The same where heads are too many to be counted.
  __device__ void lay_crowded(const Word (&values)[Tuple][kRun], std::uint32_t there) const {
#pragma unroll
    for (int i = 0; i < kRun; ++i) {
      const std::uint32_t tuple = tile_first + kRun * thread + i;
      std::uint32_t begin = heads_before, end = heads_after;  // of those that may come before it
      while (begin < end) {
        const std::uint32_t middle = begin + (end - begin) / 2;
        if (starts[middle] - middle <= tuple) {
          begin = middle + 1;
        } else {
          end = middle;
        }
      }
      const std::uint32_t record = tuple + begin - window_first;
      if (static_cast<int>(tuple) < 0 || record >= there) continue;
#pragma unroll
      for (int lane = 0; lane < Tuple; ++lane)
        lane_at(record * kTupleBytes + lane * ValueBytes) = static_cast<Lane>(values[lane][i]);
    }
  }

  /// Lays the tuples of a tile that is not whole, or has more records than the window: that is emptied until the rest
  /// fits.
  __device__ void lay_some(const Word (&values)[Tuple][kRun], const Counts& counts,
                           std::uint32_t before) {
    while (true) {
      const std::uint32_t there = min(end_record - window_first, kWindow);
      if (is_crowded) {
        lay_crowded(values, there);
      } else {
        lay_tuples<false>(values, counts, (before - window_first) * kTupleBytes, there);
      }
      if (end_record - window_first == there) return;
      __syncwarp();  // records are where they belong
      store_rows(kWindow / kRowRecords);
      __syncwarp();  // rows have been read
      // The last head that may have been laid, and those behind it.
      const std::uint32_t laid =
          heads_before == heads_after
              ? heads_after
              : device::find_start(starts, heads_before, heads_after, window_first);
      for (std::uint32_t number = laid + thread; number < heads_after; number += 32) {
        Head head;
        load_head(number, head);
        lay_head(head, kWindow);
      }
    }
  }

  /// Stores the first rows of the window, which are whole but for what the page's first row has of pages before it.
  __device__ void store_rows(std::uint32_t rows) {
    std::uint32_t row = 0;
    if (rows > 0 && first_record > window_first) store_part_of_row(row++, kRowRecords);
    if (!follow_each_other) {
#pragma unroll 1
      for (; row < rows; ++row) store_part_of_row(row, kRowRecords);
    } else if (in_vectors) {
      store_whole_rows<true>(row, rows);
    } else {
      store_whole_rows<false>(row, rows);
    }
    window_first += rows * kRowRecords;
  }
  /// Stores rows whose records follow each other: by pieces of 16 bytes, or lane by lane.
  template <bool kVectors>
  __device__ void store_whole_rows(std::uint32_t row, std::uint32_t rows) {
    unsigned char* to = task.out + static_cast<std::uint64_t>(window_first) * kTupleBytes +
                        row * kRowRecords * kTupleBytes;
#pragma unroll 1
    for (; row < rows; ++row, to += kRowRecords * kTupleBytes) {
      uint4 pieces[kThreadPieces];
      load_row(row, pieces);
      if constexpr (kVectors) {
#pragma unroll
        for (int i = 0; i < kThreadPieces; ++i) {
          if (has_piece(i)) __stcs(reinterpret_cast<uint4*>(to) + 32 * i + thread, pieces[i]);
        }
      } else {
#pragma unroll
        for (std::uint32_t i = 0; i < kRowRecords * Tuple / 32; ++i)
          __stcs(reinterpret_cast<Lane*>(to) + 32 * i + thread,
                 lane_at(row * kRowRecords * kTupleBytes + (32 * i + thread) * ValueBytes));
      }
      add_row(pieces);
    }
  }
  /// Stores the records of a row from the page's first on and before `end`.
  __device__ void store_part_of_row(std::uint32_t row, std::uint32_t end) {
    const std::uint32_t row_first = window_first + row * kRowRecords;
    const std::uint32_t begin = first_record > row_first ? first_record - row_first : 0;
    uint4 pieces[kThreadPieces];
    load_row(row, pieces);
    store_lanes(task.out + static_cast<std::uint64_t>(row_first) * task.record_bytes, row, begin,
                end);
    keep_records(pieces, begin, end);
    add_row(pieces);
  }
  __device__ bool has_piece(int i) const {
    return kRowPieces % 32 == 0 || 32 * i + static_cast<std::uint32_t>(thread) < kRowPieces;
  }
  __device__ void load_row(std::uint32_t row, uint4 (&pieces)[kThreadPieces]) const {
#pragma unroll
    for (int i = 0; i < kThreadPieces; ++i)
      pieces[i] =
          has_piece(i) ? piece_at(row * kRowPieces + 32 * i + thread) : make_uint4(0, 0, 0, 0);
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
            ValueBytes, aligned, lane_at(row * kRowRecords * kTupleBytes + i * ValueBytes));
    }
  }
  /// Makes what is not of records from `begin` on and before `end` zero.
  __device__ void keep_records(uint4 (&pieces)[kThreadPieces], std::uint32_t begin,
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
    for (int i = 0; i < kThreadPieces; ++i) {
      const std::uint32_t byte = 16 * (32 * i + thread);
      keep(pieces[i].x, byte);
      keep(pieces[i].y, byte + 4);
      keep(pieces[i].z, byte + 8);
      keep(pieces[i].w, byte + 12);
    }
  }
  /// Moves a row of the window, the last one, to its beginning.
  __device__ void keep_row(std::uint32_t row) {
#pragma unroll
    for (int i = 0; i < kThreadPieces; ++i) {
      const std::uint32_t piece = 32 * i + thread;
      // Beyond the window there is nothing of a row.
      if (piece < kRowPieces && row * kRowRecords < kWindow)
        piece_at(piece) = piece_at(row * kRowPieces + piece);
    }
  }

  /// Adds a row to the polynomial, which begins with the row's first word.
  __device__ void add_row(const uint4 (&pieces)[kThreadPieces]) {
    std::uint64_t sum = check * inverse_of(check_power(kRowWords));
#pragma unroll
    for (int i = 0; i < kThreadPieces; ++i) {
      sum += pieces[i].x * check_power(128 * i);
      sum += pieces[i].y * check_power(128 * i + 1);
      sum += pieces[i].z * check_power(128 * i + 2);
      sum += pieces[i].w * check_power(128 * i + 3);
    }
    check = sum;
    if (++part_rows == rows_of_part) {
      add_to_part();
      ++part;
      part_rows = 0;
    }
  }
  /// Adds the polynomial to that of its part, of which so many rows have been seen.
  __device__ void add_to_part() {
    const std::uint64_t mine = check * small_power<check_power(4)>(static_cast<unsigned>(thread));
    const std::uint64_t sum =
        device::warp_sum(mine) * small_power<check_power(kRowWords)>(part_rows - 1);
    if (thread == 0)
      atomicAdd(reinterpret_cast<unsigned long long*>(&pages[part].check),
                static_cast<unsigned long long>(sum));
    check = 0;
  }

  Shared& shared;
  const ColumnTask& task;
  SegmentPage* const pages;
  const std::uint32_t* const starts;
  const std::uint32_t heads;     // of the column
  const std::uint32_t page_end;  // tuples that are no heads, up to the page's end
  const bool is_last;
  const std::uint32_t rows_of_part;
  const bool is_plain;           // no map and no byte order are to be undone
  const bool follow_each_other;  // records where they go, at multiples of the width
  const bool in_vectors;         // and whole rows are vectors there
  const int thread = device::thread_of_warp();
  std::uint32_t heads_before;  // the tile
  std::uint32_t heads_after;
  std::uint32_t first_record;     // of the page
  std::uint32_t end_record;       // of the tile
  std::uint32_t tile_first;       // tuples that are no heads before it; below zero if it has heads
  bool is_crowded;                // the tile
  Head ahead;                     // number heads_before + thread, or as many behind heads_after
  std::uint32_t window_first;     // the window's first record
  std::uint32_t part_rows, part;  // rows of the part that have been seen
  std::uint64_t check = 0;        // of those of this page
};

}  // namespace gdelta::cuda
