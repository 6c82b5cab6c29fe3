// coders/zstd.md, coders/lzma.md and coders/adaptive.md: residuals as bytes, which are decoded part by part.
#pragma once

#include <cstdint>
#include <vector>

#include "plain_values.h"

namespace plain_decoder {

inline std::uint64_t most_frame_bytes(const Model& model, const Column& column, std::uint64_t n) {
  const std::uint64_t tuple_bytes = std::uint64_t(column.bytes) * column.tuple;
  const std::uint64_t frames =
      model.part_checks.size() * (model.arrangement == 2 ? tuple_bytes : 1);
  return n * tuple_bytes + n * tuple_bytes / 256 + 64 * frames;
}

/// `decode_frame` takes a frame or stream from a part and decodes it. `states` are those of the delta before the part's first tuple.
template <class DecodeFrame>
void decode_frames(Input part, const Model& model, const Column& column, std::uint64_t tuples,
                   std::vector<Lane>& states, std::vector<Lane>& lanes, DecodeFrame decode_frame) {
  Bytes bytes(tuples * column.bytes * column.tuple);
  const std::uint64_t frame = model.arrangement == 2 ? tuples : bytes.size();
  for (std::uint64_t at = 0; at < bytes.size(); at += frame)
    decode_frame(part, bytes.data() + at, frame);
  part.finish();
  for (std::size_t lane = 0; lane < lanes.size(); ++lane)
    for (std::uint64_t i = 0; i < tuples; ++i) {
      std::uint64_t z = 0;
      for (int b = 0; b < column.bytes; ++b) {
        const std::uint64_t at = model.arrangement > 0
                                     ? (lane * column.bytes + b) * tuples + i
                                     : (i * column.tuple + lane) * column.bytes + b;
        z |= std::uint64_t{bytes[at]} << (8 * b);
      }
      lanes[lane].push_back(undo_delta(undo_zigzag(z, column.mask()), states[lane], column.mask()));
    }
}

}  // namespace plain_decoder
