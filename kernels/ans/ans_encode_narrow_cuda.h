// What launch_classify_ans and launch_write_ans do, of narrow tuples. One width a translation unit.
#pragma once

#include "kernels/ans/ans_encode_cuda.h"

namespace gdelta::cuda {

cudaError_t launch_classify_ans_1(const AnsEncodeArgs<std::uint32_t>&, cudaStream_t);
cudaError_t launch_classify_ans_2(const AnsEncodeArgs<std::uint32_t>&, cudaStream_t);
cudaError_t launch_classify_ans_3(const AnsEncodeArgs<std::uint32_t>&, cudaStream_t);
cudaError_t launch_classify_ans_4(const AnsEncodeArgs<std::uint32_t>&, cudaStream_t);
cudaError_t launch_classify_ans_8(const AnsEncodeArgs<std::uint64_t>&, cudaStream_t);
cudaError_t launch_write_ans_1(const AnsEncodeArgs<std::uint32_t>&, cudaStream_t);
cudaError_t launch_write_ans_2(const AnsEncodeArgs<std::uint32_t>&, cudaStream_t);
cudaError_t launch_write_ans_3(const AnsEncodeArgs<std::uint32_t>&, cudaStream_t);
cudaError_t launch_write_ans_4(const AnsEncodeArgs<std::uint32_t>&, cudaStream_t);
cudaError_t launch_write_ans_8(const AnsEncodeArgs<std::uint64_t>&, cudaStream_t);

}  // namespace gdelta::cuda
