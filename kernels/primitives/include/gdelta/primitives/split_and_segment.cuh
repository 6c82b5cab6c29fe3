// Split-and-segment: every segment's values that are not marked, then its marked ones, each in their
// order, and the bits of the segments that this makes. Two scans and no copies between. For nvcc;
// nothing to link.
//
// A marked value moves to the right by the values behind it in its segment that are not marked,
// which a backward scan counts; another one to the left by the marked ones before it, which a
// forward scan counts. So each scan moves the values of one kind, and neither needs the other's
// sums. At a segment's head the backward scan knows all that are not marked, hence where the new
// segment begins.
#pragma once

#include "gdelta/primitives/enumerate.cuh"

namespace gdelta {
namespace split_and_segment_detail {

/// Moves the values that are `marked`, or the others.
template <class Value>
struct Move {
  enumerate_detail::LoadMark<std::uint64_t> moves;
  bool right;
  segmented_scan_detail::Rows forward;
  const Value* in;
  Value* out;
  std::uint32_t* heads;  ///< may be null
  __device__ void operator()(std::uint64_t i, std::uint64_t distance) const {
    const bool mine = moves(i) != 0;
    if (mine) out[right ? i + distance : i - distance] = in[i];
    if (!right || heads == nullptr || !forward.starts(i)) return;
    const std::uint64_t marked = i + distance + (mine ? 0 : 1);  // where those of the segment begin
    atomicOr(heads + i / 32, 1u << (i % 32));
    if (marked < forward.count) atomicOr(heads + marked / 32, 1u << (marked % 32));
  }
};

}  // namespace split_and_segment_detail

/// Scratch that `split_and_segment` needs.  Units: bytes
template <class Segments>
std::size_t split_and_segment_scratch_bytes(std::uint64_t count, const Segments& segments) {
  return segmented_scan_scratch_bytes<std::uint64_t>(SegmentedScan{count}, segments);
}

/// Enqueues a stable split of every segment.
/// Shapes      in, out [count], not the same;  heads [(count + 31) / 32], or null: bits of the
///             segments of `out`, of which each of `in` gives one or two; not those of `segments`;
///             device memory;  segments: any form, or WholeArray;  scratch, 256-byte aligned
/// Errors      cudaErrorInvalidValue (too little scratch), or the launch's own
/// Complexity  four reads of the marks by two scans, which together read and write every value once; `heads` are cleared,
///             and offsets and keys turned into bits, before
/// Threads     any; work is ordered by `stream`; nothing waits for the device
template <class Value, class Segments>
cudaError_t split_and_segment(std::uint64_t count, const Value* in, const Marks& marks,
                              const Segments& segments, Value* out, std::uint32_t* heads,
                              void* scratch, std::size_t scratch_bytes, cudaStream_t stream) {
  using namespace segmented_scan_detail;
  using Move = split_and_segment_detail::Move<Value>;
  if (count == 0) return cudaSuccess;
  if (heads != nullptr) {
    const std::size_t bytes = head_flags::words_of(count) * 4;
    if (const cudaError_t error = cudaMemsetAsync(heads, 0, bytes, stream)) return error;
  }
  return with_head_flags(
      SegmentedScan{.count = count}, segments, scratch, scratch_bytes, stream,
      [&](const HeadFlags& flags, void* rest, std::size_t bytes) {
        const Rows forward{
            .heads = flags.words, .count = count, .rows = count, .tuple = 1, .backward = false};
        for (const bool right : {true, false}) {
          const SegmentedScan scan{.count = count, .exclusive = true, .backward = right};
          const cudaError_t error = launch<std::uint64_t>(
              scan, 1, flags, enumerate_detail::LoadMark<std::uint64_t>{marks.words, !right},
              Move{.moves = {marks.words, right},
                   .right = right,
                   .forward = forward,
                   .in = in,
                   .out = out,
                   .heads = heads},
              enumerate_detail::Add{}, std::uint64_t{0}, rest, bytes, stream);
          if (error != cudaSuccess) return error;
        }
        return cudaSuccess;
      });
}

}  // namespace gdelta
