// The way not taken, for measurement alone: pages of the pack coder decoded without their states.
//
// A block takes whole pages of a chunk, a warp a strip of every lane. Residuals are unpacked into
// registers and summarised; blocks exchange the states of their tiles as the scan's group kernel
// does (sums inside groups of tiles, prefixes between groups), so that one running state goes
// through a chunk of any length; then the residuals, still in registers, are scanned from the right
// state. `kReadStates` keeps all of that but the exchange: the pages' own states are read.
#pragma once

#include "kernels/bitpack/unpack_pages_warp.cuh"
#include "kernels/scan/scan_exchange.cuh"
#include "kernels/scan/scan_launch.cuh"
#include "kernels/scan/scan_run.cuh"

namespace gdelta::cuda {

inline constexpr int kCarryMaxWarps = 16;
inline constexpr int kCarryGroupTiles = 64;  // tiles of blocks whose sums one warp reads

template <int ValueBytes, int Tuple>
struct CarryWarpShared {
  using Shape = UnpackWarpShape<ValueBytes, Tuple>;
  union {  // fields are read before values are written
    alignas(16) std::uint32_t bits[Shape::kBitWords];
    alignas(16) unsigned char tile[Shape::kTileTuples * Tuple * ValueBytes];
  };
  alignas(16) WordOf<ValueBytes> patch[Shape::kTileTuples];  // of one lane; else zero
};

/// Matrices (first columns) for every distance inside a tile and between tiles.
template <class Word, int Order>
struct CarryTables {
  Word run_ahead[32][Order];                      ///< g runs
  Word run_back[32][Order];                       ///< back over g + 1 runs
  Word unit_ahead[scan::kMaxStreamUnits][Order];  ///< u warps
  Word unit_back[scan::kMaxStreamUnits][Order];   ///< back over u warps
  Word tile[33][Order];                           ///< p tiles of a block
};

template <class Algebra, int Order, class Word = typename Algebra::Word>
void fill_tables(CarryTables<Word, Order>& tables, int run_tuples, int warps) {
  Algebra::template powers<Order>(run_tuples, 32, tables.run_ahead);
  Word back[33][Order];
  Algebra::template powers<Order>(-run_tuples, 33, back);
  for (int g = 0; g < 32; ++g) scan::copy_state<Order>(tables.run_back[g], back[g + 1]);
  Algebra::template powers<Order>(32 * run_tuples, scan::kMaxStreamUnits, tables.unit_ahead);
  Algebra::template powers<Order>(-32 * run_tuples, scan::kMaxStreamUnits, tables.unit_back);
  Algebra::template powers<Order>(32 * run_tuples * warps, 33, tables.tile);
}

template <class Word, int Order>
struct CarryArguments {
  const ColumnTask* tasks;  // of the chunks of this launch, all with the same number of pages
  std::uint32_t num_chunks;
  std::uint32_t blocks_per_chunk;
  std::uint32_t pages_per_block;
  std::uint32_t epoch;         // another one every launch, so that nothing is cleared
  std::uint64_t first_ticket;  // of this launch
  unsigned long long* counter;
  unsigned long long* sums;      // [blocks][Tuple][words]
  unsigned long long* prefixes;  // [chunks][groups][Tuple][words]
  CarryTables<Word, Order> tables;
};

/// What a thread holds of a tile.
template <int ValueBytes, int Tuple>
using UnpackTileValues = WordOf<ValueBytes>[Tuple][UnpackWarpShape<ValueBytes, Tuple>::kRunTuples];

/// Residuals of tile `tile` of a page, every lane, exceptions applied. The page is trusted.
template <int ValueBytes, int Tuple, class Word = WordOf<ValueBytes>>
__device__ inline void unpack_tile(CarryWarpShared<ValueBytes, Tuple>& shared,
                                   const ColumnTask& task, const PageView& page, int tile,
                                   UnpackTileValues<ValueBytes, Tuple>& values) {
  using Shape = UnpackWarpShape<ValueBytes, Tuple>;
  constexpr int kRun = Shape::kRunTuples, kStripGroups = Shape::kStripGroups;
  const int thread = scan::thread_of_warp(), part = thread / Shape::kGroupThreads;
  const int groups = static_cast<int>(page.groups), all_groups = groups * Tuple;
  GroupDescriptor mine{0};
  if (thread < all_groups) {
    const unsigned char* p = page.bytes + task.state_bytes + 2 * thread;
    mine.bits = p[0] | (p[1] << 8);
  }
  const std::uint32_t cost =
      static_cast<std::uint32_t>(mine.width()) |
      (static_cast<std::uint32_t>(mine.exceptions() > 0 ? mine.exception_bytes() : 0) << 16);
  std::uint32_t before = cost;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const std::uint32_t up = __shfl_up_sync(kWholeWarp, before, distance);
    if (thread >= distance) before += up;
  }
  const std::uint32_t all = __shfl_sync(kWholeWarp, before, 31);
  before -= cost;
  const unsigned char* group_bytes = page.bytes + task.state_bytes + 2 * all_groups;
  const unsigned char* exceptions = group_bytes + 16 * (all & 0xffff);
  const int skew = static_cast<int>(reinterpret_cast<std::uintptr_t>(group_bytes) & 15);
  const ExceptionPlace my_exceptions = ExceptionPlace::make(mine, before >> 16);
  const int first = kStripGroups * tile;
  const auto width_of = [&](int lane, int group) {
    const GroupDescriptor of{__shfl_sync(kWholeWarp, mine.bits, (lane * groups + group) & 31)};
    return group < groups ? of.width() : 0;
  };

