// A case of the golden files: the stream that a file is, and the values that it decodes to.
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

}  // namespace detail
}  // namespace gdelta::plain
