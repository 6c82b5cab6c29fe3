#include "codec/faults/fault_stream.h"

namespace gdelta::faults {

void append(Bytes& out, const Varint& varint) {
  format::append_varint(out, varint.value);
  if (!varint.longer) return;
  out.back() |= std::byte{0x80};
  out.push_back(std::byte{0});
}

void append(Bytes& out, const Bytes& more) { out.insert(out.end(), more.begin(), more.end()); }

void append_byte(Bytes& out, int value) { out.push_back(static_cast<std::byte>(value)); }

void append_front(Bytes& out, const ModelFields& model) {
  append_byte(out, model.map);
  if (model.map == static_cast<int>(ValueMap::by_lane))
    for (const LaneMapFields& map : model.maps) append_byte(out, map.number);
  for (const LaneMapFields& map : model.maps) append(out, map.fields);
  if (model.exceptions) append(out, *model.exceptions);
  append_byte(out, model.lane_map);
  append(out, model.lane_map_fields);
  append_byte(out, model.predictor);
  if (model.predictor == 0) return;
  if (model.predictor == static_cast<int>(Predictor::linear)) return append(out, model.linear);
  if (model.predictor == static_cast<int>(Predictor::segments)) return append(out, model.segments);
  append_byte(out, model.orders);
  for (const int order : model.lane_orders) append_byte(out, order);
  append_byte(out, model.num_strides.value_or(static_cast<int>(model.strides.size())));
  for (const StrideFields& link : model.strides) {
    append(out, link.stride);
    append_byte(out, link.order);
  }
}

void append_ans(Bytes& out, const AnsModelFields& ans) {
  append_byte(out, ans.slot_bits);
  append_byte(out, ans.span_bits);
  append_byte(out, ans.num_tables.value_or(static_cast<int>(ans.tables.size())));
  for (const AnsTableFields& table : ans.tables) {
    append(out, table.bins_less_1.value_or(Varint(table.bins.size() - 1)));
    for (const AnsBinFields& bin : table.bins) {
      append(out, bin.frequency);
      append_byte(out, bin.offset_bits);
      append(out, bin.distance);
    }
  }
}

namespace {

void append_model(Bytes& out, const ModelFields& model) {
  Bytes fields;
  append(fields, model.column_bytes);
  append_byte(fields, model.coder);
  const format::CoderTraits traits = model.coder < kNumCoders
                                         ? format::coder_traits(static_cast<Coder>(model.coder))
                                         : format::CoderTraits{};
  if (model.has_front.value_or(traits.codes_residuals)) append_front(fields, model);
  if (traits.arrangements > 0) append_byte(fields, model.arrangement);
  if (traits.fields == format::CoderFields::ans) append_ans(fields, model.ans);
  append(fields, model.part_groups);
  if (model.coder >= kNumCoders ||
      format::says_part_ends(static_cast<Coder>(model.coder), model.part_checks.size()))
    for (const std::uint64_t end : model.part_ends) format::append_le(fields, 4, end);
  for (const std::uint32_t check : model.part_checks) format::append_le(fields, 4, check);
  append(fields, model.behind);
  if (model.bytes_there) fields.resize(*model.bytes_there);
  append(out, model.model_bytes.value_or(Varint(fields.size())));
  append(out, fields);
}

/// Appends tag, lengths, head and check; returns the check.
std::uint32_t append_framed(Bytes& out, int tag, const FrameFields& frame, const Bytes& head,
                            std::size_t payload_bytes) {
  const std::size_t start = out.size();
  append_byte(out, frame.tag.value_or(tag));
  append(out, frame.head_bytes.value_or(Varint(head.size(), frame.longer_head_bytes)));
  append(out, frame.payload_bytes.value_or(Varint(payload_bytes, frame.longer_payload_bytes)));
  append(out, head);
  const std::uint32_t check = format::block_check(std::span(out).subspan(start)) ^ frame.wrong_bits;
  format::append_le(out, 4, check);
  return check;
}

Bytes layout_head(const LayoutFields& layout) {
  Bytes head;
  append(head, layout.num_columns.value_or(Varint(layout.columns.size())));
  for (const auto& [type, tuple] : layout.columns) {
    append_byte(head, type);
    append_byte(head, tuple);
  }
  if (layout.note) append_byte(head, *layout.note);
  append(head, layout.behind);
  return head;
}

Bytes chunk_head(const ChunkFields& chunk) {
  Bytes head;
  append(head, chunk.records);
  append_byte(head, chunk.kinds);
  if (chunk.segments) {
    append(head, chunk.segments->lengths);
    append_byte(head, chunk.segments->joins);
    append_model(head, chunk.segments->model);
  }
  for (const ModelFields& model : chunk.models) append_model(head, model);
  append(head, chunk.behind);
  return head;
}

Bytes end_head(const EndFields& end, std::vector<EntryFields> entries) {
  if (end.change_entries) end.change_entries(entries);
  Bytes head;
  if (!end.has_head) return head;
  append(head, end.num_entries.value_or(Varint(entries.size())));
  for (const EntryFields& entry : entries) {
    append_byte(head, entry.tag);
    append(head, entry.block_bytes);
    format::append_le(head, 4, entry.check);
    append(head, entry.number);
    append(head, entry.head);
    if (!entry.lengths) continue;
    append(head, *entry.lengths);
    append_byte(head, entry.joins);
  }
  append(head, end.behind);
  return head;
}

}  // namespace

WrittenStream write(const StreamFields& fields) {
  WrittenStream stream;
  Bytes& out = stream.bytes;
  std::vector<EntryFields> entries;
  out = fields.header;
  stream.layout_at = out.size();
  if (fields.has_layout) {
    const Bytes head = layout_head(fields.layout);
    const std::uint32_t check = append_framed(out, 1, fields.layout.frame, head, 0);
    entries.push_back({1, out.size() - stream.layout_at, check, head.size(), head, {}});
  }
  for (const ChunkFields& chunk : fields.chunks) {
    const int tag = chunk.opaque ? 3 : 2;
    stream.chunk_at.push_back(out.size());
    const std::uint32_t check =
        append_framed(out, tag, chunk.frame, chunk_head(chunk), chunk.payload.size());
    stream.payload_at.push_back(out.size());
    append(out, chunk.payload);
    EntryFields& entry =
        entries.emplace_back(EntryFields{.tag = tag,
                                         .block_bytes = out.size() - stream.chunk_at.back(),
                                         .check = check,
                                         .number = chunk.records.value,
                                         .head = {},
                                         .lengths = {}});
    if (!chunk.segments || chunk.opaque || chunk.kinds != format::kSegmentedKinds) continue;
    entry.tag = format::kSegmentedEntryTag;
    entry.lengths = chunk.segments->lengths.value;
    entry.joins = chunk.segments->joins;
  }
  if (!fields.has_index) entries.clear();
  stream.end_at = out.size();
  append_framed(out, 4, fields.end.frame, end_head(fields.end, std::move(entries)), 0);
  const std::size_t end_bytes = out.size() - stream.end_at + fields.end.before_footer.size();
  append(out, fields.end.before_footer);
  format::append_le(out, 4, fields.end.footer.value_or(static_cast<std::uint32_t>(end_bytes)));
  return stream;
}

namespace {

/// What a choice says of its maps.
void set_maps(ModelFields& model, const Column& column, const plain::Choice& choice,
              const plain::Section& section) {
  model.map = static_cast<int>(choice.model.front.map);
  const bool alike = choice.maps.size() == 1;
  for (int lane = 0; !choice.maps.empty() && lane < column.tuple; ++lane) {
    const plain::LaneChoice& map = choice.maps[alike ? 0 : static_cast<std::size_t>(lane)];
    model.maps.push_back({.number = static_cast<int>(map.map)});
    const plain::detail::PlainMap* const kind = plain::detail::plain_map(map.map);
    if (kind == nullptr || kind->append_fields == nullptr) continue;
    kind->append_fields(model.maps.back().fields, map, column);
    model.exceptions = section.places.size();
  }
  model.lane_map = static_cast<int>(choice.model.front.lane_map);
  model.lane_map_fields = section.parts.lane_map_fields;
}

}  // namespace

ModelFields model_of(const Column& column, const plain::Choice& choice,
                     const plain::Section& section) {
  const format::ColumnModel& from = choice.model;
  ModelFields model;
  model.coder = static_cast<int>(from.section.coder);
  set_maps(model, column, choice, section);
  model.orders = from.front.orders[0];
  const int lanes = std::min<int>(column.tuple, kMaxTuple);  // a longer tuple is a fault of its own
  for (int lane = 1; lane < lanes; ++lane)
    if (from.front.orders[lane] != from.front.orders[0]) model.orders = format::kOrdersPerLane;
  if (model.orders == format::kOrdersPerLane)
    model.lane_orders.assign(from.front.orders, from.front.orders + lanes);
  for (int link = 0; link < from.front.num_strides; ++link)
    model.strides.push_back({from.front.strides[link].stride, from.front.strides[link].order});
  if (from.front.predictor == Predictor::linear)
    model.predictor = static_cast<int>(Predictor::linear);
  model.linear = section.parts.predictor_fields;
  if (from.front.predictor == Predictor::segments)
    model.predictor = static_cast<int>(Predictor::segments);
  model.segments = section.parts.predictor_fields;
  model.arrangement = static_cast<int>(from.section.arrangement);
  model.ans = {.slot_bits = choice.ans.slot_bits,
               .span_bits = choice.ans.span_bits,
               .num_tables = {},
               .tables = {}};
  for (const plain::AnsTable& table : choice.ans.tables) {
    model.ans.tables.emplace_back();
    for (std::size_t number = 0; number < table.size(); ++number)
      model.ans.tables.back().bins.push_back(
          {table[number].frequency, table[number].offset_bits, plain::distance_to(table, number)});
  }
  model.part_groups = from.section.part_groups;
  model.column_bytes = section.column().size();
  model.part_ends.assign(section.parts.ends.begin(), section.parts.ends.end());
  model.part_checks = section.parts.checks;
  return model;
}

ChunkFields chunk_of(const Layout& layout, const Bytes& values,
                     const std::vector<plain::Choice>& choices) {
  ChunkFields chunk;
  chunk.records = values.size() / layout.record_bytes();
  const std::vector<Bytes> columns = plain::values_of_columns(values, layout);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const plain::Section section = plain::encode_column(columns[c], layout.columns[c], choices[c]);
    chunk.models.push_back(model_of(layout.columns[c], choices[c], section));
    append(chunk.payload, section.column());
  }
  return chunk;
}

StreamFields stream_of(const Layout& layout, const Bytes& values,
                       const std::vector<plain::Choice>& choices) {
  StreamFields fields;
  fields.columns = layout;
  for (const Column& column : layout.columns)
    fields.layout.columns.emplace_back(
        static_cast<int>(column.type) + (column.big_endian ? 0x80 : 0), column.tuple);
  fields.chunks.push_back(chunk_of(layout, plain::wandering_values(layout, kFirstRecords, 9, 1),
                                   std::vector<plain::Choice>(layout.columns.size())));
  fields.chunks.push_back(chunk_of(layout, values, choices));
  fields.decoded_bytes = values.size();
  return fields;
}

}  // namespace gdelta::faults
