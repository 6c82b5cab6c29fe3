// Streams of any length in bounded memory: a writer and a reader over the caller's sink and source.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "gdelta/codec.h"

namespace gdelta {

// What these functions are given (spans, buffers, a ChunkInfo, a SalvageGap) is theirs until they return, no longer.

/// Takes compressed or decoded bytes, all of them. An error stops the stream and is handed on.
using Sink = std::function<Result<void>(std::span<const std::byte>)>;
/// Takes where segments end, in records counted from the first of all, each once and in order.
using EndSink = std::function<Result<void>(std::span<const std::uint64_t> ends)>;
/// Fills up to `buffer.size()` bytes and returns how many; 0 only at the end.
using Source = std::function<Result<std::size_t>(std::span<std::byte> buffer)>;
/// Reads exactly at an offset; returns how many bytes there were (fewer only at the end).
using ReadAt =
    std::function<Result<std::size_t>(std::uint64_t offset, std::span<std::byte> buffer)>;

/// Does what find_arrays of codec.h does for a file that can be read anywhere.
/// Errors      as there, and what `read_at` returns
Result<std::vector<FoundArray>> find_arrays(const ReadAt& read_at, std::uint64_t file_bytes,
                                            const EncodeOptions& options = {});

/// An array of an input whose records come in segments: rows of a sparse matrix, posting lists, tracks.
struct ArraySegments {
  std::uint64_t begin = 0;  ///< the byte of the input where its first record begins
  /// Segment k has the records offsets[k] … offsets[k + 1] - 1; as check_offsets wants them.
  std::vector<std::uint64_t> offsets;
};

/// Finds arrays that are smaller in segments: those that have as many records as another array of the
/// same file, of integers that begin at 0 and never fall, ends with, as the indices of a sparse matrix
/// have whose row pointers stand beside them. What a part of an array becomes decides. Offsets stay in
/// the file as the array that they are, since all of its bytes come back.
/// Errors      as above
/// Complexity  as find_arrays, the offsets, and compressing twice half a MiB of each array that has so
///             many records
/// Memory      offsets, within a quarter of `options.memory_limit`: those that take more are passed over,
///             and all if a Writer could not code segments beside them
Result<std::vector<ArraySegments>> find_segments(const ReadAt& read_at, std::uint64_t file_bytes,
                                                 const EncodeOptions& options = {});

/// Compresses what is written to it, in one pass. The stream is the same however the writes are
/// sliced. Arrays that come in segments are coded as such, and all else as without them.
/// Errors      invalid_argument (options; a call after finish; segments of what turns out to be no array of
///             as many records; a flush inside of such an array), unsupported_backend, memory_limit,
///             out_of_memory, cancelled, and what the sink returns; the first error is given again by later calls
/// Memory      the first 4 MiB, and half a MiB if an array has ended; then two batches of the backend, with what they are compressed to,
///             at most four times the larger of a batch and a chunk; and seven bytes or so for each
///             chunk, for the index
/// Threads     one at a time; works on `options.threads` threads inside; the sink is called from the
///             caller's thread only
/// Source      formats/gdelta/spec.md
class Writer {
 public:
  /// `segments`: of some arrays, in the order of the input.
  explicit Writer(Sink sink, EncodeOptions options = {}, std::vector<ArraySegments> segments = {});
  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;
  ~Writer();  // what was not finished is lost: no end block is written

  /// Tells the length of the whole input if it is known, before the first write; lets file
  /// formats be recognised exactly.
  void set_total_bytes(std::uint64_t bytes);
  Result<void> write(std::span<const std::byte> values);
  /// Writes what a file has from byte `begin` on: straight to where it is compressed, pieces by several threads at once, which call
  /// `read_at`. Faster than reading and `write`, if set_total_bytes has told how much it is.
  Result<void> write_file(const ReadAt& read_at, std::uint64_t begin = 0);
  /// Compresses and hands to the sink all that was written so far. A reader gets it back even if
  /// nothing more follows. Ends the chunk, so flushing often costs compression; a flush inside a
  /// record stores that record as it is.
  Result<void> flush();
  /// Flushes, writes the end block. Nothing can be written afterwards.
  Result<void> finish();

