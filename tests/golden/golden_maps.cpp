// Golden cases of maps with fields, of exceptions and of differences of lanes.

#include <string>
#include <utility>
#include <vector>

#include "golden_parts.h"

namespace gdelta::plain::detail {

void give_back(Bytes& records, const Layout& layout, std::size_t number, const Choice& choice,
               int bits, const Planted& planted) {
  const Column& column = layout.columns[number];
  const auto width = static_cast<std::size_t>(value_bytes(column.type));
  const auto lanes = static_cast<std::size_t>(column.tuple);
  std::size_t column_at = 0;
  for (std::size_t c = 0; c < number; ++c)
    column_at += static_cast<std::size_t>(layout.columns[c].bytes());
  const std::size_t tuples = records.size() / layout.record_bytes();
  const auto put = [&](std::size_t place, std::uint64_t value) {
    const std::size_t at =
        place / lanes * layout.record_bytes() + column_at + place % lanes * width;
    for (std::size_t b = 0; b < width; ++b)
      records[at + (column.big_endian ? width - 1 - b : b)] =
          static_cast<std::byte>(value >> (8 * b));
  };
  const Bytes values = values_of_columns(records, layout)[number];
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const Lane words = read_lane(values, column, static_cast<int>(lane));
    for (std::size_t i = 0; i < tuples; ++i) {
      const auto whole = static_cast<std::int64_t>(words[i] << (64 - bits)) >> (64 - bits);
      const LaneChoice map = choice.maps.empty() ? LaneChoice{choice.model.front.map}
                                                 : choice.maps[choice.maps.size() == 1 ? 0 : lane];
      put(i * lanes + lane,
          value_of(static_cast<std::uint64_t>(whole) & mask_of(column), map, column));
    }
  }
  for (const auto& [place, value] : planted) put(static_cast<std::size_t>(place), value);
}

Choose mapped_by(Coder coder, const std::vector<LaneChoice>& maps,
                 const std::vector<StepChoice>& steps, const std::vector<int>& orders) {
  return [=](const Column& column) {
    Choice choice = linked(coder, column, orders);
    if (!maps.empty()) choice = with_maps(choice, maps);
    if (!steps.empty()) choice = with_steps(choice, steps);
    return choice;
  };
}

std::vector<std::uint64_t> table_values(const Column& column, std::size_t count) {
  const int w = value_bits(column.type);
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - w);
  std::vector<std::uint64_t> values;
  std::uint64_t value = is_float(column.type) ? 0x3c00ull << (w - 16) : mask - 2;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(value);
    value =
        (value + 1 + (std::uint64_t{0x3d} << (i * 7 % static_cast<std::size_t>(w)) & mask >> 3)) &
        mask;
  }
  return values;
}

void mapped_chunk(std::vector<GoldenCase>& cases, const std::string& name,
                  const std::string& record, std::size_t records, int bits, const Choose& choose,
                  const Planted& planted) {
  const Layout layout = parse_record(record).value();
  GoldenCase made{name, wandering_values(layout, records, 5, cases.size() + 1), {}};
  std::vector<Choice> choices;
  for (std::size_t c = 0; c < layout.columns.size(); ++c) {
    choices.push_back(choose(layout.columns[c]));
    give_back(made.values, layout, c, choices[c], bits, c == 0 ? planted : Planted());
  }
  made.stream = StreamBuilder().layout(layout).chunk(made.values, choices).finish(false);
  cases.push_back(std::move(made));
}

namespace {

constexpr std::uint64_t kBitsOfF32[] = {0x7fc00000, 0xffc12345, 0x7f800001, 0x80000000, 0x7f800000,
                                        0xff800000, 0x00000001, 0x807fffff, 0x3eaaaaab, 0x7f7fffff};
constexpr std::uint64_t kBitsOfF64[] = {0x7ff8000000000000, 0xfff8000000012345, 0x7ff0000000000001,
                                        0x8000000000000000, 0x7ff0000000000000, 0xfff0000000000000,
                                        0x0000000000000001, 0x800fffffffffffff, 0x3fd5555555555555,
                                        0x7fefffffffffffff};

Planted planted_every(std::uint64_t distance, std::span<const std::uint64_t> values) {
  Planted planted;
  for (const std::uint64_t value : values) planted.emplace_back(planted.size() * distance, value);
  return planted;
}

/// Adds cases of pack by maps.
auto packed_into(std::vector<GoldenCase>& cases) {
  return [&cases](const std::string& name, const char* record, int bits,
                  const std::vector<LaneChoice>& maps, const Planted& planted = {},
                  std::size_t records = 140) {
    mapped_chunk(cases, name, record, records, bits, mapped_by(Coder::pack, maps), planted);
  };
}

}  // namespace

