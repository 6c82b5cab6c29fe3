// Pages of tuples of more than four lanes. A block decodes a page, tile by tile; a warp
// takes a slab of it at a time, neighbouring lanes of at most 32 bytes. It unpacks a batch, a few lanes of a
// tile, sums them in registers and puts them into shared memory beside the lanes before
// them; when the slab of the tile is whole, it leaves in vectors of 16 bytes if addresses allow that. The
// block has a warp for each slab, at most four, so that all of small tuples are decoded by blocks of one warp.
//
// A span of threads decodes a lane as unpack_pages_warp.cuh does it, while the next ones come by asynchronous
// copies; other spans have other lanes. Thread k of each span keeps y(k+1) of its lane's state. The number of
// lanes is known at run time, so what all of them need lies in shared memory: states, and where each group
// and its exceptions are.
//
// Blocks draw tickets for their pages. The first warp fetches what a page's column says and where the page
// lies two pages ahead and its states and descriptors one page ahead.
#pragma once

#include <cuda_pipeline_primitives.h>

#include <algorithm>

#include "kernels/bitpack/group_layout.h"
#include "kernels/bitpack/page_groups.cuh"
#include "kernels/bitpack/unpack_pages_cuda.h"
#include "kernels/bitpack/unpack_wide_shape.cuh"
#include "kernels/device/kernel_facts.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/device/shared_limit.h"
#include "kernels/device/warp_uniform.cuh"
#include "kernels/pages/page_ahead.cuh"
#include "kernels/pages/page_tile.cuh"
#include "kernels/pages/page_view.cuh"
#include "kernels/pages/slab_stage.cuh"
#include "kernels/words/finish_value.cuh"

namespace gdelta::cuda {

// ---- A warp's part of a page

/// Says which lanes of which tile are next. Behind the last lane of a tile follow the first of the tile behind it, if a
/// batch has no lane of both.
struct WideStep {
  int slab;      // its first lane
  int slab_end;  // behind its last lane
  int tile;      // of the batch's first lane
  int lane;      // the batch's first
};
/// A lane of a tile; there is none if it is not in the slab.
struct WideItem {
  int tile;
  int lane;
};

template <int ValueBytes, class Cut>
struct WidePage {
  using Shape = WideShape<ValueBytes, Cut>;
  using Word = WordOf<ValueBytes>;
  using Patch = PatchOf<ValueBytes>;
  static constexpr int kTile = Cut::kTile;
  static constexpr int kLanes = Shape::kLanes, kRun = Shape::kRun, kSpan = Shape::kSpan;

  const WideShared<ValueBytes, Cut>& shared;
  WideWarpShared<ValueBytes, Cut>& mine;
  SlabStage<kRun> stage;
  const ColumnTask& task;
  const PageView& page;
  int team;  // warps of the block
  int thread;
  int tuple = device::warp_uniform<int>(task.tuple);
  // That of all lanes; kMixedOrders.
  int order = device::warp_uniform<int>(shared.pages->order);
  bool plain = device::warp_uniform<int>(task.is_finished_later() ||
                                         (task.map == 0 && !task.big_endian)) != 0;
  int groups = static_cast<int>(page.groups);  // of each lane
  int tiles = (groups + Shape::kTileGroups - 1) / Shape::kTileGroups;
  const uint4* first_unit = nullptr;
  const unsigned char* exceptions = nullptr;
  int skew = 0;                        // bytes of the first unit that are not the groups'
  int most_lanes = Shape::kSlabLanes;  // of a slab
  int refused = 0;                     // 1: this thread has found a rule broken

