// Which kernels classify and write pages: those that make residuals of values, one for each width and narrow tuple, or
// those that find residuals in memory.
#include "kernels/ans/ans_classify_pages.cuh"
#include "kernels/ans/ans_encode_narrow_cuda.h"
#include "kernels/ans/ans_write_pages.cuh"

namespace gdelta::cuda {

template <>
cudaError_t launch_classify_ans(const AnsEncodeArgs<std::uint32_t>& args, cudaStream_t stream) {
  if (args.num_tasks == 0) return cudaSuccess;
  if (!args.makes_residuals()) return launch_classify<StoredRuns<std::uint32_t>>(args, stream);
  return args.value_bytes == 1   ? launch_classify_ans_1(args, stream)
         : args.value_bytes == 2 ? launch_classify_ans_2(args, stream)
         : args.value_bytes == 3 ? launch_classify_ans_3(args, stream)
                                 : launch_classify_ans_4(args, stream);
}
template <>
cudaError_t launch_classify_ans(const AnsEncodeArgs<std::uint64_t>& args, cudaStream_t stream) {
  if (args.num_tasks == 0) return cudaSuccess;
  return args.makes_residuals() ? launch_classify_ans_8(args, stream)
                                : launch_classify<StoredRuns<std::uint64_t>>(args, stream);
}

template <>
cudaError_t launch_write_ans(const AnsEncodeArgs<std::uint32_t>& args, cudaStream_t stream) {
  if (args.num_tasks == 0) return cudaSuccess;
  if (!args.makes_residuals()) return launch_write<StoredRuns<std::uint32_t>>(args, stream);
  return args.value_bytes == 1   ? launch_write_ans_1(args, stream)
         : args.value_bytes == 2 ? launch_write_ans_2(args, stream)
         : args.value_bytes == 3 ? launch_write_ans_3(args, stream)
                                 : launch_write_ans_4(args, stream);
}
template <>
cudaError_t launch_write_ans(const AnsEncodeArgs<std::uint64_t>& args, cudaStream_t stream) {
  if (args.num_tasks == 0) return cudaSuccess;
  return args.makes_residuals() ? launch_write_ans_8(args, stream)
                                : launch_write<StoredRuns<std::uint64_t>>(args, stream);
}

}  // namespace gdelta::cuda
