// A block decodes a column: some of its warps decode its pages, each into a slot in shared memory, and others take these
// pages in order, sum them along their strides where they are, and store them. So memory sees values once.
#pragma once

#include <cuda_pipeline_primitives.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/bitpack/stride_pages_cuda.h"
#include "kernels/bitpack/stride_slots.cuh"
#include "kernels/bitpack/unpack_pages_warp.cuh"
#include "kernels/deltas/finish_rows.cuh"
#include "kernels/device/shared_limit.h"

namespace gdelta::cuda {

// ---- What a block has

/// Its shared memory, part by part.
template <int ValueBytes, int Tuple>
struct StrideBlock {
  using Slot = StrideSlot<ValueBytes, Tuple>;
  using OfWarp = StrideWarpShared<ValueBytes, Tuple>;
  static_assert(sizeof(StrideShared) % 16 == 0 && sizeof(OfWarp) % 16 == 0);

  static constexpr std::size_t bytes(const StrideRing& ring) {
    return sizeof(StrideShared) + ring.decoders * sizeof(OfWarp) +
           std::size_t{ring.slots} * Slot::kBytes;
  }
  /// As many of both as find room; no decoders if there is too little.
  static StrideRing ring_in(std::size_t room) {
    constexpr std::size_t kFewest = sizeof(StrideShared) + Slot::kBytes;
    if (room < kFewest) return {};
    const std::size_t decoders = std::min<std::size_t>(
        (room - kFewest) / (sizeof(OfWarp) + Slot::kBytes), most_stride_decoders(ValueBytes));
    const std::size_t left = room - sizeof(StrideShared) - decoders * sizeof(OfWarp);
    const std::size_t slots = std::min<std::size_t>(left / Slot::kBytes, kMostStrideSlots);
    return {static_cast<std::uint32_t>(decoders),
            static_cast<std::uint32_t>(std::min<std::size_t>(slots, kMostStrideSummers)),
            static_cast<std::uint32_t>(slots)};
  }

  __device__ StrideBlock(unsigned char* shared, const StrideRing& with)
      : ring(with),
        joined(*reinterpret_cast<StrideShared*>(shared)),
        warps(reinterpret_cast<OfWarp*>(shared + sizeof(StrideShared))),
        slots(shared + sizeof(StrideShared) + with.decoders * sizeof(OfWarp)) {}

  __device__ unsigned char* slot(const StrideTurn& turn) const {
    return slots + turn.slot * Slot::kBytes;
  }

  StrideRing ring;
  StrideShared& joined;
  OfWarp* warps;
  unsigned char* slots;
};

/// A page that a warp takes.
struct StridePage {
  std::uint32_t task;
  std::uint32_t number;  // in its column
  StrideTurn turn;
  bool is_there = false;
};

/// Pages that a warp of a block takes: every so many, counted over all columns that the block sums.
class PagesInTurn {
 public:
  __device__ PagesInTurn(const UnpackArgs& args, std::uint32_t first, std::uint32_t every,
                         std::uint32_t slots)
      : here{args.first_task + blockIdx.x, first, {first}},
        args_(args),
        every_(every),
        slots_(slots) {
    find_pages();
    settle();
  }

  __device__ void advance() {
    here.number += every_;
    here.turn.advance(every_, slots_);
    settle();
  }

  StridePage here;  // if there is none, none is behind it, either

 private:
  __device__ void find_pages() {
    pages_ = here.task < args_.end_task && args_.tasks[here.task].is_summed_by_block()
                 ? device::warp_uniform(args_.tasks[here.task].num_pages)
                 : 0;
  }
  __device__ void settle() {
    while (here.number >= pages_ && here.task < args_.end_task) {
      here.number -= pages_;
      here.task += gridDim.x;
      find_pages();
    }
    here.is_there = here.task < args_.end_task;
  }

  const UnpackArgs& args_;
  std::uint32_t every_, slots_;
  std::uint32_t pages_ = 0;  // of the task
};

// ---- Decoding

/// Puts the tiles of a page into a slot.
template <int ValueBytes, int Tuple>
struct SlotSink {
  using Slot = StrideSlot<ValueBytes, Tuple>;

  __device__ std::uint32_t* groups() const { return reinterpret_cast<std::uint32_t*>(slot); }
  __device__ void open(const ColumnTask&, const PageView&) {}
  __device__ void take(const WordOf<ValueBytes> (&values)[Tuple][Slot::OfPage::kRunTuples],
                       std::uint32_t, int) {
    pack_run<Slot::kValueBytes, Tuple>(values, words);
  }
  __device__ void take_words(std::uint32_t, int) {}
  __device__ void store(unsigned char*, std::uint32_t, const ColumnTask&, int thread) {
    put_run<typename Slot::Shape>(slot, words, thread);
    slot += Slot::kTileBytes;
  }
  __device__ void close(const ColumnTask&, const PageView&, unsigned, int) const {}