  __device__ void find_groups() {
    const unsigned char* groups = page.bytes + task.state_bytes + 2 * page.groups * task.tuple;
    exceptions = groups + 16 * shared.pages->units;
    skew = static_cast<int>(reinterpret_cast<std::uintptr_t>(groups) & 15);
    first_unit = reinterpret_cast<const uint4*>(groups - skew);
  }
  /// A column that has the records for itself is one slab if there is room: its rows follow each other.
  __device__ void find_slabs(unsigned slab_bytes) {
    const unsigned tuple_bytes = ValueBytes * static_cast<unsigned>(tuple);
    if (device::warp_uniform(task.record_bytes) == tuple_bytes && tuple_bytes % kSlabBytes != 0 &&
        tuple_bytes <= slab_bytes)
      most_lanes = tuple;
  }

  __device__ WideStep first_step(int slab) const {
    return {.slab = slab, .slab_end = min(slab + most_lanes, tuple), .tile = 0, .lane = slab};
  }
  __device__ bool exists(const WideStep& step) const { return step.slab < tuple; }
  /// Whether the last lane of the step's tile is in the batch.
  __device__ bool ends_tile(const WideStep& step) const {
    return step.lane + Shape::kBatchLanes >= step.slab_end;
  }
  /// Whether lanes of the tile behind it follow there.
  __device__ bool goes_on(const WideStep& step) const {
    return Shape::kBatchLanes > 1 && kLanes == 1 &&
           step.slab_end - step.slab >= Shape::kBatchLanes &&
           step.lane + Shape::kBatchLanes > step.slab_end && step.tile + 1 < tiles;
  }
  __device__ WideStep behind(WideStep step) const {
    const bool on = goes_on(step), ends = ends_tile(step);
    step.lane += Shape::kBatchLanes;
    if (!ends) return step;
    step.lane = on ? step.lane - (step.slab_end - step.slab) : step.slab;
    return ++step.tile < tiles ? step : first_step(step.slab + team * most_lanes);
  }
  /// The batch's lane of this number.
  __device__ WideItem item_of(const WideStep& step, int of_batch) const {
    WideItem item{.tile = step.tile, .lane = step.lane + of_batch};
    if (item.lane >= step.slab_end && goes_on(step)) {
      item.lane -= step.slab_end - step.slab;
      ++item.tile;
    }
    return item;
  }

  /// The number of the batch's group `of_batch` among those of the page; -1: there is none.
  __device__ int group_of(const WideStep& step, int of_batch) const {
    const WideItem item = item_of(step, of_batch / Shape::kTileGroups);
    const int group = item.tile * Shape::kTileGroups + of_batch % Shape::kTileGroups;
    return item.lane < step.slab_end && group < groups ? item.lane * groups + group : -1;
  }

  /// What a thread keeps of its group of a batch, of which kGroupThreads have the same one.
  struct Fetched {
    WidePlace place{0};               // all zero: there is no group
    std::uint32_t exceptions_at = 0;  // if it has some
    int staged_at = 0;  // where they begin in shared memory; below 0: they are not there
  };
  /// Asks for the groups of a batch and their exceptions, each by kGroupThreads threads.
  __device__ Fetched fetch(const WideStep& step, int half) const {
    constexpr int kThreads = Shape::kGroupThreads;
    const int of_batch = thread / kThreads, group = group_of(step, of_batch);
    Fetched own;
    if (group >= 0) {
      own.place = shared.places[group];
      own.exceptions_at = shared.exceptions_at[group];
    }
    const GroupDescriptor descriptor = own.place.descriptor();
    const int width = descriptor.width();
    const int units = width + (width > 0 && skew != 0 ? 1 : 0);
    const int first = thread % kThreads;
    std::uint32_t* const to = mine.bits[half] + 4 * (Shape::kGroupUnits * of_batch + first);
    const uint4* const from = first_unit + (own.place.units_before() + first);
    if (first < units) __pipeline_memcpy_async(to, from, 16);
    if (first + kThreads < units) __pipeline_memcpy_async(to + 4 * kThreads, from + kThreads, 16);
#pragma unroll 1
    for (int before = 2 * kThreads; first + before < units; before += kThreads)
      __pipeline_memcpy_async(to + 4 * before, from + before, 16);
    if (descriptor.exceptions() > 0) {
      // From the last multiple of 16 on.
      const unsigned char* const at = exceptions + own.exceptions_at;
      const int before = static_cast<int>(reinterpret_cast<std::uintptr_t>(at) & 15);
      const int bytes = before + descriptor.exception_bytes();
      own.staged_at = bytes <= min(kStagedExceptions, 16 * kThreads) ? before : -1;
      if (16 * first < bytes && own.staged_at >= 0)
        __pipeline_memcpy_async(mine.exceptions[half][of_batch] + 16 * first,
                                at - before + 16 * first, 16);
    }
    return own;
  }

