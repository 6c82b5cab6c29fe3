// The device scan of the public API: checks, then the kernels' launchers.
#include "codec/cuda/cuda_error.h"
#include "codec/scan/scan_shape.h"
#include "kernels/scan/scan_cuda.h"

namespace gdelta {

Result<std::size_t> scan_scratch_bytes(const Scan& scan) {
  const Result<scan::Shape> shape = scan_shape(scan);
  if (!shape) return tl::unexpected(shape.error());
  int device = 0;
  GDELTA_CUDA_TRY(cudaGetDevice(&device));
  return scan::scratch_bytes(*shape, scan::Path::automatic, device);
}

Result<void> scan_device(const Scan& scan, const void* in, void* out, void* scratch,
                         std::size_t scratch_bytes, ::CUstream_st* stream) {
  const Result<scan::Shape> shape = scan_shape(scan);
  if (!shape) return tl::unexpected(shape.error());
  int device = 0;
  GDELTA_CUDA_TRY(cudaGetDevice(&device));
  const auto path = scan::Path::automatic;
  const cudaError_t error =
      scan::launch_scan(*shape, path, in, out, scratch, scratch_bytes, stream);
  if (error == cudaErrorInvalidValue) {
    if (scratch_bytes < scan::scratch_bytes(*shape, path, device)) {
      return fail(Errc::output_too_small, "the scratch is smaller than scan_scratch_bytes says");
    }
    return fail(Errc::invalid_argument,
                "the buffers of a scan are aligned to its type, and the same or disjoint");
  }
  if (error != cudaSuccess) return cuda::cuda_failure(error, "scan");
  return {};
}

}  // namespace gdelta
