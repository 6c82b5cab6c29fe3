// Residuals of wide tuples, sign-extended, as pages of ans have them: page after page, lane after lane; and the states of each
// page. Such tuples have no steps. A warp takes a strip of lanes of a page, or, where there are strides, a unit of groups.
#include "kernels/ans/ans_page_runs.cuh"
#include "kernels/bitpack/lane_strip.cuh"
#include "kernels/bitpack/pack_units.cuh"
#include "kernels/bitpack/unit_place.cuh"
#include "kernels/deltas/lane_residuals.cuh"

namespace gdelta::cuda {
namespace {

// ---- Strips

/// The states of a strip: `first_state` is the strip's first one.
template <class Shape>
__device__ void store_states(const AnsEncodeArgs<typename Shape::Word>& args, const PackTask& task,
                             const PackFront<Shape>& front, const AnsPageView& page,
                             int first_state, const LaneHistory<Shape>& history, int thread) {
  const DeltaState own = front.state_of(thread);
  if (own.exists())
    store_value<std::uint64_t>(args.page_states +
                                   page.number * static_cast<std::uint64_t>(args.state_room) +
                                   (first_state + own.number()) * task.value_bytes,
                               Shape::kValueBytes, false, history.before[own.lane][own.k]);
}

/// A run's residuals, of which there are `count`, to their place.
template <class Word>
__device__ void store_residuals(const Word (&run)[kAnsRun], int count, Word* out) {
  constexpr int kEach = 16 / sizeof(Word);
  if (count >= kAnsRun && reinterpret_cast<std::uintptr_t>(out) % 16 == 0) {
#pragma unroll
    for (int i = 0; i < kAnsRun; i += kEach) {
      union {
        uint4 vector;
        Word words[kEach];
      } piece;
#pragma unroll
      for (int j = 0; j < kEach; ++j) piece.words[j] = run[i + j];
      *reinterpret_cast<uint4*>(out + i) = piece.vector;
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < kAnsRun; ++i)
    if (i < count) out[i] = run[i];
}

template <class Shape>
__device__ void residuals_of_strip(const AnsEncodeArgs<typename Shape::Word>& args,
                                   std::uint32_t task_number, std::uint32_t page_number,
                                   int first_lane, LaneHistory<Shape>& history) {
  using Word = typename Shape::Word;
  const PackTask& task = args.tasks[task_number];
  const int thread = threadIdx.x & 31;
  const AnsPageView page(task, page_number);
  const LaneStrip strip(task, first_lane);
  const PackFront<Shape> front(strip);
  history.load(strip, page.first, thread);
  const int first_state = states_before(task, first_lane);
  store_states(args, task, front, page, first_state, history, thread);
  __syncwarp();  // states have been read before the history moves on
  Word origins[Shape::kTuple];
#pragma unroll
  for (int lane = 0; lane < Shape::kTuple; ++lane)
    origins[lane] = read_value<Shape>(strip, 0, min(lane, strip.lanes - 1));

  Word* const out = args.residuals + page.at + static_cast<std::uint64_t>(first_lane) * page.tuples;
  Word unequal = 0;
  for_each_tile<Shape>(
      strip, page.first, page.tuples, thread,
      [&](std::uint32_t tile, std::uint32_t left, const std::uint32_t(&words)[Shape::kRunWords]) {
        const int count =
            static_cast<int>(min(left, std::uint32_t{Shape::kTile})) - kAnsRun * thread;
        Word values[Shape::kTuple][kAnsRun];
        read_values(front, words, values);
#pragma unroll
        for (int lane = 0; lane < Shape::kTuple; ++lane) {
          if (lane >= strip.lanes) break;
          const int order = front.orders[lane];
          history.difference(values[lane], lane, order, thread);
          // Residuals of order 0 are the values; of equal ones others are zero, from the first on.
          const Word equal = order == 0 ? origins[lane] : 0;
#pragma unroll
          for (int i = 0; i < kAnsRun; ++i) {
            values[lane][i] &= value_mask<Word>(8 * Shape::kValueBytes);
            if (i < count) unequal |= values[lane][i] ^ equal;
            values[lane][i] = sign_extended(values[lane][i], 8 * Shape::kValueBytes);
          }
          store_residuals(values[lane], count,
                          out + static_cast<std::uint64_t>(lane) * page.tuples +
                              Shape::kTile * tile + kAnsRun * thread);
        }
      });
  if (__any_sync(device::kWholeWarp, unequal != 0) && thread == 0) args.differs[task_number] = 1;
}

template <class Shape>
__global__ void __launch_bounds__(kPackThreads)
    ans_strip_residuals_kernel(AnsEncodeArgs<typename Shape::Word> args) {
  __shared__ LaneHistory<Shape> histories[kPackWarps];
  const auto strips = static_cast<std::uint32_t>((args.tuple + kStripLanes - 1) / kStripLanes);
  const std::uint64_t of_task = std::uint64_t{args.most_pages} * strips;
  const std::uint64_t end = of_task * args.num_tasks;
  for (std::uint64_t at = blockIdx.x * std::uint64_t{kPackWarps} + device::warp_number(); at < end;
       at += gridDim.x * std::uint64_t{kPackWarps}) {
    const auto task = static_cast<std::uint32_t>(at / of_task);
    const auto in_task = static_cast<std::uint32_t>(at % of_task);
    const std::uint32_t page = in_task / strips;
    if (page >= args.tasks[task].num_pages || args.tasks[task].num_strides > 0) continue;
    residuals_of_strip(args, task, page, static_cast<int>(kStripLanes * (in_task % strips)),
                       histories[threadIdx.x / 32]);
    __syncwarp();  // the history has been read
  }
}

template <class Shape>
cudaError_t launch_strips(const AnsEncodeArgs<typename Shape::Word>& args, cudaStream_t stream) {
  const std::uint64_t strips = (args.tuple + kStripLanes - 1) / kStripLanes;
  const std::uint64_t warps = strips * args.most_pages * args.num_tasks;
  if (warps == 0) return cudaSuccess;
  return device::launch_kernel(ans_strip_residuals_kernel<Shape>,
                               pack_grid((warps + kPackWarps - 1) / kPackWarps), kPackThreads,
                               stream, args);
}

cudaError_t launch_all_strips(const AnsEncodeArgs<std::uint64_t>& args, cudaStream_t stream) {
  return launch_strips<StripShape<8>>(args, stream);
}
cudaError_t launch_all_strips(const AnsEncodeArgs<std::uint32_t>& args, cudaStream_t stream) {
  switch (args.value_bytes) {
    case 1:
      return launch_strips<StripShape<1>>(args, stream);
    case 2:
      return launch_strips<StripShape<2>>(args, stream);
    case 3:
      return launch_strips<StripShape<3>>(args, stream);
    case 4:
      return launch_strips<StripShape<4>>(args, stream);
    default:
      return cudaErrorInvalidValue;
  }
}

// ---- Units

template <class Word>
__device__ void residuals_of_unit(const AnsEncodeArgs<Word>& args, std::uint32_t task_number,
                                  std::uint64_t unit) {
  const PackTask& task = args.tasks[task_number];
  const int thread = threadIdx.x & 31;
  if (task.num_strides == 0) return;
  const UnitView view =
      unit_view(task, static_cast<std::uint32_t>(unit - args.unit_starts[task_number]));
  if (view.count == 0) return;
  const AnsPageView page(task, view.page);
  unsigned char* const states =
      args.page_states + page.number * static_cast<std::uint64_t>(args.state_room);
  UnitGroups<true, Word> groups(task, view);
  for (std::uint32_t turn = 0; turn <= view.count; ++turn) {
    GroupValues<Word> group = groups.ahead;
    const std::uint32_t first = groups.first(), lane = groups.lane, number = groups.number;
    const int order = groups.order;
    if (turn < view.count) groups.next();
    if (turn == 0) continue;
    const int first_state =
        number == 0 && order > 0 ? states_before(task, static_cast<int>(lane)) : 0;
    for (int k = 0; k < order; ++k) {
      const Word state = group.difference();
      if (number == 0 && thread == 31)
        store_value<std::uint64_t>(states + (first_state + order - 1 - k) * task.value_bytes,
                                   task.value_bytes, false, state);
    }
    Word* const out = args.residuals + page.at + static_cast<std::uint64_t>(lane) * page.tuples +
                      kGroupValues * number;
#pragma unroll
    for (int j = 0; j < kGroupRegisters; ++j) {
      const std::uint32_t i = 32 * j + thread;
      if (first + i < task.records)
        out[i] = sign_extended(group.words[j + 1], 8 * task.value_bytes);
    }
  }
  if (__any_sync(device::kWholeWarp, groups.differs) && thread == 0) args.differs[task_number] = 1;
}

template <class Word>
__global__ void __launch_bounds__(kPackThreads) ans_residuals_kernel(AnsEncodeArgs<Word> args) {
  const PackArgs units{.tasks = args.tasks, .unit_starts = args.unit_starts};
  const PackRange range{.first_task = 0, .end_task = args.num_tasks};
  for_each_unit<kPackWarps>(units, range, [&](std::uint32_t task, std::uint64_t unit) {
    residuals_of_unit(args, task, unit);
  });
}

}  // namespace

template <class Word>
cudaError_t launch_ans_residuals(const AnsEncodeArgs<Word>& args, cudaStream_t stream) {
  if (auto error = launch_all_strips(args, stream)) return error;
  if (args.num_units == 0 || !args.has_strides) return cudaSuccess;
  return device::launch_kernel(ans_residuals_kernel<Word>,
                               pack_grid((args.num_units + kPackWarps - 1) / kPackWarps),
                               kPackThreads, stream, args);
}

template cudaError_t launch_ans_residuals(const AnsEncodeArgs<std::uint32_t>&, cudaStream_t);
template cudaError_t launch_ans_residuals(const AnsEncodeArgs<std::uint64_t>&, cudaStream_t);

}  // namespace gdelta::cuda
