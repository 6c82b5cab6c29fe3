// Pages of the runs coder for page_decode_block.cuh.
#include "kernels/pages/page_decode_block.cuh"

namespace gdelta::cuda {
namespace {

using page_block::kOwnValues;
using page_block::kThreads;
using page_block::kWarps;

template <class Word>
struct RunsSource {
  struct Shared {
    std::uint32_t first_run[kMaxPageGroups + 1];
    Word values[kWarps][kGroupValues];
  };

  __device__ static void clear(Shared&) {}

  /// Thread 0 adds up: it is a sample of a coder, not of speed.
  __device__ static bool open(Shared& shared, const ColumnTask& task, const PageView& page) {
    const std::uint32_t groups = page.groups * task.tuple;
    if (page.num_bytes < task.state_bytes + groups) return false;
    if (threadIdx.x == 0) {
      std::uint32_t runs = 0;
      for (std::uint32_t group = 0; group < groups; ++group) {
        shared.first_run[group] = runs;
        runs += page.bytes[task.state_bytes + group];
      }
      shared.first_run[groups] = runs;
    }
    __syncthreads();  // all first runs are there
    return page.num_bytes ==
           task.state_bytes + groups + shared.first_run[groups] * (1u + task.value_bytes);
  }

  __device__ static bool load(Shared& shared, const ColumnTask& task, const PageView& page,
                              std::uint32_t row, int lane, Word (&run)[kOwnValues]) {
    const int thread = threadIdx.x & 31, warp = threadIdx.x / 32;
    const std::uint32_t group = lane * page.groups + row;
    const std::uint32_t run_bytes = 1u + task.value_bytes;
    const unsigned char* runs = page.bytes + task.state_bytes + page.groups * task.tuple;
    const std::uint32_t wanted = min(page.tuples - row * kGroupValues, std::uint32_t{kGroupValues});
    std::uint32_t at = 0;
    bool valid = true;
    for (std::uint32_t r = shared.first_run[group]; valid && r < shared.first_run[group + 1]; ++r) {
      const unsigned char* p = runs + r * run_bytes;
      const std::uint32_t length = p[0] + 1u;
      valid = length <= wanted - at;
      if (!valid) break;
      const Word value = load_value<Word>(p + 1, task.value_bytes, false);
      for (std::uint32_t i = at + thread; i < at + length; i += 32) shared.values[warp][i] = value;
      at += length;
    }
    valid = valid && at == wanted;
    __syncwarp();  // all values are there
    for (int i = 0; i < kOwnValues; ++i)
      run[i] =
          kOwnValues * thread + i < at ? shared.values[warp][kOwnValues * thread + i] : Word{0};
    __syncwarp();  // and have been read
    return valid;
  }
};

}  // namespace

cudaError_t launch_runs_pages_block(bool wide, const UnpackArgs& args, std::uint64_t max_pages,
                                    cudaStream_t stream) {
  return page_block::launch<RunsSource, 4>(wide, args, max_pages, stream);
}

}  // namespace gdelta::cuda
