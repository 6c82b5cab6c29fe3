// What the library does with a predictor. A row of gdelta/predictors.h names an object of this kind,
// NAME_predictor, which the predictor's own files define.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/coders/decode_scratch.h"
#include "codec/coders/section_to_decode.h"
#include "gdelta/codec.h"

namespace gdelta {

struct ColumnPredictor {
  /// Replaces what a coder of residuals leaves of a column, words without gaps, by the words that were
  /// predicted, in place.
  void (*undo)(const SectionToDecode& section, unsigned char* words);
  /// What `undo` holds beside the words.
  DecodeScratch (*scratch)(const Column& column, std::uint64_t records);
  /// Tells the orders and strides of a column of so many lanes. `head_bytes` is the head of the chunk.
  void (*describe)(std::span<const std::byte> head_bytes, const format::ColumnHead& head, int lanes,
                   ColumnInfo& info);
};

#define GDELTA_DECLARATION(name, ...) extern const ColumnPredictor name##_predictor;
GDELTA_PREDICTORS(GDELTA_DECLARATION)
#undef GDELTA_DECLARATION

/// Precondition: a number below kNumPredictors, which every head that was parsed has. No predictor is the
/// usual one that changes nothing.
const ColumnPredictor& column_predictor(Predictor predictor);

}  // namespace gdelta
