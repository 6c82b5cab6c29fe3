// Summed tuples on their way to their records: heads stand between them. A tile of tuples is that of as many records
// and of the heads among them. It has a mark for each tuple behind a head and, for up to 32 rows of 32 records, a
// bit for each head. A thread takes a record of each row: how many heads come up to it says which tuple it is, if it
// is none itself, and which head is added. The checks of parts, which count records, are made on the way.
#pragma once

#include <cstdint>

#include "kernels/bitpack/segment_sums.cuh"
#include "kernels/checksum/page_check.cuh"
#include "kernels/pages/page_tile.cuh"
#include "kernels/pages/slab_stage.cuh"

namespace gdelta::cuda {

inline constexpr int kRowsAtOnce = 32;
inline constexpr int kRowsOfBatch = 4;  // whose loads go together

template <int TileTuples>
struct SegmentTileShared {
  std::uint32_t marks[TileTuples / 32];  // a bit for each tuple
  // A bit for each head; where the last head before the row lies. Rows behind them are loaded and not used.
  uint2 rows[kRowsAtOnce + kRowsOfBatch];
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
template <int ValueBytes, int Tuple, class Shape>
struct SegmentStore {
  using Word = WordOf<ValueBytes>;
  using Lane = typename LaneOf<ValueBytes>::Type;
  using Shared = SegmentTileShared<Shape::kTileTuples>;
  static constexpr int kTupleBytes = Shape::kTupleBytes, kRun = Shape::kRunTuples;
  static constexpr int kTile = Shape::kTileTuples;
  static constexpr int kRowWords = 8 * kTupleBytes, kRecordWords = (kTupleBytes + 3) / 4;

  __device__ SegmentStore(Shared& of_warp, const ColumnTask& of_column, const SegmentedChunk& chunk,
                          const PageView& page, SegmentPage* of_pages, std::uint32_t number,
                          bool verify)
      : shared(of_warp),
        task(of_column),
        pages(of_pages),
        starts(chunk.starts),
        heads(chunk.heads),
        page_end(page.first + page.tuples - heads),
        is_last(page.first + page.tuples == task.records),
        verifies(verify),
        is_usual(task.record_bytes == kTupleBytes && task.map == 0 && !task.big_endian &&
                 is_value_aligned(task.out, ValueBytes, ValueBytes)) {
    const SegmentOrders said{task.segments.orders, Tuple};
#pragma unroll
    for (int lane = 0; lane < Tuple; ++lane) is_usual &= said.of_lane(lane) > 0;
    heads_before = pages[number].heads_before;
    start_ahead = load_start(heads_before + thread);
    first_record = (page.first > heads ? page.first - heads : 0) + heads_before;
    part_rows = kGroupValues / 32 * task.page_groups;
    part = first_record / 32 / part_rows;
  }

  /// Whether the first tuple of the page, no head, is the first behind one.
  __device__ bool begins_segment() const {
    const std::uint32_t others = first_record - heads_before;
    return __shfl_sync(device::kWholeWarp,
                       heads_before < heads && start_ahead - heads_before == others ? 1 : 0,
                       0) != 0;
  }

  /// Marks the tile that begins with the page's tuple `first`, which counts heads, too. Returns the marks of the
  /// thread's run.
  __device__ std::uint32_t mark(std::uint32_t first) {
    for (int i = thread; i < kTile / 32; i += 32) shared.marks[i] = 0;
    shared.rows[thread].x = 0;
    __syncwarp();  // no bit is set
    tile_first = first - heads;
    const std::uint32_t tile_end = min(tile_first + kTile, page_end);
    const bool takes_all = is_last && tile_end == page_end;
    const std::uint32_t first_row = first_record / 32;
    std::uint32_t head = heads_before;
    for (int taken = 32; taken == 32;) {
      const std::uint32_t number = head + thread, before = start_ahead - number;
      const bool is_mine = number < heads && (takes_all || before < tile_end);
      if (is_mine) {
        if (before - tile_first < kTile)
          atomicOr(&shared.marks[(before - tile_first) / 32], 1u << (before - tile_first) % 32);
        mark_row(start_ahead, first_row);
      }
      taken = __popc(__ballot_sync(device::kWholeWarp, is_mine));
      head += taken;
      if (taken > 0) start_ahead = load_start(head + thread);
    }
    __syncwarp();  // all bits are
    count_rows(heads_before);
    end_record = takes_all ? task.records : tile_end + head;
    heads_after = head;
    constexpr int kRunsOfWord = 32 / kRun;
    return shared.marks[thread / kRunsOfWord] >> (thread % kRunsOfWord * kRun) & ((1u << kRun) - 1);
  }