/// Every map with fields behind every coder.
void add_value_maps(std::vector<GoldenCase>& cases) {
  struct Kind {
    const char* name;
    const char* record;
    LaneChoice map;
    int bits;
  };
  const Kind kinds[] = {
      {.name = "decimal_f32", .record = "f32", .map = decimal(2), .bits = 18},
      {.name = "decimal_f64_big_endian", .record = "f64:be", .map = decimal(3), .bits = 30},
      {.name = "scaled_f32", .record = "f32x2", .map = scaled(0.0012207), .bits = 18},
      {.name = "scaled_f64", .record = "f64", .map = scaled(1.0 / 3), .bits = 30},
      {.name = "multiple_i8", .record = "i8", .map = multiple(3, 1), .bits = 5},
      {.name = "multiple_u16", .record = "u16", .map = multiple(200, 7), .bits = 7},
      {.name = "multiple_i24", .record = "i24x2", .map = multiple(1000, 0xffff00), .bits = 13},
      {.name = "multiple_i32_big_endian",
       .record = "i32:be",
       .map = multiple(12345, 99),
       .bits = 17},
      {.name = "multiple_u64",
       .record = "u64",
       .map = multiple(1000000007, 1ull << 63),
       .bits = 30},
  };
  for (const Coder coder : {Coder::pack, Coder::zstd, Coder::ans})
    for (const auto& [name, record, map, bits] : kinds)
      mapped_chunk(cases, std::string(coder_name(coder)) + '_' + name, record, 140, bits,
                   mapped_by(coder, {map}));
}

/// The numbers at the ends of what maps with fields may say.
void add_extreme_maps(std::vector<GoldenCase>& cases) {
  const auto packed = packed_into(cases);
  for (const int digits : {0, 1, 15, 22})
    for (const char* type : {"f32", "f64"})
      packed("decimal_digits_" + std::to_string(digits) + '_' + type, type, 20, {decimal(digits)},
             {}, 60);
  packed("decimal_f64_of_large_numbers", "f64", 64, {decimal(2)}, {}, 60);
  packed("decimal_f32_of_large_numbers", "f32", 32, {decimal(2)}, {}, 60);
  packed("scaled_f64_by_the_least_step", "f64", 20, {scaled(0x1p-1022)}, {}, 60);
  packed("scaled_f64_to_infinities", "f64", 3, {scaled(0x1.fffffffffffffp1023)}, {}, 60);
  packed("scaled_f32_to_zeros", "f32", 20, {scaled(0x1p-160)}, {}, 60);
  packed("scaled_f32_to_denormals", "f32", 20, {scaled(0x1.8p-140)}, {}, 60);
  packed("scaled_f32_to_infinities", "f32", 20, {scaled(0x1p110)}, {}, 60);
  for (const auto& [type, step] : {std::pair{"u8", 0xffull},
                                   {"i16", 0x8000ull},
                                   {"u24", 0xffffffull},
                                   {"i32", 0xffffffffull},
                                   {"u64", ~0ull}}) {
    packed(std::string("multiple_") + type + "_of_2", type, 6, {multiple(2, 1)}, {}, 60);
    packed(std::string("multiple_") + type + "_of_most", type, 6, {multiple(step, 5)}, {}, 60);
  }
}

/// Products that are too large, or rounded to the largest number just so.
void add_overflows(std::vector<GoldenCase>& cases) {
  const auto add = [&](const std::string& name, const char* record, double step) {
    LaneChoice map = scaled(step);
    map.overflows = true;
    packed_into(cases)(name, record, 3, {map}, {}, 60);
  };
  add("scaled_f32_beyond_the_largest", "f32", 0x1.fffffefffffffp127);
  add("scaled_f32_half_way_to_infinities", "f32", 0x1.ffffffp127);
  add("scaled_f64_beyond_the_largest", "f64", 0x1.fffffffffffffp1023);
}

