#include "golden_cases.h"

#include <cstring>

#include "golden_parts.h"

namespace gdelta::plain {

using namespace detail;

namespace {

/// Every type and coder, in the ways that planners choose.
void add_usual_models(std::vector<GoldenCase>& cases) {
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
}

/// Parts of other coders than pack, and records of several columns.
void add_parts_and_records(std::vector<GoldenCase>& cases) {
  using format::Arrangement;
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
  for (const char* record : {"u8", "i16x2", "i24", "u32x3", "f64:be"})
    one_chunk(cases, std::string("lzma_") + std::string(record, std::strcspn(record, ":")), record,
              300, 6, [](const Column& column) {
                Choice choice = linked(Coder::lzma, column, {1});
                choice.model.section.part_groups = 2;
                return choice;
              });
  one_chunk(cases, "lzma_strides", "i32x2", 120, 6, [](const Column& column) {
    return with_stride(linked(Coder::lzma, column, {0, 3}), 30, 1);
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
void add_unusual_models(std::vector<GoldenCase>& cases) {
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
void add_whole_streams(std::vector<GoldenCase>& cases) {
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

/// Pages of which each begins with states of its own, which need not go on from the page before.
void add_free_states(std::vector<GoldenCase>& cases) {
  for (const Coder coder : {Coder::pack, Coder::ans})
    one_chunk(cases, std::string(coder_name(coder)) + "_free_states", "i24x3", 300, 4,
              [coder](const Column& column) {
                Choice choice = linked(coder, column, {2, 1, 8});
                choice.free_states = true;
                return choice;
              });
}

}  // namespace

std::vector<GoldenCase> golden_cases() {
  std::vector<GoldenCase> cases;
  add_usual_models(cases);
  add_parts_and_records(cases);
  add_unusual_models(cases);
  add_whole_streams(cases);
  add_ans_pages(cases);
  add_ans_tables(cases);
  add_ans_fronts(cases);
  add_value_maps(cases);
  add_extreme_maps(cases);
  add_lanes_and_exceptions(cases);
  add_mapped_models(cases);
  add_lane_maps(cases);
  add_linear_models(cases);
  add_segments(cases);
  add_dictionaries(cases);
  add_free_states(cases);
  return cases;
}

}  // namespace gdelta::plain
