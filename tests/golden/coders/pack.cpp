// Pages of pack, and its golden cases. Spec: coders/pack.md.
#include <span>
#include <string>

#include "../golden_parts.h"
#include "kernels/bitpack/group_layout.h"

namespace gdelta::plain::detail {
namespace {

void append_group(Bytes& groups, Bytes& descriptors, Bytes& exceptions,
                  std::span<const std::uint64_t> residuals, const Choice& choice,
                  const Column& column) {
  const int bits = value_bits(column.type);
  std::uint8_t counts[65] = {};
  std::uint64_t padded[format::kGroupValues] = {};
  std::copy(residuals.begin(), residuals.end(), padded);
  int longest = 0;
  for (const std::uint64_t z : padded) {
    int needed = 0;
    while (needed < 64 && (z >> needed) != 0) ++needed;
    ++counts[needed];
    longest = std::max(longest, needed);
  }
  GroupDescriptor descriptor = choose_width(counts, bits, 0).descriptor;
  if (choice.width >= 0) {
    int above = 0;
    for (int b = choice.width + 1; b <= bits; ++b) above += counts[b];
    const int high_bits = longest - choice.width;
    const int high_bytes = high_bits <= 8 ? 1 : high_bits <= 16 ? 2 : high_bits <= 32 ? 4 : 8;
    descriptor = above > 127 ? make_descriptor(longest, 0, 1)
                             : make_descriptor(choice.width, above, high_bytes);
  }
  format::append_le(descriptors, 2, descriptor.bits);
  const int width = descriptor.width();
  const std::size_t at = groups.size();
  groups.resize(at + static_cast<std::size_t>(descriptor.group_bytes()));
  Bytes positions;
  Bytes highs;
  for (int l = 0; l < 16; ++l)
    for (int i = 0; i < 8; ++i) {
      const std::uint64_t z = padded[8 * l + i];
      for (int bit = 0; bit < width; ++bit) {
        const int to = (16 * i + l) * width + bit;
        if ((z >> bit) & 1)
          groups[at + static_cast<std::size_t>(to / 8)] |= std::byte{1} << (to % 8);
      }
      if (width < 64 && (z >> width) != 0) {
        format::append_le(positions, 1, static_cast<std::uint64_t>(8 * l + i));
        format::append_le(highs, descriptor.high_bytes(), z >> width);
      }
    }
  exceptions.insert(exceptions.end(), positions.begin(), positions.end());
  exceptions.insert(exceptions.end(), highs.begin(), highs.end());
}

/// Ways that planners choose.
void add_usual_cases(std::vector<GoldenCase>& cases) {
  for (int type = 0; type < kNumValueTypes; ++type) {
    const std::string name(type_name(static_cast<ValueType>(type)));
    one_chunk(cases, "pack_" + name, name, 150, 5, packed_at({1}));
  }
  for (int order = 0; order <= kMaxOrder; ++order)
    one_chunk(cases, "pack_order_" + std::to_string(order), "i32x2", 140, 3, packed_at({order}));
  one_chunk(cases, "pack_orders_per_lane", "i16x5", 130, 3, packed_at({0, 1, 2, 5, 8}));
  one_chunk(cases, "pack_tuple_64", "u8x64", 9, 2, packed_at({1}));
  one_chunk(cases, "pack_pages", "i24x3", 300, 4, [](const Column& column) {
    Choice choice = linked(Coder::pack, column, {2});
    choice.begin_at_first_value = true;
    return choice;
  });
  one_chunk(cases, "pack_page_of_two_groups", "i32", 300, 4, [](const Column& column) {
    Choice choice = linked(Coder::pack, column, {1});
    choice.model.section.part_groups = 2;
    return choice;
  });
  for (const char* type : {"u8", "i16", "u24", "f32", "i64"})
    one_chunk(cases, std::string("pack_narrow_exceptions_") + type, type, 128, 3,
              [](const Column& column) {
                Choice choice = linked(Coder::pack, column, {1});
                choice.width = column.type == ValueType::u8 ? 5 : 2;
                return choice;
              });
  one_chunk(cases, "pack_full_width_u64", "u64", 40, 1ull << 23, packed_at({0}));
  one_chunk(cases, "pack_ordered_f32", "f32x2", 100, 1000, [](const Column& column) {
    Choice choice = linked(Coder::pack, column, {1});
    choice.model.front.map = ValueMap::ordered;
    return choice;
  });
  one_chunk(cases, "pack_strides", "i16", 300, 6, [](const Column& column) {
    return with_stride(with_stride(linked(Coder::pack, column, {1}), 17, 1), 60, 2);
  });
}

/// What no planner chooses, or seldom.
void add_unusual_cases(std::vector<GoldenCase>& cases) {
  for (const char* type : {"u16", "i24", "i32", "u64"})
    one_chunk(cases, std::string("pack_") + type + "_big_endian", std::string(type) + ":bex2", 140,
              5, packed_at({1, 2}));
  one_chunk(cases, "pack_ordered_f64_big_endian", "f64:be", 140, 1000,
            linked_as(Coder::pack, {1}, kOrdered, {}));
  one_chunk(cases, "pack_of_one_record", "i16x3,f32", 1, 5, packed_at({2}));
  for (int order = 3; order <= kMaxOrder; ++order)
    one_chunk(cases, "pack_stride_order_" + std::to_string(order), "i16x2", 130, 4,
              linked_as(Coder::pack, {0}, kNone, {{9, order}}));
  one_chunk(cases, "pack_strides_of_two_orders", "u32", 140, 4,
            linked_as(Coder::pack, {2}, kNone, {{3, 4}, {35, 7}}));
  for (const auto& [record, page_groups, records] : {std::tuple{"i16", 3, 500},
                                                     {"u8x3", 31, 200},
                                                     {"u8", 2048, 300},
                                                     {"u8x2", 1024, 140},
                                                     {"u8x64", 32, 20}})
    one_chunk(cases, "pack_page_groups_" + std::to_string(page_groups), record,
              static_cast<std::size_t>(records), 3, [groups = page_groups](const Column& column) {
                Choice choice = linked(Coder::pack, column, {1});
                choice.model.section.part_groups = static_cast<std::uint32_t>(groups);
                return choice;
              });
}

}  // namespace

void append_pack_part(Bytes& section, const std::vector<Lane>& lanes, std::vector<Lane>& states,
                      std::size_t begin, std::size_t end, const Choice& choice,
                      const Column& column) {
  Bytes descriptors;
  Bytes groups;
  Bytes exceptions;
  append_states(section, states, column);
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    Lane residuals;
    for (std::size_t i = begin; i < end; ++i)
      residuals.push_back(step(states[lane], lanes[lane][i], column));
    for (std::size_t g = 0; g < residuals.size(); g += format::kGroupValues)
      append_group(groups, descriptors, exceptions,
                   std::span(residuals).subspan(
                       g, std::min<std::size_t>(format::kGroupValues, residuals.size() - g)),
                   choice, column);
  }
  section.insert(section.end(), descriptors.begin(), descriptors.end());
  section.insert(section.end(), groups.begin(), groups.end());
  section.insert(section.end(), exceptions.begin(), exceptions.end());
}

void add_pack_cases(std::vector<GoldenCase>& cases) {
  add_usual_cases(cases);
  add_unusual_cases(cases);
}

}  // namespace gdelta::plain::detail
