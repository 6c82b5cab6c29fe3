#include "codec/coders/segments_front.h"

#include <cstring>
#include <memory>

#include "codec/coders/predictor.h"
#include "codec/coders/workers.h"
#include "formats/gdelta/block_frame.h"
#include "kernels/deltas/segment_delta.h"
#include "kernels/pages/page_limits.h"

namespace gdelta {
namespace {

static_assert(kMaxOrder == kMaxDeltaOrder);

SegmentDelta delta_of(const Column& column, std::span<const std::uint32_t> lengths,
                      const format::SegmentOrders& orders) {
  return {.lengths = lengths,
          .tuple = column.tuple,
          .value_bytes = value_bytes(column.type),
          .orders = orders.inside,
          .head_order = orders.heads};
}

}  // namespace

ColumnBytes SegmentResiduals::column(const ColumnBytes& values) const {
  Column integers = values.column;
  integers.type = integer_of(value_bytes(integers.type));
  integers.big_endian = false;
  return {.first = words.data(),
          .record_bytes = static_cast<std::uint64_t>(integers.bytes()),
          .records = values.records,
          .column = integers};
}

SegmentResiduals predict_segments(const ColumnBytes& column, std::span<const unsigned char> words,
                                  std::span<const std::uint32_t> lengths,
                                  const format::SegmentOrders& orders) {
  SegmentResiduals residuals{.words = std::vector<unsigned char>(words.size())};
  split_segments(delta_of(column.column, lengths, orders), words.data(), residuals.words.data());
  return residuals;
}

std::vector<unsigned char> predict_states(const ColumnBytes& column,
                                          std::span<const unsigned char> words,
                                          std::span<const std::uint32_t> lengths,
                                          const format::SegmentOrders& orders,
                                          const format::Section& section) {
  return segment_states(delta_of(column.column, lengths, orders), words.data(),
                        format::part_tuples(section, column.records),
                        orders.highest(column.column.tuple));
}

std::vector<std::byte> segment_fields(const format::SegmentOrders& orders, int tuple) {
  std::vector<std::byte> fields;
  format::ByteAppender sink{fields};
  format::write_segment_orders(sink, tuple, orders);
  return fields;
}

format::Front segment_front(ValueMap map, const format::SegmentOrders& orders, int tuple) {
  return {.map = map,
          .predictor = Predictor::segments,
          .says_states = orders.says_states,
          .page_states = orders.says_states ? orders.highest(tuple) : std::uint8_t{0}};
}

namespace {

format::SegmentOrders read_segment_orders(const unsigned char* fields, std::uint64_t bytes,
                                          int tuple) {
  format::Cursor cursor{fields, bytes};
  format::SegmentOrders orders;
  format::parse_segment_orders(cursor, tuple, orders);
  return orders;
}

// What the pages of a section begin with.
std::vector<unsigned char> states_of_pages(const SectionToDecode& section) {
  const std::size_t bytes = format::page_state_bytes(section.head->model.front, section.column);
  std::vector<unsigned char> states(section.head->num_parts * bytes);
  for (std::uint64_t page = 0; page < section.head->num_parts && bytes > 0; ++page)
    std::memcpy(states.data() + page * bytes, section.at(section.part_at(page)), bytes);
  return states;
}

SegmentStates states_of(const format::ColumnModel& model, std::span<const unsigned char> states) {
  return {.page_tuples = format::part_tuples(model.section, 0),
          .of_lane = model.front.page_states,
          .words = states.data()};
}

void undo_segment_front(const SectionToDecode& section, unsigned char* words) {
  const format::BlockFrame& frame = section.chunk->frame;
  const std::uint64_t at = section.head->predictor_at;
  const format::SegmentOrders orders = read_segment_orders(
      section.at(frame.head_at + at), frame.head_bytes - at, section.column.tuple);
  const auto residuals = std::make_unique_for_overwrite<unsigned char[]>(section.bytes());
  std::memcpy(residuals.get(), words, section.bytes());
  SegmentDelta delta = delta_of(section.column, section.lengths, orders);
  std::vector<unsigned char> states;
  if (orders.says_states) {
    states = states_of_pages(section);
    delta.states = states_of(section.head->model, states);
  }
  join_heads(delta, residuals.get());
  const auto tuples = static_cast<std::size_t>(section.records());
  const auto stretches = segment_stretches(
      delta, tuples, section.workers->num_ranges(tuples, kFewestColumnPieces * kColumnPiece));
  section.workers->for_each(stretches.size(), [&](std::size_t i) {
    join_stretch(delta, stretches[i], residuals.get(), words);
  });
}

// Segments are joined from a copy.
DecodeScratch segment_scratch(const Column& column, std::uint64_t records) {
  return {.bytes = records * format::tuple_bytes(column)};
}

void describe_segments(std::span<const std::byte> head_bytes, const format::ColumnHead& head,
                       int lanes, ColumnInfo& info) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(head_bytes.data());
  const format::SegmentOrders orders =
      read_segment_orders(bytes + head.predictor_at, head_bytes.size() - head.predictor_at, lanes);
  info.orders.assign(orders.inside, orders.inside + lanes);
  info.head_order = orders.heads;
  info.page_states = orders.says_states;
}

}  // namespace

const ColumnPredictor segments_predictor{
    .undo = undo_segment_front, .scratch = segment_scratch, .describe = describe_segments};

}  // namespace gdelta
