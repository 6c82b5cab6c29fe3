// Frames of zstd and golden cases of them. Spec: coders/zstd.md.
#include <zstd.h>

#include <string>

#include "../golden_parts.h"
#include "residual_frames.h"

namespace gdelta::plain::detail {
namespace {

Bytes zstd_frame(std::span<const std::byte> bytes) {
  Bytes frame(ZSTD_compressBound(bytes.size()));
  frame.resize(ZSTD_compress(frame.data(), frame.size(), bytes.data(), bytes.size(), 3));
  return frame;
}

}  // namespace

void append_zstd_part(Bytes& section, const std::vector<Lane>& lanes, std::vector<Lane>& states,
                      std::size_t begin, std::size_t end, const Choice& choice,
                      const Column& column) {
  append_frames(section, lanes, states, begin, end, choice, column, zstd_frame);
}

void add_zstd_cases(std::vector<GoldenCase>& cases) {
  using format::Arrangement;
  for (int type = 0; type < kNumValueTypes; ++type) {
    const std::string name(type_name(static_cast<ValueType>(type)));
    one_chunk(cases, "zstd_" + name + "_big_endian", name + ":be", 60, 5, [](const Column& column) {
      Choice choice = linked(Coder::zstd, column, {1});
      choice.model.section.arrangement = Arrangement::planes;
      if (is_float(column.type)) choice.model.front.map = ValueMap::ordered;
      return choice;
    });
  }
  one_chunk(cases, "zstd_strides", "i32x2", 120, 6, [](const Column& column) {
    return with_stride(linked(Coder::zstd, column, {0, 3}), 30, 1);
  });
  one_chunk(cases, "zstd_frames", "u16x3", 300, 6, [](const Column& column) {
    Choice choice = linked(Coder::zstd, column, {1});
    choice.model.section.part_groups = 1;
    return choice;
  });
  one_chunk(cases, "zstd_frames_of_planes", "i32", 520, 6, [](const Column& column) {
    Choice choice = with_stride(linked(Coder::zstd, column, {2}), 40, 1);
    choice.model.section.arrangement = Arrangement::planes;
    choice.model.section.part_groups = 2;
    return choice;
  });
  one_chunk(cases, "zstd_plane_frames", "i16x2", 300, 6, [](const Column& column) {
    Choice choice = linked(Coder::zstd, column, {1});
    choice.model.section.arrangement = Arrangement::plane_frames;
    choice.model.section.part_groups = 2;
    return choice;
  });
  one_chunk(cases, "zstd_of_one_record", "i16x3,f32", 1, 5, linked_as(Coder::zstd, {1}, kNone, {}));
  one_chunk(cases, "zstd_strides_of_two_orders", "u16:bex2", 120, 4,
            linked_as(Coder::zstd, {1, 2}, kNone, {{30, 5}, {2, 8}}));
  one_chunk(cases, "zstd_ordered_strides_big_endian", "f32:bex2", 120, 1000,
            linked_as(Coder::zstd, {1}, kOrdered, {{15, 1}}));
}

}  // namespace gdelta::plain::detail
