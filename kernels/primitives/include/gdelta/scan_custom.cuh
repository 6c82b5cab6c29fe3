// Device scan with the caller's own associative operator, which need not commute. For nvcc; nothing
// to link.
//
// A block takes a tile; tiles are numbered from a counter, so a block only waits for blocks that
// already run. The carry of a tile is the ordered combination of the aggregates since the start of
// its group of tiles, read side by side, and of the prefix that the last tile of the group before
// publishes: a fixed tree, the same bits on every run. Aggregates are combined before the prefix is
// awaited, so that groups follow each other by one hop. Higher orders scan the tile again while it
// is in shared memory: one read and one write of the data, whatever the order.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "gdelta/device_access.cuh"

namespace gdelta {

/// A scan of `count` values of any trivially copyable type, lanes `tuple` values apart.
struct CustomScan {
  std::uint64_t count = 0;
  int order = 1;  ///< 1 or more
  int tuple = 1;  ///< 1 ... 64
  bool exclusive = false;
};

namespace custom_scan {

constexpr int kThreads = 128;
constexpr int kRun = 8;  // values a thread combines one after the other
constexpr int kGroup = 256;

template <class Value>
struct Buffers {
  unsigned long long* counter;
  unsigned* flags;    ///< [order][tiles] then [order][groups]
  Value* aggregates;  ///< [order][tiles][tuple]
  Value* prefixes;    ///< [order][groups][tuple]
};

struct Sizes {
  std::uint64_t tiles;
  std::uint64_t groups;
  std::size_t flag_bytes;
  std::size_t aggregate_bytes;
  std::size_t total_bytes;
};

inline int tile_rows(int tuple) { return kThreads / tuple * kRun; }

/// Small values cross shared memory on their way, so that neighbouring threads move neighbouring
/// values; runs of larger ones fill whole sectors by themselves.
template <class Value>
constexpr bool kStaged = sizeof(Value) <= 32;
/// Where a value of a staged tile lies: a gap behind every run of one lane keeps runs apart in the
/// banks.
__host__ __device__ constexpr int staged(int index) { return index + index / kRun; }

/// Shared memory of a block: states and sums of its threads, carries, the tile.
template <class Value>
constexpr std::size_t shared_bytes() {
  return (2 * kThreads + 64 + (kStaged<Value> ? staged(kThreads * kRun) : 0)) * sizeof(Value);
}

template <class Value>
Sizes sizes_of(const CustomScan& scan) {
  Sizes s{};
  const std::uint64_t tile = static_cast<std::uint64_t>(tile_rows(scan.tuple)) * scan.tuple;
  s.tiles = scan.count / tile + (scan.count % tile != 0);
  s.groups = s.tiles / kGroup + 1;
  const auto align = [](std::size_t bytes) { return (bytes + 255) / 256 * 256; };
  s.flag_bytes = align(256 + scan.order * (s.tiles + s.groups) * sizeof(unsigned));
  s.aggregate_bytes = align(scan.order * s.tiles * scan.tuple * sizeof(Value));
  s.total_bytes =
      s.flag_bytes + s.aggregate_bytes + align(scan.order * s.groups * scan.tuple * sizeof(Value));
  return s;
}

__device__ inline void raise(unsigned* flag) {
  __threadfence();
  device::store_release(flag, 1);
}

__device__ inline void await(const unsigned* flag) {
  while (device::load_acquire(flag) == 0) {
  }
}

/// Every thread's state becomes the ordered combination of the states of its lane up to its own.
template <class Value, class Op>
__device__ void scan_segments(Value* states, Op op, int segments, int tuple) {
  const int segment = threadIdx.x / tuple;
  for (int distance = 1; distance < segments; distance *= 2) {
    Value sum = states[threadIdx.x];
    if (segment >= distance) sum = op(states[threadIdx.x - distance * tuple], sum);
    __syncthreads();  // everyone has read
    states[threadIdx.x] = sum;
    __syncthreads();  // and written
  }
}

/// Where values come from and go to: by their number in the order of the scan.
template <class Value>
struct FromArray {
  const Value* in;
  __device__ Value operator()(std::uint64_t i) const { return in[i]; }
};
template <class Value>
struct ToArray {
  Value* out;
  __device__ void operator()(std::uint64_t i, const Value& value) const { out[i] = value; }
};

/// What an exclusive scan writes for `own`: what came before, unless the operator knows better.
template <class Value, class Op>
__device__ Value value_before(const Op& op, const Value& before, const Value& own) {
  if constexpr (requires { op.value_before(before, own); }) {
    return op.value_before(before, own);
  } else {
    return before;
  }
}

/// What the next order scans.
template <class Value, class Op>
__device__ Value next_order(const Op& op, const Value& sum, const Value& own) {
  if constexpr (requires { op.next_order(sum, own); }) {
    return op.next_order(sum, own);
  } else {
    return sum;
  }
}

/// A thread owns kRun rows of one lane; lanes of a row lie in neighbouring threads.
template <class Value, class Op, class Load, class Store>
__global__ void __launch_bounds__(kThreads)
    kernel(CustomScan scan, Load load, Store store, Op op, Value identity, Sizes sizes,
           Buffers<Value> buffers) {
  Value* const states = reinterpret_cast<Value*>(device::dynamic_shared());  // [kThreads]
  Value* const sums = states + kThreads;                                     // [kThreads]
  Value* const carries = sums + kThreads;                                    // [tuple]
  Value* const staging = carries + 64;  // [staged(kThreads * kRun)]
  __shared__ unsigned long long ticket;
  const int tuple = scan.tuple;
  const int segments = kThreads / tuple;
  const int segment = threadIdx.x / tuple;
  const int lane = threadIdx.x % tuple;
  const bool active = segment < segments;
  if (threadIdx.x == 0) ticket = atomicAdd(buffers.counter, 1ull);
  __syncthreads();  // the ticket is there
  const std::uint64_t tile = ticket;
  const int tile_values = segments * kRun * tuple;
  const std::uint64_t tile_begin = tile * tile_values;
  const auto in_tile = [&](int j) { return (segment * kRun + j) * tuple + lane; };

  Value values[kRun];
  if constexpr (kStaged<Value>) {
#pragma unroll
    for (int k = 0; k < kRun; ++k) {
      const int i = k * kThreads + threadIdx.x;
      if (i < tile_values)
        staging[staged(i)] = tile_begin + i < scan.count ? load(tile_begin + i) : identity;
    }
    __syncthreads();  // the tile is there
  }
#pragma unroll
  for (int j = 0; j < kRun; ++j) {
    values[j] = identity;
    if constexpr (kStaged<Value>) {
      if (active) values[j] = staging[staged(in_tile(j))];
    } else {
      if (active && tile_begin + in_tile(j) < scan.count) values[j] = load(tile_begin + in_tile(j));
    }
  }
  const std::uint64_t group = tile / kGroup;
  const int position = static_cast<int>(tile % kGroup);
  for (int order = 0; order < scan.order; ++order) {
    Value sum = values[0];
#pragma unroll
    for (int j = 1; j < kRun; ++j) sum = op(sum, values[j]);
    states[threadIdx.x] = sum;
    __syncthreads();  // every run's sum is there
    scan_segments(states, op, segments, tuple);
    if (segment == segments - 1) {
      buffers.aggregates[(order * sizes.tiles + tile) * tuple + lane] = states[threadIdx.x];
    }
    __syncthreads();  // the aggregate of every lane is written
    unsigned* const tile_flags = buffers.flags + order * sizes.tiles;
    unsigned* const group_flags = buffers.flags + scan.order * sizes.tiles + order * sizes.groups;
    if (threadIdx.x == 0) raise(tile_flags + tile);
    Value before = identity;
    for (int first_tile = 0; first_tile < position; first_tile += segments) {
      const std::uint64_t earlier = tile - position + first_tile + segment;
      const bool exists = active && first_tile + segment < position;
      if (exists) await(tile_flags + earlier);
      sums[threadIdx.x] =
          exists ? buffers.aggregates[(order * sizes.tiles + earlier) * tuple + lane] : identity;
      __syncthreads();  // as many aggregates as there are segments have come
      scan_segments(sums, op, segments, tuple);
      before = op(before, sums[(segments - 1) * tuple + lane]);
      __syncthreads();  // and been combined
    }
    if (threadIdx.x < tuple) {
      Value carry = before;
      if (group > 0) {
        await(group_flags + group - 1);
        carry =
            op(buffers.prefixes[(order * sizes.groups + group - 1) * tuple + threadIdx.x], before);
      }
      if (position == kGroup - 1) {
        buffers.prefixes[(order * sizes.groups + group) * tuple + threadIdx.x] =
            op(carry, states[(segments - 1) * tuple + threadIdx.x]);
      }
      carries[threadIdx.x] = carry;
    }
    __syncthreads();  // carries are there, and the prefix of the group is written
    if (position == kGroup - 1 && threadIdx.x == 0) raise(group_flags + group);
    if (active) {
      Value running = carries[lane];
      if (segment > 0) running = op(running, states[threadIdx.x - tuple]);
      const bool shift = scan.exclusive && order + 1 == scan.order;
#pragma unroll
      for (int j = 0; j < kRun; ++j) {
        const Value next = op(running, values[j]);
        values[j] = shift ? value_before(op, running, values[j]) : next_order(op, next, values[j]);
        running = next;
      }
    }
    __syncthreads();  // everyone has read the states that the next order overwrites
  }
#pragma unroll
  for (int j = 0; j < kRun; ++j) {
    if constexpr (kStaged<Value>) {
      if (active) staging[staged(in_tile(j))] = values[j];
    } else {
      if (active && tile_begin + in_tile(j) < scan.count) store(tile_begin + in_tile(j), values[j]);
    }
  }
  if constexpr (kStaged<Value>) {
    __syncthreads();  // the results are there
#pragma unroll
    for (int k = 0; k < kRun; ++k) {
      const int i = k * kThreads + threadIdx.x;
      if (i < tile_values && tile_begin + i < scan.count) store(tile_begin + i, staging[staged(i)]);
    }
  }
}

/// `load(i)` gives value i and `store(i, sum)` takes its result. A block reads all of a tile before
/// it writes any of it.
template <class Value, class Op, class Load, class Store>
cudaError_t launch(const CustomScan& scan, Load load, Store store, Op op, Value identity,
                   void* scratch, std::size_t scratch_bytes, cudaStream_t stream) {
  if (scan.order < 1 || scan.tuple < 1 || scan.tuple > 64) return cudaErrorInvalidValue;
  if (scan.count == 0) return cudaSuccess;
  const Sizes sizes = sizes_of<Value>(scan);
  if (scratch_bytes < sizes.total_bytes || sizes.tiles > 0x7fffffff) return cudaErrorInvalidValue;
  char* const base = static_cast<char*>(scratch);
  Buffers<Value> buffers;
  buffers.counter = reinterpret_cast<unsigned long long*>(base);
  buffers.flags = reinterpret_cast<unsigned*>(base + 256);
  buffers.aggregates = reinterpret_cast<Value*>(base + sizes.flag_bytes);
  buffers.prefixes = reinterpret_cast<Value*>(base + sizes.flag_bytes + sizes.aggregate_bytes);
  constexpr std::size_t shared = shared_bytes<Value>();
  const auto entry = kernel<Value, Op, Load, Store>;
  cudaError_t error =
      cudaFuncSetAttribute(reinterpret_cast<const void*>(entry),
                           cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared));
  if (error != cudaSuccess) return error;
  error = cudaMemsetAsync(scratch, 0, sizes.flag_bytes, stream);
  if (error != cudaSuccess) return error;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(sizes.tiles));
  config.blockDim = dim3(kThreads);
  config.dynamicSmemBytes = shared;
  config.stream = stream;
  return cudaLaunchKernelEx(&config, entry, scan, load, store, op, identity, sizes, buffers);
}

}  // namespace custom_scan

/// Scratch that `scan_custom` needs.  Units: bytes
template <class Value>
std::size_t scan_custom_scratch_bytes(const CustomScan& scan) {
  return custom_scan::sizes_of<Value>(scan).total_bytes;
}

/// Enqueues a scan by `op(earlier, later)`, a device function object; `identity` is neutral on both
/// sides.
/// Shapes      in, out [scan.count], device memory, the same buffer or disjoint;  scratch, 256-byte
///             aligned
/// Errors      cudaErrorInvalidValue (order or tuple out of range, too little scratch), or the
///             launch's own
/// Complexity  one read and one write of the data
/// Threads     any; work is ordered by `stream`; nothing waits for the device
template <class Value, class Op>
cudaError_t scan_custom(const CustomScan& scan, const Value* in, Value* out, Op op, Value identity,
                        void* scratch, std::size_t scratch_bytes, cudaStream_t stream) {
  using namespace custom_scan;
  return launch<Value>(scan, FromArray<Value>{in}, ToArray<Value>{out}, op, identity, scratch,
                       scratch_bytes, stream);
}

}  // namespace gdelta
