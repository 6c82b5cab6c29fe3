#include "similar_word.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace gdelta::cli {

namespace {

/// Letters to insert, remove or replace (Levenshtein's distance), row by row.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string> similar_word(std::string_view word,
                                        const std::vector<std::string>& words) {
  constexpr std::size_t kMostSlips = 2;
  constexpr std::size_t kMostLetters = 32;  // no word to guess at is longer
  if (word.size() > kMostLetters) return std::nullopt;
  // Two slips in a short word leave nothing of it.
  std::size_t allowed = std::min(kMostSlips, word.size() / 3);
  std::optional<std::string> best;
  for (const std::string& candidate : words) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance > allowed || (best && distance == allowed)) continue;
    best = candidate;
    allowed = distance;
  }
  return best;
}

}  // namespace gdelta::cli
