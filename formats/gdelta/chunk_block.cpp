#include "formats/gdelta/chunk_block.h"

#include <fmt/core.h>

#include <numeric>

#include "formats/gdelta/block_frame.h"
#include "formats/gdelta/head_writer.h"

namespace gdelta::format {

namespace {

FrontToWrite front_to_write(const Front& front, const Column& column, const SectionTable& table) {
  const DeltaLinks links = front.links(column.tuple);
  return {.map = front.map,
          .map_fields = stretch_of(table.map_fields),
          .lane_map = front.lane_map,
          .lane_map_fields = stretch_of(table.lane_map_fields),
          .predictor = needed_predictor(front.predictor, links),
          .links = links,
          .predictor_fields = stretch_of(table.predictor_fields)};
}

/// What a later version has made of a chunk before its models: of their columns nothing can be told.
HeadError list_as_unknown(const Layout& layout, ParsedChunk& chunk) {
  chunk.lengths = {};
  chunk.columns.assign(layout.columns.size(), ColumnHead{});
  chunk.unknown.resize(layout.columns.size());
  std::iota(chunk.unknown.begin(), chunk.unknown.end(), std::size_t{0});
  return HeadError::none;
}

/// The model of the lengths of segments, if the chunk says them.
HeadError parse_lengths(Cursor& cursor, ParsedChunk& chunk) {
  chunk.lengths = {};
  if (chunk.segments.lengths == 0) return HeadError::none;
  const HeadError error =
      parse_model(cursor, kLengthColumn, chunk.segments.lengths, 0, chunk.lengths);
  if (error != HeadError::none) return error;
  return part_ends_rise(cursor.data, chunk.lengths) ? HeadError::none : HeadError::corrupt;
}

}  // namespace

HeadError parse_chunk_fields(Cursor cursor, const Layout& layout, ParsedChunk& chunk,
                             UnknownModels unknown) {
  HeadError error = parse_chunk_head(cursor, layout.record_bytes(), chunk.opaque(), chunk.records,
                                     chunk.kinds, chunk.segments);
  // Other kinds of checks leave the models where they are, and those say how long they are.
  const bool lists = unknown == UnknownModels::listed;
  const bool other_checks =
      lists && error == HeadError::unsupported && chunk.kinds < kSegmentedKinds;
  if (error == HeadError::none) error = parse_lengths(cursor, chunk);
  if (error == HeadError::unsupported && lists && !other_checks)
    return list_as_unknown(layout, chunk);
  if (error != HeadError::none && !other_checks) return error;
  chunk.columns.clear();
  chunk.unknown.clear();
  chunk.columns.reserve(layout.columns.size());
  // The first thing that is wrong is what counts.
  const auto damaged = [&chunk] {
    return chunk.unknown.empty() ? HeadError::corrupt : HeadError::unsupported;
  };
  const bool in_segments = chunk.segments.lengths > 0;
  std::uint64_t section_at = chunk.lengths.column_bytes();
  // Each section alone, so that their sum cannot wrap.
  bool fits = chunk.lengths.column_bytes() <= chunk.frame.payload_bytes;
  for (const Column& column : std::span(layout.columns).first(num_columns(chunk, layout))) {
    ColumnHead& head = chunk.columns.emplace_back();
    error = parse_model(cursor, column, chunk.records, section_at, head, in_segments);
    if (other_checks && !cursor.failed) error = HeadError::unsupported;
    if (error == HeadError::unsupported) {
      chunk.unknown.push_back(chunk.columns.size() - 1);
      if (unknown == UnknownModels::refused) return error;
    } else if (error != HeadError::none || !part_ends_rise(cursor.data, head)) {
      return damaged();
    }
    fits = fits && head.column_bytes() <= chunk.frame.payload_bytes;
    section_at += head.column_bytes();
  }
  return fits && cursor.done() && section_at == chunk.frame.payload_bytes ? HeadError::none
                                                                          : damaged();
}

std::string unknown_stage(const ParsedChunk& chunk, std::size_t column) {
  const auto& [front, section] = chunk.columns[column].model;
  const auto numbered = [](const char* stage, auto number) {
    return fmt::format("{} {}", stage, static_cast<int>(number));
  };
  if (chunk.segments.lengths > 0 &&
      (chunk.segments.joins > (kContinues | kGoesOn) || chunk.lengths.num_parts == 0))
    return "another kind of segments";
  if (chunk.kinds > kSegmentedKinds) return numbered("bounds and checks of kind", chunk.kinds);
  if (chunk.kinds != kChunkKinds && chunk.segments.lengths == 0)
    return numbered("a check of kind", chunk.kinds);
  if (static_cast<int>(section.coder) >= kNumCoders) return numbered("coder", section.coder);
  // What the parser has not come to has no place in the head.
  const ColumnHead& head = chunk.columns[column];
  const auto variant = [](const char* stage, std::string_view name) {
    return fmt::format("a variant of {} {}", stage, name);
  };
  if (head.fields_at > 0) return variant("coder", coder_name(section.coder));
  if (head.predictor_at > 0) return variant("predictor", predictor_name(front.predictor));
  if (static_cast<int>(front.predictor) >= kNumPredictors)
    return numbered("predictor", front.predictor);
  if (head.lane_map_at > 0)
    return static_cast<int>(front.lane_map) >= kNumLaneMaps
               ? numbered("lane map", front.lane_map)
               : variant("lane map", map_name(front.lane_map));
  return static_cast<int>(front.map) >= kNumValueMaps ? numbered("value map", front.map)
                                                      : variant("value map", map_name(front.map));
}

tl::unexpected<Error> chunk_head_error(HeadError error, const ParsedChunk& chunk,
                                       std::uint64_t byte) {
  if (error != HeadError::unsupported)
    return fail_at(Errc::corrupt, byte, "the head of the chunk contradicts itself");
  if (chunk.unknown.empty())
    return fail_at(Errc::unsupported_feature, byte,
                   chunk.segments.lengths > 0
                       ? "the segments of the chunk are coded in a way that this version does not "
                         "know: use a newer gdelta"
                       : "the chunk has a kind of check that this version does not know: use a "
                         "newer gdelta");
  const std::size_t column = chunk.unknown.front();
  return fail_at(Errc::unsupported_feature, byte,
                 fmt::format("column {} uses {}, which this version does not know: use a newer "
                             "gdelta",
                             column + 1, unknown_stage(chunk, column)));
}

Result<ParsedChunk> parse_chunk_block_head(std::span<const std::byte> block, std::uint64_t byte,
                                           const Layout& layout) {
  Cursor cursor = cursor_over(block);
  ParsedChunk chunk;
  BlockFrame& frame = chunk.frame;
  switch (parse_block_frame(cursor, frame)) {
    case HeadError::truncated:
      return fail_at(Errc::truncated, byte, "the stream ends inside a chunk's head");
    case HeadError::corrupt:
    case HeadError::unsupported:
      return fail_at(Errc::corrupt, byte, "the head of the block has an impossible length");
    case HeadError::none:
      break;
  }
  if (cursor.left() < kCheckBytes || cursor.left() - kCheckBytes < frame.head_bytes)
    return fail_at(Errc::truncated, byte, "the stream ends inside a chunk's head");
  if (stored_check(block, frame) != block_check(block.first(frame.check_at())))
    return fail_at(Errc::corrupt, byte, "the chunk's head is damaged: its check differs");
  if (!frame.is_chunk())
    return fail_at(is_known_tag(frame.tag) ? Errc::corrupt : Errc::unsupported_feature, byte,
                   "no chunk starts here");
  const HeadError error = parse_chunk_fields(
      cursor_over(block.subspan(frame.head_at, frame.head_bytes)), layout, chunk);
  if (error != HeadError::none) return chunk_head_error(error, chunk, byte);
  return chunk;
}

Result<ParsedChunk> parse_chunk_block(std::span<const std::byte> block, std::uint64_t byte,
                                      const Layout& layout) {
  auto chunk = parse_chunk_block_head(block, byte, layout);
  if (chunk && block.size() - chunk->frame.payload_at() < chunk->frame.payload_bytes)
    return fail_at(Errc::truncated, byte, "the stream ends inside a chunk");
  return chunk;
}

void append_column_model(std::vector<std::byte>& out, const Column& column,
                         const ColumnModel& model, std::uint64_t column_bytes,
                         const SectionTable& table) {
  ByteAppender sink{out};
  write_model(sink, {.column_bytes = column_bytes,
                     .section = model.section,
                     .front = front_to_write(model.front, column, table),
                     .fields = stretch_of(table.fields),
                     .ends = {table.ends.data(), table.ends.size()},
                     .checks = {table.checks.data(), table.checks.size()}});
}

std::uint32_t append_chunk_head(std::vector<std::byte>& out, bool opaque, std::uint64_t records,
                                std::uint64_t payload_bytes, std::span<const std::byte> models,
                                const SegmentsHead& segments) {
  std::vector<std::byte> head;
  ByteAppender sink{head};
  write_chunk_fields(sink, records, segments);
  sink.bytes(stretch_of(models));
  return append_block(out, opaque ? BlockTag::opaque_chunk : BlockTag::chunk, head, payload_bytes);
}

IndexEntry chunk_entry(std::span<const std::byte> block) {
  Cursor cursor = cursor_over(block);
  BlockFrame frame;
  parse_block_frame(cursor, frame);
  IndexEntry entry{.tag = frame.tag,
                   .block_bytes = block.size(),
                   .check = 0,
                   .records = 0,
                   .head = {},
                   .segments = {}};
  entry.records = cursor.varint();
  if (cursor.byte() == kSegmentedKinds && entry.tag == BlockTag::chunk)
    parse_joins(cursor, entry.segments);
  entry.check = stored_check(block, frame);
  return entry;
}

}  // namespace gdelta::format
