// Streams of segments of unequal length as one object: rows of a sparse matrix, posting lists, tracks.
//
// Segments are said in records, in one of three ways:
//
//   offsets  where each begins and the last one ends: one more than there are segments, from 0
//            compress_segments, decompress_segments, ArraySegments and find_segments of stream.h,
//            DeviceDecode::offsets
//   lengths  how many each has: SegmentWriter::write_segments
//   ends     where each ends, no 0 before them: EndSink, that is Reader::run_segments and
//            RangeReader::read_segments
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "gdelta/stream.h"

namespace gdelta {

/// Segment k has the records offsets[k] … offsets[k + 1] - 1.
struct SegmentedValues {
  std::vector<std::uint64_t> offsets;  ///< one more than there are segments; the first is 0
  std::vector<std::byte> values;
};

/// Checks that offsets begin at 0, never fall, and end at `records`.
/// Errors      invalid_argument, naming the first offset that is wrong
Result<void> check_offsets(std::span<const std::uint64_t> offsets, std::uint64_t records);

/// Compresses `values`, whole records of `options.layout`, in segments that begin and end at `offsets`.
/// Errors      as compress; invalid_argument for offsets that are wrong, no layout, a torn record
/// Complexity  as compress; a GPU that is asked for packs columns that are not predicted inside segments, all else is the CPU's
/// Threads     any number of calls at once
Result<std::vector<std::byte>> compress_segments(std::span<const std::uint64_t> offsets,
                                                 std::span<const std::byte> values,
                                                 const EncodeOptions& options);

/// Decompresses every stream in `bytes`, with its segments.
/// Errors      as decompress; invalid_argument if a chunk of records does not say its segments
Result<SegmentedValues> decompress_segments(std::span<const std::byte> bytes,
                                            const DecodeOptions& options = {});

/// Segments [begin, end) alone; offsets count from the first of them. Touches only the chunks that hold
/// a part of them.
/// Errors      as above; invalid_argument for a range outside
Result<SegmentedValues> decompress_segment_range(std::span<const std::byte> bytes,
                                                 std::uint64_t begin, std::uint64_t end,
                                                 const DecodeOptions& options = {});

/// Compresses segments as they come. The stream is the same however the writes are sliced: chunks are
/// cut by values, so that a long segment goes through many and many short ones share one.
/// Errors      invalid_argument (options, no layout, a torn record, a call after finish), memory_limit,
///             out_of_memory, cancelled, and what the sink returns; the first error is given again
/// Memory      a batch of chunks, with what they are compressed to
/// Threads     one at a time; works on `options.threads` CPU threads inside, or with what `options.device` names; the sink
///             is called from the caller's thread
/// Source      formats/gdelta/spec.md section 3.5
class SegmentWriter {
 public:
  SegmentWriter(Sink sink, EncodeOptions options);
  SegmentWriter(SegmentWriter&&) noexcept;
  SegmentWriter& operator=(SegmentWriter&&) noexcept;
  ~SegmentWriter();  // what was not finished is lost: no end block is written

  /// Whole records that go on with the segment that is open, or begin one.
  Result<void> write(std::span<const std::byte> values);
  /// Ends the segment that is open; without one it is a segment of no records.
  Result<void> end_segment();
  /// Whole segments; `lengths`, in records, are those of `values`.
  Result<void> write_segments(std::span<const std::uint64_t> lengths,
                              std::span<const std::byte> values);
  /// Ends the segment that is open, writes the end block. Nothing can be written afterwards.
  Result<void> finish();

  std::uint64_t bytes_in() const;
  std::uint64_t bytes_out() const;
  std::uint64_t segments() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gdelta
