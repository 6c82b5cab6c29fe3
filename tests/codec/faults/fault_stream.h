// Streams written field by field, so that any one field can be made wrong while all others hold:
// checks, sizes and the index follow from what is written, unless the field at fault is one of them.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>

#include "golden/golden_case.h"
#include "golden/plain_encoder.h"

namespace gdelta::faults {

using plain::Bytes;

/// A varint; `longer` writes it with a byte more than it needs.
struct Varint {
  std::uint64_t value = 0;
  bool longer = false;
  Varint(std::uint64_t number) : value(number) {}  // NOLINT: a number is a varint
  Varint(std::uint64_t number, bool with_zero) : value(number), longer(with_zero) {}
};

void append(Bytes& out, const Varint& varint);
void append(Bytes& out, const Bytes& more);
void append_byte(Bytes& out, int value);

/// What every block has: without a value, a field is what it should be.
struct FrameFields {
  std::optional<int> tag;
  std::optional<Varint> head_bytes;
  bool longer_head_bytes = false;
  std::optional<Varint> payload_bytes;
  bool longer_payload_bytes = false;
  std::uint32_t wrong_bits = 0;  // of the check
};

struct LayoutFields {
  FrameFields frame;
  std::optional<Varint> num_columns;
  std::vector<std::pair<int, int>> columns;  // type, tuple
  std::optional<int> note = 0;
  Bytes behind;  // further bytes of the head
};

struct StrideFields {
  Varint stride;
  int order = 1;
};

struct AnsBinFields {
  Varint frequency;
  int offset_bits = 0;
  Varint distance;
};

struct AnsTableFields {
  std::optional<Varint> bins_less_1;
  std::vector<AnsBinFields> bins;
};

struct AnsModelFields {
  int slot_bits = 0;
  int span_bits = 0;
  std::optional<int> num_tables;
  std::vector<AnsTableFields> tables;
};

/// A lane's map, and its fields as they stand there.
struct LaneMapFields {
  int number = 0;
  Bytes fields = {};
};

struct ModelFields {
  std::optional<Varint> model_bytes;
  Varint column_bytes = 0;
  int coder = 0;
  std::optional<bool> has_front;
  int map = 0;  // 255: the numbers of `maps` follow
  std::vector<LaneMapFields> maps;
  std::optional<Varint> exceptions;
  int lane_map = 0;
  Bytes lane_map_fields;
  int predictor = 1;
  int orders = 0;  // 255: `lane_orders` follow
  std::vector<int> lane_orders;
  std::optional<int> num_strides;
  std::vector<StrideFields> strides;
  Bytes linear;    // what follows predictor 2
  Bytes segments;  // what follows predictor 3
  int arrangement = 0;
  AnsModelFields ans;
  Varint part_groups = 0;
  std::vector<std::uint64_t> part_ends;
  std::vector<std::uint32_t> part_checks;
  Bytes behind;                            // further bytes of the model
  std::optional<std::size_t> bytes_there;  // of the fields; those behind are missing
};

/// What a chunk that says its segments has before the models of its columns.
struct SegmentsFields {
  Varint lengths = 0;
  int joins = 0;
  ModelFields model;
};

struct ChunkFields {
  FrameFields frame;
  bool opaque = false;
  Varint records = 0;
  int kinds = 0;
  std::optional<SegmentsFields> segments;
  std::vector<ModelFields> models;
  Bytes behind;  // further bytes of the head
  Bytes payload;
};

struct EntryFields {
  int tag = 2;
  Varint block_bytes = 0;
  std::uint32_t check = 0;
  Varint number = 0;  // of records, or of bytes of `head`
  Bytes head;         // of a layout
  std::optional<Varint> lengths;
  int joins = 0;
};

struct EndFields {
  FrameFields frame;
  bool has_head = true;
  std::optional<Varint> num_entries;
  std::function<void(std::vector<EntryFields>&)> change_entries;
  Bytes behind;         // further bytes of the head
  Bytes before_footer;  // bytes that nothing speaks of
  std::optional<std::uint32_t> footer;
};

struct StreamFields {
  Bytes header{format::kStreamHeader.begin(), format::kStreamHeader.end()};
  Layout columns;  // what `layout` says while it is right
  bool has_layout = true;
  LayoutFields layout;
  std::vector<ChunkFields> chunks;
  std::uint64_t decoded_bytes = 0;  // of the last chunk while it is right
  bool has_index = false;
  EndFields end;
};

/// A stream, and where its parts lie.
struct WrittenStream {
  Bytes bytes;
  std::uint64_t layout_at = 0;
  std::vector<std::uint64_t> chunk_at;
  std::vector<std::uint64_t> payload_at;
  std::uint64_t end_at = 0;
};

/// The fields of a model from its map to its predictor, and those of ans.
void append_front(Bytes& out, const ModelFields& model);
void append_ans(Bytes& out, const AnsModelFields& ans);

WrittenStream write(const StreamFields& fields);

// ---- Right streams, to begin with

ModelFields model_of(const Column& column, const plain::Choice& choice,
                     const plain::Section& section);
ChunkFields chunk_of(const Layout& layout, const Bytes& values,
                     const std::vector<plain::Choice>& choices);

/// Of the chunk before the one in which faults are planted.
inline constexpr std::uint64_t kFirstRecords = 2;

/// A layout, a small raw chunk, and a chunk of `values`, in which faults are planted.
StreamFields stream_of(const Layout& layout, const Bytes& values,
                       const std::vector<plain::Choice>& choices);

}  // namespace gdelta::faults
