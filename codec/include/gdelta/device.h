// Streams in device memory: the caller's input, output, scratch and CUDA stream. Nothing here
// allocates device memory, copies behind the caller's back or waits for the device; results and
// verdicts are left in device memory.
//
// In a build without CUDA every call answers unsupported_backend.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "gdelta/chunk_kinds.h"
#include "gdelta/codec.h"
#include "gdelta/pages/device_pages.h"

struct CUstream_st;

namespace gdelta {

/// A cudaStream_t; null is the default stream.
using DeviceStream = ::CUstream_st*;

/// One chunk's outcome, in device memory.
struct ChunkStatus {
  std::int32_t code;  ///< an Errc; ok: the chunk's bytes are right
  std::uint32_t reserved;
  std::uint64_t byte;  ///< where in the stream, if `code` is not ok
};

/// What a table has beside heads that the host has read: tasks that it has made of them, so that kernels only add where in memory
/// things are.
struct ReadyTasks {
  std::uint64_t at = 0;             ///< in the table's bytes; 0: there are none
  std::uint64_t stream_bytes = 0;   ///< how long the stream is at least
  std::uint64_t decoded_bytes = 0;  ///< of all chunks
  std::uint64_t largest_chunk = 0;  ///< decoded bytes
  std::uint64_t lengths = 0;        ///< of segments, of all chunks
  std::uint64_t most_lengths = 0;   ///< of a chunk
  std::uint64_t segments = 0;       ///< that begin
  ChunkKinds kinds = {};            ///< of the chunks
};

/// Where the chunks of a stream are, and what kernels have to know about its layout. `bytes` is
/// position-independent: copy it to device memory (16-byte aligned) once and use it for any range.
struct ChunkTable {
  Layout layout;  ///< what the chunks that are not opaque have
  std::uint64_t num_chunks = 0;
  std::uint64_t decoded_bytes = 0;  ///< what all chunks decode to
  std::uint64_t largest_chunk = 0;  ///< decoded bytes
  std::uint64_t lengths = 0;        ///< of segments: those of all chunks that say them
  std::uint64_t most_lengths = 0;   ///< of a chunk
  ChunkKinds kinds;                 ///< true: may occur
  /// Of each column, the most pages of a chunk, if `bytes` says where the pages of all chunks are and what kernels have
  /// to know to decode them; else empty.
  std::vector<std::uint32_t> prepared_pages = {};
  /// Where in `bytes` it says what the heads of all chunks are, so that no kernel has to parse them; 0: it does not.
  std::uint64_t heads_at = 0;
  /// Tasks made of those heads, if no chunk is the host's or has a dictionary, in records of up to seven columns. Calls take them
  /// whose stream is whole, and whose output has room for as many of the largest chunks, or for all there are; not those of many
  /// columns with strides.
  ReadyTasks ready = {};
  std::vector<std::byte> bytes;
};

/// Bytes of the table of `num_chunks` chunks that are not prepared: how much the device encoder leaves.
std::uint64_t chunk_table_bytes(const Layout& layout, std::uint64_t num_chunks);

/// Builds the table from what `inspect` found. If it was asked for models, `kinds` are those of the chunks, and the table has
/// their heads, and tasks that kernels only have to place: calls take 20 to 40 µs less, and a kernel looks whether the stream still
/// has the same heads. Otherwise anything may occur. If all columns are pages of coder pack of one to four lanes, 4096 values at
/// most, without strides, linear prediction, segments or maps with fields, as level 1 writes most numbers, small calls take half
/// the time or less.
/// Errors      unsupported_feature (chunks of more than one layout), invalid_argument (a chunk's layout is not in the list of
///             layouts)
Result<ChunkTable> make_chunk_table(const StreamInfo& info);

/// What to decode, and from where to where. Pointers are to device memory unless said otherwise. What lies there is the caller's again
/// when the work is done that the call enqueues.
struct DeviceDecode {
  /// In host memory, and read during the call alone; `bytes` may be empty, since only `device_table` is looked at.
  const ChunkTable* table = nullptr;
  const void* device_table = nullptr;  ///< its `bytes`, 16-byte aligned
  const void* stream = nullptr;        ///< 16-byte aligned, readable to the next multiple of 16
  std::uint64_t stream_bytes = 0;
  std::uint64_t first_chunk = 0;
  std::uint64_t num_chunks = 0;
  /// Where the first chunk's content begins: any address; fastest at multiples of 16. It overlaps none of the others.
  void* out = nullptr;
  std::uint64_t out_bytes = 0;    ///< room behind `out`
  ChunkStatus* status = nullptr;  ///< [num_chunks]
  /// 256-byte aligned. It may hold anything before, and is no other call's until this one's work is done; calls on one stream may
  /// have the same.
  void* scratch = nullptr;
  std::uint64_t scratch_bytes = 0;
  bool verify = true;  ///< check contents; structure is checked always
  /// Where segments begin, if chunks say their segments and this is not null: of those that begin in the
  /// range, in order, counted in records from the first record of such chunks of the range on; behind
  /// them, where the last one ends. Of chunks that are not ok they are unspecified.
  std::uint64_t* offsets = nullptr;
  std::uint64_t num_offsets = 0;  ///< room there: more than the segments that begin
};

/// Scratch that decoding `num_chunks` chunks of the table takes: little for each chunk; as much as they decode to if records have
/// several columns or chunks say their segments; an eighth of that if columns may have dictionaries; and 8 bytes a segment.
/// Errors      invalid_argument (a range outside the table), unsupported_backend
Result<std::uint64_t> device_decode_scratch_bytes(const ChunkTable& table,
                                                  std::uint64_t first_chunk,
                                                  std::uint64_t num_chunks);

/// Enqueues the decoding of a range of chunks: their contents one after the other from `out` on.
/// Shapes      out [>= decoded bytes of the range];  status [num_chunks]
/// Errors      returned: invalid_argument, output_too_small (scratch), unsupported_backend,
///             device_error (a launch failed). In `status`, for each chunk: truncated, corrupt,
///             unsupported_feature, output_too_small, or needs_host for a chunk with a column that no device decodes
///             (decodes_on_device of types.h tells by its coder), with a table that a coder has made, or of segments with a
///             dictionary, which is left alone. A chunk that needs what `table->kinds` denies is corrupt, and so is one
///             that is prepared and has another head than `inspect` read. The bytes of a chunk that is not ok are
///             unspecified, those of the others are right.
/// Complexity  a launch for each column, if they are four at most, and chunks are prepared, pages few (docs/pages.md), and the
///             call is not recorded for a graph. Otherwise three to about ten whatever the number of chunks, the fewer
///             the more `table->kinds` denies; three or more behind them if chunks say their segments; one
///             more for each further width or tuple among the columns, and one that makes records of several. From compute capability 9.0
///             on, all but the first may start before the one before them is done
/// Threads     any; work is ordered by `cuda_stream`, which may be captured, on the current device
Result<void> device_decode(const DeviceDecode& decode, DeviceStream cuda_stream);

/// Opens the pages of a column for kernels of the caller's that decode them into registers: heads are read and checked
/// as by device_decode. Of `decode`, `out` and `out_bytes` are not looked at. Enqueue readers behind it
/// (gdelta/pages/page_reader.cuh), on the same stream, then device_close_pages.
/// Errors      as device_decode; invalid_argument (no such column); unsupported_feature if the column has more than four lanes,
///             or the table says that some chunk may say its segments or be opaque, or that some column may need other
///             kernels: only columns of coder pack whose pages have at most 4096 values (1024 tuples of more than four lanes),
///             without strides, linear prediction, dictionaries and other maps with fields, or steps of lanes, as
///             device_encode and level 1 write them if they are asked for no `maps`
/// Complexity  two launches; no memory but scratch, as much as device_decode takes, which stays in use until the work of
///             device_close_pages is done
Result<DevicePages> device_open_pages(const DeviceDecode& decode, std::size_t column,
                                      DeviceStream cuda_stream);

/// Enqueues what fills `status` of the call that opened the pages: what readers before it have found, and which
/// chunks could not be opened. A chunk whose column is raw or constant has no pages: readers get nothing of it, and it
/// is unsupported_feature. Of other chunks that are not ok, values that readers got are unspecified.
/// Errors      device_error (a launch failed), unsupported_backend
Result<void> device_close_pages(const DevicePages& pages, DeviceStream cuda_stream);

/// What to encode, and from where to where: records of at most 64 columns, no other bytes between or
/// behind them. Pointers are to device memory; none of these stretches overlaps another, and what lies there is the caller's again when
/// the work is done that the call enqueues.
struct DeviceEncode {
  Layout layout = {};
  const void* values = nullptr;  ///< whole records at any address; fastest at multiples of 16
  std::uint64_t values_bytes = 0;
  std::uint64_t chunk_bytes = 0;  ///< decoded bytes of a chunk, up to 2^28; 0: 1 MiB
  std::optional<int> order = {};  ///< 0 … 8 for every lane; without it the device picks one a lane
  /// Tuples, 2 … kMaxStride, tried on every column of every chunk, or kFindStride: as EncodeOptions::stride. 0: none is known.
  std::uint64_t stride = 0;
  /// Beside a stride of tuples: another one, taken where it saves more. Planes of an array beside its rows. 0: none.
  std::uint64_t other_stride = 0;
  /// pack or ans; without it pack. Chunks that do not shrink are raw, those of equal values constant.
  std::optional<Coder> coder = {};
  /// Whether lanes of f32 and f64 that are decimals or multiples of a power of two, and integers of 32 and 64 bits with a
  /// common step, become whole numbers, lanes of such types with few values indices into a table of them, and lanes that follow
  /// earlier ones their differences (docs/maps.md). Without, scratch is shorter by the values and an eighth of them, if these have
  /// four or eight bytes, and device_open_pages takes the stream.
  bool maps = true;
  void* stream = nullptr;                 ///< 16-byte aligned
  std::uint64_t stream_room = 0;          ///< bytes behind `stream`, at least device_encode_bound
  std::uint64_t* stream_bytes = nullptr;  ///< [1] out: how long the stream is
  void* table = nullptr;    ///< 16-byte aligned, [chunk_table_bytes] out: for device_decode
  void* scratch = nullptr;  ///< 256-byte aligned; as that of DeviceDecode
  std::uint64_t scratch_bytes = 0;
};

/// Bytes that the stream has at most. This and the next two look at layout, values_bytes,
/// chunk_bytes, order, stride, coder and maps alone: all of them must be those of the call that encodes. That other_stride is possible
/// beside `stride` is checked, too; what they say does not depend on it.
/// Errors      invalid_argument (an impossible layout, more columns, an impossible order, stride, other_stride, coder or chunk_bytes,
///             values that are no whole records, too many chunks), unsupported_backend
Result<std::uint64_t> device_encode_bound(const DeviceEncode& encode);

/// Scratch that encoding takes; DeviceEncode::maps says what maps and tables add to it. Errors as above.
Result<std::uint64_t> device_encode_scratch_bytes(const DeviceEncode& encode);

/// The host's half of the chunk table that encoding will leave: all of it but `bytes`. With it
/// device_decode can be enqueued behind device_encode: `device_table` is the table, `stream_bytes`
/// may be any number from the stream's length to its room. Errors as above.
Result<ChunkTable> device_encode_table(const DeviceEncode& encode);

/// Enqueues the encoding of records into a complete stream: header, layout, chunks, end with index.
/// Its bytes are those of `compress` at level 1 with the same layout, chunk_bytes, order, stride, coder and maps. With another stride,
/// for which `compress` has no option, chunks are those that it makes of an NPY array whose shape tells both.
/// Shapes      stream [>= device_encode_bound];  table [chunk_table_bytes of the layout]
/// Errors      returned: invalid_argument, output_too_small (stream or scratch),
///             unsupported_backend, device_error (a launch failed); nothing can fail afterwards
/// Complexity  two reads of the values and one more for checksums; about ten launches whatever the
///             number of chunks. Where maps of values are looked for, three more, and for chunks that get some one read and
///             one write, for those whose values are looked up another one of each, and up to 75 MB of scratch; one launch
///             more for tuples of two to four, and one for a stride, with which each look at a value is one at another, too;
///             another one looks for strides.
///             With ans about twenty launches, and scratch of 8 bytes a value (12 of those of 8 bytes), 0.2 MiB a chunk,
///             0.4 MiB a chunk up to 64 KiB, and up to 0.3 GiB.
///             All of that for each column of a record, and if there are several one read and one write of the values more
/// Threads     any; work is ordered by `cuda_stream`, which may be captured, on the current device
Result<void> device_encode(const DeviceEncode& encode, DeviceStream cuda_stream);

}  // namespace gdelta
