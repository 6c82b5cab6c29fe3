// What decoding a column takes on a device: what a call is launched for.
#pragma once

#include <cstdint>

#include "formats/gdelta/column_head.h"
#include "formats/gdelta/predictor_traits.h"
#include "gdelta/chunk_kinds.h"
#include "gdelta/types.h"

namespace gdelta::cuda {

/// How a column that is predicted inside segments is joined.
enum class SegmentJoin : std::uint8_t {
  none,    // it is not
  pages,   // where its pages are decoded: they say states
  passes,  // behind its pages
};
inline SegmentJoin segment_join_of(Predictor predictor, bool says_states) {
  if (format::predictor_traits(predictor).device != format::DevicePrediction::segments)
    return SegmentJoin::none;
  return says_states ? SegmentJoin::pages : SegmentJoin::passes;
}

/// What of a column is undone behind its pages, or where they are decoded by kernels of their own.
struct FrontPasses {
  int strides = 0;
  bool linear = false;
  SegmentJoin segments = SegmentJoin::none;
  bool maps = false;
  bool map_passes = false;
  bool exceptions = false;
  bool dictionaries = false;
};

/// Adds what decoding a column takes; not for coders that no device decodes.
void add_column(ChunkKinds& kinds, Coder coder, int tuple, std::uint64_t page_groups,
                FrontPasses passes);

/// The same of a column by its head; false if the host decodes it.
bool add_column(ChunkKinds& kinds, const format::ColumnHead& head, const Column& column);

}  // namespace gdelta::cuda