/// Maps that differ from lane to lane, and values that they do not give back.
void add_lanes_and_exceptions(std::vector<GoldenCase>& cases) {
  const auto packed = packed_into(cases);
  packed("maps_by_lane_f32", "f32x4", 18, {{}, {ValueMap::ordered}, decimal(1), scaled(0.25)},
         {{2, 0x7fc00000}, {3, 0x80000000}});
  packed("maps_by_lane_f64_without_fields", "f64x2", 50, {{ValueMap::ordered}, {}});
  packed("maps_by_lane_all_alike", "f32x2", 18, {decimal(1), decimal(1)});
  packed("maps_by_lane_i16", "i16x3", 7, {multiple(9, 8), {}, multiple(100, 1)});
  packed("exceptions_f32", "f32x2", 18, {decimal(1)}, planted_every(29, kBitsOfF32));
  packed("exceptions_f64", "f64", 18, {scaled(0.1)}, planted_every(14, kBitsOfF64));
  packed("exceptions_f64_big_endian", "f64:bex3", 18, {decimal(4)}, planted_every(31, kBitsOfF64));
  packed("exceptions_in_first_and_last_place", "f32x3", 18, {decimal(1)},
         {{0, 0x7fc00000}, {419, 0x80000000}});
  packed("exceptions_of_multiple_u24_big_endian", "u24:bex2", 9, {multiple(1000)},
         {{0, 1}, {1, 999}, {77, 0xffffff}, {279, 123457}});
  packed("exceptions_of_multiple_i64", "i64", 9, {multiple(1000, 3)},
         {{5, 0x8000000000000000}, {6, 0x7fffffffffffffff}, {139, 4}});
  for (const Coder coder : {Coder::pack, Coder::zstd, Coder::ans}) {
    Planted all;
    for (std::uint64_t i = 0; i < 40; ++i) all.emplace_back(i, 0x7fc00000 + i);
    mapped_chunk(cases, std::string(coder_name(coder)) + "_exceptions_alone", "f32x2", 20, 18,
                 mapped_by(coder, {scaled(3)}), all);
  }
  // A place may be anywhere, also where a map gives the value back or there is none.
  mapped_chunk(cases, "exceptions_that_need_not_be", "i16x2", 140, 7, [](const Column& column) {
    Choice choice = with_maps(linked(Coder::pack, column, {1}), {multiple(100, 1), {}});
    choice.exceptions = {0, 1, 2, 55, 278, 279};
    return choice;
  });
}

/// Maps before strides, in parts, of one record, without a predictor and of opaque bytes.
void add_mapped_models(std::vector<GoldenCase>& cases) {
  mapped_chunk(cases, "maps_behind_strides", "f32x2", 200, 18, [](const Column& column) {
    return with_stride(with_maps(linked(Coder::pack, column, {0, 2}), {decimal(1), scaled(0.5)}),
                       12, 1);
  });
  mapped_chunk(cases, "maps_of_parts", "i32:be", 300, 16,
               [](const Column& column) {
                 Choice choice = with_maps(linked(Coder::zstd, column, {1}), {multiple(7, 3)});
                 choice.model.section.arrangement = format::Arrangement::plane_frames;
                 choice.model.section.part_groups = 1;
                 return choice;
               },
               {{130, 0}, {299, 1}});
  mapped_chunk(cases, "maps_of_one_record", "f64x2,i16", 1, 10,
               [](const Column& column) {
                 return mapped_by(Coder::pack,
                                  {is_float(column.type) ? decimal(1) : multiple(3)})(column);
               },
               {{1, 0x7ff8000000000000}});
  mapped_chunk(cases, "maps_without_a_predictor", "f32", 140, 9,
               mapped_by(Coder::ans, {decimal(1)}, {}, {0}));
  {
    Bytes text = wandering_values(byte_layout(), 140, 4, 92);
    const Choice choice =
        with_maps(linked(Coder::pack, byte_layout().columns[0], {1}), {multiple(3)});
    give_back(text, byte_layout(), 0, choice, 6, {{7, 255}});
    cases.push_back({"maps_opaque", text, StreamBuilder().opaque(text, choice).finish()});
  }
}

