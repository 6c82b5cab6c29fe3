// Delta encoding of any order in one pass. A thread owns four values a block's width apart; earlier
// values come from the caches, where the neighbours have just put them, so device memory is read
// once for tuples that fit there.
#include "kernels/delta/delta_encode.h"
#include "kernels/delta/delta_encode_cuda.h"
#include "kernels/device/launch.cuh"

namespace gdelta {
namespace {

constexpr int kThreads = 256;
constexpr int kValues = 4;

template <class Value>
__global__ void __launch_bounds__(kThreads)
    delta_encode_kernel(int order, std::uint64_t tuple, std::uint64_t count,
                        const Value* __restrict__ in, Value* __restrict__ out,
                        const __grid_constant__ DeltaCoefficients coefficients) {
  const std::uint64_t base = blockIdx.x * std::uint64_t{kThreads * kValues} + threadIdx.x;
  Value result[kValues];
#pragma unroll
  for (int v = 0; v < kValues; ++v) {
    const std::uint64_t i = base + v * kThreads;
    result[v] = i < count ? in[i] : Value(0);
  }
  std::uint64_t distance = 0;
  for (int m = 1; m <= order; ++m) {
    distance += tuple;
    const Value c = static_cast<Value>(coefficients.c[m]);
#pragma unroll
    for (int v = 0; v < kValues; ++v) {
      const std::uint64_t i = base + v * kThreads;
      if (i < count && i >= distance) {
        result[v] =
            static_cast<Value>(result[v] + static_cast<std::uint64_t>(c) * in[i - distance]);
      }
    }
  }
#pragma unroll
  for (int v = 0; v < kValues; ++v) {
    const std::uint64_t i = base + v * kThreads;
    if (i < count) out[i] = result[v];
  }
}

template <class Value>
cudaError_t launch(int order, std::uint64_t tuple, std::uint64_t count, const void* in, void* out,
                   cudaStream_t stream) {
  const std::uint64_t blocks = (count + kThreads * kValues - 1) / (kThreads * kValues);
  if (blocks > 0x7fffffff) return cudaErrorInvalidValue;
  // Distances beyond the data meet no value; a stride of `count` says the same and cannot overflow.
  const std::uint64_t stride = tuple < count ? tuple : count;
  return device::launch_kernel(delta_encode_kernel<Value>, static_cast<unsigned>(blocks), kThreads,
                               stream, order, stride, count, static_cast<const Value*>(in),
                               static_cast<Value*>(out), delta_coefficients(order));
}

}  // namespace

cudaError_t launch_delta_encode(int value_bytes, int order, std::uint64_t tuple,
                                std::uint64_t count, const void* in, void* out,
                                cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  switch (value_bytes) {
    case 1:
      return launch<std::uint8_t>(order, tuple, count, in, out, stream);
    case 2:
      return launch<std::uint16_t>(order, tuple, count, in, out, stream);
    case 4:
      return launch<std::uint32_t>(order, tuple, count, in, out, stream);
    default:
      return launch<std::uint64_t>(order, tuple, count, in, out, stream);
  }
}

}  // namespace gdelta
