// Heads of blocks: one writer over any sink (byte_sinks.h), as chunk_head.h and column_head.h have one parser.
// Host code appends by it, and a warp of codec/cuda/container/write_stream.cu writes by it to memory.
// Spec: spec.md, sections 3 and 4.
#pragma once

#include "formats/gdelta/byte_sinks.h"
#include "formats/gdelta/chunk_head.h"
#include "formats/gdelta/predictors/predictor_fields.h"

namespace gdelta::format {

/// What stands before a head.
template <class Sink>
GDELTA_HD void write_block_frame(Sink& sink, BlockTag tag, std::uint64_t head_bytes,
                                 std::uint64_t payload_bytes) {
  sink.le(1, static_cast<std::uint64_t>(tag));
  sink.varint(head_bytes);
  sink.varint(payload_bytes);
}

template <class Sink>
GDELTA_HD void write_joins(Sink& sink, const SegmentsHead& segments) {
  sink.varint(segments.lengths);
  sink.le(1, segments.joins);
}

/// The fields of a chunk's head before its models.
template <class Sink>
GDELTA_HD void write_chunk_fields(Sink& sink, std::uint64_t records, const SegmentsHead& segments) {
  sink.varint(records);
  sink.le(1, segments.lengths > 0 ? kSegmentedKinds : kChunkKinds);
  if (segments.lengths > 0) write_joins(sink, segments);
}

/// The front of a model. Fields are those that map, lane map and predictor have of their own, as they stand there.
struct FrontToWrite {
  ValueMap map = ValueMap::none;
  ByteStretch map_fields;
  LaneMap lane_map = LaneMap::none;
  ByteStretch lane_map_fields;
  Predictor predictor = Predictor::none;  // needed_predictor
  DeltaLinks links;                       // of predictors that have orders
  ByteStretch predictor_fields;
};

/// A model, and what it says of the column's section that has been made.
struct ModelToWrite {
  std::uint64_t column_bytes = 0;
  Section section;
  FrontToWrite front;  // of coders of residuals
  ByteStretch fields;  // the coder's own
  WordStretch
      ends;  // of parts, of coders of residuals; not written if they follow (says_part_ends)
  WordStretch checks;  // of parts
};

template <class Sink>
GDELTA_HD void write_front(Sink& sink, const FrontToWrite& front) {
  sink.le(1, static_cast<std::uint64_t>(front.map));
  sink.bytes(front.map_fields);
  sink.le(1, static_cast<std::uint64_t>(front.lane_map));
  sink.bytes(front.lane_map_fields);
  sink.le(1, static_cast<std::uint64_t>(front.predictor));
  if (front.predictor == Predictor::none) return;
  if (predictor_traits(front.predictor).has_orders) write_links(sink, front.links);
  sink.bytes(front.predictor_fields);
}

/// What stands behind model_bytes.
template <class Sink>
GDELTA_HD void write_model_fields(Sink& sink, const ModelToWrite& model) {
  const CoderTraits traits = coder_traits(model.section.coder);
  sink.varint(model.column_bytes);
  sink.le(1, static_cast<std::uint64_t>(model.section.coder));
  if (traits.codes_residuals) write_front(sink, model.front);
  if (traits.arrangements > 0) sink.le(1, static_cast<std::uint64_t>(model.section.arrangement));
  sink.bytes(model.fields);
  sink.varint(model.section.part_groups);
  if (says_part_ends(model.section.coder, model.checks.count)) sink.words(model.ends);
  sink.words(model.checks);
}

template <class Sink>
GDELTA_HD void write_model(Sink& sink, const ModelToWrite& model) {
  ByteCount count;
  write_model_fields(count, model);
  sink.varint(count.total);
  write_model_fields(sink, model);
}

/// How an entry of the index begins.
struct EntryStart {
  std::uint8_t tag = 0;
  std::uint64_t block_bytes = 0;
  std::uint32_t check = 0;
  std::uint64_t number = 0;  // records of a chunk; of other blocks bytes of the head, which follows
};

template <class Sink>
GDELTA_HD void write_entry_start(Sink& sink, const EntryStart& entry) {
  sink.le(1, entry.tag);
  sink.varint(entry.block_bytes);
  sink.le(kCheckBytes, entry.check);
  sink.varint(entry.number);
}

}  // namespace gdelta::format