void add_lane_maps(std::vector<GoldenCase>& cases) {
  const auto packed =
      [&](const std::string& name, const char* record, const std::vector<StepChoice>& steps,
          const std::vector<LaneChoice>& maps = {}, int bits = 64, const Planted& planted = {}) {
        const Layout layout = parse_record(record).value();
        const int width = value_bits(layout.columns[0].type);
        mapped_chunk(cases, name, record, 60, std::min(bits, width),
                     mapped_by(Coder::pack, maps, steps), planted);
      };
  for (const int kind : {0, 1, 2})
    for (const char* record : {"i8x2", "u16x2", "i24x2", "u32:bex2", "i64x2"})
      packed(std::string("differences_") + std::to_string(kind) + '_' +
                 std::string(type_name(parse_record(record).value().columns[0].type)),
             record, {{1, 0, kind}});
  for (const Coder coder : {Coder::pack, Coder::zstd, Coder::ans})
    mapped_chunk(cases, std::string(coder_name(coder)) + "_mean_and_difference", "i16x2", 140, 16,
                 mapped_by(coder, {}, {{1, 0, 0}, {0, 1, 2}}, {2}));
  packed("differences_of_neighbours", "i16x5", {{4, 3, 0}, {3, 2, 0}, {2, 1, 0}, {1, 0, 0}});
  packed("differences_of_changed_lanes", "i24:bex4",
         {{0, 3, 1}, {3, 0, 0}, {2, 0, 2}, {0, 2, 0}, {3, 0, 1}, {0, 3, 2}});
  std::vector<StepChoice> most;
  most.reserve(64);
  for (int step = 0; step < 64; ++step) most.push_back({step, (step + 1) % 64, step % 3});
  mapped_chunk(cases, "differences_of_64_steps", "u8x64", 20, 8, mapped_by(Coder::pack, {}, most));
  packed("differences_of_floats", "f32x3", {{2, 0, 0}, {1, 0, 1}});
  packed("differences_of_ordered_f64", "f64x2", {{1, 0, 0}}, {{ValueMap::ordered}});
  packed("differences_of_ordered_bf16_big_endian", "bf16:bex2", {{1, 0, 2}}, {{ValueMap::ordered}});
  packed("differences_of_decimals", "f32x3", {{2, 1, 0}, {1, 0, 0}}, {decimal(2)}, 18,
         planted_every(17, kBitsOfF32));
  packed("differences_of_lanes_of_many_maps", "f64x4", {{3, 2, 0}, {2, 0, 1}, {0, 1, 2}},
         {decimal(2), {ValueMap::ordered}, {}, scaled(0.3)}, 30,
         {{0, 0x7ff8000000000000}, {3, 1}, {239, 0x8000000000000000}});
  packed("differences_of_multiples", "u64:bex2", {{1, 0, 0}, {0, 1, 2}},
         {multiple(3), multiple(5, 2)}, 20, {{60, 7}});
  mapped_chunk(cases, "differences_with_strides", "i16x3", 120, 16, [](const Column& column) {
    const Choice choice =
        with_steps(linked(Coder::pack, column, {0, 1, 3}), {{2, 1, 0}, {1, 0, 0}});
    return with_stride(with_stride(choice, 30, 1), 7, 2);
  });
  mapped_chunk(cases, "maps_in_a_mixed_record", "f32:bex3,u8,i16x2,f64,u24:bex2", 60, 7,
               [](const Column& column) {
                 if (column.type == ValueType::u8) return raw();
                 const Choice choice = linked(Coder::pack, column, {1});
                 if (column.type == ValueType::f32)
                   return with_steps(with_maps(choice, {decimal(1), {}, decimal(2)}), {{2, 1, 0}});
                 if (column.type == ValueType::i16)
                   return with_steps(choice, {{1, 0, 0}, {0, 1, 2}});
                 if (column.type == ValueType::f64) return with_maps(choice, {scaled(0.7)});
                 return with_maps(choice, {multiple(11), multiple(12, 1)});
               },
               {{2, 0xffc00000}, {179, 0x7f800000}});
}