  /// What scatter has left: the thread's last patch, and whether some thread has more.
  struct Patches {
    bool any;
    bool many;
    int last;
  };
  /// Exceptions of a batch, each group's by kGroupThreads threads.
  __device__ Patches scatter(const Fetched& own, int half) {
    constexpr int kThreads = Shape::kGroupThreads;
    const GroupDescriptor descriptor = own.place.descriptor();
    if (!__any_sync(device::kWholeWarp, descriptor.exceptions() > 0)) return {false, false, 0};
    const int of_batch = thread / kThreads, of_lane = of_batch % Shape::kTileGroups;
    const int batch_lane = of_batch / Shape::kTileGroups, lane = batch_lane % kLanes;
    Patches patches{true, false, 0};
    const auto scatter_from = [&](const unsigned char* from) {
      patches.many = scatter_exceptions<Word, kRun, kThreads>(
          mine.patch[lane], batch_lane / kLanes * Shape::kTileGroups + of_lane, from,
          ExceptionPlace::make(descriptor, 0), descriptor.width(), 8 * ValueBytes,
          thread % kThreads, patches.last, refused);
    };
    if (__all_sync(device::kWholeWarp, own.staged_at >= 0)) {
      scatter_from(mine.exceptions[half][of_batch] + own.staged_at);
    } else {
      scatter_from(exceptions + own.exceptions_at);
    }
    patches.last += lane * 32 * kRun;
    __syncwarp();  // all patches are in: a vote orders no memory
    return patches;
  }
  __device__ void clear(const Patches& patches) const {
    if (patches.many) {
      clear_patches<Patch, kLanes * kRun>(mine.patch[0], thread);
    } else {
      mine.patch[0][patches.last] = 0;
    }
  }

  /// The first of the thread's lanes among those of the batch.
  __device__ int own_lane() const { return thread / kSpan * kLanes; }

  /// The thread's residuals of a batch, zigzag undone; zero for lanes that are not there.
  __device__ void unpack(const WideStep& step, const Fetched& own, int half,
                         Word (&values)[kLanes][kRun]) {
    const Patches patches = scatter(own, half);
    const int used = static_cast<int>(page.tuples) - kTile * item_of(step, own_lane()).tile;
    const bool has_padding = page.tuples % kTile != 0;
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane) {
      auto& run = values[lane];
      const int of_batch =
          (own_lane() + lane) * Shape::kTileGroups + thread % kSpan / Shape::kGroupSpan;
      const int width = __shfl_sync(device::kWholeWarp, own.place.descriptor().width(),
                                    of_batch * Shape::kGroupThreads);
      const unsigned first_bit =
          width == 0 ? 32 * Shape::kZeroWord : 128 * Shape::kGroupUnits * of_batch + 8 * skew;
      read_run<Word, kRun>(mine.bits[half], first_bit, width, run, thread);
      if (patches.any) take_patches<Word, kRun>(mine.patch[lane], run, thread);
      if (has_padding)
        refused |=
            !padding_is_zero(run, used - kRun * (thread % kSpan), value_mask<Word>(8 * ValueBytes));
    }
    if (patches.any) {
      __syncwarp();  // all patches have been read
      clear(patches);
    }
  }

