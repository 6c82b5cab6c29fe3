// The launches of both looks at pages that a warp takes, and at pages of wide tuples, of which it takes a strip.
#pragma once

#include "kernels/bitpack/pack_pages_cuda.h"

namespace gdelta::cuda {

/// What launch_size_units and launch_write_pages do, for a range by pages.
cudaError_t launch_size_warp(const PackArgs& args, const PackRange& range, cudaStream_t stream);
cudaError_t launch_write_warp(const PackArgs& args, const PackRange& range, cudaStream_t stream);

// One width a translation unit, of narrow and of wide tuples.
cudaError_t launch_size_warp_1(const PackArgs&, const PackRange&, cudaStream_t);
cudaError_t launch_size_warp_2(const PackArgs&, const PackRange&, cudaStream_t);
cudaError_t launch_size_warp_3(const PackArgs&, const PackRange&, cudaStream_t);
cudaError_t launch_size_warp_4(const PackArgs&, const PackRange&, cudaStream_t);
cudaError_t launch_size_warp_8(const PackArgs&, const PackRange&, cudaStream_t);
cudaError_t launch_write_warp_1(const PackArgs&, const PackRange&, cudaStream_t);
cudaError_t launch_write_warp_2(const PackArgs&, const PackRange&, cudaStream_t);
cudaError_t launch_write_warp_3(const PackArgs&, const PackRange&, cudaStream_t);
cudaError_t launch_write_warp_4(const PackArgs&, const PackRange&, cudaStream_t);
cudaError_t launch_write_warp_8(const PackArgs&, const PackRange&, cudaStream_t);
cudaError_t launch_size_wide_1(const PackArgs&, const PackRange&, cudaStream_t);
cudaError_t launch_size_wide_2(const PackArgs&, const PackRange&, cudaStream_t);
cudaError_t launch_size_wide_3(const PackArgs&, const PackRange&, cudaStream_t);
cudaError_t launch_size_wide_4(const PackArgs&, const PackRange&, cudaStream_t);
cudaError_t launch_size_wide_8(const PackArgs&, const PackRange&, cudaStream_t);
cudaError_t launch_write_wide_1(const PackArgs&, const PackRange&, cudaStream_t);
cudaError_t launch_write_wide_2(const PackArgs&, const PackRange&, cudaStream_t);
cudaError_t launch_write_wide_3(const PackArgs&, const PackRange&, cudaStream_t);
cudaError_t launch_write_wide_4(const PackArgs&, const PackRange&, cudaStream_t);
cudaError_t launch_write_wide_8(const PackArgs&, const PackRange&, cudaStream_t);

}  // namespace gdelta::cuda