  std::uint64_t bytes_in() const;
  std::uint64_t bytes_out() const;
  /// What the numbers were taken for, once known (after 4 MiB or the first flush), and how: an origin
  /// as that of find_layout. If there are several arrays, the first is meant.
  std::optional<Layout> layout() const;
  std::string_view layout_origin() const;
  /// Arrays with a layout so far, as those of find_arrays.
  std::uint64_t num_arrays() const;
  /// What would let numbers be found that were not, in a sentence for the user; empty if there is
  /// nothing to say.
  std::string_view advice() const;
  /// "cpu", "cuda:0", ...: where the work is done.
  std::string device() const;
  /// Sentences for the user, e.g. that the GPU failed and the CPU took over. Cleared by the call.
  std::vector<std::string> take_warnings();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A stretch of a damaged file that gave nothing.
struct SalvageGap {
  Error reason;  ///< what failed first, with its byte in the file and the chunk's number
  std::uint64_t chunks = 1;      ///< how many are missing; if no index tells, at least one
  std::uint64_t decoded_at = 0;  ///< where in what the sink gets the gap is
  /// How long what is missing was, if an index or the chunk's head tells; zeros stand there if
  /// they were asked for.
  std::optional<std::uint64_t> decoded_bytes;
};

struct SalvageOptions {
  bool fill = false;  ///< zeros in the place of what is missing, wherever its length is known
  /// Told of every gap, in order, from the caller's thread.
  std::function<void(const SalvageGap&)> on_gap;
};

/// What came out of a damaged file.
struct SalvageReport {
  std::uint64_t chunks = 0;       ///< whole ones, which the sink got
  std::uint64_t bytes = 0;        ///< what these decode to
  std::uint64_t lost_chunks = 0;  ///< at least so many are missing
  std::uint64_t gaps = 0;
  std::uint64_t filled_bytes = 0;  ///< zeros that the sink got
  std::optional<Error> error;      ///< of the first gap; empty if the file was whole
};

/// Decodes every stream that `source` gives, in order, into `sink`. One call of `run`, `run_segments` or
/// `salvage`.
/// Errors      truncated, corrupt, not_gdelta, unsupported_*, memory_limit, output_limit,
///             out_of_memory, cancelled, and what source and sink return
/// Memory      two batches of the backend, compressed and decoded, together within
///             `options.memory_limit`, whatever the length; a chunk that alone needs more is refused
///             before it is read, and so is one that goes beyond `options.output_limit`
/// Threads     one at a time; works on `options.threads` threads inside; source and sink are called
///             from the caller's thread only
/// Source      formats/gdelta/spec.md
class Reader {
 public:
  explicit Reader(Source source, DecodeOptions options = {});
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader();

  /// Decodes everything. On an error the sink has received whole, verified chunks before the one
  /// that failed.
  Result<void> run(const Sink& sink);
  /// Does the same, and tells of segments where they end; opaque bytes belong to none. Without `ends` as run.
  /// Errors      as above; invalid_argument at a chunk of records that does not say its segments
  Result<void> run_segments(const Sink& sink, const EndSink& ends);
  /// Hands over every whole chunk that can be found, behind damaged places too, and nothing that its
  /// checksum does not confirm, whatever `options.verify` says. Behind damage it looks for the next
  /// block with a valid check; if a file can be read anywhere, salvage_file finds more. Errors of
  /// the input and its source are gaps of the report; others (the sink's, the machine's, limits on the
  /// output, cancelled) are returned.
  /// Complexity  linear, also for hostile input; holds 32 MiB beside the memory limit
  Result<SalvageReport> salvage(const Sink& sink, const SalvageOptions& salvaging = {});

