// Segmented scan by any associative operator, in one read and one write of the values. For nvcc;
// nothing to link. For sums of any order: gdelta/primitives/segmented_sums.cuh.
//
// It is the scan of gdelta/scan_custom.cuh over pairs of a value and a head, which combine by
// (A, a) (B, b) = (b ? B : A B, a or b). A backward scan walks the array from its end; the last row
// of a segment is then where it starts, which is where the bit of the row behind says so: the bits
// are flipped and shifted by one.
#pragma once

#include "gdelta/primitives/head_flags.cuh"
#include "gdelta/scan_custom.cuh"

namespace gdelta {
namespace segmented_scan_detail {

enum Kind : unsigned { kNothing, kInside, kBehindHead };

/// What stretches combine. Nothing is neutral, whatever the caller's operator does with its identity.
template <class Value>
struct Headed {
  Value value;
  unsigned kind;
};

template <class Value, class Op>
struct Combine {
  Op op;
  Value identity;

  __device__ Headed<Value> operator()(const Headed<Value>& a, const Headed<Value>& b) const {
    if (b.kind == kNothing) return a;
    if (a.kind == kNothing || b.kind == kBehindHead) return b;
    return {op(a.value, b.value), a.kind};
  }
  __device__ Headed<Value> value_before(const Headed<Value>& before,
                                        const Headed<Value>& own) const {
    if (own.kind == kBehindHead || before.kind == kNothing) return {identity, kInside};
    return before;
  }
  __device__ Headed<Value> next_order(const Headed<Value>& sum, const Headed<Value>& own) const {
    return {sum.value, own.kind};
  }
};

/// Rows in the order of a scan, and their heads.
struct Rows {
  const std::uint32_t* heads;
  std::uint64_t count;  ///< values
  std::uint64_t rows;
  int tuple;
  bool backward;

  __device__ std::uint64_t index(std::uint64_t i) const { return backward ? count - 1 - i : i; }
  /// Whether the scan starts anew at this place of the array.
  __device__ bool starts(std::uint64_t index) const {
    std::uint64_t row = tuple == 1 ? index : index / static_cast<unsigned>(tuple);
    if (backward && ++row == rows) return true;
    return row == 0 || (heads != nullptr && (heads[row / 32] >> (row % 32) & 1) != 0);
  }
};

template <class Value, class Load>
struct LoadHeaded {
  Rows rows;
  Load load;
  __device__ Headed<Value> operator()(std::uint64_t i) const {
    const std::uint64_t index = rows.index(i);
    return {load(index), rows.starts(index) ? kBehindHead : kInside};
  }
};

template <class Value, class Store>
struct StoreHeaded {
  Rows rows;
  Store store;
  __device__ void operator()(std::uint64_t i, const Headed<Value>& sum) const {
    store(rows.index(i), sum.value);
  }
};

inline CustomScan custom(const SegmentedScan& scan, int order) {
  return {.count = scan.count, .order = order, .tuple = scan.tuple, .exclusive = scan.exclusive};
}

inline bool is_valid(const SegmentedScan& scan) {
  return scan.tuple >= 1 && scan.tuple <= 64 && scan.count % static_cast<unsigned>(scan.tuple) == 0;
}

/// Scratch behind the bits.
template <class Value>
std::size_t scratch_bytes(const SegmentedScan& scan, int order) {
  return is_valid(scan) ? scan_custom_scratch_bytes<Headed<Value>>(custom(scan, order)) : 0;
}

/// With bits that are there: `load(index)` gives the value at a place of the array, `store(index,
/// sum)` takes its result.
template <class Value, class Load, class Store, class Op>
cudaError_t launch(const SegmentedScan& scan, int order, const HeadFlags& flags, Load load,
                   Store store, Op op, Value identity, void* scratch, std::size_t bytes,
                   cudaStream_t stream) {
  const Rows rows{.heads = flags.words,
                  .count = scan.count,
                  .rows = scan.count / static_cast<unsigned>(scan.tuple),
                  .tuple = scan.tuple,
                  .backward = scan.backward};
  return custom_scan::launch<Headed<Value>>(
      custom(scan, order), LoadHeaded<Value, Load>{rows, load},
      StoreHeaded<Value, Store>{rows, store}, Combine<Value, Op>{op, identity},
      Headed<Value>{identity, kNothing}, scratch, bytes, stream);
}

/// From segments of any form to bits, and on with `run(flags, rest of the scratch, its bytes)`.
template <class Segments, class Run>
cudaError_t with_head_flags(const SegmentedScan& scan, const Segments& segments, void* scratch,
                            std::size_t bytes, cudaStream_t stream, Run run) {
  if (!is_valid(scan)) return cudaErrorInvalidValue;
  if (scan.count == 0) return cudaSuccess;
  const std::uint64_t rows = scan.count / static_cast<unsigned>(scan.tuple);
  const std::size_t bits = head_flags_bytes(segments, rows);
  if (bytes < bits) return cudaErrorInvalidValue;
  HeadFlags flags{};
  const cudaError_t error = make_head_flags(segments, rows, scratch, &flags, stream);
  if (error != cudaSuccess) return error;
  return run(flags, static_cast<char*>(scratch) + bits, bytes - bits);
}

}  // namespace segmented_scan_detail

/// Scratch that `segmented_scan` needs.  Units: bytes
template <class Value, class Segments>
std::size_t segmented_scan_scratch_bytes(const SegmentedScan& scan, const Segments& segments) {
  return head_flags_bytes(segments, scan.count) +
         segmented_scan_detail::scratch_bytes<Value>(scan, 1);
}

/// Enqueues a segmented scan by `op(earlier, later)`, a device function object; earlier is what the
/// scan meets first. The operator need not commute, and never meets `identity`, which is what an
/// exclusive scan writes at heads.
/// Shapes      in, out [scan.count], device memory, the same buffer or disjoint;  segments: device
///             memory;  scratch, 256-byte aligned
/// Errors      cudaErrorInvalidValue (tuple out of range, values that are no whole rows, too little
///             scratch), or the launch's own
/// Complexity  one read and one write of the values; offsets and keys are turned into bits before
/// Threads     any; work is ordered by `stream`; nothing waits for the device
template <class Value, class Op, class Segments>
cudaError_t segmented_scan(const SegmentedScan& scan, const Value* in, Value* out,
                           const Segments& segments, Op op, Value identity, void* scratch,
                           std::size_t scratch_bytes, cudaStream_t stream) {
  using namespace segmented_scan_detail;
  return with_head_flags(scan, segments, scratch, scratch_bytes, stream,
                         [&](const HeadFlags& flags, void* rest, std::size_t bytes) {
                           return launch<Value>(scan, 1, flags, custom_scan::FromArray<Value>{in},
                                                custom_scan::ToArray<Value>{out}, op, identity,
                                                rest, bytes, stream);
                         });
}

}  // namespace gdelta
