// Sums inside segments, of any order over tuples, in one read and one write of the values. For nvcc;
// nothing to link.
//
// On devices of compute capability 9.0 and newer, four- and eight-byte values go through the scan's
// own stream kernel (kernels/scan/stream), whose states carry a head: all orders travel in one
// exchange. Elsewhere, and for other values, every order is an exchange of segmented_scan.cuh.
#pragma once

#include <optional>
#include <type_traits>

#include "gdelta/primitives/segmented_scan.cuh"
#include "kernels/device/kernel_facts.cuh"
#include "kernels/scan/stream/scan_stream.cuh"
#include "kernels/scan/stream/scan_stream_plan.h"

namespace gdelta {
namespace segmented_sums_detail {

/// Whole words of integers, and floating point if one order is all.
template <int Order, class Value>
constexpr bool kStreams = (sizeof(Value) == 4 || sizeof(Value) == 8) &&
                          (std::is_integral_v<Value> ||
                           (std::is_floating_point_v<Value> && Order == 1));

template <class Value, bool kInteger = std::is_integral_v<Value>>
struct WordOf {
  using Type = std::conditional_t<sizeof(Value) == 8, std::uint64_t, std::uint32_t>;
};
template <class Value>
struct WordOf<Value, false> {
  using Type = Value;
};

template <class Value>
using Algebra =
    scan::Segmented<scan::SumAlgebra<typename WordOf<Value>::Type, typename WordOf<Value>::Type>>;

struct Plus {
  template <class Value>
  __device__ Value operator()(const Value& a, const Value& b) const {
    return static_cast<Value>(a + b);
  }
};

struct StreamDevice {
  int multiprocessors = 0;  ///< 0 if the stream kernel does not run there
  int shared_bytes = 0;
};

template <int Order, class Value>
StreamDevice stream_device() {
  static device::KeptByDevice<StreamDevice> kept;
  StreamDevice described;
  const cudaError_t error = kept.get(described, [](int number, StreamDevice& found) {
    int major = 0, compiled = 0;
    if (const auto e = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, number))
      return e;
    constexpr auto kKernel =
        scan::stream_scan_kernel<Algebra<Value>, Order, scan::kShape<Algebra<Value>, Order>.run>;
    if (const auto e = device::compiled_for<kKernel>(compiled)) return e;
    if (major < 9 || compiled < 90) return cudaSuccess;
    if (const auto e = cudaDeviceGetAttribute(&found.shared_bytes,
                                              cudaDevAttrMaxSharedMemoryPerBlockOptin, number))
      return e;
    return cudaDeviceGetAttribute(&found.multiprocessors, cudaDevAttrMultiProcessorCount, number);
  });
  return error == cudaSuccess ? described : StreamDevice{};
}

template <int Order, class Value>
std::optional<scan::StreamLayout> stream_layout(const SegmentedScan& scan) {
  if (!segmented_scan_detail::is_valid(scan) || scan.tuple > 32) return {};
  const StreamDevice device = stream_device<Order, Value>();
  if (device.multiprocessors == 0) return {};
  const scan::StreamNeeds needs{.value_bytes = sizeof(Value),
                                .words = Order,
                                .tuple = scan.tuple,
                                .worker_warps = scan::kMaxStreamUnits,
                                .multiprocessors = device.multiprocessors,
                                .shared_bytes = device.shared_bytes,
                                .segments = true};
  const scan::Job job{.in = nullptr,
                      .out = nullptr,
                      .count = scan.count,
                      .geometry = {},
                      .order = Order,
                      .exclusive = scan.exclusive,
                      .backward = scan.backward};
  scan::StreamLayout layout{};
  if (!scan::plan_stream(needs, job, layout)) return {};
  return layout;
}

template <int Order, class Value>
cudaError_t launch_stream(scan::StreamLayout& layout, const SegmentedScan& scan,
                          const HeadFlags& flags, const Value* in, Value* out, void* scratch,
                          std::size_t bytes, cudaStream_t stream) {
  if (bytes < layout.bytes) return cudaErrorInvalidValue;
  scan::StreamPlan& plan = layout.plan;
  plan.job.in = in;
  plan.job.out = out;
  plan.sums = static_cast<unsigned long long*>(scratch);
  plan.totals = plan.sums + layout.sums_bytes / 8;
  const cudaError_t error = cudaMemsetAsync(scratch, 0, layout.bytes, stream);
  if (error != cudaSuccess) return error;
  const Algebra<Value> algebra{{}, flags.words, scan.count / static_cast<unsigned>(scan.tuple)};
  return scan::launch_stream_kernel<Algebra<Value>, Order>(plan, algebra, stream);
}

}  // namespace segmented_sums_detail

/// Scratch that `segmented_sums` needs on the current device.  Units: bytes
template <int Order, class Value, class Segments>
std::size_t segmented_sums_scratch_bytes(const SegmentedScan& scan, const Segments& segments) {
  using namespace segmented_sums_detail;
  const std::size_t bits = head_flags_bytes(segments, scan.count);
  if constexpr (kStreams<Order, Value>) {
    if (const auto layout = stream_layout<Order, Value>(scan)) return bits + layout->bytes;
  }
  return bits + segmented_scan_detail::scratch_bytes<Value>(scan, Order);
}

/// Enqueues `Order` sums inside segments, one after the other; integers wrap at the width of their
/// type. An exclusive scan is shifted once. Floating-point sums are combined in a fixed tree.
/// Shapes      in, out [scan.count], device memory, the same buffer or disjoint, aligned to their
///             type; fastest if both have the same address mod 16;  segments: device memory;
///             scratch, 256-byte aligned, of this scan alone until it is done
/// Errors      cudaErrorInvalidValue (tuple out of range, values that are no whole rows, too little
///             scratch), or the launch's own
/// Complexity  one read and one write of the values; offsets and keys are turned into bits before
/// Threads     any; work is ordered by `stream`; nothing waits for the device
template <int Order, class Value, class Segments>
cudaError_t segmented_sums(const SegmentedScan& scan, const Value* in, Value* out,
                           const Segments& segments, void* scratch, std::size_t scratch_bytes,
                           cudaStream_t stream) {
  using namespace segmented_sums_detail;
  static_assert(Order >= 1 && Order <= scan::kMaxOrder);
  return segmented_scan_detail::with_head_flags(
      scan, segments, scratch, scratch_bytes, stream,
      [&](const HeadFlags& flags, void* rest, std::size_t bytes) {
        if constexpr (kStreams<Order, Value>) {
          if (auto layout = stream_layout<Order, Value>(scan))
            return launch_stream<Order>(*layout, scan, flags, in, out, rest, bytes, stream);
        }
        return segmented_scan_detail::launch<Value>(
            scan, Order, flags, custom_scan::FromArray<Value>{in}, custom_scan::ToArray<Value>{out},
            Plus{}, Value{}, rest, bytes, stream);
      });
}

}  // namespace gdelta