  /// Takes the thread's run of the tile that has been marked.
  __device__ void take(const Word (&values)[Tuple][kRun]) {
    pack_run<ValueBytes, Tuple>(values, words);
  }

  /// Stores what was taken, through `tile` in shared memory, and heads.
  __device__ void store(unsigned char* tile) {
#pragma unroll
    for (int i = 0; i < Shape::kRunPieces; ++i) {
      const int slot = Shape::kRunPieces * thread + i;
      if constexpr (Shape::kPieceBytes == 16) {
        reinterpret_cast<uint4*>(tile)[slot] =
            make_uint4(words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]);
      } else {
        reinterpret_cast<uint2*>(tile)[slot] = make_uint2(words[2 * i], words[2 * i + 1]);
      }
    }
    __syncwarp();  // the tile is whole
    std::uint32_t row = first_record / 32;
    while (true) {
      const std::uint32_t end = min(end_record, 32 * (row + kRowsAtOnce));
      store_rows(tile, row, end);
      if (end == end_record) break;
      row += kRowsAtOnce;
      mark_rows(row);
    }
    first_record = end_record;
    heads_before = heads_after;
  }

  __device__ void close() {
    if (verifies && first_record > 32 * part * part_rows)
      add_to_part(first_record / 32 - part * part_rows);
  }

 private:
  __device__ std::uint32_t load_start(std::uint32_t head) const {
    return head < heads ? starts[head] : 0;
  }
  __device__ void mark_row(std::uint32_t record, std::uint32_t first_row) {
    const std::uint32_t row = record / 32 - first_row;
    if (row < kRowsAtOnce) atomicOr(&shared.rows[row].x, 1u << record % 32);
  }
  /// Counts heads before each row; `before` come before the first. Bits are set.
  __device__ void count_rows(std::uint32_t before) {
    const auto own = static_cast<std::uint32_t>(__popc(shared.rows[thread].x));
    shared.rows[thread].y = (before + device::warp_prefix(own) - own - 1) * kTupleBytes;
    __syncwarp();  // all counts are there
  }
  /// The rows from `first_row` on, of a tile that has more of them than are marked at once.
  __device__ void mark_rows(std::uint32_t first_row) {
    const uint2 last = shared.rows[kRowsAtOnce - 1];
    const std::uint32_t before = last.y / kTupleBytes + 1 + __popc(last.x);
    __syncwarp();  // the rows before have been read
    shared.rows[thread].x = 0;
    __syncwarp();  // no bit is set
    for (std::uint32_t head = before + thread; head < heads_after; head += 32) {
      const std::uint32_t record = starts[head];
      if (record / 32 - first_row >= kRowsAtOnce) break;
      mark_row(record, first_row);
    }
    __syncwarp();  // all bits are
    count_rows(before);
  }