  unsigned char* slot;
  std::uint32_t words[Slot::Shape::kRunBytes / 4];
};

/// A warp that decodes pages. What the column of the next page but one says, where that lies, and the head of the next one
/// are on their way.
template <int ValueBytes, int Tuple>
class StrideDecoder {
 public:
  using Block = StrideBlock<ValueBytes, Tuple>;

  __device__ StrideDecoder(const Block& block, const UnpackArgs& args, std::uint32_t number)
      : block_(block),
        args_(args),
        mine_(block.warps[number]),
        fetched_(args, number, block.ring.decoders, block.ring.slots) {
    open_warp_shared(mine_);
  }

  __device__ void run() {
    StridePage page = fetched_.here;
    if (!page.is_there) return;
    fetch(0);
    fetched_.advance();
    StridePage next = fetched_.here;
    if (next.is_there) fetch(1);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();  // both have come
    fetch_head(mine_.head[0], task_in(0), view_of(0, page.number));
    __pipeline_commit();
#pragma unroll 1
    for (int place = 0; page.is_there; place = behind(place)) {
      __pipeline_wait_prior(0);
      __syncwarp();  // this page's head has come, and the next one's task and where it lies
      if (next.is_there) {
        fetch_head(mine_.head[behind(place)], task_in(behind(place)),
                   view_of(behind(place), next.number));
        fetched_.advance();
        if (fetched_.here.is_there) fetch(behind(behind(place)));
      }
      decode(place, page);
      page = next;
      next = fetched_.here;
    }
  }

 private:
  __device__ static int behind(int place) {
    return place == StrideStages<ValueBytes, Tuple>::kPages - 1 ? 0 : place + 1;
  }
  __device__ const ColumnTask& task_in(int place) const {
    return *reinterpret_cast<const ColumnTask*>(mine_.tasks[place]);
  }
  __device__ PageView view_of(int place, std::uint32_t page) const {
    return uniform_view(fetched_view(mine_.ends[place], task_in(place), page));
  }
  __device__ void fetch(int place) {
    fetch_task(mine_, args_.tasks[fetched_.here.task], fetched_.here.number, place);
  }
  __device__ void decode(int place, const StridePage& page) {
    const StrideTurn& turn = page.turn;
    // Pages are not stored in order. That the one before has been decoded says that parity is that of its turn.
    device::barrier_wait(block_.joined.decoded + turn.slot, turn.parity ^ 1);
    device::barrier_wait(block_.joined.stored + turn.slot, turn.parity ^ 1);
    decode_page<ValueBytes, Tuple>(mine_, task_in(place), view_of(place, page.number),
                                   mine_.head[place], args_.damaged_at,
                                   SlotSink<ValueBytes, Tuple>{.slot = block_.slot(turn)});
    device::barrier_arrive(block_.joined.decoded + turn.slot);
    __pipeline_commit();
  }

  const Block& block_;
  const UnpackArgs& args_;
  typename Block::OfWarp& mine_;
  PagesInTurn fetched_;  // the page that something has been fetched of last
};

// ---- Summing

/// The running sums of a link, which go on from page to page.
template <class Word>
struct CarriedSums {
  Word* sums;             // [columns]
  std::uint32_t columns;  // units of values, side by side
  std::uint32_t first;    // the one that the page begins with

  __device__ Word& of(std::uint32_t column) const {
    const std::uint32_t at = first + column;
    return sums[at < columns ? at : at - columns];
  }
};

/// A warp that sums pages along their strides and stores them.
template <int ValueBytes, int Tuple>
class StrideSummer {
 public:
  using Block = StrideBlock<ValueBytes, Tuple>;
  using Slot = StrideSlot<ValueBytes, Tuple>;
  using Shape = UnpackWarpShape<ValueBytes, Tuple>;

  __device__ StrideSummer(const Block& block, const UnpackArgs& args, std::uint32_t number)
      : block_(block),
        args_(args),
        task_(*reinterpret_cast<ColumnTask*>(block.joined.tasks[number])),
        in_turn_(args, number, block.ring.summers, block.ring.slots) {}

  __device__ void run(const LaneMaps* all_maps) {
    for (std::uint32_t column = args_.end_task; in_turn_.here.is_there; in_turn_.advance()) {
      if (in_turn_.here.task != column) {
        column = in_turn_.here.task;
        copy_task();
        lane_maps_ = task_.map == kMapsOfLanes ? all_maps + column : nullptr;
      }
      sum_page();
    }
  }

