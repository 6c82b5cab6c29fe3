// Golden cases of linear prediction and of segments.

#include <string>
#include <vector>

#include "golden_parts.h"

namespace gdelta::plain::detail {
namespace {

/// A chunk alone in its stream, whose columns are coded inside of segments.
void one_chunk_of_segments(std::vector<GoldenCase>& cases, const std::string& name,
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

}  // namespace

/// Linear prediction behind every coder; runs end in the midst of pages.
void add_linear_models(std::vector<GoldenCase>& cases) {
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

/// Chunks that say their segments.
void add_segments(std::vector<GoldenCase>& cases) {
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

/// Pages that begin with states: inside segments, with a head, with what is behind one.
void add_states_of_segments(std::vector<GoldenCase>& cases) {
  const Column lengths = format::kLengthColumn;
  std::vector<std::uint64_t> uneven{0, 5, 0, 200, 130, 1, 2, 0, 61};
  for (std::uint64_t k = 0; k < 30; ++k) uneven.push_back(k % 5 + 1);
  const auto add = [&](const std::string& name, const char* record, SegmentChoice segments,
                       ValueMap map = kNone) {
    segments.says_states = true;
    one_chunk_of_segments(cases, "with_states_" + name, record, segments,
                          linked(Coder::pack, lengths, {0}), Coder::pack, map);
  };
  for (const char* type : {"u16", "i32", "u64"})
    for (int order = 0; order <= 2; ++order)
      add(std::string(type) + "_of_order_" + std::to_string(order), type,
          {uneven, {order}, 2 - order});
  add("f32_big_endian", "f32:be", {uneven, {1}, 1}, kOrdered);
  add("of_orders_per_lane", "i16x4", {uneven, {2, 0, 1, 2}, 1});
  add("of_order_8", "i24", {uneven, {8}, 3});
  add("tuple_5", "i8x5", {uneven, {1}, 0});
  add("behind_heads", "i32", {std::vector<std::uint64_t>(64, 3), {1}, 1});
  add("of_one_record", "i32x2", {std::vector<std::uint64_t>(300, 1), {1}, 2});
  for (const bool by_ones : {false, true})
    add(by_ones ? "free_of_one_record" : "free", "i16x2",
        {.lengths = by_ones ? std::vector<std::uint64_t>(300, 1) : uneven,
         .orders = {2},
         .head_order = 1,
         .says_states = true,
         .free_states = true});
  // A page begins at the second tuple of a segment, where nothing counts that it says.
  std::vector<std::uint64_t> two_and_ones(64, 1);
  two_and_ones[0] = 65;
  two_and_ones[1] = 129;
  for (const char* record : {"i16x2", "u64"})
    add(std::string("free_at_a_second_tuple_") + record, record,
        {.lengths = two_and_ones,
         .orders = {2},
         .head_order = 1,
         .says_states = true,
         .free_states = true});
}

}  // namespace gdelta::plain::detail
