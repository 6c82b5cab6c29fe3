// Section 6 of the specification: what a reader has to know of a coder of residuals. A coder is a row here and a file of
// its own, coder_NAME.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "plain_values.h"

/// row(name, number)
#define PLAIN_CODERS(row) row(pack, 2) row(zstd, 3) row(ans, 4) row(lzma, 5) row(adaptive, 6)

namespace plain_decoder {

struct Coder {
  bool pages = false;  // parts are pages, which are bounded
  bool states_of_segments =
      false;  // pages may begin with states of deltas inside segments (Model::page_states)
  /// Reads the fields that models of this coder have, if there are some.
  void (*read_fields)(Input& fields, const Column& column, Model& model) = nullptr;
  /// The longest section of n tuples that is not refused.
  std::uint64_t (*most_bytes)(const Model& model, const Column& column, std::uint64_t n) = nullptr;
  /// Decodes a part to the lanes after the delta has been undone. `states` are those of the delta before the part's
  /// first tuple, if it does not say them.
  void (*decode)(Input part, const Model& model, const Column& column, std::uint64_t tuples,
                 std::vector<Lane>& states, std::vector<Lane>& lanes) = nullptr;
  /// Takes what it has made of so many bytes, and decodes it: of coders that code tables of dictionaries.
  void (*decode_bytes)(Input& coded, std::uint8_t* out, std::uint64_t bytes) = nullptr;
};

#define PLAIN_DECLARATION(name, number) extern const Coder name##_coder;
PLAIN_CODERS(PLAIN_DECLARATION)
#undef PLAIN_DECLARATION

/// nullptr: there is none of this number.
inline const Coder* residual_coder(int number) {
#define PLAIN_CASE(name, its_number) \
  if (number == (its_number)) return &name##_coder;
  PLAIN_CODERS(PLAIN_CASE)
#undef PLAIN_CASE
  return nullptr;
}

}  // namespace plain_decoder
