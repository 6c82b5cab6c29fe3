// How a table of hostile streams is put together: the rows, and right streams to plant faults in.
#pragma once

#include "codec/faults/fault_stream.h"
#include "gdelta/error.h"

namespace gdelta::faults {

/// The block of the chunk at fault, for readers of single chunks.
struct ChunkAtFault {
  Layout layout;
  bool opaque = false;
  std::uint64_t at = 0;  // in the stream
  Bytes block;
  std::uint64_t decoded_bytes = 0;
  std::uint64_t lengths = 0;  // of segments, as its head says if that can be
};

struct FaultCase {
  std::string name;
  Bytes stream;
  Errc code = Errc::corrupt;
  std::optional<std::uint64_t> chunk;
  std::uint64_t byte = 0;
  bool has_index = false;
  bool in_payload = false;          // readers that decode nothing find no fault,
  bool unknown_model = false;       // nor here: they list what a later version has made
  std::uint64_t decoded_bytes = 0;  // of the stream without the fault
  std::optional<ChunkAtFault> at_fault;
};

/// Class, chunk and byte, as far as they are known.
std::string report_of(const Error& error);

std::string expected_report(const FaultCase& fault);

/// Where a fault is reported. Faults are planted in chunk 1, the second and last one.
enum class Place {
  start,
  layout,
  first_chunk,
  chunk,
  unknown_block,  // where chunk 1 should begin
  first_part,     // the first part of chunk 1
  second_part,
  second_column,  // the first part of chunk 1's second column
  exceptions,     // of chunk 1's first column
  end,
  past_end
};

/// Puts bytes into a finished stream, or cuts it.
using ByteEdit = std::function<void(Bytes&, const WrittenStream&)>;

class FaultTable {
 public:
  using Change = std::function<void(StreamFields&)>;

  /// `change` makes one field of `good` wrong; once without and once with an index.
  void add(const std::string& name, const StreamFields& good, const Change& change, Errc code,
           Place place) {
    for (const bool with_index : {false, true})
      add_one(name, with_index, good, change, code, place, {});
  }
  /// A fault of a part that begins `part_at` bytes behind the beginning of chunk 1's payload.
  void add_at(const std::string& name, const StreamFields& good, const Change& change, Errc code,
              std::uint64_t part_at) {
    const std::size_t first = cases.size();
    add(name, good, change, code, Place::first_part);
    for (std::size_t i = first; i < cases.size(); ++i) cases[i].byte += part_at;
  }
  /// A fault of the index.
  void add_to_index(const std::string& name, const StreamFields& good, const Change& change) {
    add_one(name, true, good, change, Errc::corrupt, Place::end, {});
  }
  /// Bytes put in or taken away.
  void add_edit(const std::string& name, const StreamFields& good, const ByteEdit& edit, Errc code,
                Place place) {
    for (const bool with_index : {false, true})
      add_one(
          name, with_index, good, [](StreamFields&) {}, code, place, edit);
  }
  /// A stream without fault, of the kind that others have one in.
  void add_good(const std::string& name, const StreamFields& good) {
    add(
        name, good, [](StreamFields&) {}, Errc::ok, Place::start);
  }

  std::vector<FaultCase> cases;

 private:
  static constexpr std::uint64_t kMostLengths = 1000;  // of those that are right

  /// Of a chunk of segments what its head says, for its lengths are held against that.
  static std::uint64_t decoded_bytes_of(const StreamFields& fields, const ChunkFields& chunk) {
    return chunk.segments && chunk.records.value <= kMostLengths
               ? chunk.records.value * fields.columns.record_bytes()
               : fields.decoded_bytes;
  }