  /// Records from first_record on as far as they are in the marked rows and before `end`. Rows of one part go together.
  __device__ void store_rows(const unsigned char* tile, std::uint32_t marked_row,
                             std::uint32_t end) {
    const std::uint32_t end_row = (end + 31) / 32;
    for (std::uint32_t row = marked_row; row < end_row;) {
      const std::uint32_t stop = min(end_row, (part + 1) * part_rows);
      const std::uint32_t part_end = min(end, 32 * stop);
      if (is_usual) {
        store_part<true>(tile, row, marked_row, part_end);
      } else {
        store_part<false>(tile, row, marked_row, part_end);
      }
      row = stop;
      if (stop == (part + 1) * part_rows && 32 * stop <= end) {
        if (verifies) add_to_part(part_rows);
        ++part;
      }
    }
  }

  /// Records before `end`, which is in the same part. kUsual: they follow each other at multiples of their width, are
  /// stored as they are, and their head is added in all lanes.
  template <bool kUsual>
  __device__ void store_part(const unsigned char* tile, std::uint32_t first_row,
                             std::uint32_t marked_row, std::uint32_t end) {
    const std::uint32_t record = 32 * first_row + thread;
    const std::uint32_t record_bytes = kUsual ? kTupleBytes : task.record_bytes;
    const std::uint32_t up_to_here = ~0u >> (31 - thread);
    const unsigned char* const heads_from = task.segments.out;
    const uint2* of_rows = shared.rows + (first_row - marked_row);
    unsigned char* to = task.out + static_cast<std::uint64_t>(record) * record_bytes;
    // The record in the tile if there was no head before it.
    const unsigned char* from = tile + static_cast<int>((record - tile_first - 1) * kTupleBytes);
    int left = static_cast<int>(end - record);
    bool comes_before = record < first_record;  // in a tile before this one
    const int rows = static_cast<int>((end + 31) / 32 - first_row);
#pragma unroll 1
    for (int row = 0; row < rows; row += kRowsOfBatch) {
      Word values[kRowsOfBatch][Tuple];
#pragma unroll
      for (int i = 0; i < kRowsOfBatch; ++i) {
        const bool is_mine = left > 32 * i && !(i == 0 && comes_before);
        const uint2 of_row = of_rows[i];
        const std::uint32_t head_at = of_row.y + __popc(of_row.x & up_to_here) * kTupleBytes;
        const bool is_head = (of_row.x >> thread & 1) != 0;
        load_record<kUsual>(from + 32 * i * kTupleBytes - static_cast<int>(head_at),
                            heads_from + head_at, is_mine, is_head, values[i]);
      }
#pragma unroll
      for (int i = 0; i < kRowsOfBatch; ++i) {
        if (left > 32 * i && !(i == 0 && comes_before))
          store_record<kUsual>(to + i * 32 * record_bytes, values[i]);
      }
      if (verifies) add_rows(values);
      left -= 32 * kRowsOfBatch;
      comes_before = false;
      of_rows += kRowsOfBatch;
      from += 32 * kRowsOfBatch * kTupleBytes;
      to += kRowsOfBatch * 32 * record_bytes;
    }
    // Whole batches have been added, as if all of their rows were there.
    const int added = (rows + kRowsOfBatch - 1) / kRowsOfBatch * kRowsOfBatch;
    for (int row = static_cast<int>(end / 32 - first_row); row < added; ++row)
      check *= check_power(kRowWords);
  }

  /// A tuple of the tile with its head added, or the head. Zeroes if the record is not this thread's.
  template <bool kUsual>
  __device__ void load_record(const unsigned char* tuple, const unsigned char* head, bool is_mine,
                              bool is_head, Word (&values)[Tuple]) const {
#pragma unroll
    for (int lane = 0; lane < Tuple; ++lane) {
      values[lane] = 0;
      if (is_mine && !is_head) values[lane] = reinterpret_cast<const Lane*>(tuple)[lane];
      Word added = 0;
      if (is_mine) added = reinterpret_cast<const Lane*>(head)[lane];
      if constexpr (!kUsual) {
        const SegmentOrders said{task.segments.orders, Tuple};
        if (!is_head && said.of_lane(lane) == 0) added = 0;
      }
      values[lane] += added;
      if constexpr (!kUsual) {
        if (is_mine)
          values[lane] = finish_value(values[lane], ValueBytes, task.map, task.big_endian);
      }
    }
  }
  template <bool kUsual>
  __device__ void store_record(unsigned char* to, const Word (&values)[Tuple]) const {
    [[maybe_unused]] const bool aligned =
        kUsual || is_value_aligned(task.out, task.record_bytes, ValueBytes);
#pragma unroll
    for (int lane = 0; lane < Tuple; ++lane) {
      if constexpr (kUsual) {
        __stcs(reinterpret_cast<Lane*>(to) + lane, static_cast<Lane>(values[lane]));
      } else {
        store_value(to + lane * ValueBytes, ValueBytes, aligned, values[lane]);
      }
    }
  }

