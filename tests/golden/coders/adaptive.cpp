// Adaptively coded residuals and golden cases of them. Spec: coders/adaptive.md.
#include <cstring>
#include <string>

#include "../golden_parts.h"
#include "../plain_adaptive.h"
#include "residual_frames.h"

namespace gdelta::plain::detail {

void append_adaptive_part(Bytes& section, const std::vector<Lane>& lanes, std::vector<Lane>& states,
                          std::size_t begin, std::size_t end, const Choice& choice,
                          const Column& column) {
  append_frames(section, lanes, states, begin, end, choice, column,
                [&](std::span<const std::byte> bytes) {
                  return adaptive_stream(bytes, static_cast<std::size_t>(value_bytes(column.type)),
                                         column.tuple);
                });
}

void add_adaptive_cases(std::vector<GoldenCase>& cases) {
  for (const char* record : {"u8", "i16x2", "i24", "u32x3", "f64:be"})
    one_chunk(cases, std::string("adaptive_") + std::string(record, std::strcspn(record, ":")),
              record, 300, 6, [](const Column& column) {
                Choice choice = linked(Coder::adaptive, column, {1});
                choice.model.section.part_groups = 2;
                return choice;
              });
  one_chunk(cases, "adaptive_strides", "i32x2", 120, 6, [](const Column& column) {
    return with_stride(linked(Coder::adaptive, column, {0, 3}), 30, 1);
  });
  one_chunk(cases, "adaptive_one_value", "i16", 1, 6,
            [](const Column& column) { return linked(Coder::adaptive, column, {0}); });
}

}  // namespace gdelta::plain::detail
