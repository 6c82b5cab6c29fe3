// The parts of the golden cases, a file each, and what they share.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "coders/plain_coders.h"
#include "golden_case.h"
#include "plain_encoder.h"

namespace gdelta::plain::detail {

/// How a column is coded.
using Choose = std::function<Choice(const Column&)>;

/// A chunk alone in its stream, its columns coded as `choose` says. Its values depend on the number of cases
/// before it.
void one_chunk(std::vector<GoldenCase>& cases, const std::string& name, const std::string& record,
               std::size_t records, std::uint64_t step, const Choose& choose);

inline constexpr auto kNone = ValueMap::none;
inline constexpr auto kOrdered = ValueMap::ordered;

Choose packed_at(const std::vector<int>& orders);

/// By a map, and behind these strides and orders.
Choose linked_as(Coder coder, const std::vector<int>& orders, ValueMap map,
                 const std::vector<std::pair<std::uint32_t, int>>& strides);

Choose mapped_by(Coder coder, const std::vector<LaneChoice>& maps,
                 const std::vector<StepChoice>& steps = {}, const std::vector<int>& orders = {1});

/// Values that stand somewhere whatever the map would make of them: place, bits.
using Planted = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

/// Makes of whole numbers the values that the maps of a column give for them. `bits` of each are kept, as
/// a number with a sign.
void give_back(Bytes& records, const Layout& layout, std::size_t number, const Choice& choice,
               int bits, const Planted& planted);

/// A chunk alone in its stream whose first column has the planted values.
void mapped_chunk(std::vector<GoldenCase>& cases, const std::string& name,
                  const std::string& record, std::size_t records, int bits, const Choose& choose,
                  const Planted& planted = {});

/// Values of the type, rising, the first below zero where there is such a thing: so far apart that a table
/// needs bins of many sizes.
std::vector<std::uint64_t> table_values(const Column& column, std::size_t count);

// golden_maps.cpp
void add_value_maps(std::vector<GoldenCase>& cases);
void add_extreme_maps(std::vector<GoldenCase>& cases);
void add_lanes_and_exceptions(std::vector<GoldenCase>& cases);
void add_mapped_models(std::vector<GoldenCase>& cases);
void add_lane_maps(std::vector<GoldenCase>& cases);
void add_dictionaries(std::vector<GoldenCase>& cases);
void add_coded_tables(std::vector<GoldenCase>& cases);
void add_overflows(std::vector<GoldenCase>& cases);
// golden_predictors.cpp
void add_linear_models(std::vector<GoldenCase>& cases);
void add_segments(std::vector<GoldenCase>& cases);
void add_states_of_segments(std::vector<GoldenCase>& cases);

}  // namespace gdelta::plain::detail
