// What the golden files hold: every case gives its stream and the values it decodes to. The files
// are written once by `write_golden` and then only decoded.
#pragma once

#include <string>

#include "plain_encoder.h"

namespace gdelta::plain {

struct GoldenCase {
  std::string name;
  Bytes values;
  Bytes stream;
};

/// Numbers that wander like a sensor's, the same on every machine: a walk with steps of about
/// `step`, cut to the width of the column, with now and then a value far away.
inline Bytes wandering_values(const Layout& layout, std::size_t records, std::uint64_t step,
                              std::uint64_t seed) {
  Bytes bytes;
  std::size_t lanes = 0;  // of a record; layouts that break a rule may have any number
  for (const Column& column : layout.columns) lanes += column.tuple;
  std::vector<std::uint64_t> walks(lanes, seed << 20);
  std::uint64_t random = seed;
  for (std::size_t i = 0; i < records; ++i) {
    std::size_t next_walk = 0;
    for (std::size_t c = 0; c < layout.columns.size(); ++c)
      for (int lane = 0; lane < layout.columns[c].tuple; ++lane) {
        random = random * 6364136223846793005ull + 1442695040888963407ull;
        std::uint64_t& walk = walks[next_walk++];
        walk += (random >> 40) % (2 * step + 1) - step;
        const bool outlier = (random >> 20) % 61 == 0;
        const std::uint64_t value = outlier ? random : walk;
        const int width = value_bytes(layout.columns[c].type);
        for (int b = 0; b < width; ++b)
          bytes.push_back(static_cast<std::byte>(
              value >> 8 * (layout.columns[c].big_endian ? width - 1 - b : b)));
      }
  }
  return bytes;
}

namespace detail {

/// A chunk alone in its stream, its columns coded as `choose` says.
template <class Choose>
void one_chunk(std::vector<GoldenCase>& cases, const std::string& name, const std::string& record,
               std::size_t records, std::uint64_t step, Choose choose) {
  const Layout layout = parse_record(record).value();
  GoldenCase made{name, wandering_values(layout, records, step, cases.size() + 1), {}};
  std::vector<Choice> choices;
  for (const Column& column : layout.columns) choices.push_back(choose(column));
  made.stream = StreamBuilder().layout(layout).chunk(made.values, choices).finish(false);
  cases.push_back(std::move(made));
}

inline auto packed_at(std::vector<int> orders) {
  return [orders](const Column& column) { return linked(Coder::pack, column, orders); };
}

inline constexpr auto kNone = ValueMap::none;
inline constexpr auto kOrdered = ValueMap::ordered;

/// By a map, and behind these strides and orders.
inline auto linked_as(Coder coder, std::vector<int> orders, ValueMap map,
                      std::vector<std::pair<std::uint32_t, int>> strides) {
  return [=](const Column& column) {
    Choice choice = linked(coder, column, orders);
    choice.model.front.map = map;
    for (const auto& [stride, order] : strides) choice = with_stride(choice, stride, order);
    return choice;
  };
}

/// Every type and coder, in the ways that planners choose.
inline void add_usual_models(std::vector<GoldenCase>& cases) {
  using format::Arrangement;
  cases.push_back({"empty", {}, StreamBuilder().finish(false)});
  one_chunk(cases, "raw_f64", "f64", 20, 9, [](const Column&) { return raw(); });
  {
    const Layout layout = parse_record("u16:bex3").value();
    GoldenCase made{"constant_u16_big_endian", {}, {}};
    for (int i = 0; i < 100; ++i)
      for (const int b : {0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc})
        made.values.push_back(static_cast<std::byte>(b));
    made.stream = StreamBuilder().layout(layout).chunk(made.values, {constant()}).finish(false);
    cases.push_back(std::move(made));
  }

  for (int type = 0; type < kNumValueTypes; ++type) {
    const std::string name(type_name(static_cast<ValueType>(type)));
    one_chunk(cases, "pack_" + name, name, 150, 5, packed_at({1}));
    one_chunk(cases, "zstd_" + name + "_big_endian", name + ":be", 60, 5, [](const Column& column) {
      Choice choice = linked(Coder::zstd, column, {1});
      choice.model.section.arrangement = Arrangement::planes;
      if (is_float(column.type)) choice.model.front.map = ValueMap::ordered;
      return choice;
    });
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
  one_chunk(cases, "raw_parts", "u24,i16x2", 300, 6, [](const Column& column) {
    Choice choice = raw();
    choice.model.section.part_groups = column.tuple;
    return choice;
  });
  one_chunk(cases, "mixed_record", "i32x3,u16:be,u8x2,f64", 130, 5, [](const Column& column) {
    if (column.type == ValueType::u16) return raw();
    return linked(column.type == ValueType::u8 ? Coder::zstd : Coder::pack, column, {1});
  });
}

/// What no planner chooses, or seldom.
inline void add_unusual_models(std::vector<GoldenCase>& cases) {
  for (const char* type : {"u16", "i24", "i32", "u64"})
    one_chunk(cases, std::string("pack_") + type + "_big_endian", std::string(type) + ":bex2", 140,
              5, packed_at({1, 2}));
  one_chunk(cases, "pack_ordered_f64_big_endian", "f64:be", 140, 1000,
            linked_as(Coder::pack, {1}, kOrdered, {}));
  one_chunk(cases, "pack_of_one_record", "i16x3,f32", 1, 5, packed_at({2}));
  one_chunk(cases, "zstd_of_one_record", "i16x3,f32", 1, 5, linked_as(Coder::zstd, {1}, kNone, {}));
  for (int order = 3; order <= kMaxOrder; ++order)
    one_chunk(cases, "pack_stride_order_" + std::to_string(order), "i16x2", 130, 4,
              linked_as(Coder::pack, {0}, kNone, {{9, order}}));
  one_chunk(cases, "pack_strides_of_two_orders", "u32", 140, 4,
            linked_as(Coder::pack, {2}, kNone, {{3, 4}, {35, 7}}));
  one_chunk(cases, "zstd_strides_of_two_orders", "u16:bex2", 120, 4,
            linked_as(Coder::zstd, {1, 2}, kNone, {{30, 5}, {2, 8}}));
  one_chunk(cases, "zstd_ordered_strides_big_endian", "f32:bex2", 120, 1000,
            linked_as(Coder::zstd, {1}, kOrdered, {{15, 1}}));
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
  {
    Choice zstd = linked(Coder::zstd, byte_layout().columns[0], {0});
    zstd.model.section.part_groups = 1;
    const Choice packed = linked(Coder::pack, byte_layout().columns[0], {1});
    const Bytes text = wandering_values(byte_layout(), 140, 4, 90);
    const Bytes equal(200, std::byte{'='});
    GoldenCase made{"opaque_of_every_coder", {}, {}};
    for (const Bytes& part : {text, text, equal, text, Bytes(1, std::byte{7})})
      made.values.insert(made.values.end(), part.begin(), part.end());
    made.stream = StreamBuilder()
                      .opaque(text, packed)
                      .opaque(text, zstd)
                      .opaque(equal, constant())
                      .opaque(text)
                      .opaque(Bytes(1, std::byte{7}), packed)
                      .finish();
    cases.push_back(std::move(made));
  }
}

/// The worked stream of the specification, and files of several layouts, streams and frames.
inline void add_whole_streams(std::vector<GoldenCase>& cases) {
  const Layout pairs = parse_record("i16x2").value();
  {  // The worked stream of the specification.
    GoldenCase made{"worked_example", {}, {}};
    for (const int value : {1000, 7, 1001, 7, 1002, 7, 1004, 6})
      format::append_le(made.values, 2, static_cast<std::uint64_t>(value));
    Choice choice = linked(Coder::pack, pairs.columns[0], {1});
    choice.width = 2;
    choice.begin_at_first_value = true;
    made.stream = StreamBuilder().layout(pairs).chunk(made.values, {choice}).finish(false);
    cases.push_back(std::move(made));
  }
  const Layout floats = parse_record("f32").value();
  const auto column_of = [](const Layout& layout) { return layout.columns[0]; };
  const Bytes head = wandering_values(byte_layout(), 44, 90, 77);
  const Bytes first = wandering_values(pairs, 90, 5, 78);
  const Bytes second = wandering_values(pairs, 50, 5, 79);
  const Bytes third = wandering_values(floats, 30, 5, 80);
  const Bytes tail = wandering_values(byte_layout(), 5, 90, 81);
  const auto join = [](std::initializer_list<Bytes> parts) {
    Bytes all;
    for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
  };
  const Bytes several = StreamBuilder()
                            .opaque(head)
                            .layout(pairs)
                            .chunk(first, {linked(Coder::pack, column_of(pairs), {1})})
                            .chunk(second, {linked(Coder::zstd, column_of(pairs), {0})})
                            .layout(floats)
                            .chunk(third, {linked(Coder::pack, column_of(floats), {0})})
                            .opaque(tail)
                            .finish();
  const Bytes several_values = join({head, first, second, third, tail});
  cases.push_back({"several_layouts_with_index", several_values, several});
  const Bytes empty = StreamBuilder().finish(false);
  const Bytes one = StreamBuilder().opaque(tail).finish(false);
  cases.push_back(
      {"concatenated", join({several_values, tail, tail}), join({several, empty, one, one})});
  cases.push_back({"metadata", join({tail, first}),
                   StreamBuilder()
                       .metadata({{"sample_rate", "44100"}, {"lanes", "left,right"}})
                       .opaque(tail)
                       .layout(pairs, {5, LayoutOrigin::file_format})
                       .chunk(first, {linked(Coder::pack, column_of(pairs), {1})})
                       .metadata({{"note", "\xc3\xa9t\xc3\xa9"}})
                       .block(static_cast<format::BlockTag>(200), Bytes(3, std::byte{1}),
                              Bytes(70, std::byte{2}))
                       .finish()});
  const auto skippable = [](std::uint64_t magic, std::size_t bytes) {
    Bytes frame;
    format::append_le(frame, 4, magic);
    format::append_le(frame, 4, bytes);
    frame.resize(frame.size() + bytes, std::byte{0x89});
    return frame;
  };
  cases.push_back({"skippable_frames", join({tail, several_values}),
                   join({skippable(0x184D2A50, 7), skippable(0x184D2A5F, 0),
                         skippable(0x184D2A57, 300), one, several})});
}

/// Pages of the ans coder, with tables of any kind.
inline void add_ans_models(std::vector<GoldenCase>& cases) {
  const auto ans = [](std::vector<int> orders, auto change) {
    return [=](const Column& column) {
      Choice choice = linked(Coder::ans, column, orders);
      change(choice, value_bits(column.type));
      return choice;
    };
  };
  const auto with_model = [](int slot_bits, int span_bits,
                             std::vector<AnsTable (*)(int, int)> tables,
                             std::uint32_t page_groups = 1) {
    return [=](Choice& choice, int bits) {
      choice.ans = {slot_bits, span_bits, {}};
      for (const auto table : tables) choice.ans.tables.push_back(table(bits, slot_bits));
      choice.model.section.part_groups = page_groups;
    };
  };
  constexpr auto kAsUsual = [](Choice&, int) {};
  for (int type = 0; type < kNumValueTypes; ++type) {
    const std::string name(type_name(static_cast<ValueType>(type)));
    one_chunk(cases, "ans_" + name, name, 150, 5, ans({1}, kAsUsual));
  }
  // With one state, a few, and all of them; a page ends at the edge of a tile or beside it.
  for (const auto& [residuals, record] : {std::pair{1, "u64"},
                                          {127, "i16"},
                                          {255, "i32"},
                                          {256, "u16"},
                                          {257, "i24"},
                                          {511, "f16"},
                                          {4095, "i8"},
                                          {4096, "u8"},
                                          {4097, "u16"}})
    one_chunk(cases, "ans_page_of_" + std::to_string(residuals), record,
              static_cast<std::size_t>(residuals), residuals < 4000 ? 20 : 1,
              ans({1}, with_model(10, 5, {mostly_zeros, table_of_sizes}, 64)));
  one_chunk(cases, "ans_page_of_16384", "i16", 16384, 0,
            ans({0}, with_model(11, 8, {mostly_zeros}, 128)));
  one_chunk(cases, "ans_two_pages_of_8192", "i16", 16384 - 100, 0,
            ans({0}, with_model(11, 6, {mostly_zeros, mostly_zeros}, 64)));
  one_chunk(cases, "ans_tuple_3", "i24x3", 1000 / 3, 4,
            ans({0, 1, 3}, with_model(9, 3, {table_of_sizes, table_of_overlaps}, 2)));
  one_chunk(cases, "ans_tuple_5_big_endian", "u16:bex5", 130, 4,
            ans({2}, with_model(8, 4, {table_of_sizes})));
  // With states that have no residual.
  one_chunk(cases, "ans_tuple_64", "u8x64", 5, 2, ans({1}, kAsUsual));
  one_chunk(cases, "ans_tuple_64_of_two", "u8x64", 2, 2, ans({0}, kAsUsual));
  for (const int tables : {1, 2, 5, 8, 9, 16})
    one_chunk(cases, "ans_tables_" + std::to_string(tables), "i16x2", 330, 30,
              ans({1}, [tables](Choice& choice, int bits) {
                choice.ans = {8, 3, {}};
                choice.model.section.part_groups = 2;
                for (int t = 0; t < tables; ++t)
                  choice.ans.tables.push_back(t % 3 == 1 ? whole_table(bits, 8)
                                                         : table_of_overlaps(bits, 8));
              }));
  for (const int slot_bits : {5, 6, 7, 8, 11})
    one_chunk(cases, "ans_slots_" + std::to_string(1 << slot_bits), "i32", 300, 6,
              ans({1}, with_model(slot_bits, 5, {table_of_overlaps, whole_table}, 2)));
  for (int span_bits = 3; span_bits <= 8; ++span_bits)
    one_chunk(cases, "ans_spans_of_" + std::to_string(1 << span_bits), "u16", 1100, 6,
              ans({1}, with_model(9, span_bits, {table_of_sizes, table_of_overlaps, table_of_sizes},
                                  16)));
  // Tables of a single bin.
  for (const char* record : {"i8", "u24", "i64"})
    for (const std::int64_t lower : {-1, 0, 5, 127})
      one_chunk(cases, std::string("ans_offsets_wrap_") + record + "_from_" + std::to_string(lower),
                record, 40, 50, ans({1}, [lower](Choice& choice, int bits) {
                  choice.ans = {5, 3, {whole_table(bits, 5)}};
                  choice.ans.tables[0][0].lower = lower;
                }));
  {
    const Layout layout = parse_record("u32x2").value();
    Bytes values;
    for (int i = 0; i < 300; ++i)
      for (const int b : {1, 2, 3, 4, 5, 6, 7, 0x88}) values.push_back(static_cast<std::byte>(b));
    Choice choice = linked(Coder::ans, layout.columns[0], {1, 2});
    choice.begin_at_first_value = true;
    choice.model.front.orders[1] = 1;
    choice.ans = {7, 8, {{{.lower = 0, .frequency = 128, .offset_bits = 0}}}};
    cases.push_back({"ans_no_words_and_no_offsets", values,
                     StreamBuilder().layout(layout).chunk(values, {choice}).finish(false)});
  }
  one_chunk(cases, "ans_1024_bins", "u8", 60, 5, ans({1}, with_model(8, 3, {4, table_of_values})));
  one_chunk(cases, "ans_page_groups_2048", "u8", 300, 3,
            ans({1}, with_model(9, 8, {table_of_sizes}, 2048)));
  one_chunk(cases, "ans_ordered_f32", "f32x2", 100, 1000, linked_as(Coder::ans, {1}, kOrdered, {}));
  one_chunk(cases, "ans_strides", "i16", 300, 6,
            linked_as(Coder::ans, {1}, kNone, {{17, 1}, {60, 2}}));
  one_chunk(cases, "ans_orders_per_lane", "i16x9", 40, 3,
            linked_as(Coder::ans, {0, 1, 2, 3, 4, 5, 6, 7, 8}, kNone, {}));
  one_chunk(cases, "ans_in_a_mixed_record", "i32x3,u16:be,u8x2", 130, 5, [](const Column& column) {
    return linked(column.type == ValueType::u16 ? Coder::pack : Coder::ans, column, {1});
  });
  {
    const Bytes text = wandering_values(byte_layout(), 140, 4, 91);
    const Choice choice = linked(Coder::ans, byte_layout().columns[0], {1});
    cases.push_back({"ans_opaque", text, StreamBuilder().opaque(text, choice).finish()});
  }
}

// ---- Maps with fields, exceptions and differences of lanes

/// Values that stand somewhere whatever the map would make of them: place, bits.
using Planted = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

/// Makes of whole numbers the values that the maps of a column give for them. `bits` of each are kept, as
/// a number with a sign.
inline void give_back(Bytes& records, const Layout& layout, std::size_t number,
                      const Choice& choice, int bits, const Planted& planted) {
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
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const Lane words = read_lane(records, static_cast<std::size_t>(layout.record_bytes()),
                                 column_at, column, static_cast<int>(lane));
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

/// A chunk alone in its stream whose first column has the planted values.
template <class Choose>
void mapped_chunk(std::vector<GoldenCase>& cases, const std::string& name,
                  const std::string& record, std::size_t records, int bits, Choose choose,
                  const Planted& planted = {}) {
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

inline auto mapped_by(Coder coder, std::vector<LaneChoice> maps, std::vector<StepChoice> steps = {},
                      std::vector<int> orders = {1}) {
  return [=](const Column& column) {
    Choice choice = linked(coder, column, orders);
    if (!maps.empty()) choice = with_maps(choice, maps);
    if (!steps.empty()) choice = with_steps(choice, steps);
    return choice;
  };
}

constexpr std::uint64_t kBitsOfF32[] = {0x7fc00000, 0xffc12345, 0x7f800001, 0x80000000, 0x7f800000,
                                        0xff800000, 0x00000001, 0x807fffff, 0x3eaaaaab, 0x7f7fffff};
constexpr std::uint64_t kBitsOfF64[] = {0x7ff8000000000000, 0xfff8000000012345, 0x7ff0000000000001,
                                        0x8000000000000000, 0x7ff0000000000000, 0xfff0000000000000,
                                        0x0000000000000001, 0x800fffffffffffff, 0x3fd5555555555555,
                                        0x7fefffffffffffff};

inline Planted planted_every(std::uint64_t distance, std::span<const std::uint64_t> values) {
  Planted planted;
  for (const std::uint64_t value : values) planted.emplace_back(planted.size() * distance, value);
  return planted;
}

inline void add_value_maps(std::vector<GoldenCase>& cases) {
  struct Kind {
    const char* name;
    const char* record;
    LaneChoice map;
    int bits;
  };
  for (const Coder coder : {Coder::pack, Coder::zstd, Coder::ans})
    for (const auto& [name, record, map, bits] :
         {Kind{"decimal_f32", "f32", decimal(2), 18},
          {"decimal_f64_big_endian", "f64:be", decimal(3), 30},
          {"scaled_f32", "f32x2", scaled(0.0012207), 18},
          {"scaled_f64", "f64", scaled(1.0 / 3), 30},
          {"multiple_i8", "i8", multiple(3, 1), 5},
          {"multiple_u16", "u16", multiple(200, 7), 7},
          {"multiple_i24", "i24x2", multiple(1000, 0xffff00), 13},
          {"multiple_i32_big_endian", "i32:be", multiple(12345, 99), 17},
          {"multiple_u64", "u64", multiple(1000000007, 1ull << 63), 30}})
      mapped_chunk(cases, std::string(coder_name(coder)) + '_' + name, record, 140, bits,
                   mapped_by(coder, {map}));
  const auto packed = [&](const std::string& name, const char* record, int bits,
                          std::vector<LaneChoice> maps, const Planted& planted = {},
                          std::size_t records = 140) {
    mapped_chunk(cases, name, record, records, bits, mapped_by(Coder::pack, std::move(maps)),
                 planted);
  };
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

/// Values of the type, rising, the first below zero where there is such a thing: so far apart that a table
/// needs bins of many sizes.
inline std::vector<std::uint64_t> table_values(const Column& column, std::size_t count) {
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

inline void add_dictionaries(std::vector<GoldenCase>& cases) {
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

inline void add_lane_maps(std::vector<GoldenCase>& cases) {
  const auto packed = [&](const std::string& name, const char* record,
                          std::vector<StepChoice> steps, std::vector<LaneChoice> maps = {},
                          int bits = 64, const Planted& planted = {}) {
    const Layout layout = parse_record(record).value();
    const int width = value_bits(layout.columns[0].type);
    mapped_chunk(cases, name, record, 60, std::min(bits, width),
                 mapped_by(Coder::pack, std::move(maps), std::move(steps)), planted);
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

/// Linear prediction behind every coder; runs end in the midst of pages.
inline void add_linear_models(std::vector<GoldenCase>& cases) {
  const auto add = [&](const std::string& name, const char* record, std::size_t records,
                       std::uint64_t step, Coder coder, const LinearPlainModel& linear,
                       ValueMap map = kNone) {
    one_chunk(cases, "linear_" + name, record, records, step, [&](const Column& column) {
      Choice choice = predicted(coder, column, linear);
      choice.model.front.map = map;
      return choice;
    });
  };
  for (int type = 0; type < kNumValueTypes; ++type) {
    const std::string name(type_name(static_cast<ValueType>(type)));
    const bool is_unsigned = type % 2 == 1 && type < static_cast<int>(ValueType::f16);
    add(name, name.c_str(), 300, 5, Coder::pack, linear_model(1, 3, 0, 6, 4, is_unsigned ? 1 : 0));
  }
  add("ans", "i16x2", 520, 5, Coder::ans, linear_model(2, 4, 3, 8, 5));
  add("zstd", "i32x2", 300, 5, Coder::zstd, linear_model(2, 2, 1, 8, 5));
  add("of_one_record", "i16x2", 1, 5, Coder::pack, linear_model(2, 4, 3, 8, 5));
  for (const int records : {255, 256, 257})
    add("of_" + std::to_string(records), "u8", static_cast<std::size_t>(records), 3, Coder::pack,
        linear_model(1, 5, 0, 7, 3, 1));
  add("two_sources", "i16x4", 270, 5, Coder::pack, linear_model(4, 4, 6, 10, 6));
  add("sources_alone", "i24x2", 270, 5, Coder::pack, linear_model(2, 0, 4, 10, 6));
  add("32_taps", "i16", 300, 5, Coder::pack, linear_model(1, 32, 0, 12, 7));
  add("32_taps_i32", "i32", 300, 5, Coder::pack, linear_model(1, 32, 0, 15, 3));
  add("no_taps", "u16x2", 40, 5, Coder::pack, linear_model(2, 0, 0, 0, 0));
  add("no_shift", "i32", 300, 5, Coder::pack, linear_model(1, 2, 0, 0, 2));
  add("signed_reading", "u32", 300, 5, Coder::pack, linear_model(1, 3, 0, 9, 4, 0));
  add("unsigned_reading", "i64", 300, 5, Coder::pack, linear_model(1, 3, 0, 9, 4, 1));
  add("wide_coefficients", "u24", 260, 5, Coder::pack, linear_model(1, 2, 0, 15, 16, 1));
  add("ordered_f32", "f32x2", 270, 1000, Coder::pack, linear_model(2, 3, 2, 9, 4, 1), kOrdered);
  add("big_endian", "u16:bex3", 270, 5, Coder::ans, linear_model(3, 3, 2, 9, 4, 1));
  add("tuple_64", "u8x64", 5, 2, Coder::pack, linear_model(64, 2, 1, 6, 1, 1));
  add("tuple_16", "i8x16", 262, 1, Coder::ans, linear_model(16, 1, 0, 6, 1));
  one_chunk(cases, "linear_in_a_mixed_record", "i32x3,u16:be,u8x2", 90, 5,
            [](const Column& column) {
              if (column.type == ValueType::u16) return linked(Coder::pack, column, {1});
              return predicted(column.tuple == 2 ? Coder::ans : Coder::pack, column,
                               linear_model(column.tuple, 3, 2, 9, 4, column.tuple == 2 ? 1 : 0));
            });
  {
    LinearPlainModel longest = linear_model(1, 4, 0, 9, 5);
    longest.run_bits = 16;
    add("runs_of_65536", "i16", 300, 5, Coder::pack, longest);
  }
}

/// A chunk alone in its stream, whose columns are coded inside of segments.
inline void one_chunk_of_segments(std::vector<GoldenCase>& cases, const std::string& name,
                                  const char* record, const SegmentChoice& segments,
                                  const Choice& of_lengths, Coder coder = Coder::pack,
                                  ValueMap map = kNone) {
  const Layout layout = parse_record(record).value();
  std::size_t records = 0;
  for (const std::uint64_t length : segments.lengths) records += length;
  GoldenCase made{"segments_" + name, wandering_values(layout, records, 5, cases.size() + 1), {}};
  std::vector<Choice> choices;
  for (const Column& column : layout.columns) {
    choices.push_back(inside(coder, column, segments));
    choices.back().model.front.map = map;
  }
  made.stream = StreamBuilder()
                    .layout(layout)
                    .segments(made.values, choices,
                              {.lengths = segments.lengths,
                               .continues = false,
                               .goes_on = false,
                               .choice = of_lengths})
                    .finish(false);
  cases.push_back(std::move(made));
}

/// Chunks that say their segments.
inline void add_segments(std::vector<GoldenCase>& cases) {
  const std::vector<std::uint64_t> uneven{0, 5, 0, 0, 130, 1, 2, 0, 61, 1, 0};
  const Column lengths = format::kLengthColumn;
  for (int type = 0; type < kNumValueTypes; ++type) {
    const std::string name(type_name(static_cast<ValueType>(type)));
    const ValueMap map = is_float(static_cast<ValueType>(type)) ? kOrdered : kNone;
    one_chunk_of_segments(cases, name, name.c_str(), {uneven, {1}, 1}, raw(), Coder::pack, map);
  }
  for (int order = 0; order <= kMaxOrder; ++order)
    one_chunk_of_segments(cases, "of_order_" + std::to_string(order), "i32x2",
                          {uneven, {order}, kMaxOrder - order}, linked(Coder::pack, lengths, {1}));
  one_chunk_of_segments(cases, "of_orders_per_lane", "u16:bex4", {uneven, {0, 1, 2, 8}, 2},
                        linked(Coder::zstd, lengths, {0}));
  one_chunk_of_segments(cases, "by_ans", "i16x2", {uneven, {1}, 1},
                        linked(Coder::ans, lengths, {0}), Coder::ans);
  one_chunk_of_segments(cases, "by_zstd", "u64", {uneven, {2}, 0}, raw(), Coder::zstd);
  one_chunk_of_segments(cases, "in_a_mixed_record", "i32x3,u16,u8x2", {uneven, {1}, 1}, raw());
  one_chunk_of_segments(cases, "of_one_record", "i24", {std::vector<std::uint64_t>(150, 1), {1}, 1},
                        constant());
  {
    const Layout layout = parse_record("i16x2").value();
    const std::vector<std::uint64_t> first{3, 0, 40}, second{25}, third{4, 0, 9};
    const auto column = layout.columns[0];
    GoldenCase made{"segments_through_chunks", wandering_values(layout, 81, 5, 3), {}};
    const auto values = std::span(made.values);
    made.stream =
        StreamBuilder()
            .layout(layout)
            .opaque(values.first(10))
            .segments(values.subspan(0, 0), {}, {.lengths = {0, 0, 0}})
            .segments(values.subspan(0, 43 * 4), {inside(Coder::pack, column, {first, {1}, 1})},
                      {.lengths = first, .continues = false, .goes_on = true})
            .segments(values.subspan(43 * 4, 25 * 4), {linked(Coder::pack, column, {2})},
                      {.lengths = second, .continues = true, .goes_on = true})
            .segments(values.subspan(68 * 4), {inside(Coder::ans, column, {third, {2}, 0})},
                      {.lengths = third, .continues = true, .goes_on = false})
            .finish(true);
    Bytes with_head(made.values.begin(), made.values.begin() + 10);
    with_head.insert(with_head.end(), made.values.begin(), made.values.end());
    made.values = with_head;
    cases.push_back(std::move(made));
  }
}

/// Pages of which each begins with states of its own, which need not go on from the page before.
inline void add_free_states(std::vector<GoldenCase>& cases) {
  for (const Coder coder : {Coder::pack, Coder::ans})
    one_chunk(cases, std::string(coder_name(coder)) + "_free_states", "i24x3", 300, 4,
              [coder](const Column& column) {
                Choice choice = linked(coder, column, {2, 1, 8});
                choice.free_states = true;
                return choice;
              });
}

}  // namespace detail

inline std::vector<GoldenCase> golden_cases() {
  std::vector<GoldenCase> cases;
  detail::add_usual_models(cases);
  detail::add_unusual_models(cases);
  detail::add_whole_streams(cases);
  detail::add_ans_models(cases);
  detail::add_value_maps(cases);
  detail::add_lane_maps(cases);
  detail::add_linear_models(cases);
  detail::add_segments(cases);
  detail::add_dictionaries(cases);
  detail::add_free_states(cases);
  return cases;
}

}  // namespace gdelta::plain
