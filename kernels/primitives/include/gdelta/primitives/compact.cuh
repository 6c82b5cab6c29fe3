// Compact (pack): the marked values side by side, in their order; with segments, the heads of what
// is left of them too. One scan, which writes values straight to their place. For nvcc; nothing to
// link.
#pragma once

#include "gdelta/primitives/enumerate.cuh"

namespace gdelta {
namespace compact_detail {

/// Marked values so far: of the array, and since the last head.
struct Kept {
  std::uint64_t all;
  std::uint64_t since_head;
  bool head;
};

struct Join {
  __device__ Kept operator()(const Kept& a, const Kept& b) const {
    return {a.all + b.all, b.head ? b.since_head : a.since_head + b.since_head, a.head || b.head};
  }
};

struct LoadKept {
  enumerate_detail::LoadMark<std::uint64_t> mark;
  segmented_scan_detail::Rows rows;
  __device__ Kept operator()(std::uint64_t i) const {
    const std::uint64_t kept = mark(i);
    return {kept, kept, rows.starts(i)};
  }
};

template <class Value>
struct StoreKept {
  LoadKept load;
  const Value* in;
  Value* out;
  std::uint32_t* heads;  ///< may be null
  std::uint64_t* kept;
  __device__ void operator()(std::uint64_t i, const Kept& sum) const {
    if (i + 1 == load.rows.count) *kept = sum.all;
    if (load.mark(i) == 0) return;
    const std::uint64_t place = sum.all - 1;
    out[place] = in[i];
    if (heads != nullptr && sum.since_head == 1) atomicOr(heads + place / 32, 1u << (place % 32));
  }
};

}  // namespace compact_detail

/// Scratch that `compact` needs.  Units: bytes
template <class Segments>
std::size_t compact_scratch_bytes(std::uint64_t count, const Segments& segments) {
  return head_flags_bytes(segments, count) +
         scan_custom_scratch_bytes<compact_detail::Kept>({.count = count});
}

/// Enqueues the marked values, one behind the other, to `out`, and how many they are to `kept`.
/// Segments of which nothing is left vanish.
/// Shapes      in, out [count], not the same;  kept [1];  heads [(count + 31) / 32], or null: bits of
///             the first value of every segment in `out`, cleared beyond;  device memory;
///             segments: any form, or WholeArray;  scratch, 256-byte aligned
/// Errors      cudaErrorInvalidValue (too little scratch), or the launch's own
/// Complexity  two reads of the marks, a read and a write of the values that are kept; `heads` are cleared, and offsets and
///             keys turned into bits, before
/// Threads     any; work is ordered by `stream`; nothing waits for the device
template <class Value, class Segments>
cudaError_t compact(std::uint64_t count, const Value* in, const Marks& marks,
                    const Segments& segments, Value* out, std::uint32_t* heads, std::uint64_t* kept,
                    void* scratch, std::size_t scratch_bytes, cudaStream_t stream) {
  using namespace compact_detail;
  if (count == 0) return cudaMemsetAsync(kept, 0, sizeof(*kept), stream);
  if (heads != nullptr) {
    const std::size_t bytes = head_flags::words_of(count) * 4;
    if (const cudaError_t error = cudaMemsetAsync(heads, 0, bytes, stream)) return error;
  }
  return segmented_scan_detail::with_head_flags(
      SegmentedScan{.count = count}, segments, scratch, scratch_bytes, stream,
      [&](const HeadFlags& flags, void* rest, std::size_t bytes) {
        const LoadKept load{
            {marks.words, true},
            {.heads = flags.words, .count = count, .rows = count, .tuple = 1, .backward = false}};
        return custom_scan::launch<Kept>(
            {.count = count}, load,
            StoreKept<Value>{.load = load, .in = in, .out = out, .heads = heads, .kept = kept},
            Join{}, Kept{0, 0, false}, rest, bytes, stream);
      });
}

}  // namespace gdelta