  void add_one(const std::string& name, bool with_index, StreamFields fields, const Change& change,
               Errc code, Place place, const ByteEdit& edit) {
    fields.has_index = with_index;
    change(fields);
    const WrittenStream written = write(fields);
    FaultCase made;
    made.name = name + (with_index ? ", with index" : "");
    made.code = code;
    made.byte = byte_of(place, fields, written);
    made.has_index = with_index;
    made.decoded_bytes = fields.decoded_bytes + kFirstRecords * fields.columns.record_bytes();
    made.in_payload = is_part(place);
    made.unknown_model = code == Errc::unsupported_feature && place == Place::chunk &&
                         !fields.chunks[1].frame.payload_bytes;
    const bool in_chunk = place == Place::chunk || made.in_payload;
    if (place == Place::first_chunk) made.chunk = 0;
    if (in_chunk) made.chunk = 1;
    made.stream = written.bytes;
    if (edit) edit(made.stream, written);
    if (in_chunk || place == Place::unknown_block || code == Errc::ok) {
      const auto begin = std::min<std::size_t>(written.chunk_at[1], made.stream.size());
      const auto end = std::min<std::size_t>(written.end_at, made.stream.size());
      const ChunkFields& chunk = fields.chunks[1];
      const std::uint64_t lengths = chunk.segments ? chunk.segments->lengths.value : 0;
      made.at_fault = {.layout = chunk.opaque ? byte_layout() : fields.columns,
                       .opaque = chunk.opaque,
                       .at = begin,
                       .block = Bytes(made.stream.data() + begin, made.stream.data() + end),
                       .decoded_bytes = decoded_bytes_of(fields, chunk),
                       .lengths = lengths <= kMostLengths ? lengths : 0};
    }
    cases.push_back(std::move(made));
  }

  static bool is_part(Place place) {
    return place == Place::first_part || place == Place::second_part ||
           place == Place::second_column || place == Place::exceptions;
  }

  static std::uint64_t byte_of(Place place, const StreamFields& fields,
                               const WrittenStream& written) {
    switch (place) {
      case Place::start:
        return 0;
      case Place::layout:
        return written.layout_at;
      case Place::first_chunk:
        return written.chunk_at[0];
      case Place::chunk:
      case Place::unknown_block:
        return written.chunk_at[1];
      case Place::first_part:
        return written.payload_at[1];
      case Place::second_part: {
        const ModelFields& model = fields.chunks[1].models[0];
        return written.payload_at[1] + model.part_ends[0];
      }
      case Place::second_column:
        return written.payload_at[1] + fields.chunks[1].models[0].column_bytes.value;
      case Place::exceptions:
        return written.payload_at[1] + fields.chunks[1].models[0].part_ends.back();
      case Place::end:
        return written.end_at;
      case Place::past_end:
        return written.bytes.size();
    }
    return 0;
  }
};

// ---- The chunk in which faults are planted

ChunkFields& chunk(StreamFields& stream);
ModelFields& model(StreamFields& stream);
/// A change that takes the chunk of another stream.
inline auto put_chunk_of(const StreamFields& other) {
  return [other](StreamFields& stream) {
    stream.chunks[1] = other.chunks[1];
    stream.decoded_bytes = other.decoded_bytes;
  };
}

// ---- Right streams to plant faults in

Bytes bytes_of(std::initializer_list<int> values);

using Choose = std::function<plain::Choice(const Column&)>;

Choose coded(Coder coder, std::vector<int> orders);

StreamFields wandering_stream(const char* record, std::size_t records, const Choose& choose);

StreamFields raw_stream(const char* record = "i32x2", std::size_t records = 5);

/// One tuple again and again in every column.
StreamFields constant_stream(const Layout& layout, std::size_t records);

/// Two pages, with exceptions.
StreamFields pack_stream(int order = 1, const char* record = "i16x2");

/// Two frames.
StreamFields zstd_stream(int order = 1);

/// u8 with strides, of order 1 in the lane.
StreamFields strided_stream(std::size_t records, const std::vector<StrideFields>& links);

StreamFields opaque_stream();

}  // namespace gdelta::faults
