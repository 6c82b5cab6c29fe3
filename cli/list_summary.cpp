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

}  // namespace

void FileSummary::add(const ChunkInfo& chunk, const Layout& layout) {
  Models& models = chunk.opaque ? opaque_ : numbers_;
  for (const ColumnInfo& column : chunk.columns) {
    models.orders.insert(column.orders.begin(), column.orders.end());
    for (const auto& stride : column.strides) add_if_room(models.strides, stride.first);
    ++models.coders[column.unknown.empty() ? static_cast<std::size_t>(column.coder) : kNumCoders];
    section_bytes_ += column.compressed_bytes;
  }
  if (!chunk.opaque && std::find(notes_.begin(), notes_.end(), chunk.note) == notes_.end())
    notes_.push_back(chunk.note);
  has_segments_ |= chunk.segments > 0;
  if (chunk.opaque) {
    has_opaque_ = true;
  } else if (!has_numbers_ || chunk.layout != last_layout_) {
    const std::string type = to_string(layout);
    if (!has_numbers_) {
      first_type_ = type;
      first_columns_ = layout.columns.size();
    }
    add_if_room(types_, std::hash<std::string>()(type));
    last_layout_ = chunk.layout;
    has_numbers_ = true;
  }
}

std::string FileSummary::type() const {
  if (!has_numbers_) return has_opaque_ ? "u8" : "-";
  if (types_.size() > kMostTold) return "layouts";
  if (types_.size() > 1) return fmt::format("{} layouts", types_.size());
  if (first_type_.size() <= kTypeColumns) return first_type_;
  return fmt::format("{} columns", first_columns_).substr(0, kTypeColumns);
}

std::string FileSummary::orders() const {
  const auto& [orders, strides, coders] = models();
  const std::string segments = has_segments_ ? kSegmentsMark : "";
  if (orders.empty()) return "-" + segments;
  const std::string text = orders.size() == 1
                               ? fmt::format("{}", *orders.begin())
                               : fmt::format("{}-{}", *orders.begin(), *orders.rbegin());
  if (strides.empty()) return text + segments;
  const std::string stride = fmt::format("+s{}", *strides.begin());
  const bool told =
      strides.size() == 1 && text.size() + stride.size() + segments.size() <= kOrderColumns;
  return text + (told ? stride : "+s") + segments;
}

std::string FileSummary::coders() const {
  const auto& counts = models().coders;
  std::vector<std::size_t> found;
  for (std::size_t coder = 0; coder < counts.size(); ++coder)
    if (counts[coder] > 0) found.push_back(coder);
  if (found.empty()) return "-";
  std::stable_sort(found.begin(), found.end(),
                   [&](std::size_t a, std::size_t b) { return counts[a] > counts[b]; });
  std::string text(coder_name(static_cast<Coder>(found[0])));
  for (std::size_t told = 1; told < found.size(); ++told) {
    const std::size_t after = found.size() - told - 1;
    const std::string more =
        fmt::format("{},{}", text, coder_name(static_cast<Coder>(found[told])));
    const std::string rest = after > 0 ? fmt::format(" +{}", after) : "";
    if (more.size() + rest.size() > kCoderColumns) return text + fmt::format(" +{}", after + 1);
    text = more;
  }
  return text;
}

}  // namespace gdelta::cli
