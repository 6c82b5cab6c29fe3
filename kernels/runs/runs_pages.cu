// Pages of the runs coder for page_decode_block.cuh. Spec: coders/runs.md.
#include "kernels/pages/page_decode_block.cuh"

namespace gdelta::cuda {
namespace {

using page_block::kOwnValues;
using page_block::kWarps;

// Where a lane is: its next run, and what is left of the one before.
template <class Word>
struct LanePlace {
  std::uint32_t at;
  std::uint32_t left;
  Word residual;
};

template <class Word>
struct RunsShared {
  LanePlace<Word> places[kMaxLanes];
  Word row[kWarps][kGroupValues];
};

template <class Word>
struct RunsSource {
  using Shared = RunsShared<Word>;

  __device__ static void clear(Shared&) {}

  __device__ static bool open(Shared& shared, const ColumnTask& task, const PageView& page) {
    bool valid = true;
    if (threadIdx.x == 0) {
      const std::uint32_t run_bytes = 2 + task.value_bytes;
      std::uint32_t at = task.state_bytes;
      for (int lane = 0; lane < task.tuple && valid; ++lane) {
        shared.places[lane] = {at, 0, 0};
        std::uint32_t tuples = 0;
        while (valid && tuples < page.tuples) {
          valid = at + run_bytes <= page.num_bytes;
          if (!valid) break;
          tuples += (page.bytes[at] | page.bytes[at + 1] << 8) + 1;
          at += run_bytes;
        }
        valid &= tuples == page.tuples;
      }
      valid &= at == page.num_bytes;
    }
    return __syncthreads_and(valid);  // and the places are written
  }

  __device__ static bool load(Shared& shared, const ColumnTask& task, const PageView& page,
                              std::uint32_t row, int lane, Word (&run)[kOwnValues]) {
    const int thread = threadIdx.x & 31, warp = threadIdx.x / 32;
    const std::uint32_t first = kGroupValues * row;
    const auto count = min(page.tuples - first, static_cast<std::uint32_t>(kGroupValues));
    if (thread == 0) {
      LanePlace<Word>& place = shared.places[lane];
      for (std::uint32_t i = 0; i < kGroupValues; ++i) {
        if (i < count && place.left == 0) {
          const unsigned char* p = page.bytes + place.at;
          place.left = (p[0] | p[1] << 8) + 1;
          place.residual = load_value<Word>(p + 2, task.value_bytes, false);
          place.at += 2 + task.value_bytes;
        }
        shared.row[warp][i] = i < count ? place.residual : 0;
        if (i < count) --place.left;
      }
    }
    __syncwarp();  // the row is there
#pragma unroll
    for (int i = 0; i < kOwnValues; ++i) run[i] = shared.row[warp][kOwnValues * thread + i];
    __syncwarp();  // and may be overwritten
    return true;
  }
};

}  // namespace

cudaError_t launch_runs_pages_block(const PageClass& pages, const UnpackArgs& args,
                                    std::uint64_t max_pages, cudaStream_t stream) {
  return page_block::launch<RunsSource, 7>(pages.value_bytes == 8, args, max_pages, stream);
}

}  // namespace gdelta::cuda
