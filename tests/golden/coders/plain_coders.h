// The coders of residuals that the plain encoder knows, written from their pages alone: a row here and a file beside.
#pragma once

#include <string_view>

#include "../golden_case.h"
#include "../plain_choice.h"

/// row(name): NAME.cpp defines the two functions below, codec/faults/fault_NAME.cpp the hostile streams of the coder
/// (`add_faults_of_NAME`), and samples/plain_decoder has its decoder.
#define GDELTA_PLAIN_CODERS(row) row(pack) row(zstd) row(ans) row(lzma) row(adaptive)

namespace gdelta::plain::detail {

/// Appends the part of tuples [begin, end) of the lanes. `states` are those of the delta before, then behind.
using AppendPart = void (*)(Bytes& section, const std::vector<Lane>& lanes,
                            std::vector<Lane>& states, std::size_t begin, std::size_t end,
                            const Choice& choice, const Column& column);

#define GDELTA_DECLARATION(name)                                                           \
  void append_##name##_part(Bytes& section, const std::vector<Lane>& lanes,                \
                            std::vector<Lane>& states, std::size_t begin, std::size_t end, \
                            const Choice& choice, const Column& column);                   \
  void add_##name##_cases(std::vector<GoldenCase>& cases);
GDELTA_PLAIN_CODERS(GDELTA_DECLARATION)
#undef GDELTA_DECLARATION

/// nullptr: the plain encoder does not know it.
inline AppendPart part_appender(Coder coder) {
#define GDELTA_CASE(name) \
  if (coder == Coder::name) return append_##name##_part;
  GDELTA_PLAIN_CODERS(GDELTA_CASE)
#undef GDELTA_CASE
  return nullptr;
}

}  // namespace gdelta::plain::detail
