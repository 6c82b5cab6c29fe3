#include <thrust/execution_policy.h>
#include <thrust/scan.h>

#include <cstdlib>
#include <cuda/std/functional>

#include "bench/cub_scan.cuh"
#include "bench/scan_peers.h"

namespace gdelta::bench {
namespace {

using scan::Shape;

/// Thrust's scratch, handed out anew for every call, so that it takes part in graphs.
struct ScratchAllocator {
  using value_type = char;
  void* scratch;
  std::size_t bytes;

  char* allocate(std::ptrdiff_t wanted) {
    if (static_cast<std::size_t>(wanted) > bytes) std::exit(1);
    return static_cast<char*>(scratch);
  }
  void deallocate(char*, std::size_t) {}
};

template <class V, class Op>
bool repeat(const Shape& shape, Op op, const void* in, void* out, ScratchAllocator allocator,
            cudaStream_t stream) {
  const std::size_t count = shape.count * scan::type_bytes(shape.type) / sizeof(V);
  const V* from = static_cast<const V*>(in);
  V* const to = static_cast<V*>(out);
  for (int q = 0; q < shape.order; ++q, from = to) {
    thrust::inclusive_scan(thrust::cuda::par_nosync(allocator).on(stream), from, from + count, to,
                           op);
  }
  return true;
}

template <class T>
bool sum_words(const Shape& shape, const void* in, void* out, ScratchAllocator allocator,
               cudaStream_t stream) {
  const Lanewise<cuda::std::plus<T>> add;
  switch (shape.tuple) {
    case 1:
      return repeat<T>(shape, cuda::std::plus<T>{}, in, out, allocator, stream);
    case 2:
      return repeat<Tuple<T, 2>>(shape, add, in, out, allocator, stream);
    case 5:
      return repeat<Tuple<T, 5>>(shape, add, in, out, allocator, stream);
    case 8:
      return repeat<Tuple<T, 8>>(shape, add, in, out, allocator, stream);
    default:
      return false;
  }
}

}  // namespace

bool launch_thrust(const Shape& shape, const void* in, void* out, void* scratch,
                   std::size_t scratch_bytes, cudaStream_t stream) {
  if (shape.op != scan::Operator::sum) return false;
  const ScratchAllocator allocator{scratch, scratch_bytes};
  if (shape.type == scan::Type::u32)
    return sum_words<std::uint32_t>(shape, in, out, allocator, stream);
  return shape.type == scan::Type::u64 &&
         sum_words<std::uint64_t>(shape, in, out, allocator, stream);
}

}  // namespace gdelta::bench
