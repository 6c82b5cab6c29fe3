// Enumerate: how many marked values come before each, in all of the array or in its segment. One
// scan. For nvcc; nothing to link.
#pragma once

#include "gdelta/primitives/segmented_scan.cuh"

namespace gdelta {
namespace enumerate_detail {

/// Marks as numbers, to be summed up.
template <class Count>
struct LoadMark {
  const std::uint32_t* words;
  bool wanted;  ///< what counts: marked values, or the others
  __device__ Count operator()(std::uint64_t i) const {
    return ((words[i / 32] >> (i % 32) & 1) != 0) == wanted ? 1 : 0;
  }
};

struct Add {
  template <class Count>
  __device__ Count operator()(Count a, Count b) const {
    return static_cast<Count>(a + b);
  }
};

}  // namespace enumerate_detail

/// Scratch that `enumerate` needs.  Units: bytes
template <class Count, class Segments>
std::size_t enumerate_scratch_bytes(std::uint64_t count, const Segments& segments) {
  return segmented_scan_scratch_bytes<Count>(SegmentedScan{count}, segments);
}

/// Enqueues before[i] = how many of the values before i, and in its segment, are marked.
/// Shapes      before [count], of an unsigned type that can hold the longest segment's length; device
///             memory;  segments: any form, or WholeArray;  scratch, 256-byte aligned
/// Errors      cudaErrorInvalidValue (too little scratch), or the launch's own
/// Complexity  one read of the marks and one write of `before`; offsets and keys are turned into bits before
/// Threads     any; work is ordered by `stream`; nothing waits for the device
template <class Count, class Segments>
cudaError_t enumerate(std::uint64_t count, const Marks& marks, const Segments& segments,
                      Count* before, void* scratch, std::size_t scratch_bytes,
                      cudaStream_t stream) {
  using namespace segmented_scan_detail;
  const SegmentedScan scan{.count = count, .exclusive = true};
  return with_head_flags(scan, segments, scratch, scratch_bytes, stream,
                         [&](const HeadFlags& flags, void* rest, std::size_t bytes) {
                           return launch<Count>(
                               scan, 1, flags, enumerate_detail::LoadMark<Count>{marks.words, true},
                               custom_scan::ToArray<Count>{before}, enumerate_detail::Add{},
                               Count{0}, rest, bytes, stream);
                         });
}

}  // namespace gdelta
