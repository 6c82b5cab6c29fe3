// Launchers of the kernels that make residuals of values: every width and narrow tuple.
#pragma once

#include "kernels/ans/ans_classify_pages.cuh"
#include "kernels/ans/ans_encode_narrow_cuda.h"
#include "kernels/ans/ans_write_pages.cuh"
#include "kernels/pages/narrow_tuple.h"

namespace gdelta::cuda {

/// Calls launch(runs) with runs of tuples as the tasks have them.
template <int ValueBytes, class Launch>
cudaError_t with_runs(const AnsEncodeArgs<WordOf<ValueBytes>>& args, const Launch& launch) {
  return for_narrow_tuple(args.tuple, [&](auto lanes) {
    using Shape = PackShape<ValueBytes, decltype(lanes)::value>;
    return args.has_strides ? launch(std::type_identity<ValueRuns<typename Shape::WithStrides>>{})
                            : launch(std::type_identity<ValueRuns<typename Shape::WithSteps>>{});
  });
}

template <int ValueBytes>
cudaError_t launch_classify_width(const AnsEncodeArgs<WordOf<ValueBytes>>& args,
                                  cudaStream_t stream) {
  return with_runs<ValueBytes>(args, [&](auto runs) {
    return launch_classify<typename decltype(runs)::type>(args, stream);
  });
}

template <int ValueBytes>
cudaError_t launch_write_width(const AnsEncodeArgs<WordOf<ValueBytes>>& args, cudaStream_t stream) {
  return with_runs<ValueBytes>(
      args, [&](auto runs) { return launch_write<typename decltype(runs)::type>(args, stream); });
}

}  // namespace gdelta::cuda
