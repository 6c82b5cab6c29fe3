#include "bench/scan_peers.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cuda/functional>
#include <cuda/std/functional>

#include "bench/cub_scan.cuh"

namespace gdelta::bench {
namespace {

using scan::Operator;
using scan::Shape;
using scan::Type;

struct Call {
  const Shape& shape;
  const void* in;
  void* out;
  void* scratch;
  std::size_t& scratch_bytes;
  cudaStream_t stream;
};

template <class V, class Op>
cudaError_t repeat(const Call& call, Op op) {
  const std::uint64_t count = call.shape.count * scan::type_bytes(call.shape.type) / sizeof(V);
  return repeat_cub_scan<V>(call.shape.order, count, op, call.in, call.out, call.scratch,
                            call.scratch_bytes, call.stream);
}

// ---- Lane after lane

/// Where value i lies if lanes follow one another. The first lanes may be longer by one.
struct LaneOrder {
  std::uint32_t stride;
  std::uint32_t rows;   ///< of the shorter lanes
  std::uint32_t extra;  ///< lanes that have one more

  struct Place {
    std::uint32_t lane, row;
  };
  __host__ __device__ Place place(std::uint32_t i) const {
    const std::uint32_t in_long = extra * (rows + 1);
    if (i < in_long) return {i / (rows + 1), i % (rows + 1)};
    return {extra + (i - in_long) / rows, (i - in_long) % rows};
  }
};

struct LaneOf {
  LaneOrder order;
  __host__ __device__ std::uint32_t operator()(std::uint32_t i) const {
    return order.place(i).lane;
  }
};

struct IndexOf {
  LaneOrder order;
  __host__ __device__ std::uint32_t operator()(std::uint32_t i) const {
    const LaneOrder::Place place = order.place(i);
    return place.row * order.stride + place.lane;
  }
};

template <class T>
cudaError_t sum_lanes(const Call& call) {
  const Shape& shape = call.shape;
  if (shape.count > 0xffffffff || shape.tuple > shape.count) return cudaErrorNotSupported;
  const auto count = static_cast<std::uint32_t>(shape.count);
  const auto stride = static_cast<std::uint32_t>(shape.tuple);
  const LaneOrder order{stride, count / stride, count % stride};
  const thrust::counting_iterator<std::uint32_t> numbers(0);
  const auto keys = thrust::make_transform_iterator(numbers, LaneOf{order});
  const auto indices = thrust::make_transform_iterator(numbers, IndexOf{order});
  const T* from = static_cast<const T*>(call.in);
  T* const to = static_cast<T*>(call.out);
  for (int q = 0; q < shape.order; ++q, from = to) {
    const cudaError_t error = cub::DeviceScan::InclusiveSumByKey(
        call.scratch, call.scratch_bytes, keys, thrust::make_permutation_iterator(from, indices),
        thrust::make_permutation_iterator(to, indices), count, cuda::std::equal_to<>{},
        call.stream);
    if (error != cudaSuccess || call.scratch == nullptr) return error;
  }
  return cudaSuccess;
}

// ---- Shapes

/// A struct of 512 bytes leaves the registers: 4 KB of stack a thread.
constexpr bool takes_struct(std::size_t bytes) { return bytes <= 256; }

template <class T, int S>
cudaError_t sum_structs(const Call& call) {
  return repeat<Tuple<T, S>>(call, Lanewise<cuda::std::plus<T>>{});
}

template <class T>
cudaError_t sum_words(const Call& call) {
  switch (call.shape.tuple) {
    case 1:
      // CUB has tuned sizes for its own operators only.
      return repeat<T>(call, cuda::std::plus<T>{});
    case 2:
      return sum_structs<T, 2>(call);
    case 3:
      return sum_structs<T, 3>(call);
    case 4:
      return sum_structs<T, 4>(call);
    case 5:
      return sum_structs<T, 5>(call);
    case 6:
      return sum_structs<T, 6>(call);
    case 7:
      return sum_structs<T, 7>(call);
    case 8:
      return sum_structs<T, 8>(call);
    case 16:
      return sum_structs<T, 16>(call);
    case 32:
      return sum_structs<T, 32>(call);
    case 64:
      if constexpr (takes_struct(64 * sizeof(T))) return sum_structs<T, 64>(call);
      return sum_lanes<T>(call);
    default:
      return call.shape.tuple > scan::kMaxInterleavedTuple ? sum_lanes<T>(call)
                                                           : cudaErrorNotSupported;
  }
}

/// One lane. CUB adds narrow floats up in their own type, ours in float.
cudaError_t sum_others(const Call& call) {
  switch (call.shape.type) {
    case Type::u8:
      return repeat<std::uint8_t>(call, cuda::std::plus<std::uint8_t>{});
    case Type::u16:
      return repeat<std::uint16_t>(call, cuda::std::plus<std::uint16_t>{});
    case Type::f16:
      return repeat<__half>(call, cuda::std::plus<__half>{});
    case Type::bf16:
      return repeat<__nv_bfloat16>(call, cuda::std::plus<__nv_bfloat16>{});
    case Type::f32:
      return repeat<float>(call, cuda::std::plus<float>{});
    case Type::f64:
      return repeat<double>(call, cuda::std::plus<double>{});
    default:
      return cudaErrorNotSupported;
  }
}

cudaError_t scan_u32(const Call& call) {
  using T = std::uint32_t;
  switch (call.shape.op) {
    case Operator::product:
      return repeat<T>(call, cuda::std::multiplies<T>{});
    case Operator::max:
      return repeat<T>(call, cuda::maximum<T>{});
    case Operator::min:
      return repeat<T>(call, cuda::minimum<T>{});
    case Operator::bit_xor:
      return repeat<T>(call, cuda::std::bit_xor<T>{});
    case Operator::bit_and:
      return repeat<T>(call, cuda::std::bit_and<T>{});
    case Operator::bit_or:
      return repeat<T>(call, cuda::std::bit_or<T>{});
    default:
      return cudaErrorNotSupported;
  }
}

}  // namespace

std::uint64_t peer_count(const Shape& shape) {
  if (!takes_struct(shape.tuple * scan::type_bytes(shape.type))) return shape.count;
  return shape.count / shape.tuple * shape.tuple;
}

cudaError_t launch_cub(const Shape& shape, const void* in, void* out, void* scratch,
                       std::size_t& scratch_bytes, cudaStream_t stream) {
  const Call call{.shape = shape,
                  .in = in,
                  .out = out,
                  .scratch = scratch,
                  .scratch_bytes = scratch_bytes,
                  .stream = stream};
  if (shape.exclusive || shape.backward) return cudaErrorNotSupported;
  if (shape.op == Operator::sum && shape.type == Type::u32) return sum_words<std::uint32_t>(call);
  if (shape.op == Operator::sum && shape.type == Type::u64) return sum_words<std::uint64_t>(call);
  if (shape.tuple != 1) return cudaErrorNotSupported;
  if (shape.op == Operator::sum) return sum_others(call);
  return shape.type == Type::u32 ? scan_u32(call) : cudaErrorNotSupported;
}

}  // namespace gdelta::bench