 private:
  __device__ void copy_task() {
    const int at = 16 * thread_;
    const auto* from = reinterpret_cast<const unsigned char*>(args_.tasks + in_turn_.here.task);
    __syncwarp();  // nobody needs the task before any more
    if (at < static_cast<int>(sizeof(ColumnTask)))
      *reinterpret_cast<uint4*>(reinterpret_cast<unsigned char*>(&task_) + at) =
          *reinterpret_cast<const uint4*>(from + at);
    __syncwarp();  // the task is there
  }

  __device__ void sum_page() {
    const StrideTurn& turn = in_turn_.here.turn;
    page_.find_tuples(task_, in_turn_.here.number);
    device::barrier_wait(block_.joined.decoded + turn.slot, turn.parity);
    unsigned char* sums = block_.joined.sums;
#pragma unroll 1
    for (int link = task_.num_strides; link-- > 0;) {
      sum_link(link, sums);
      sums += stride_sums_bytes(task_, task_.strides[link]);
      __syncwarp();  // the link is summed
    }
    // Of links that the column lacks, too: the barriers of all keep step.
    for (int link = task_.num_strides; link < kMostLinks; ++link) leave_sums(link);
    store_page();
    device::barrier_arrive(block_.joined.stored + turn.slot);
  }

  __device__ void sum_link(int link, unsigned char* sums) {
    constexpr int kWide = 16 / Slot::kValueBytes;
    const std::uint32_t columns = task_.strides[link].stride * Tuple;
    const bool finishes =
        link == 0 && (lane_maps_ != nullptr || task_.map != 0 || task_.big_endian);
    if (columns % kWide == 0 && (kWide <= 4 || !finishes))
      return sum_units<kWide>(link, sums, finishes);
    if constexpr (kWide > 4) {
      if (columns % 4 == 0) return sum_units<4>(link, sums, finishes);
    }
    sum_units<1>(link, sums, finishes);
  }

  template <int kValues>
  __device__ void sum_units(int link, unsigned char* sums, bool finishes) {
    const SlotUnits<Slot, kValues> units{block_.slot(in_turn_.here.turn)};
    using Word = typename SlotUnits<Slot, kValues>::Word;
    const std::uint32_t stride = task_.strides[link].stride;
    const CarriedSums<Word> carried{reinterpret_cast<Word*>(sums), stride * Tuple / kValues,
                                    page_.first % stride * Tuple / kValues};
    if (carried.columns <= 32) {
      sum_side_by_side(units, link, finishes, carried);
    } else {
      sum_alone(units, link, finishes, carried);
    }
  }

  /// Of a unit's first value.
  template <class Units>
  __device__ static int lane_of(std::uint32_t unit) {
    return static_cast<int>(unit * Units::kAcross % Tuple);
  }
  /// Units of the page.
  template <class Units>
  __device__ std::uint32_t count() const {
    return (page_.tuples * Tuple + Units::kAcross - 1) / Units::kAcross;
  }

  /// The page before has left its sums; of the first page of a column they are zero.
  template <class Word>
  __device__ void wait_for_sums(int link, const CarriedSums<Word>& carried) const {
    const StrideTurn before = in_turn_.here.turn.before(block_.ring.slots);
    device::barrier_wait(block_.joined.carried[link] + before.slot, before.parity);
    if (page_.first > 0) return;
    device::barrier_wait(block_.joined.carried[0] + before.slot, before.parity);
    for (std::uint32_t i = thread_; i < carried.columns; i += 32) carried.sums[i] = Word{};
    __syncwarp();  // all sums are zero
  }
  __device__ void leave_sums(int link) const {
    device::barrier_arrive(block_.joined.carried[link] + in_turn_.here.turn.slot);
  }

  /// Several threads have the rows of a column, one behind the other.
  template <class Units, class Word>
  __device__ void sum_side_by_side(const Units& units, int link, bool finishes,
                                   const CarriedSums<Word>& carried) const {
    const std::uint32_t columns = carried.columns, all = count<Units>();
    const std::uint32_t stretches = 32 / columns, stretch = thread_ / columns;
    const std::uint32_t column = thread_ % columns;
    // Of one row more, and odd: so the rows that threads are at meet different banks.
    const std::uint32_t rows_of_thread = (all / columns + stretches) / stretches | 1;
    const std::uint32_t begin = stretch * rows_of_thread * columns + column;
    const std::uint32_t end = stretch < stretches ? min(begin + rows_of_thread * columns, all) : 0;
    Word up_to{};  // of the threads of a column up to this one
    for_rows<false>(units, begin, end, columns, false, up_to);
    for (std::uint32_t distance = columns; distance < 32; distance *= 2) {
      const Word more = from_below(up_to, distance);
      if (static_cast<std::uint32_t>(thread_) >= distance) up_to += more;
    }
    Word sum = from_below(up_to, columns);
    if (stretch == 0) sum = Word{};
    wait_for_sums(link, carried);
    const Word before = carried.of(column);
    __syncwarp();  // the sums have been read
    if (stretch == stretches - 1) carried.of(column) = before + up_to;
    leave_sums(link);
    sum += before;
    for_rows<true>(units, begin, end, columns, finishes, sum);
  }

