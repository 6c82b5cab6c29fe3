// The scan of any value and operator the way a user of CUB would write it: one scan an order, a
// struct a row of a tuple.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cub/device/device_scan.cuh>

namespace gdelta::bench {

/// As wide an alignment as the size allows, as uint2 and uint4 have: it lets CUB load vectors.
constexpr std::size_t tuple_alignment(std::size_t bytes) {
  const std::size_t power = bytes & (~bytes + 1);
  return power < 16 ? power : 16;
}

template <class T, int S>
struct alignas(tuple_alignment(S * sizeof(T))) Tuple {
  T v[S];
};

/// An operator on every lane of a tuple.
template <class Op>
struct Lanewise {
  template <class T, int S>
  __device__ Tuple<T, S> operator()(const Tuple<T, S>& a, const Tuple<T, S>& b) const {
    Tuple<T, S> r;
#pragma unroll
    for (int i = 0; i < S; ++i) r.v[i] = Op{}(a.v[i], b.v[i]);
    return r;
  }
};

/// Scans `order` times, in place from the second time on. CUB's convention: null scratch asks for
/// `scratch_bytes`.
template <class V, class Op>
cudaError_t repeat_cub_scan(int order, std::uint64_t count, Op op, const void* in, void* out,
                            void* scratch, std::size_t& scratch_bytes, cudaStream_t stream) {
  const V* from = static_cast<const V*>(in);
  V* const to = static_cast<V*>(out);
  for (int q = 0; q < order; ++q, from = to) {
    const cudaError_t error = cub::DeviceScan::InclusiveScan(
        scratch, scratch_bytes, from, to, op, static_cast<std::int64_t>(count), stream);
    if (error != cudaSuccess || scratch == nullptr) return error;
  }
  return cudaSuccess;
}

}  // namespace gdelta::bench
