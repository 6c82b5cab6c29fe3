// Whole streams in host memory, one call each way; and the options that every encoder and decoder
// takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gdelta/error.h"
#include "gdelta/types.h"

namespace gdelta {

/// Called when a chunk has been encoded or decoded, with the uncompressed bytes of all chunks that are
/// done so far; return false to cancel. For every chunk at least once, wherever it is coded: by
/// compress, decompress, a Writer, a Reader, or for a range, of which the chunks that it touches count
/// whole. Chunks that the CPU encodes count in part before they are done, by the work on them, and so do
/// those of 8 MiB and more that it decodes. The last call tells the sum of them all. Numbers never fall.
/// Calls come from threads of the library, one at a time, and work waits for them: be brief.
using ProgressFunction = bool (*)(std::uint64_t bytes_done, void* user);

/// How to compress. The defaults let the planner decide everything.
struct EncodeOptions {
  /// What the numbers are; without it a known file format tells, else a sample.
  std::optional<Layout> layout = {};
  /// 1 (fastest) … 9 (smallest); 1 and 2 use zstd for bytes that are no numbers alone.
  int level = 5;
  /// Decoded bytes of a chunk, up to 2^28; 0: the level's default.
  std::uint64_t chunk_bytes = 0;
  /// 0 … 8 for every lane; without it the planner picks one a lane.
  std::optional<int> order = {};
  /// Tuples, 2 … kMaxStride: whether it saves enough to take values less those so many tuples before is tried on every chunk of
  /// numbers four times as long, at levels that look for no stride, too. Such as how many records a row of an image has.
  /// kFindStride: one is looked for in every such chunk, as levels from 3 on do anyway. 0: none is known; rows and planes of an
  /// NPY array are tried then, as its shape tells them.
  std::uint64_t stride = 0;
  /// One for every chunk that may be asked for; without it the planner picks.
  std::optional<Coder> coder = {};
  /// Promises a stream that decodes wholly on a device: coders that hosts alone decode are not taken.
  bool device_decodable = false;
  /// Whether values may go through maps with fields (decimals and the like, tables), and lanes be taken less other lanes
  /// (ColumnInfo::maps_in_a_pass). Streams of level 1 without either are pages that device_open_pages takes.
  bool maps = true;
  std::string device = "auto";  ///< "auto", "cpu", "cuda", "cuda:0,1"
  int threads = 0;              ///< CPU threads; 0: all cores
  /// What the stream says about itself, in UTF-8: keys of 1 to 255 bytes, 64 KiB in all. Read again by
  /// read_metadata, without decoding. What the head of a known file format says ("sample_rate") is
  /// added, unless the key is here. Streams that a device encodes have none.
  std::vector<MetadataEntry> metadata = {};
  /// Bytes that compressing may hold, but for the caller's own and some 32 MiB. If it is low, fewer
  /// chunks are worked on at once; the stream is the same. What does not fit one at a time is refused.
  std::uint64_t memory_limit = ~std::uint64_t{0};
  ProgressFunction progress = nullptr;
  void* progress_user = nullptr;
};

/// How to decompress.
struct DecodeOptions {
  std::string device = "auto";
  int threads = 0;
  /// Bytes that decoding may hold, whatever the file says; what needs more is refused with
  /// memory_limit before it is allocated. All counts but the caller's own memory and some 32 MiB for
  /// buffers of fixed size: compressed and decoded bytes, copies of columns, notes of each chunk. If
  /// the limit is low, fewer chunks are decoded at once.
  std::uint64_t memory_limit = 4ull << 30;
  /// Decoded bytes that a call may give; more is refused with output_limit. A file may decode to twelve
  /// million times its length.
  std::uint64_t output_limit = ~std::uint64_t{0};
  bool verify = true;  ///< check the content of every chunk; structure is checked always
  ProgressFunction progress = nullptr;
  void* progress_user = nullptr;
};

/// What one chunk's column was compressed with.
struct ColumnInfo {
  Coder coder = {};
  ValueMap map = ValueMap::none;  ///< by_lane if the lanes have several
  /// The map with what it needs to know, "decimal /100", or those of the lanes, "by lane: ordered, decimal
  /// /10"; empty for none.
  std::string map_words = {};
  LaneMap lane_map = LaneMap::none;
  /// "lanes 1-0 0+1/2": from lane 1 lane 0 is taken, then half of lane 1 is added to lane 0; empty for
  /// none.
  std::string lane_map_words = {};
  std::uint64_t exceptions = 0;  ///< values that their maps do not give back
  /// There are maps with fields, or steps of lanes by lanes: a CPU undoes them behind all else, value by value only the others.
  bool maps_in_a_pass = false;
  /// And on a device they are undone, or indices looked up, by kernels of their own behind the pages, not where values are stored.
  bool map_passes = false;
  bool dictionaries = false;  ///< a lane's values are looked up in a table
  bool coded_tables = false;  ///< and a coder has made such a table: the host decodes the column
  Predictor predictor = Predictor::none;
  std::vector<int> orders;             ///< one for each lane; none if they are predicted linearly
  std::optional<int> head_order = {};  ///< along the heads of segments, if it is predicted in them
  bool page_states = false;  ///< and its pages begin with states, so that each is joined alone
  std::vector<std::pair<std::uint64_t, int>> strides;  ///< (stride in tuples, order)
  std::uint64_t page_groups = 0;  ///< of 128 values, in a page, for each lane (pack)
  std::uint64_t compressed_bytes =
      0;  ///< the section, its exceptions and tables, without the model
  /// "coder 9", "a variant of predictor linear": what this version does not know of it. The chunk cannot be decoded by
  /// it; of the rest `coder`, which may be none of the enumerators, and `compressed_bytes` are told.
  std::string unknown = {};
};

struct ChunkInfo {
  std::uint64_t number = 0;  ///< from 0 through the whole file
  std::uint64_t byte = 0;    ///< where its block starts
  std::uint64_t block_bytes = 0;
  std::vector<std::byte> head = {};  ///< of the block all before its payload; with models alone
  std::uint64_t records = 0;
  std::uint64_t decoded_at = 0;  ///< where its content starts in the decoded bytes
  std::uint64_t decoded_bytes = 0;
  /// Lengths of segments that it says, those of segments that go on from chunk to chunk included; 0: it
  /// does not say its segments.
  std::uint64_t segments = 0;
  bool continues = false;  ///< its first segment goes on with the last one of the chunk before
  bool goes_on = false;    ///< its last segment goes on in the next chunk
  bool opaque = false;     ///< bytes that are not numbers: headers, tails
  std::size_t layout = 0;  ///< index into StreamInfo::layouts (not for opaque chunks)
  LayoutNote note = {};    ///< the level and the layout's origin, if its encoder said them
  std::vector<ColumnInfo> columns;
  std::vector<ColumnInfo> lengths =
      {};  ///< one, if the chunk says its segments: how their lengths are stored
};

struct StreamInfo {
  std::uint64_t streams = 0;
  std::uint64_t compressed_bytes = 0;
  std::uint64_t decoded_bytes = 0;
  std::vector<Layout> layouts;
  std::vector<ChunkInfo> chunks;
  std::vector<MetadataEntry> metadata;  ///< as read_metadata gives it
};

/// Sums over a whole file.
struct FileTotals {
  std::uint64_t streams = 0;
  std::uint64_t chunks = 0;
  std::uint64_t records = 0;   ///< of numbers; opaque chunks hold none
  std::uint64_t segments = 0;  ///< that begin in chunks that say their segments
  std::uint64_t compressed_bytes = 0;
  std::uint64_t decoded_bytes = 0;
};

/// How to look at a file without decoding it.
struct InspectOptions {
  /// Read the head of every block, which says what each column was compressed with and shows all
  /// damage but that inside payloads. Without, the indexes are believed if every stream has one
  /// that fits its header and its layout blocks, and ColumnInfo and the note are left out.
  bool models = true;
  std::uint64_t memory_limit =
      4ull << 30;  ///< bytes that may be held; more is refused with memory_limit
};

/// What the numbers of an input are taken for, and how that is known.
struct FoundLayout {
  Layout layout;
  std::string_view
      origin;  ///< "given", "found", or of a file's head: "wav", "npy", "las", "zip", "tar"
};

/// What `compress` takes `values` for under these options, or the first array in it: the layout that was given, else what the
/// head of a known file format says, else what a sample tells. If numbers were "found", giving
/// them in the options leads to the same chunks and spares `compress` the search; byte_layout() says
/// that there are none, whereas bytes that are given count as numbers.
/// Errors      invalid_argument, out_of_memory
/// Complexity  looks at the first 4 MiB, on one core
/// Threads     any number of calls at once
Result<FoundLayout> find_layout(std::span<const std::byte> values,
                                const EncodeOptions& options = {});

/// A part of an input that `compress` takes for records of one layout.
struct FoundArray {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  Layout layout;
};

/// Finds all parts of `values` that `compress` takes for numbers, in order. A file of a known format may
/// hold several arrays, each with a layout of its own; what lies between them, and arrays too short to
/// be worth a layout, are opaque bytes. Any other input is one part.
/// Errors      as above
/// Complexity  as above, and what lies between the arrays is searched for their heads
Result<std::vector<FoundArray>> find_arrays(std::span<const std::byte> values,
                                            const EncodeOptions& options = {});

/// An origin in words: "given", "found in a sample", "as its WAV header says". Empty for others.
std::string_view origin_sentence(std::string_view origin);

/// Upper bound of the compressed size of `bytes` input bytes under these options. With a layout of few columns it is little more
/// than the input. Without one it takes chunks to have as many columns as a record may have, so for chunks of 1 MiB it is about
/// 1.18 times the input, and 0.26 MB, and for tiny ones at most 16 times the input, and 70 bytes a chunk. Options that `compress`
/// refuses are no error here: what comes back means nothing.
std::uint64_t compress_bound(std::uint64_t bytes, const EncodeOptions& options = {});

/// Compresses `values` into one stream.
/// Errors      invalid_argument, unsupported_backend, memory_limit, out_of_memory, cancelled
/// Threads     any number of calls at once
Result<std::vector<std::byte>> compress(std::span<const std::byte> values,
                                        const EncodeOptions& options = {});

/// Does the same into the caller's memory, which is not that of `values`; returns the stream's length. What is there is
/// unspecified after an error. Errors as above, and output_too_small: compress_bound tells what is always enough.
Result<std::uint64_t> compress_into(std::span<const std::byte> values, std::span<std::byte> out,
                                    const EncodeOptions& options = {});

/// Decompresses every stream in `bytes`.
/// Errors      truncated, corrupt, not_gdelta, unsupported_*, memory_limit, output_limit,
///             out_of_memory, cancelled; the lowest chunk that fails is reported
Result<std::vector<std::byte>> decompress(std::span<const std::byte> bytes,
                                          const DecodeOptions& options = {});

/// Does the same into the caller's memory; returns the decoded size. Errors as above, and
/// output_too_small.
Result<std::uint64_t> decompress_into(std::span<const std::byte> bytes, std::span<std::byte> out,
                                      const DecodeOptions& options = {});

/// Decoded bytes [begin, end) alone; touches only the chunks it needs.  Errors as above, and
/// invalid_argument.
Result<std::vector<std::byte>> decompress_range(std::span<const std::byte> bytes,
                                                std::uint64_t begin, std::uint64_t end,
                                                const DecodeOptions& options = {});

/// Describes every chunk, decodes nothing.
/// Errors      truncated, corrupt, not_gdelta, unsupported_*, memory_limit, out_of_memory
/// Memory      some hundred bytes a chunk and a column, and with models the head of each chunk, within
///             `options.memory_limit`; visit_chunks of stream.h holds one chunk at a time
Result<StreamInfo> inspect(std::span<const std::byte> bytes, const InspectOptions& options = {});

/// What a file's streams say about themselves: each key once, with its last value, in the order in
/// which keys first occur. Found from the indexes if every stream has one, else from the heads of
/// all blocks; decodes nothing.
/// Errors      as above
/// Memory      the entries, within `options.memory_limit`
Result<std::vector<MetadataEntry>> read_metadata(std::span<const std::byte> bytes,
                                                 const InspectOptions& options = {});

/// What else could have been done with a column of a chunk.
struct ColumnExplanation {
  /// What each lane takes if the coder is pack, in bits, states and descriptors included.
  std::vector<std::uint64_t> lane_bits;
  /// Other ways of coding it; `compressed_bytes` is what they come to. First raw, then pack with
  /// every lane at order 0, 1, … 8 and with each lane at its best; pack with the other value map
  /// (floats) and without the further strides, if there are some; zstd of the values as they are
  /// and of the residuals at the best orders, at zstd's level 3. A constant column has raw alone.
  std::vector<ColumnInfo> alternatives;
};

/// Says for each column of a chunk what other ways of coding it would have cost.
/// Shapes      values: what the chunk decodes to; `chunk.columns` those of `layout`. Of empty segments alone, without a record, a
///             chunk has no alternatives
/// Errors      invalid_argument (values, layout and columns do not fit), out_of_memory
/// Complexity  about 20 MB/s on one core; some three times the bytes of a column in scratch
/// Threads     any number of calls at once
Result<std::vector<ColumnExplanation>> explain_chunk(std::span<const std::byte> values,
                                                     const Layout& layout, const ChunkInfo& chunk);

/// A device that `device` options may name.
struct DeviceInfo {
  std::string name;  ///< "cpu", "cuda:0"
  std::string description;
  std::uint64_t memory_bytes = 0;
};
std::vector<DeviceInfo> list_devices();

/// Gives back what a call with a GPU has kept, so that the next one need not ask for it: some hundred MiB on the GPU, and about as
/// much of the host's memory that it copies from and to. Only the latest call's is kept. Calls of device.h keep nothing.
/// Threads     any; what a call under way uses is kept when it ends
void release_devices();

/// Version of the library, "0.1.0".
std::string_view library_version();

}  // namespace gdelta
