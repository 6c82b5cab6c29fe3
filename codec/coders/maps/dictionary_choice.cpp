#include "codec/coders/maps/dictionary_choice.h"

#include <algorithm>
#include <span>

#include "codec/coders/value_table.h"
#include "kernels/words/lane_words.h"

namespace gdelta {
namespace {

/// Of a sample: a lane has each of its values more often than its sample.
constexpr std::size_t kMostPercent = 75;
/// Of each kGlance-th word of it, which tells soon that nearly all differ.
constexpr std::size_t kMostPercentOfGlance = 97, kGlance = 4, kFewestOfGlance = 256;
constexpr std::uint64_t kPiece = 1024;

// Calls function(words) for piece after piece of a lane, until it says false.
template <class Word, class Function>
void for_pieces(const ColumnBytes& column, int lane, const Function& function) {
  Word piece[kPiece];
  for (std::uint64_t first = 0; first < column.records; first += kPiece) {
    const std::uint64_t count = std::min(kPiece, column.records - first);
    load_lane(column.at(first, lane), column.record_bytes, count, column.format(ValueMap::none),
              piece);
    if (!function(std::span<const Word>(piece, count))) return;
  }
}

// The different values of a lane, unless there are too many.
using Values = std::optional<std::vector<std::uint64_t>>;

template <class Word>
Values distinct_values(const ColumnBytes& column, int lane, std::size_t most) {
  DistinctWords words(most);
  bool are_few = true;
  for_pieces<Word>(column, lane, [&](std::span<const Word> piece) {
    are_few = words.add_all(piece);
    return are_few;
  });
  return are_few ? Values(words.words()) : std::nullopt;
}

// Those of 16 bits are so few that each of them has a place.
Values distinct_halves(const ColumnBytes& column, int lane, std::size_t most) {
  std::vector<std::uint8_t> is_there(std::size_t{1} << 16);
  for_pieces<std::uint32_t>(column, lane, [&](std::span<const std::uint32_t> piece) {
    for (const std::uint32_t word : piece) is_there[word] = 1;
    return true;
  });
  std::vector<std::uint64_t> values;
  for (std::size_t value = 0; value < is_there.size(); ++value)
    if (is_there[value] != 0) values.push_back(value);
  return values.size() <= most ? Values(std::move(values)) : std::nullopt;
}

std::vector<std::uint64_t> sorted(std::vector<std::uint64_t> values, ValueType type) {
  sort_as_numbers(values, type);
  return values;
}

}  // namespace

std::optional<FewValues> few_values(const std::vector<std::uint64_t>& sample, std::uint64_t most,
                                    ValueType type) {
  DistinctWords words(std::clamp<std::size_t>(sample.size() * kMostPercent / 100, 1, most));
  std::vector<std::uint64_t> glance;
  for (std::size_t i = 0; i < sample.size(); i += kGlance) glance.push_back(sample[i]);
  if (!words.add_all(std::span<const std::uint64_t>(glance))) return std::nullopt;
  if (words.words().size() * 100 > glance.size() * kMostPercentOfGlance &&
      glance.size() >= kFewestOfGlance)
    return std::nullopt;
  if (!words.add_all(std::span(sample))) return std::nullopt;
  std::vector<std::uint32_t> counts(words.words().size());
  for (const std::uint64_t word : sample) ++counts[words.number_of(word)];
  const auto once = static_cast<std::uint64_t>(std::count(counts.begin(), counts.end(), 1));
  const auto twice = static_cast<std::uint64_t>(std::count(counts.begin(), counts.end(), 2));
  const std::uint64_t missed = once * (once - 1) / (2 * (twice + 1));
  return FewValues{sorted(words.words(), type), words.words().size() + missed};
}

std::uint64_t most_table_entries(std::uint64_t records) {
  return std::min(format::kMostTableEntries, records / format::kTuplesOfAnEntry);
}

std::optional<std::vector<std::uint64_t>> table_of_lane(const ColumnBytes& column, int lane,
                                                        std::uint64_t most) {
  if (most == 0) return std::nullopt;
  const int bytes = value_bytes(column.column.type);
  Values values = bytes == 8   ? distinct_values<std::uint64_t>(column, lane, most)
                  : bytes == 2 ? distinct_halves(column, lane, most)
                               : distinct_values<std::uint32_t>(column, lane, most);
  if (values) sort_as_numbers(*values, column.column.type);
  return values;
}

}  // namespace gdelta
