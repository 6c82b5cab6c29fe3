// What has been found in a chunk becomes its verdict.
#include "codec/cuda/container/chunk_decode_cuda.h"
#include "gdelta/error.h"
#include "kernels/device/launch.cuh"

namespace gdelta::cuda {
namespace {

constexpr int kSettleVerdictsThreads = 256;

// The last kernel: what follows it is the caller's, and is not started early.
__global__ void __launch_bounds__(kSettleVerdictsThreads) settle_verdicts_kernel(SettleArgs args) {
  device::wait_for_predecessor();
  const std::uint32_t chunk = blockIdx.x * kSettleVerdictsThreads + threadIdx.x;
  if (chunk >= args.num_chunks) return;
  if (args.verdicts[chunk].code != static_cast<int>(Errc::ok)) return;
  if (args.read != nullptr && args.read[chunk].path < ColumnPath::page_warp) {
    args.verdicts[chunk] = {static_cast<int>(Errc::unsupported_feature), 0,
                            args.read[chunk].section_at};
    return;
  }
  unsigned long long at = args.damaged_at[chunk];
  if (at == kNoDamage) at = args.differs_at[chunk];
  if (at != kNoDamage) args.verdicts[chunk] = {static_cast<int>(Errc::corrupt), 0, at};
}

}  // namespace

cudaError_t launch_settle_verdicts(const SettleArgs& args, cudaStream_t stream) {
  if (args.num_chunks == 0) return cudaSuccess;
  return device::launch_after<settle_verdicts_kernel>(
      (args.num_chunks + kSettleVerdictsThreads - 1) / kSettleVerdictsThreads,
      kSettleVerdictsThreads, stream, args);
}

}  // namespace gdelta::cuda