  std::uint64_t bytes_in() const;
  std::uint64_t bytes_out() const;
  std::string device() const;
  std::vector<std::string> take_warnings();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Does the same for a file that can be read anywhere: indexes at the ends of its streams tell where to go
/// on behind damage, how long what is missing was, and the layout if its block is damaged. Where the index of a
/// stream is whole, its chunks are those that it names, in its order: what is missing is known, also if bytes
/// came in or went missing, and a chunk that it does not name where one comes next is not handed over.
Result<SalvageReport> salvage_file(const ReadAt& read_at, std::uint64_t file_bytes,
                                   const Sink& sink, const DecodeOptions& options = {},
                                   const SalvageOptions& salvaging = {});

/// Takes the chunks of a file, in order. `layout` is what the chunk's records are (byte_layout() if
/// it is opaque), `chunk.layout` counts from 0 and rises if the layout becomes another one. An
/// error ends the visit and is handed on.
using ChunkVisitor = std::function<Result<void>(const ChunkInfo& chunk, const Layout& layout)>;

/// Describes the chunks of a file that can be read anywhere, one by one; decodes nothing. What is
/// wrong with a file, other than inside a payload, is the same error that decompressing it gives; but
/// a chunk that a later version has made is visited, and ColumnInfo::unknown says why it cannot be read.
/// Errors      truncated, corrupt, not_gdelta, unsupported_*, memory_limit (a head above it), and
///             what `read_at` and `visit` return; the chunks before it have been visited
/// Complexity  O(heads of the blocks): one or two reads a block; without models O(indexes)
/// Memory      one chunk's head and description, whatever the length of the file; without models
///             at most 32 MiB
/// Threads     the visitor is called from the caller's thread
/// Source      formats/gdelta/spec.md sections 3 and 8
Result<FileTotals> visit_chunks(const ReadAt& read_at, std::uint64_t file_bytes,
                                const ChunkVisitor& visit, const InspectOptions& options = {});

/// Gives all of that at once.
/// Errors      as above
/// Memory      as inspect of codec.h
Result<StreamInfo> inspect(const ReadAt& read_at, std::uint64_t file_bytes,
                           const InspectOptions& options = {});

/// Does what read_metadata of codec.h does.
Result<std::vector<MetadataEntry>> read_metadata(const ReadAt& read_at, std::uint64_t file_bytes,
                                                 const InspectOptions& options = {});

/// Decodes parts of a file that can be read anywhere. Finds chunks by the indexes if every stream
/// has one that fits its header and its layout blocks, else by walking over the heads of all blocks.
/// Damage that the parts do not touch stays unseen; if the index turns out to contradict a block,
/// the error is the one that decompressing the file gives.
/// Memory      at most 32 MiB for the structure, whatever the length of the file, and a batch of
///             chunks within `options.memory_limit`; a chunk that alone needs more is refused
/// Threads     one at a time; works on `options.threads` threads inside; `read_at` and sinks are
///             called from the caller's thread only
/// Source      formats/gdelta/spec.md sections 3.3 and 8
class RangeReader {
 public:
  /// Reads the structure.
  /// Errors      truncated, corrupt, not_gdelta, unsupported_*, memory_limit, out_of_memory, and what
  ///             `read_at` returns
  /// Complexity  O(indexes), or if they do not serve O(heads of the blocks)
  static Result<RangeReader> open(ReadAt read_at, std::uint64_t file_bytes,
                                  DecodeOptions options = {});
  RangeReader(RangeReader&&) noexcept;
  RangeReader& operator=(RangeReader&&) noexcept;
  ~RangeReader();

  const FileTotals& totals() const;

  /// Decoded bytes [begin, end) into `sink`.
  /// Errors      as above, invalid_argument (a range outside), unsupported_backend, cancelled, and
  ///             what the sink returns; the sink has then received a part
  /// Complexity  O(chunks that hold a part of it), and finding the first: a few thousand entries of
  ///             an index, or if there is none O(blocks before it)
  Result<void> read(std::uint64_t begin, std::uint64_t end, const Sink& sink);
  /// Records [begin, end) into `sink`. Opaque chunks hold none: they are passed over, not decoded.
  /// Errors      as above
  Result<void> read_records(std::uint64_t begin, std::uint64_t end, const Sink& sink);
  /// The records of segments [begin, end) into `sink`; `ends` count from the first of them.
  /// Errors      as above
  Result<void> read_segments(std::uint64_t begin, std::uint64_t end, const Sink& sink,
                             const EndSink& ends);

  /// "cpu", "cuda:0", ...: where the work is done.
  std::string device() const;
  std::vector<std::string> take_warnings();

 private:
  struct Impl;
  explicit RangeReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Decoded bytes [begin, end) of such a file, by a RangeReader of its own.
Result<void> read_range(const ReadAt& read_at, std::uint64_t file_bytes, std::uint64_t begin,
                        std::uint64_t end, const Sink& sink, const DecodeOptions& options = {});

}  // namespace gdelta