  /// Sums of the batch's lanes, each by its span of threads.
  __device__ void sum(const WideStep& step, Word (&values)[kLanes][kRun]) const {
    if (order == kMixedOrders) {
      sum_mixed(step, values);
    } else if (order > 0) {
      sum_alike(step, values);
    }
  }
  /// Whether the thread keeps a word of the lane's state: thread k of a span word k.
  __device__ bool has_state(const WideStep& step, int lane, int of_lane) const {
    return lane < step.slab_end && thread % kSpan < of_lane;
  }
  __device__ void sum_alike(const WideStep& step, Word (&values)[kLanes][kRun]) const {
    constexpr int kAtOnce = kLanes < 2 ? 1 : 2;  // so many fit the registers
    constexpr int kParts = kLanes == 1 && kRun == 16 ? 2 : 1;
    const int first = item_of(step, own_lane()).lane;
    Word* const kept = shared.states + first * kMaxDeltaOrder + thread % kSpan;
    Word states[kLanes];
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane)
      states[lane] = has_state(step, first + lane, order) ? kept[lane * kMaxDeltaOrder] : 0;
#pragma unroll 1
    for (int k = 0; k < order; ++k) {
#pragma unroll
      for (int lane = 0; lane < kLanes; lane += kAtOnce)
        sum_tile<Word, kAtOnce, kRun, kSpan, kParts>(
            reinterpret_cast<Word(&)[kAtOnce][kRun]>(values[lane]),
            reinterpret_cast<Word(&)[kAtOnce]>(states[lane]), k, thread % kSpan);
    }
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane) {
      if (has_state(step, first + lane, order)) kept[lane * kMaxDeltaOrder] = states[lane];
    }
  }
  /// Lanes of different orders: the whole warp adds, and keeps what is asked for.
  __device__ void sum_mixed(const WideStep& step, Word (&values)[kLanes][kRun]) const {
#pragma unroll
    for (int of_thread = 0; of_thread < kLanes; ++of_thread) {
      const int lane = item_of(step, own_lane()).lane + of_thread;
      const int of_lane = lane < step.slab_end ? shared.orders[lane] : 0;
      Word* const kept = shared.states + lane * kMaxDeltaOrder + thread % kSpan;
      Word state[1] = {has_state(step, lane, of_lane) ? *kept : 0};
#pragma unroll 1
      for (int k = 0; __any_sync(device::kWholeWarp, k < of_lane); ++k) {
        Word run[1][kRun], after[1] = {state[0]};
#pragma unroll
        for (int i = 0; i < kRun; ++i) run[0][i] = values[of_thread][i];
        sum_tile<Word, 1, kRun, kSpan>(run, after, k, thread % kSpan);
        if (k >= of_lane) continue;
        state[0] = after[0];
#pragma unroll
        for (int i = 0; i < kRun; ++i) values[of_thread][i] = run[0][i];
      }
      if (has_state(step, lane, of_lane)) *kept = state[0];
    }
  }

  __device__ void finish(Word (&values)[kLanes][kRun]) const {
    if (plain) return;
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane) {
#pragma unroll
      for (int i = 0; i < kRun; ++i)
        values[lane][i] = finish_value(values[lane][i], ValueBytes, task.map, task.big_endian);
    }
  }

  /// The warp's slabs of the page. Returns the thread's part of the sum of the page's check if kVerify.
  template <bool kVerify>
  __device__ std::uint64_t decode(int warp) {
    find_groups();
    std::uint64_t sum_of_check = 0;
    WideStep step = first_step(warp * most_lanes);
    int half = 0;
    Fetched own;
    if (exists(step)) own = fetch(step, half);
    __pipeline_commit();
    while (exists(step)) {
      SlabCopy<ValueBytes, kTile, kRun, kLanes, kVerify> copy(task, page, step.slab, step.slab_end,
                                                              thread);
      const int slab = step.slab;
#pragma unroll 1
      while (step.slab == slab) {
        // The batch's groups are there for the whole warp, and nobody reads the batch before it, or the
        // tile that has been stored, any more.
        __pipeline_wait_prior(0);
        __syncwarp();
        const WideStep next = behind(step);
        Fetched next_own;
        if (exists(next)) next_own = fetch(next, half ^ 1);
        __pipeline_commit();
        Word values[kLanes][kRun];
        unpack(step, own, half, values);
        sum(step, values);
        finish(values);
        const WideItem item = item_of(step, own_lane());
#pragma unroll 1
        for (int tile = step.tile;; ++tile) {
          copy.put(stage, values, tile == item.tile ? item.lane : step.slab_end, thread % kSpan);
          if (tile > step.tile || !ends_tile(step)) break;
          __syncwarp();  // the slab of the tile is whole
          copy.store(stage, min(page.tuples - kTile * tile, static_cast<std::uint32_t>(kTile)));
          if (!goes_on(step)) break;
          __syncwarp();  // and has been read
        }
        step = next;
        own = next_own;
        half ^= 1;
      }
      sum_of_check += copy.sum();
    }
    return sum_of_check;
  }
};

