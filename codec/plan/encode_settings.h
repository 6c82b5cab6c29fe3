// What was asked of an encoder, as far as the plan of a chunk depends on it.
#pragma once

#include <cstdint>
#include <optional>

#include "formats/foreign/array_rows.h"
#include "gdelta/coders.h"

namespace gdelta {

/// What the planner may choose; the same for all chunks of a stream.
struct EncodeSettings {
  int level = 5;
  std::optional<int> order = {};
  std::uint64_t stride = 0;     // that is tried before others, in tuples, or kFindStride; 0: none
  format::ArrayRows rows = {};  // of the array, if its head tells
  std::optional<Coder> coder = {};
  bool device_decodable = false;
  bool maps = true;          // values may go through some with fields, lanes be taken less others
  bool plain_bytes = false;  // numbers were looked for, and there are none
  bool dictionaries = true;  // lanes may get one
  bool residuals = false;    // values are predicted already: a coder is all that is left to choose

  /// What was told of strides is meant for other values.
  void forget_strides() {
    stride = 0;
    rows = {};
  }
};

}  // namespace gdelta
