// The second half of a fit, which launch_fit_ans launches behind the first.
#pragma once

#include "kernels/ans/ans_encode_cuda.h"

namespace gdelta::cuda {

/// Finds the bins of columns from `first` on, as many as have cells.
template <class Word>
cudaError_t launch_cut_ans(const AnsEncodeArgs<Word>& args, std::uint32_t first,
                           cudaStream_t stream);

}  // namespace gdelta::cuda