// ---- Pages ahead

/// Asks for a page's task and for where the page lies.
__device__ inline void fetch_task(WidePages& pages, const ColumnTask& task, std::uint32_t number,
                                  int slot, int thread) {
  const auto* from = reinterpret_cast<const unsigned char*>(&task);
  if (16 * thread < static_cast<int>(sizeof(ColumnTask)))
    __pipeline_memcpy_async(pages.tasks[slot] + 16 * thread, from + 16 * thread, 16);
  fetch_ends(pages.ends[slot], task, number);
}

__device__ inline int slot_behind(int slot) { return slot == 2 ? 0 : slot + 1; }

/// What the first warp of a block knows of the pages that are the block's.
struct WideQueue {
  const UnpackArgs& args;
  WidePages& pages;
  int thread;
  std::uint64_t first_page;
  std::uint64_t end;
  std::uint64_t first_drawn;
  unsigned long long ticket = 0;  // of thread 0
  std::uint32_t task = 0;         // of the last page that has been asked for
  bool more = true;               // there is a page behind that one

  __device__ WideQueue(const UnpackArgs& of_args, WidePages& of_pages, int of_thread)
      : args(of_args),
        pages(of_pages),
        thread(of_thread),
        first_page(device::warp_uniform(args.starts[args.first_task])),
        end(device::warp_uniform(args.starts[args.end_task])),
        first_drawn(first_page + 2 * std::uint64_t{gridDim.x}) {}

  /// Two pages of a block are given, those behind them are drawn: a ticket is there before it is needed.
  __device__ void begin(unsigned char* head) {
    if (thread == 0 && first_drawn < end) ticket = atomicAdd(args.tickets, 1ull);
    const std::uint64_t page = first_page + blockIdx.x;
    task = args.first_task;
    if (page < end)
      task = device::warp_uniform(
          device::find_start(args.starts, args.first_task, args.end_task, page));
    ask(page, 0);
    ask(page + gridDim.x, 1);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();  // both have come
    ask_head(head, 0);
    __pipeline_commit();
  }
  /// Asks for the head of the page in `slot` and for the task of the one behind it.
  __device__ void go_on(unsigned char* head, int slot) {
    ask_head(head, slot);
    if (device::warp_uniform<int>(more) != 0) {
      const std::uint64_t page = first_drawn + __shfl_sync(device::kWholeWarp, ticket, 0);
      if (thread == 0 && page < end) ticket = atomicAdd(args.tickets, 1ull);
      ask(page, slot_behind(slot));
    } else if (thread == 0) {
      pages.numbers[slot_behind(slot)] = kNoPage;
    }
    __pipeline_commit();
  }
  /// If tickets are drawn, every block draws one for which there is no page; the last of those makes the
  /// count zero again.
  __device__ void end_tickets() const {
    if (thread == 0 && first_drawn < end && ticket == end - first_drawn + gridDim.x - 1)
      *args.tickets = 0;
  }