  /// Threads have columns of their own, several each. What a column adds up to waits in its last row, so that no more than
  /// that is left to do between two pages.
  template <class Units, class Word>
  __device__ void sum_alone(const Units& units, int link, bool finishes,
                            const CarriedSums<Word>& carried) const {
    const std::uint32_t columns = carried.columns, all = count<Units>();
    const auto last_of = [&](std::uint32_t column) {
      return column < all ? column + (all - 1 - column) / columns * columns : column;
    };
#pragma unroll 1
    for (std::uint32_t column = thread_; column < columns && column < all; column += 32) {
      Word sum{};
      for_rows<false>(units, column, all, columns, false, sum);
      units.store(last_of(column), sum);
    }
    wait_for_sums(link, carried);
#pragma unroll 2
    for (std::uint32_t column = thread_; column < columns && column < all; column += 32) {
      const std::uint32_t last = last_of(column);
      const Word before = carried.of(column), sum = before + units.load(last);
      carried.of(column) = sum;
      if (last != column) units.store(column, before + units.load(column));
      units.store(last, sum);
    }
    leave_sums(link);
#pragma unroll 1
    for (std::uint32_t column = thread_; column < columns && column < all; column += 32) {
      const std::uint32_t last = last_of(column);
      Word sum{};
      for_rows<true>(units, column, last, columns, finishes, sum);
      if (!finishes) continue;
      Word row[1] = {units.load(last)};
      finish(lane_of<Units>(column), row);
      units.store(last, row[0]);
    }
  }

  /// Adds units begin, begin + step, ... before `end`, which are a column's, to its sum; kStores: which they become.
  template <bool kStores, class Units>
  __device__ void for_rows(const Units& units, std::uint32_t begin, std::uint32_t end,
                           std::uint32_t step, bool finishes, typename Units::Word& sum) const {
    using Word = typename Units::Word;
    constexpr int kRows = 8;
    const int lane = lane_of<Units>(begin);
#pragma unroll 1
    for (std::uint32_t i = begin; i < end; i += kRows * step) {
      Word rows[kRows];
#pragma unroll
      for (int row = 0; row < kRows; ++row)
        rows[row] = i + row * step < end ? units.load(i + row * step) : Word{};
#pragma unroll
      for (int row = 0; row < kRows; ++row) {
        sum += rows[row];
        if constexpr (kStores) rows[row] = sum;
      }
      if constexpr (kStores) {
        if (finishes) finish(lane, rows);
#pragma unroll
        for (int row = 0; row < kRows; ++row)
          if (i + row * step < end) units.store(i + row * step, rows[row]);
      }
    }
  }

  template <int kRows, class Value>
  __device__ void finish(int lane, Value (&values)[kRows]) const {
    finish_rows(task_, lane_maps_, lane, ValueBytes, values);
  }
  template <int kRows, int kBytes, int kValues>
  __device__ void finish(int lane, Neighbours<kBytes, kValues> (&rows)[kRows]) const {
    if constexpr (kValues <= 4) {
#pragma unroll
      for (int i = 0; i < kValues; ++i) {
        WordOf<ValueBytes> values[kRows];
#pragma unroll
        for (int row = 0; row < kRows; ++row) values[row] = rows[row].value(i);
        finish((lane + i) % Tuple, values);
#pragma unroll
        for (int row = 0; row < kRows; ++row) rows[row].set(i, values[row]);
      }
    }
  }

