// Pages of ans, and its golden cases. Spec: coders/ans.md.

#include <string>
#include <vector>

#include "../golden_parts.h"

namespace gdelta::plain::detail {
namespace {

constexpr auto kAsUsual = [](Choice&, int) {};

/// A column coded by ans, with what `change` does to the choice, which is told the bits of a value.
template <class Change>
auto by_ans(const std::vector<int>& orders, Change change) {
  return [=](const Column& column) {
    Choice choice = linked(Coder::ans, column, orders);
    change(choice, value_bits(column.type));
    return choice;
  };
}

auto with_model(int slot_bits, int span_bits, const std::vector<AnsTable (*)(int, int)>& tables,
                std::uint32_t page_groups = 1) {
  return [=](Choice& choice, int bits) {
    choice.ans = {slot_bits, span_bits, {}};
    for (const auto table : tables) choice.ans.tables.push_back(table(bits, slot_bits));
    choice.model.section.part_groups = page_groups;
  };
}

/// Pages of every length and tuple.
void add_ans_pages(std::vector<GoldenCase>& cases) {
  for (int type = 0; type < kNumValueTypes; ++type) {
    const std::string name(type_name(static_cast<ValueType>(type)));
    one_chunk(cases, "ans_" + name, name, 150, 5, by_ans({1}, kAsUsual));
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
              by_ans({1}, with_model(10, 5, {mostly_zeros, table_of_sizes}, 64)));
  one_chunk(cases, "ans_page_of_16384", "i16", 16384, 0,
            by_ans({0}, with_model(11, 8, {mostly_zeros}, 128)));
  one_chunk(cases, "ans_two_pages_of_8192", "i16", 16384 - 100, 0,
            by_ans({0}, with_model(11, 6, {mostly_zeros, mostly_zeros}, 64)));
  one_chunk(cases, "ans_tuple_3", "i24x3", 1000 / 3, 4,
            by_ans({0, 1, 3}, with_model(9, 3, {table_of_sizes, table_of_overlaps}, 2)));
  one_chunk(cases, "ans_tuple_5_big_endian", "u16:bex5", 130, 4,
            by_ans({2}, with_model(8, 4, {table_of_sizes})));
  // With states that have no residual.
  one_chunk(cases, "ans_tuple_64", "u8x64", 5, 2, by_ans({1}, kAsUsual));
  one_chunk(cases, "ans_tuple_64_of_two", "u8x64", 2, 2, by_ans({0}, kAsUsual));
}

/// Tables of every number, size and kind.
void add_ans_tables(std::vector<GoldenCase>& cases) {
  for (const int tables : {1, 2, 5, 8, 9, 16})
    one_chunk(cases, "ans_tables_" + std::to_string(tables), "i16x2", 330, 30,
              by_ans({1}, [tables](Choice& choice, int bits) {
                choice.ans = {8, 3, {}};
                choice.model.section.part_groups = 2;
                for (int t = 0; t < tables; ++t)
                  choice.ans.tables.push_back(t % 3 == 1 ? whole_table(bits, 8)
                                                         : table_of_overlaps(bits, 8));
              }));
  for (const int slot_bits : {5, 6, 7, 8, 11})
    one_chunk(cases, "ans_slots_" + std::to_string(1 << slot_bits), "i32", 300, 6,
              by_ans({1}, with_model(slot_bits, 5, {table_of_overlaps, whole_table}, 2)));
  for (int span_bits = 3; span_bits <= 8; ++span_bits)
    one_chunk(cases, "ans_spans_of_" + std::to_string(1 << span_bits), "u16", 1100, 6,
              by_ans({1}, with_model(9, span_bits,
                                     {table_of_sizes, table_of_overlaps, table_of_sizes}, 16)));
  // Tables of a single bin.
  for (const char* record : {"i8", "u24", "i64"})
    for (const std::int64_t lower : {-1, 0, 5, 127})
      one_chunk(cases, std::string("ans_offsets_wrap_") + record + "_from_" + std::to_string(lower),
                record, 40, 50, by_ans({1}, [lower](Choice& choice, int bits) {
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
  one_chunk(cases, "ans_1024_bins", "u8", 60, 5,
            by_ans({1}, with_model(8, 3, {4, table_of_values})));
  one_chunk(cases, "ans_page_groups_2048", "u8", 300, 3,
            by_ans({1}, with_model(9, 8, {table_of_sizes}, 2048)));
}

/// Ans behind maps and strides, and beside other coders.
void add_ans_fronts(std::vector<GoldenCase>& cases) {
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

}  // namespace

void append_ans_part(Bytes& section, const std::vector<Lane>& lanes, std::vector<Lane>& states,
                     std::size_t begin, std::size_t end, const Choice& choice,
                     const Column& column) {
  append_states(section, states, column);
  std::vector<Lane> residuals(lanes.size());
  for (std::size_t lane = 0; lane < lanes.size(); ++lane)
    for (std::size_t i = begin; i < end; ++i)
      residuals[lane].push_back(plain_step(states[lane], lanes[lane][i], column));
  const Bytes page = bytes_of_page(
      choice.make_ans_page ? choice.make_ans_page(begin, residuals)
                           : encode_ans_page(choice.ans, value_bits(column.type), residuals));
  section.insert(section.end(), page.begin(), page.end());
}

void add_ans_cases(std::vector<GoldenCase>& cases) {
  add_ans_pages(cases);
  add_ans_tables(cases);
  add_ans_fronts(cases);
}

}  // namespace gdelta::plain::detail
