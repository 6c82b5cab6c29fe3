// The model of a column as it stands in the head of a chunk: one parser, for host and device. Spec:
// spec.md, section 4. Parsing checks every field against its range, so that whatever it accepts can
// be used without a further look.
#pragma once

#include "formats/gdelta/maps/map_fields.h"
#include "formats/gdelta/model.h"
#include "formats/gdelta/predictors/predictor_fields.h"
#include "formats/gdelta/tags.h"

namespace gdelta::format {

/// A column of a chunk: its model and where its parts lie.
struct ColumnHead {
  ColumnModel model;
  std::uint64_t num_parts = 0;
  std::uint64_t maps_at = 0;        // offset in the head of the value map
  std::uint64_t lane_map_at = 0;    // offset in the head
  std::uint64_t predictor_at = 0;   // offset in the head of the predictor's own fields
  std::uint64_t fields_at = 0;      // offset in the head of the coder's own fields
  std::uint64_t part_ends_at = 0;   // offset in the head of u32 each; there are num_ends()
  std::uint64_t section_at = 0;     // offset in the payload
  std::uint64_t section_bytes = 0;  // without exceptions and tables
  std::uint64_t exceptions = 0;     // of value maps; they follow the section
  std::uint64_t exception_bytes = 0;
  std::uint64_t table_bytes = 0;    // of dictionaries; they follow the exceptions
  std::uint64_t table_entries = 0;  // of all lanes
  std::uint32_t table_coders = 0;   // bit k: coder k has made some of them
  std::uint8_t lane_steps = 0;      // of the lane map