  __device__ void store_page() const {
    const bool verified = task_.path == ColumnPath::page_strides_verified;
    const std::uint32_t number = in_turn_.here.number;
    const std::uint32_t expected =
        verified ? load_u32_anywhere(task_.part_checks() + 4 * number) : 0;
    TileStore<ValueBytes, Tuple, true> store{args_.differs_at};
    store.open(task_, page_);
    unsigned char* tile = block_.slot(in_turn_.here.turn);
    unsigned tiles = 0;
#pragma unroll 1
    for (std::uint32_t at = 0; at < page_.tuples; at += Shape::kTileTuples, ++tiles) {
      const std::uint32_t left = page_.tuples - at;
      if constexpr (Slot::kValueBytes == ValueBytes) {
        if (verified) {
          get_run<Shape>(tile, store.words, thread_);
          store.take_words(left, thread_);
        }
        store.send(tile, left, task_, thread_);
      } else {
        std::uint32_t words[Slot::Shape::kRunBytes / 4];
        WordOf<ValueBytes> values[Tuple][Shape::kRunTuples];
        get_run<typename Slot::Shape>(tile, words, thread_);
#pragma unroll
        for (int n = 0; n < Tuple * Shape::kRunTuples; ++n) values[n % Tuple][n / Tuple] = words[n];
        store.take(values, left, thread_);
        __syncwarp();  // the tile has been read
        store.store(tile, left, task_, thread_);
      }
      tile += Slot::kTileBytes;
    }
    if (verified && store.check.value(tiles, page_.tuples, thread_) != expected && thread_ == 0)
      report_page(task_, page_view(task_, number), args_.differs_at);
  }

  const Block& block_;
  const UnpackArgs& args_;
  ColumnTask& task_;
  const LaneMaps* lane_maps_ = nullptr;
  PagesInTurn in_turn_;
  const int thread_ = device::thread_of_warp();
  PageView page_{};  // the tuples of the page at hand
};

// ---- Kernel and launcher

template <int ValueBytes, int Tuple>
__global__ void __launch_bounds__(most_stride_threads(ValueBytes), 1)
    stride_pages_kernel(const __grid_constant__ UnpackArgs args, const LaneMaps* lane_maps,
                        StrideRing ring) {
  device::start_successor();
  const StrideBlock<ValueBytes, Tuple> block(device::dynamic_shared(), ring);
  if (threadIdx.x == 0) block.joined.open();
  __syncthreads();  // barriers are set up
  device::wait_for_predecessor();
  const auto warp = static_cast<std::uint32_t>(device::warp_number());
  if (warp < ring.decoders) {
    StrideDecoder<ValueBytes, Tuple>(block, args, warp).run();
  } else {
    StrideSummer<ValueBytes, Tuple>(block, args, warp - ring.decoders).run(lane_maps);
  }
}

/// What a block of this device has.
template <int ValueBytes, int Tuple>
cudaError_t stride_ring_of(StrideRing& ring) {
  int room = 0;
  if (auto error = device::device_attribute<cudaDevAttrMaxSharedMemoryPerBlockOptin>(room))
    return error;
  ring = StrideBlock<ValueBytes, Tuple>::ring_in(static_cast<std::size_t>(room));
  return cudaSuccess;
}

template <int ValueBytes, int Tuple>
cudaError_t launch_stride_pages_of(const UnpackArgs& args, const LaneMaps* lane_maps,
                                   cudaStream_t stream) {
  constexpr auto kKernel = stride_pages_kernel<ValueBytes, Tuple>;
  if (auto error = device::raise_shared_limit(kKernel)) return error;
  int processors = 0;
  if (auto error = device::device_attribute<cudaDevAttrMultiProcessorCount>(processors))
    return error;
  StrideRing ring{};
  if (auto error = stride_ring_of<ValueBytes, Tuple>(ring)) return error;
  const std::uint32_t blocks =
      std::min(args.end_task - args.first_task, static_cast<std::uint32_t>(processors));
  if (blocks == 0) return cudaSuccess;
  return device::launch_after_with<kKernel>(
      blocks, 32 * static_cast<int>(ring.decoders + ring.summers),
      StrideBlock<ValueBytes, Tuple>::bytes(ring), stream, args, lane_maps, ring);
}

/// Warps of a block that decode; 0: it has no room.
template <int ValueBytes>
cudaError_t stride_decoders(int tuple, std::uint32_t& decoders) {
  return for_narrow_tuple(tuple, [&](auto lanes) {
    StrideRing ring{};
    const cudaError_t error = stride_ring_of<ValueBytes, decltype(lanes)::value>(ring);
    decoders = ring.decoders;
    return error;
  });
}

template <int ValueBytes>
cudaError_t launch_stride_pages_width(int tuple, const UnpackArgs& args, const LaneMaps* lane_maps,
                                      cudaStream_t stream) {
  return for_narrow_tuple(tuple, [&](auto lanes) {
    return launch_stride_pages_of<ValueBytes, decltype(lanes)::value>(args, lane_maps, stream);
  });
}

}  // namespace gdelta::cuda