 private:
  __device__ void ask(std::uint64_t page, int slot) {
    more = page < end;
    if (!more) {
      if (thread == 0) pages.numbers[slot] = kNoPage;
      return;
    }
    task = advance_task(args.starts, args.end_task, device::warp_uniform(task), page, thread);
    const auto number = device::warp_uniform(static_cast<std::uint32_t>(page - args.starts[task]));
    if (thread == 0) pages.numbers[slot] = number;
    fetch_task(pages, args.tasks[task], number, slot, thread);
  }
  __device__ void ask_head(unsigned char* head, int slot) const {
    const std::uint32_t number = device::warp_uniform(pages.numbers[slot]);
    if (number == kNoPage) return;
    const ColumnTask& of = pages.task(slot);
    fetch_head(head, of, fetched_view(pages.ends[slot], of, number));
  }
};

// ---- Kernel and launcher

template <int ValueBytes, class Cut, bool kVerify>
__global__ void __launch_bounds__(32 * kMostTeam, wide_warps_per_sm<ValueBytes, Cut>() / kMostTeam)
    unpack_pages_wide_kernel(UnpackArgs args, WideBlock block) {
  device::start_successor();
  const int warp = device::warp_number(), team = block.warps, thread = device::thread_of_warp();
  using Shape = WideShape<ValueBytes, Cut>;
  WideShared<ValueBytes, Cut> shared;
  shared.lay_out(device::dynamic_shared(), block);
  WidePages& pages = *shared.pages;
  auto& mine = shared.warps[warp];
  const SlabStage<Shape::kRun> stage{
      reinterpret_cast<std::uint32_t*>(shared.stages + warp * shared.stage_bytes)};
  clear_patches<PatchOf<ValueBytes>, Shape::kLanes * Shape::kRun>(mine.patch[0], thread);
  for (auto& bits : mine.bits) {
    if (thread < 3) bits[Shape::kZeroWord + thread] = 0;
  }
  device::wait_for_predecessor();
  WideQueue queue(args, pages, thread);
  if (warp == 0) queue.begin(shared.head);
  for (int slot = 0;; slot = slot_behind(slot)) {
    __pipeline_wait_prior(0);
    __syncthreads();  // the page's head has come, the next one's task too; nobody works on the one before
    const std::uint32_t number = device::warp_uniform(pages.numbers[slot]);
    if (number == kNoPage) break;
    const ColumnTask& task = pages.task(slot);
    const PageView view = uniform_view(fetched_view(pages.ends[slot], task, number));
    if (warp == 0) {
      const bool whole = open_page(shared, task, view, thread);
      if (thread == 0) pages.whole = whole;
    }
    __syncthreads();  // the page is open, and its head has been read
    if (warp == 0) queue.go_on(shared.head, slot_behind(slot));
    if (device::warp_uniform<int>(pages.whole) == 0) {
      if (threadIdx.x == 0) report_page(task, view, args.damaged_at);
      continue;
    }
    WidePage<ValueBytes, Cut> page{.shared = shared,
                                   .mine = mine,
                                   .stage = stage,
                                   .task = task,
                                   .page = view,
                                   .team = team,
                                   .thread = thread};
    page.find_slabs(block.slab_bytes);
    const std::uint64_t sum = page.template decode<kVerify>(warp);
    if (__any_sync(device::kWholeWarp, page.refused != 0) && thread == 0)
      report_page(task, view, args.damaged_at);
    if constexpr (kVerify) {
      if (task.path != ColumnPath::page_warp_verified) continue;
      const std::uint64_t of_warp = device::warp_sum(sum);
      if (thread == 0) pages.sums[warp] = of_warp;
      __syncthreads();  // the sums of all warps are there
      if (threadIdx.x == 0) {
        std::uint64_t all = 0;
        for (int w = 0; w < team; ++w) all += pages.sums[w];
        if (finish_check(view.tuples, all) != load_u32_anywhere(task.part_checks() + 4 * number))
          report_page(task, view, args.differs_at);
      }
    }
  }
  if (warp == 0) queue.end_tickets();
}