  GDELTA_HD std::uint64_t num_ends() const {
    return says_part_ends(model.section.coder, num_parts) ? num_parts : 0;
  }
  /// Counts the bytes that the column has of the payload.
  GDELTA_HD std::uint64_t column_bytes() const { return tables_at() + table_bytes; }
  /// Tells where in the column the tables begin.
  GDELTA_HD std::uint64_t tables_at() const { return section_bytes + exception_bytes; }
  /// Whether there are kernels that decode it; the host decodes others.
  GDELTA_HD bool decodes_on_device() const {
    return format::decodes_on_device(model.section.coder, model.front.predictor) &&
           table_coders == 0;
  }
  /// Whether pages leave words that passes behind the coder make values of.
  GDELTA_HD bool is_finished_later() const {
    return model.front.num_strides > 0 || !predictor_traits(model.front.predictor).has_orders ||
           maps_in_a_pass(model.front);
  }
  /// Tells where in the head the checks of the parts begin, u32 each.
  GDELTA_HD std::uint64_t part_checks_at() const { return part_ends_at + 4 * num_ends(); }
};

/// The smallest model has model_bytes, column_bytes, coder, part_groups and one check.
inline constexpr std::uint64_t kSmallestModelBytes = 1 + 1 + 1 + 1 + 4;

GDELTA_HD inline int type_bytes(ValueType type) {
  const int kind = static_cast<int>(type);
  return kind < 2    ? 1
         : kind < 4  ? 2
         : kind < 6  ? 3
         : kind < 8  ? 4
         : kind < 10 ? 8
         : kind < 12 ? 2
         : kind < 13 ? 4
                     : 8;
}

GDELTA_HD inline std::uint64_t tuple_bytes(const Column& column) {
  return static_cast<std::uint64_t>(type_bytes(column.type)) * column.tuple;
}

/// Frames that a part is made of, if the coder is zstd.
GDELTA_HD inline std::uint64_t frames_of_part(const Section& section, const Column& column) {
  return section.arrangement == Arrangement::plane_frames ? tuple_bytes(column) : 1;
}

namespace detail {

/// Fills what `head` says of the front, and takes exceptions and tables off the section.
GDELTA_HD inline HeadError parse_front(Cursor& cursor, const Column& column, std::uint64_t records,
                                       bool in_segments, ColumnHead& head) {
  Front& front = head.model.front;
  head.maps_at = cursor.at;
  std::uint64_t table_bytes = 0, table_entries = 0;
  std::uint32_t table_coders = 0;
  HeadError error =
      parse_value_maps(cursor, column, type_bytes(column.type), records * column.tuple, front,
                       head.exceptions, [&](int, const MapFields& fields) {
                         table_bytes += fields.table.bytes;
                         table_entries += fields.table.entries;
                         if (!fields.table.is_in_bins())
                           table_coders |= 1u << static_cast<int>(fields.table.coder);
                       });
  if (error != HeadError::none) return error;
  head.table_bytes = table_bytes;
  head.table_entries = table_entries;
  head.table_coders = table_coders;
  head.exception_bytes = head.exceptions * (kExceptionPlaceBytes + type_bytes(column.type));
  const std::uint64_t behind = head.exception_bytes + head.table_bytes;
  if (behind > head.section_bytes) return HeadError::corrupt;
  head.section_bytes -= behind;
  head.lane_map_at = cursor.at;
  head.lane_steps = 0;
  error = parse_lane_map(cursor, column, front, [&](const LaneStepFields&) { ++head.lane_steps; });
  if (error != HeadError::none) return error;
  const Byte predictor = cursor.byte();
  if (cursor.failed) return HeadError::corrupt;
  front.predictor = static_cast<Predictor>(predictor);
  if (predictor >= kNumPredictors) return HeadError::unsupported;
  head.predictor_at = cursor.at;
  return parse_predictor_fields(
      cursor,
      {.tuple = column.tuple,
       .records = records,
       .in_segments = in_segments,
       .may_say_states = coder_traits(head.model.section.coder).states_of_segments},
      front);
}

/// Reads what follows the front; the coder is known.
template <class ReadFields>
GDELTA_HD inline HeadError parse_section(Cursor& cursor, const Column& column,
                                         std::uint64_t records, Section& section,
                                         const ReadFields& read_fields) {
  const CoderTraits traits = coder_traits(section.coder);
  if (traits.arrangements > 0) {
    const Byte arrangement = cursor.byte();
    if (cursor.failed) return HeadError::corrupt;
    if (arrangement >= traits.arrangements) return HeadError::unsupported;
    section.arrangement = static_cast<Arrangement>(arrangement);
  }
  const HeadError error = read_fields(traits.fields, cursor, 8 * type_bytes(column.type));
  if (error != HeadError::none) return error;
  const std::uint64_t groups = cursor.varint();
  if (cursor.failed || groups > kMaxPartGroups) return HeadError::corrupt;
  section.part_groups = static_cast<std::uint32_t>(groups);
  switch (traits.parts) {
    case PartRule::pages:
      if (groups == 0 || groups * column.tuple > kMaxPageGroups) return HeadError::unsupported;
      break;
    case PartRule::one:
      if (groups > 0) return HeadError::corrupt;
      break;
    case PartRule::any:
      if (groups * kGroupValues >= records) return HeadError::corrupt;
      break;
  }
  return HeadError::none;
}

/// A group never needs more than the width of the type; pages begin with their states.
GDELTA_HD inline std::uint64_t bound_of_groups(const ColumnHead& head, const Column& column,
                                               std::uint64_t records) {
  const auto value_bytes = static_cast<std::uint64_t>(type_bytes(column.type));
  const std::uint64_t groups = (records + kGroupValues - 1) / kGroupValues * column.tuple;
  return groups * (2 + kGroupValues * value_bytes) +
         head.num_parts * kMaxOrder * tuple_bytes(column);
}

/// A residual takes a word of 16 bits at most and has an offset, and an eighth of it a selector; a page has
/// states of both kinds.
GDELTA_HD inline std::uint64_t bound_of_symbols(const ColumnHead& head, const Column& column,
                                                std::uint64_t records) {
  const auto value_bytes = static_cast<std::uint64_t>(type_bytes(column.type));
  return records * column.tuple * (value_bytes + 3) +
         head.num_parts * (256 + (kMaxOrder * value_bytes + 16) * column.tuple);
}

GDELTA_HD inline std::uint64_t bound_of_frames(const ColumnHead& head, const Column& column,
                                               std::uint64_t records) {
  return most_coded_bytes(records * tuple_bytes(column),
                          head.num_parts * frames_of_part(head.model.section, column));
}

GDELTA_HD inline bool section_bytes_fit(const ColumnHead& head, const Column& column,
                                        std::uint64_t records) {
  switch (coder_traits(head.model.section.coder).bound) {
    case SectionBound::tuples:
      return head.section_bytes == records * tuple_bytes(column);
    case SectionBound::one_tuple:
      return head.section_bytes == tuple_bytes(column);
    case SectionBound::groups:
      return head.section_bytes <= bound_of_groups(head, column, records);
    case SectionBound::symbols:
      return head.section_bytes <= bound_of_symbols(head, column, records);
    case SectionBound::frames:
      return head.section_bytes <= bound_of_frames(head, column, records);
  }
  return false;
}

}  // namespace detail

/// Reads a column's model, but for whether its part ends rise, and leaves the cursor behind it.
/// `section_at` is where the column's section begins in the payload. A model that is unsupported is
/// passed over too: the bytes of its section are known, and the number of the stage that is not.
/// `in_segments`: the chunk says its segments, and the column has them. `read_fields` does what parse_coder_fields does.
template <class ReadFields>
GDELTA_HD inline HeadError parse_model(Cursor& cursor, const Column& column, std::uint64_t records,
                                       std::uint64_t section_at, ColumnHead& head, bool in_segments,
                                       const ReadFields& read_fields) {
  head = ColumnHead{};
  head.section_at = section_at;
  const std::uint64_t model_bytes = cursor.varint();
  const std::uint64_t model_at = cursor.at;
  if (!cursor.skip(model_bytes)) return HeadError::corrupt;
  Cursor fields{cursor.data, cursor.at, model_at};
  head.section_bytes = fields.varint();
  const Byte coder = fields.byte();
  if (fields.failed) return HeadError::corrupt;
  Section& section = head.model.section;
  section.coder = static_cast<Coder>(coder);
  if (coder >= kNumCoders) return HeadError::unsupported;
  HeadError error = HeadError::none;
  if (codes_residuals(section.coder))
    error = detail::parse_front(fields, column, records, in_segments, head);
  if (error != HeadError::none) return error;
  head.fields_at = fields.at;
  error = detail::parse_section(fields, column, records, section, read_fields);
  if (error != HeadError::none) return error;
  head.num_parts = num_parts(section, records);
  head.part_ends_at = fields.at;
  if (!fields.skip(4 * (head.num_ends() + head.num_parts)) || !fields.done() ||
      !detail::section_bytes_fit(head, column, records))
    return HeadError::corrupt;
  return HeadError::none;
}

/// The same by one thread.
inline HeadError parse_model(Cursor& cursor, const Column& column, std::uint64_t records,
                             std::uint64_t section_at, ColumnHead& head, bool in_segments = false) {
  return parse_model(cursor, column, records, section_at, head, in_segments, parse_coder_fields);
}

/// Where part `part` of residuals ends in the section, if the coder is one of residuals. `head_bytes` is the head of the block.
GDELTA_HD inline std::uint64_t part_end(const Byte* head_bytes, const ColumnHead& head,
                                        std::uint64_t part) {
  if (head.num_ends() == 0) return head.section_bytes;
  return load_le(head_bytes + head.part_ends_at + 4 * part, 4);
}
/// Where part `part` begins in the section.
GDELTA_HD inline std::uint64_t part_begin(const Byte* head_bytes, const ColumnHead& head,
                                          const Column& column, std::uint64_t part) {
  if (part == 0) return 0;
  return codes_residuals(head.model.section.coder)
             ? part_end(head_bytes, head, part - 1)
             : part * kGroupValues * head.model.section.part_groups * tuple_bytes(column);
}
GDELTA_HD inline std::uint32_t part_check_at(const Byte* head_bytes, const ColumnHead& head,
                                             std::uint64_t part) {
  return static_cast<std::uint32_t>(load_le(head_bytes + head.part_checks_at() + 4 * part, 4));
}

/// Whether the ends of a column's parts rise and the last is that of its section. A warp has its own
/// way.
GDELTA_HD inline bool part_ends_rise(const Byte* head_bytes, const ColumnHead& head) {
  std::uint64_t end = 0;
  for (std::uint64_t part = 0; part < head.num_ends(); ++part) {
    const std::uint64_t next = part_end(head_bytes, head, part);
    if (next < end) return false;
    end = next;
  }
  return head.num_ends() == 0 || end == head.section_bytes;
}

/// Bytes of the states at the start of every page of a column.
GDELTA_HD inline std::uint32_t page_state_bytes(const Front& front, const Column& column) {
  std::uint32_t words = static_cast<std::uint32_t>(front.page_states) * column.tuple;
  for (int lane = 0; lane < column.tuple; ++lane) words += front.orders[lane];
  return words * static_cast<std::uint32_t>(type_bytes(column.type));
}

}  // namespace gdelta::format
