// Residuals of columns, sign-extended, as pages of ans have them: page after page, lane after lane; and the
// states of each page; of wide tuples, which have no steps. A warp takes a unit of groups.
#include "kernels/ans/ans_page_runs.cuh"
#include "kernels/bitpack/pack_units.cuh"
#include "kernels/deltas/lane_residuals.cuh"

namespace gdelta::cuda {
namespace {

template <class Word>
__device__ void residuals_of_unit(const AnsEncodeArgs<Word>& args, std::uint32_t task_number,
                                  std::uint64_t unit) {
  const PackTask& task = args.tasks[task_number];
  const int thread = threadIdx.x & 31;
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
    int states_before = 0;
    if (number == 0 && order > 0)
      for (std::uint32_t l = 0; l < lane; ++l) states_before += task.orders[l];
    for (int k = 0; k < order; ++k) {
      const Word state = group.difference();
      if (number == 0 && thread == 31)
        store_value<std::uint64_t>(states + (states_before + order - 1 - k) * task.value_bytes,
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
  if (args.num_units == 0) return cudaSuccess;
  return device::launch_kernel(ans_residuals_kernel<Word>,
                               pack_grid((args.num_units + kPackWarps - 1) / kPackWarps),
                               kPackThreads, stream, args);
}

template cudaError_t launch_ans_residuals(const AnsEncodeArgs<std::uint32_t>&, cudaStream_t);
template cudaError_t launch_ans_residuals(const AnsEncodeArgs<std::uint64_t>&, cudaStream_t);

}  // namespace gdelta::cuda
