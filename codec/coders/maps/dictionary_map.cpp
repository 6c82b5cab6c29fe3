// Indices into a table of the values of a lane. Spec: formats/gdelta/maps/dictionary.md.
#include <fmt/core.h>

#include "codec/coders/maps/dictionary_choice.h"
#include "codec/coders/maps/value_map.h"
#include "codec/coders/value_table.h"
#include "kernels/ans/fixed_log2.h"

namespace gdelta {
namespace {

/// The sample as indices into a table of its values, or of those of the whole lane.
template <class Word>
MapTrial<Word> look_up(const LaneSample<Word>& lane, const std::vector<std::uint64_t>& table) {
  DistinctWords words(table.size());
  for (const std::uint64_t value : table) words.add(value);
  MapTrial<Word> trial{.mapping = {.map = static_cast<std::uint8_t>(ValueMap::dictionary)},
                       .mapped = lane};
  words.find_numbers(std::span(trial.mapped.words));
  trial.cost = cost_of(trial.mapped);
  trial.table = table;
  return trial;
}

/// Whether all values of the lane are worth counting. With those that the sample has missed the table grows, and so
/// do indices: half of them by as many bits, for others are like their neighbours.
template <class Word>
bool table_may_pay(const ColumnBytes& column, const LaneSample<Word>& lane, const FewValues& few,
                   std::uint64_t limit) {
  const std::uint64_t seen = few.values.size(), sampled = lane.words.size();
  const std::uint64_t cost = look_up(lane, few.values).cost;
  if (cost >= limit) return false;
  const std::uint64_t table_bits = 8 * encode_table(few.values, column.column.type).bytes.size() *
                                   few.expected / seen * sampled / column.records;
  const std::uint64_t growth_bits =
      sampled * (fixed_log2(few.expected) - fixed_log2(seen)) >> (kFixedLog2Bits + 1);
  return cost + table_bits + growth_bits < limit;
}

/// The table's share of the lane is charged to the sample.
template <class Word>
std::optional<MapTrial<Word>> try_table(const ColumnBytes& column, int lane,
                                        const LaneSample<Word>& sample, std::uint64_t limit) {
  const ValueType type = column.column.type;
  const std::uint64_t most = most_table_entries(column.records);
  if (value_bytes(type) == 1 || most == 0) return std::nullopt;
  const auto few = few_values({sample.words.begin(), sample.words.end()}, most, type);
  if (!few || !table_may_pay(column, sample, *few, limit)) return std::nullopt;
  const auto table = table_of_lane(column, lane, most);
  if (!table) return std::nullopt;
  const std::uint64_t table_bits = 8 * encode_table(*table, type).bytes.size();
  MapTrial<Word> trial = look_up(sample, *table);
  trial.cost += table_bits * sample.words.size() / column.records;
  if (trial.cost >= limit) return std::nullopt;
  return trial;
}

std::string words(const format::MapFields& fields, ValueType) {
  const format::TableFields& table = fields.table;
  return table.is_in_bins() ? fmt::format("of {}", table.entries)
                            : fmt::format("of {} by {}", table.entries, coder_name(table.coder));
}

}  // namespace

const ColumnValueMap dictionary_map{
    .words = words, .try_table = {try_table<std::uint32_t>, try_table<std::uint64_t>}};

}  // namespace gdelta
