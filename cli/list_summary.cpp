#include "list_summary.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace gdelta::cli {

namespace {

// Of how many strides and layouts is told; a file may hold any number.
constexpr std::size_t kMostTold = 1000;

template <class Value>
void add_if_room(std::set<Value>& values, Value value) {
  if (values.size() <= kMostTold) values.insert(value);
}

std::string counted(std::size_t count, std::string_view what) {
  return count > kMostTold ? fmt::format("{}+ {}", kMostTold, what)
                           : fmt::format("{} {}", count, what);
}

}  // namespace

void FileSummary::add(const ChunkInfo& chunk, const Layout& layout) {
  Models& models = chunk.opaque ? opaque_ : numbers_;
  for (const ColumnInfo& column : chunk.columns) {
    models.orders.insert(column.orders.begin(), column.orders.end());
    for (const auto& stride : column.strides) add_if_room(models.strides, stride.first);
    ++models.coders[static_cast<std::size_t>(column.coder)];
  }
  if (chunk.opaque) {
    has_opaque_ = true;
  } else if (!has_numbers_ || chunk.layout != last_layout_) {
    const std::string type = to_string(layout);
    if (!has_numbers_) first_type_ = type;
    add_if_room(types_, std::hash<std::string>()(type));
    last_layout_ = chunk.layout;
    has_numbers_ = true;
  }
}

std::string FileSummary::type() const {
  if (!has_numbers_) return has_opaque_ ? "u8" : "-";
  return types_.size() > 1 ? counted(types_.size(), "layouts") : first_type_;
}

std::string FileSummary::orders() const {
  const auto& [orders, strides, coders] = models();
  if (orders.empty()) return "-";
  std::string text = orders.size() == 1 ? fmt::format("{}", *orders.begin())
                                        : fmt::format("{}-{}", *orders.begin(), *orders.rbegin());
  if (strides.size() == 1) text += fmt::format("+s{}", *strides.begin());
  if (strides.size() > 1) text += "+" + counted(strides.size(), "strides");
  return text;
}

std::string FileSummary::coders() const {
  const auto& counts = models().coders;
  std::vector<std::size_t> found;
  for (std::size_t coder = 0; coder < counts.size(); ++coder)
    if (counts[coder] > 0) found.push_back(coder);
  std::stable_sort(found.begin(), found.end(),
                   [&](std::size_t a, std::size_t b) { return counts[a] > counts[b]; });
  std::string text;
  for (const std::size_t coder : found)
    text += fmt::format("{}{}", text.empty() ? "" : ",", coder_name(static_cast<Coder>(coder)));
  return text.empty() ? "-" : text;
}

}  // namespace gdelta::cli