/// Blocks for tuples of so many lanes that the device holds at once.
template <auto kKernel>
cudaError_t resident_blocks_of(int tuple, int threads, std::size_t shared_bytes, int& blocks) {
  static device::KeptByDevice<int> kept[kMaxLanes + 1];
  if (auto error = device::raise_shared_limit(kKernel)) return error;
  return kept[tuple].get(blocks, [&](int of_device, int& value) {
    return device::count_resident_blocks<kKernel>(of_device, threads, shared_bytes, value);
  });
}

inline bool is_one_slab(int tuple_bytes) {
  return tuple_bytes <= static_cast<int>(kSlabBytes) ||
         (tuple_bytes % kSlabBytes != 0 && tuple_bytes <= static_cast<int>(kLongSlabBytes));
}

template <int ValueBytes, class Cut, bool kVerify>
cudaError_t launch_unpack_wide_as(int most_tuple, const UnpackArgs& args, std::uint64_t max_pages,
                                  cudaStream_t stream) {
  constexpr auto kKernel = unpack_pages_wide_kernel<ValueBytes, Cut, kVerify>;
  constexpr int kSlab = slab_lanes(ValueBytes);
  // One warp for rows that are all of a record, or a warp for each slab.
  WideBlock block{.warps = most_tuple <= 2 * kSlab ? 2 : kMostTeam,
                  .lanes = most_tuple,
                  .slab_bytes = kSlabBytes};
  if (is_one_slab(most_tuple * ValueBytes)) {
    block.slab_bytes = static_cast<unsigned>(most_tuple * ValueBytes);
    block.warps = 1;
  }
  WideShared<ValueBytes, Cut> shared;
  const std::size_t shared_bytes = shared.lay_out(nullptr, block);
  int most = 0;
  if (auto error = resident_blocks_of<kKernel>(most_tuple, 32 * block.warps, shared_bytes, most))
    return error;
  const auto blocks = static_cast<unsigned>(std::min<std::uint64_t>(max_pages, most));
  if (blocks == 0) return cudaSuccess;
  return device::launch_after_with<kKernel>(blocks, 32 * block.warps, shared_bytes, stream, args,
                                            block);
}

template <int ValueBytes, class Cut>
cudaError_t launch_unpack_wide_of(int most_tuple, const UnpackArgs& args, std::uint64_t max_pages,
                                  cudaStream_t stream) {
  return args.differs_at != nullptr
             ? launch_unpack_wide_as<ValueBytes, Cut, true>(most_tuple, args, max_pages, stream)
             : launch_unpack_wide_as<ValueBytes, Cut, false>(most_tuple, args, max_pages, stream);
}

template <int ValueBytes>
cudaError_t launch_unpack_wide(int most_tuple, const UnpackArgs& args, std::uint64_t max_pages,
                               cudaStream_t stream) {
  const int tuple_bytes = most_tuple * ValueBytes;
  if constexpr (ValueBytes != 3) {  // whose slabs are never full
    if (ValueBytes == 8 || !is_one_slab(tuple_bytes) || tuple_bytes % kSlabBytes == 0)
      return launch_unpack_wide_of<ValueBytes, FullCut<ValueBytes>>(most_tuple, args, max_pages,
                                                                    stream);
  }
  if constexpr (ValueBytes != 8) {
    return launch_unpack_wide_of<ValueBytes, OneLaneCut<ValueBytes>>(most_tuple, args, max_pages,
                                                                     stream);
  }
}

}  // namespace gdelta::cuda