void add_dictionaries(std::vector<GoldenCase>& cases) {
  const auto looked_up = [&](const std::string& name, const char* record, std::size_t count,
                             const std::vector<int>& bins, Coder coder = Coder::pack,
                             std::size_t records = 140) {
    mapped_chunk(cases, name, record, records, 6, [=](const Column& column) {
      return mapped_by(coder, {dictionary(table_values(column, count), bins)})(column);
    });
  };
  for (const Coder coder : {Coder::pack, Coder::zstd, Coder::ans})
    for (const auto& [type, w] : {std::pair{"u8", 8},
                                  {"i16", 16},
                                  {"u24:be", 24},
                                  {"i32x2", 32},
                                  {"u64", 64},
                                  {"f16", 16},
                                  {"bf16", 16},
                                  {"f32", 32},
                                  {"f64:bex2", 64}})
      looked_up(std::string(coder_name(coder)) + "_dictionary_" +
                    std::string(type_name(parse_record(type).value().columns[0].type)),
                type, 17, {0, 3, w - 3, w}, coder);
  looked_up("dictionary_of_one", "i32", 1, {0});
  looked_up("dictionary_of_one_bin", "f64", 12, {64});
  looked_up("dictionary_of_sixteen_bins", "i64:be", 40,
            {0, 0, 1, 2, 5, 7, 9, 12, 20, 25, 30, 40, 50, 60, 63, 64}, Coder::ans, 330);
  mapped_chunk(cases, "dictionary_of_neighbours", "i16", 140, 6, [](const Column& column) {
    return mapped_by(Coder::pack, {dictionary({0xfffe, 0xffff, 0, 1, 2, 3, 4}, {0})})(column);
  });
  mapped_chunk(cases, "dictionary_in_any_order", "u32", 140, 6, [](const Column& column) {
    return mapped_by(Coder::pack, {dictionary({7, 5, 9, 0xffffffff, 1, 6}, {1, 32})})(column);
  });
  mapped_chunk(
      cases, "dictionary_in_a_lane", "f32x3", 140, 6,
      [](const Column& column) {
        return mapped_by(
            Coder::pack,
            {decimal(1), dictionary(table_values(column, 9), {4, 32}), {ValueMap::ordered}},
            {{2, 1, 0}, {1, 0, 2}})(column);
      },
      {{0, 0x7fc00000}, {417, 0x80000000}});
  mapped_chunk(cases, "dictionaries_behind_strides", "i64x2", 140, 6, [](const Column& column) {
    return with_stride(mapped_by(Coder::pack, {dictionary(table_values(column, 9), {4, 64}),
                                               dictionary(table_values(column, 15), {64})})(column),
                       12, 1);
  });
  // What stands there is an index, too.
  mapped_chunk(cases, "exceptions_of_a_dictionary", "u16:bex2", 140, 6, [](const Column& column) {
    Choice choice = mapped_by(Coder::pack, {dictionary(table_values(column, 9), {16}), {}})(column);
    choice.exceptions = {0, 1, 2, 55, 278, 279};
    return choice;
  });
}

/// Tables that a coder has made, behind every coder of residuals.
void add_coded_tables(std::vector<GoldenCase>& cases) {
  const auto coded = [&](const std::string& name, const char* record, std::size_t count,
                         Coder coder) {
    mapped_chunk(cases, "dictionary_by_lzma_" + name, record, 280, 6, [=](const Column& column) {
      return mapped_by(coder, {plain::dictionary_by_lzma(table_values(column, count))})(column);
    });
  };
  coded("u8", "u8", 30, Coder::lzma);
  coded("i24_big_endian", "i24:bex2", 33, Coder::pack);
  coded("f32", "f32", 35, Coder::ans);
  coded("f64_big_endian", "f64:be", 33, Coder::zstd);
  coded("of_one", "i64", 1, Coder::lzma);
  mapped_chunk(cases, "dictionaries_by_lzma_and_in_bins", "f64x3", 140, 6,
               [](const Column& column) {
                 return mapped_by(Coder::lzma,
                                  {plain::dictionary_by_lzma(table_values(column, 11)),
                                   dictionary(table_values(column, 9), {4, 64}),
                                   plain::dictionary_by_lzma(table_values(column, 17))})(column);
               });
}

}  // namespace gdelta::plain::detail
