#include "golden_cases.h"

#include "golden_parts.h"

namespace gdelta::plain {

using namespace detail;

namespace {

/// Columns that no coder of residuals takes, and nothing.
void add_plain_columns(std::vector<GoldenCase>& cases) {
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
}

/// Columns of several coders.
void add_records(std::vector<GoldenCase>& cases) {
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

/// What no planner chooses.
void add_opaque_chunks(std::vector<GoldenCase>& cases) {
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
  for (int number = 0; number < kNumCoders; ++number) {
    const auto coder = static_cast<Coder>(number);
    if (part_appender(coder) == nullptr ||
        format::coder_traits(coder).parts != format::PartRule::pages)
      continue;
    one_chunk(cases, std::string(coder_name(coder)) + "_free_states", "i24x3", 300, 4,
              [coder](const Column& column) {
                Choice choice = linked(coder, column, {2, 1, 8});
                choice.free_states = true;
                return choice;
              });
  }
}

}  // namespace

std::vector<GoldenCase> golden_cases() {
  std::vector<GoldenCase> cases;
  add_plain_columns(cases);
  add_records(cases);
  add_opaque_chunks(cases);
  add_whole_streams(cases);
  add_value_maps(cases);
  add_extreme_maps(cases);
  add_lanes_and_exceptions(cases);
  add_mapped_models(cases);
  add_lane_maps(cases);
  add_linear_models(cases);
  add_segments(cases);
  add_dictionaries(cases);
  add_free_states(cases);
#define GDELTA_ADD(name) add_##name##_cases(cases);
  GDELTA_PLAIN_CODERS(GDELTA_ADD)
#undef GDELTA_ADD
  add_coded_tables(cases);
#define GDELTA_ADD(name) \
  if (plain_##name##_map.add_cases != nullptr) plain_##name##_map.add_cases(cases);
  GDELTA_PLAIN_MAPS(GDELTA_ADD)
  GDELTA_PLAIN_LANE_MAPS(GDELTA_ADD)
#undef GDELTA_ADD
  add_states_of_segments(cases);
  add_overflows(cases);
  return cases;
}

}  // namespace gdelta::plain