  /// Adds the thread's records of a batch to the polynomial, which begins with the first word that has bytes of one.
  __device__ void add_rows(const Word (&values)[kRowsOfBatch][Tuple]) {
    std::uint64_t sum = check;
#pragma unroll
    for (int row = 0; row < kRowsOfBatch; ++row) {
      std::uint32_t record[kRecordWords];
      record_words(values[row], record);
#pragma unroll
      for (int i = 0; i < kRecordWords; ++i) sum += record[i] * check_power(row * kRowWords + i);
    }
    check = sum * inverse_of(check_power(kRowsOfBatch * kRowWords));
  }
  /// Records of two bytes or six begin, every other one, within a word.
  __device__ void record_words(const Word (&values)[Tuple],
                               std::uint32_t (&words_of)[kRecordWords]) const {
    std::uint32_t last = 0;
#pragma unroll
    for (int i = 0; i < kRecordWords; ++i) words_of[i] = 0;
#pragma unroll
    for (int lane = 0; lane < Tuple; ++lane) {
      const int bit = 8 * ValueBytes * lane;
      if constexpr (ValueBytes == 8) {
        words_of[bit / 32] = static_cast<std::uint32_t>(values[lane]);
        words_of[bit / 32 + 1] = static_cast<std::uint32_t>(values[lane] >> 32);
      } else {
        words_of[bit / 32] |= static_cast<std::uint32_t>(static_cast<Lane>(values[lane]))
                              << bit % 32;
      }
    }
    if constexpr (kTupleBytes % 4 != 0) {
      const unsigned shift = thread % 2 * 16;
#pragma unroll
      for (int i = 0; i < kRecordWords; ++i) {
        const std::uint32_t word = words_of[i];
        words_of[i] = __funnelshift_l(last, word, shift);
        last = word;
      }
    }
  }

  /// Adds the polynomial to that of its part, of which the rows before the next one are done.
  __device__ void add_to_part(std::uint32_t rows) {
    const std::uint64_t mine = check * power_of_base(rows * kRowWords + thread * kTupleBytes / 4);
    const std::uint64_t sum = device::warp_sum(mine);
    if (thread == 0)
      atomicAdd(reinterpret_cast<unsigned long long*>(&pages[part].check),
                static_cast<unsigned long long>(sum));
    check = 0;
  }

  Shared& shared;
  const ColumnTask& task;
  SegmentPage* const pages;
  const std::uint32_t* const starts;
  const std::uint32_t heads;     // of the chunk
  const std::uint32_t page_end;  // tuples that are no heads, up to the page's end
  const bool is_last, verifies;
  bool is_usual;  // store_part
  const int thread = device::thread_of_warp();
  std::uint32_t heads_before;  // the tile
  std::uint32_t heads_after;
  std::uint32_t first_record;  // of the tile
  std::uint32_t end_record;
  std::uint32_t tile_first;   // tuples that are no heads before it; below zero if it has heads
  std::uint32_t start_ahead;  // of head number heads_before + thread, or as many behind heads_after
  std::uint32_t part_rows, part;
  std::uint64_t check = 0;  // of the part, as if the next row were its first
  std::uint32_t words[Shape::kRunBytes / 4];
};

}  // namespace gdelta::cuda
