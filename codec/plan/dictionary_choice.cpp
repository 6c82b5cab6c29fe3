#include "codec/plan/dictionary_choice.h"

#include <algorithm>

#include "codec/coders/value_table.h"
#include "kernels/words/lane_words.h"

namespace gdelta {
namespace {

/// Of a sample: a lane has each of its values more often than its sample.
constexpr std::size_t kMostPercent = 75;
constexpr std::uint64_t kPiece = 1024;

template <class Word>
bool add_lane(const ColumnBytes& column, int lane, DistinctWords& words) {
  Word piece[kPiece];
  for (std::uint64_t first = 0; first < column.records; first += kPiece) {
    const std::uint64_t count = std::min(kPiece, column.records - first);
    load_lane(column.at(first, lane), column.record_bytes, count, column.format(ValueMap::none),
              piece);
    for (std::uint64_t i = 0; i < count; ++i)
      if (!words.add(piece[i])) return false;
  }
  return true;
}

std::vector<std::uint64_t> sorted(std::vector<std::uint64_t> values, ValueType type) {
  sort_as_numbers(values, type);
  return values;
}

}  // namespace

std::optional<std::vector<std::uint64_t>> few_values(const std::vector<std::uint64_t>& sample,
                                                     ValueType type) {
  DistinctWords words(std::max<std::size_t>(sample.size() * kMostPercent / 100, 1));
  for (const std::uint64_t word : sample)
    if (!words.add(word)) return std::nullopt;
  return sorted(words.words(), type);
}

std::optional<std::vector<std::uint64_t>> table_of_lane(const ColumnBytes& column, int lane) {
  const std::uint64_t most =
      std::min(format::kMostTableEntries, column.records / format::kTuplesOfAnEntry);
  if (most == 0) return std::nullopt;
  DistinctWords words(most);
  const bool are_few = value_bytes(column.column.type) == 8
                           ? add_lane<std::uint64_t>(column, lane, words)
                           : add_lane<std::uint32_t>(column, lane, words);
  if (!are_few) return std::nullopt;
  return sorted(words.words(), column.column.type);
}

}  // namespace gdelta