  // Each group by threads of its own to a place of its own, as in the page decoder.
  constexpr int kFetchThreads = Shape::kFetchThreads;
  const int fetch_group = thread / kFetchThreads, fetch_unit = thread % kFetchThreads;
  const int fetch_lane = fetch_group % Tuple, fetch_number = first + fetch_group / Tuple;
  int units = width_of(fetch_lane, fetch_number);
  const std::uint32_t units_before =
      __shfl_sync(kWholeWarp, before & 0xffff, (fetch_lane * groups + fetch_number) & 31);
  if (units > 0 && skew != 0) ++units;
  if (fetch_group >= Shape::kTileGroups) units = 0;
  const auto* from = reinterpret_cast<const uint4*>(group_bytes - skew) + units_before;
  for (int unit = fetch_unit; unit < units; unit += kFetchThreads)
    __pipeline_memcpy_async(shared.bits + 4 * (Shape::kGroupUnits * fetch_group + unit),
                            from + unit, 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncwarp();  // the bytes of every lane are there
  const std::uint32_t patched = __ballot_sync(kWholeWarp, mine.exceptions() > 0);
#pragma unroll
  for (int lane = 0; lane < Tuple; ++lane) {
    const int width = width_of(lane, first + part);
    const unsigned first_bit = width == 0
                                   ? 32 * Shape::kZeroWord
                                   : 128 * Shape::kGroupUnits * (part * Tuple + lane) + 8 * skew;
    read_run<Word, kRun>(shared.bits, first_bit, width, values[lane], thread);
    if (((patched >> (lane * groups + first)) & ((1u << kStripGroups) - 1)) == 0) continue;
    ExceptionPlace from_group{
        __shfl_sync(kWholeWarp, my_exceptions.word, (lane * groups + first + part) & 31)};
    if (first + part >= groups) from_group = {0};
    int last_patch = 0;
    scatter_exceptions<Word, kRun, Shape::kGroupThreads>(shared.patch, part, exceptions, from_group,
                                                         width, value_mask<Word>(8 * ValueBytes),
                                                         thread % Shape::kGroupThreads, last_patch);
    __syncwarp();  // all patches are in
    take_patches<Word, kRun>(shared.patch, values[lane], width == 0, thread);
    __syncwarp();  // and have been read
    clear_patches<Word, kRun>(shared.patch, thread);
    __syncwarp();  // and are zero again
  }
}

/// State of lane `lane` at the start of a page.
template <int ValueBytes, int Order, class Word = WordOf<ValueBytes>>
__device__ inline void load_page_state(const PageView& page, int lane, Word* state) {
  const unsigned char* p = page.bytes + lane * Order * ValueBytes;
#pragma unroll
  for (int k = 0; k < Order; ++k) {
    Word word = 0;
    for (int i = 0; i < ValueBytes; ++i)
      word |= static_cast<Word>(p[k * ValueBytes + i]) << (8 * i);
    state[k] = word;
  }
}

template <int ValueBytes, int Tuple, int Order, bool kReadStates>
__global__ void __launch_bounds__(32 * kCarryMaxWarps,
                                  sizeof(UnpackTileValues<ValueBytes, Tuple>) <= 64 ? 2 : 1)
    carry_pages_kernel(const __grid_constant__ CarryArguments<WordOf<ValueBytes>, Order> args) {
  using Word = WordOf<ValueBytes>;
  using Algebra = scan::SumAlgebra<Word, Word>;
  using Shape = UnpackWarpShape<ValueBytes, Tuple>;
  constexpr int kWords = Order * scan::kSlotWords<Word>;
  extern __shared__ __align__(16) unsigned char dynamic[];
  __shared__ Word unit_states[kCarryMaxWarps][Tuple][Order];
  __shared__ scan::SharedTable<Word, Order, 32> run_ahead;
  __shared__ scan::SharedTable<Word, Order, 32> run_back;
  __shared__ scan::SharedTable<Word, Order, 16> unit_ahead;
  __shared__ scan::SharedTable<Word, Order, 16> unit_back;
  __shared__ scan::SharedTable<Word, Order, 33> tile_table;
  __shared__ unsigned long long shared_ticket;
  const int warps = blockDim.x / 32, warp = threadIdx.x / 32, thread = scan::thread_of_warp();
  auto& mine = reinterpret_cast<CarryWarpShared<ValueBytes, Tuple>*>(dynamic)[warp];
  if (threadIdx.x == 0) shared_ticket = atomicAdd(args.counter, 1ull) - args.first_ticket;
  clear_patches<Word, Shape::kRunTuples>(mine.patch, thread);
  if (thread < 3) mine.bits[Shape::kZeroWord + thread] = 0;
  run_ahead.load(args.tables.run_ahead, threadIdx.x, blockDim.x);
  run_back.load(args.tables.run_back, threadIdx.x, blockDim.x);
  unit_ahead.load(args.tables.unit_ahead, threadIdx.x, blockDim.x);
  unit_back.load(args.tables.unit_back, threadIdx.x, blockDim.x);
  tile_table.load(args.tables.tile, threadIdx.x, blockDim.x);
  __syncthreads();  // the ticket and the tables are there

  const auto chunk = static_cast<std::uint32_t>(shared_ticket / args.blocks_per_chunk);
  const auto link = static_cast<std::uint32_t>(shared_ticket % args.blocks_per_chunk);
  const ColumnTask& task = args.tasks[chunk];
  const int page_tiles = static_cast<int>(task.page_groups) / Shape::kStripGroups;
  const std::uint32_t page_number = link * args.pages_per_block + warp / page_tiles;
  const int tile = warp % page_tiles;
  const bool active = page_number < task.num_pages;
  PageView page{};
  Word values[Tuple][Shape::kRunTuples] = {};
  if (active) {
    page = page_view(task, page_number);
    if (Shape::kStripGroups * tile < static_cast<int>(page.groups)) {
      unpack_tile<ValueBytes, Tuple>(mine, task, page, tile, values);
    }
  }

  // Exclusive sums of the threads of a warp, pulled back to its start; the warp's total.
  Word states[Tuple][Order];
#pragma unroll
  for (int lane = 0; lane < Tuple; ++lane) {
    scan::clear<Algebra, Order>(states[lane]);
#pragma unroll
    for (int i = 0; i < Shape::kRunTuples; ++i)
      scan::step<Algebra, Order>(values[lane][i], states[lane]);
    run_back.template advance_by<Algebra>(thread, states[lane]);
    Word total[Order];
    scan::scan_across<Algebra, Order, 32>(thread, states[lane], total);
    if (thread == 0) scan::copy_state<Order>(unit_states[warp][lane], total);
  }
  __syncthreads();  // every warp's total is there

  if constexpr (kReadStates) {
    // The totals of the warps before this one in its page, behind the page's own state.
    if (active && thread < Tuple) {
      Word base[Order];
      load_page_state<ValueBytes, Order>(page, thread, base);
      for (int unit = warp - tile; unit < warp; ++unit) {
        scan::accumulate<Algebra, Order>(base, unit_states[unit][thread]);
        unit_ahead.template advance_by<Algebra>(1, base);
      }
      Word* const to = reinterpret_cast<Word*>(mine.tile) + thread * Order;
      scan::copy_state<Order>(to, base);
    }
    __syncwarp();  // the lanes' states are there
#pragma unroll
    for (int lane = 0; lane < Tuple; ++lane) {
      scan::accumulate<Algebra, Order>(states[lane],
                                       reinterpret_cast<const Word*>(mine.tile) + lane * Order);
    }
    __syncwarp();  // and read
  } else {
    const std::uint32_t group = link / kCarryGroupTiles, position = link % kCarryGroupTiles;
    const std::uint32_t groups = (args.blocks_per_chunk + kCarryGroupTiles - 1) / kCarryGroupTiles;
    for (int lane = warp; lane < Tuple; lane += warps) {
      const auto sum_slot = [&](std::uint64_t back) {
        return args.sums + ((shared_ticket - back) * Tuple + lane) * kWords;
      };
      const auto prefix_slot = [&](std::uint32_t of_group) {
        return args.prefixes +
               ((static_cast<std::uint64_t>(chunk) * groups + of_group) * Tuple + lane) * kWords;
      };
      Word base[Order], total[Order];
      scan::clear<Algebra, Order>(base);
      if (thread < warps) {
        scan::copy_state<Order>(base, unit_states[thread][lane]);
        unit_back.template advance_by<Algebra>(thread, base);
      }
      __syncwarp();
      scan::scan_across<Algebra, Order, 16>(thread & 15, base, total);
      if (thread == 0) scan::publish<Word, Order>(sum_slot(0), 1, total, args.epoch);

      const unsigned long long* slots[2];
      const std::uint32_t epochs[2] = {args.epoch, args.epoch};
      Word read[2][Order], carry[Order];
#pragma unroll
      for (int b = 0; b < 2; ++b) {
        const std::uint32_t back = b * 32 + thread;
        slots[b] = back < position ? sum_slot(back + 1) : nullptr;
      }
      scan::await<Algebra, Order, 2>(slots, 1, epochs, read);
      scan::copy_state<Order>(carry, read[1]);
      tile_table.template advance_by<Algebra>(32, carry);
      scan::accumulate<Algebra, Order>(carry, read[0]);
      __syncwarp();
      tile_table.template advance_by<Algebra>(thread + 1, carry);
      scan::combine_across<Algebra, Order, 32>(carry);

      Word start[1][Order];
      if (group == 0) {
        load_page_state<ValueBytes, Order>(page_view(task, 0), lane, start[0]);
      } else {
        const unsigned long long* const before = prefix_slot(group - 1);
        scan::await<Algebra, Order, 1>(&before, 1, epochs, start);
      }
      for (int ahead = static_cast<int>(position); ahead > 0; ahead -= 32)
        tile_table.template advance_by<Algebra>(ahead < 32 ? ahead : 32, start[0]);
      scan::accumulate<Algebra, Order>(carry, start[0]);
      if (position == kCarryGroupTiles - 1 && thread == 0) {
        scan::accumulate<Algebra, Order>(total, carry);
        tile_table.template advance_by<Algebra>(1, total);
        scan::publish<Word, Order>(prefix_slot(group), 1, total, args.epoch);
      }
      scan::accumulate<Algebra, Order>(base, carry);
      if (thread < warps) {
        unit_ahead.template advance_by<Algebra>(thread, base);
        scan::copy_state<Order>(unit_states[thread][lane], base);
      }
    }
    __syncthreads();  // the state at the start of every warp is there
#pragma unroll
    for (int lane = 0; lane < Tuple; ++lane)
      scan::accumulate<Algebra, Order>(states[lane], unit_states[warp][lane]);
  }
  if (!active) return;

  // From here on as the page decoder does it.
  const bool plain = !task.ordered && !task.big_endian;
#pragma unroll
  for (int lane = 0; lane < Tuple; ++lane) {
    run_ahead.template advance_by<Algebra>(thread, states[lane]);
#pragma unroll
    for (int i = 0; i < Shape::kRunTuples; ++i) {
      scan::step<Algebra, Order>(values[lane][i], states[lane]);
      values[lane][i] = states[lane][Order - 1];
      if (!plain)
        values[lane][i] = finish_value(values[lane][i], ValueBytes, task.ordered, task.big_endian);
    }
  }
  std::uint32_t words[Shape::kRunBytes / 4];
  pack_run<ValueBytes, Tuple>(values, words);
#pragma unroll
  for (int i = 0; i < Shape::kRunPieces; ++i) {
    const int slot = PieceSlots<Shape::kRunPieces>::of_run(thread, i);
    if constexpr (Shape::kPieceBytes == 16) {
      reinterpret_cast<uint4*>(mine.tile)[slot] =
          make_uint4(words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]);
    } else {
      reinterpret_cast<uint2*>(mine.tile)[slot] = make_uint2(words[2 * i], words[2 * i + 1]);
    }
  }
  __syncwarp();  // the tile is whole
  const std::uint32_t first = Shape::kTileTuples * tile;
  if (first >= page.tuples) return;
  const bool in_pieces =
      task.record_bytes == ValueBytes * Tuple &&
      (reinterpret_cast<std::uintptr_t>(task.out) & (Shape::kPieceBytes - 1)) == 0;
  unsigned char* const out =
      task.out + static_cast<std::uint64_t>(page.first + first) * task.record_bytes;
  const std::uint32_t left = page.tuples - first;
  if (in_pieces && left >= Shape::kTileTuples) {
    store_whole_tile<ValueBytes, Tuple>(mine.tile, out, thread);
  } else {
    const auto wanted = min(left, static_cast<std::uint32_t>(Shape::kTileTuples));
    store_tile_bytes<ValueBytes, Tuple>(mine.tile, out, wanted, task.record_bytes, thread);
  }
}

}  // namespace gdelta::cuda
