// Distribute (copy): the value at the head, or at the tail, of a segment to all of its places. One
// scan. For nvcc; nothing to link.
#pragma once

#include "gdelta/primitives/segmented_scan.cuh"

namespace gdelta {

/// The scan that keeps what it meets first. That is associative and needs no identity here.
struct KeepFirst {
  template <class Value>
  __device__ Value operator()(const Value& earlier, const Value&) const {
    return earlier;
  }
};

/// Scratch that `distribute` needs.  Units: bytes
template <class Value, class Segments>
std::size_t distribute_scratch_bytes(const SegmentedScan& scan, const Segments& segments) {
  return segmented_scan_scratch_bytes<Value>(scan, segments);
}

/// Enqueues out[i] = the value of i's lane in the first row of its segment; in the last, if the scan
/// is backward.
/// Shapes      in, out [scan.count], the same or disjoint;  device memory;  segments: any form, or
///             WholeArray;  scratch, 256-byte aligned.  `scan.exclusive` is not read
/// Errors      as segmented_scan
/// Complexity  as segmented_scan
/// Threads     any; work is ordered by `stream`; nothing waits for the device
template <class Value, class Segments>
cudaError_t distribute(SegmentedScan scan, const Value* in, Value* out, const Segments& segments,
                       void* scratch, std::size_t scratch_bytes, cudaStream_t stream) {
  scan.exclusive = false;
  return segmented_scan(scan, in, out, segments, KeepFirst{}, Value{}, scratch, scratch_bytes,
                        stream);
}

}  // namespace gdelta
