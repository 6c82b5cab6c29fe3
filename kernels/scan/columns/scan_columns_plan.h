// How columns are cut into strips, links, groups and chapters.
#pragma once

#include <algorithm>

#include "kernels/scan/scan_launch.cuh"

namespace gdelta::scan {

struct ColumnLayout {
  ColumnPlan plan{};
  std::size_t sums_bytes = 0;
  std::size_t totals_bytes = 0;
  std::size_t bytes = 0;
};

/// `words` of state, `rounds` over every tile; a walk needs no scratch.
inline ColumnLayout column_layout(const Job& job, std::uint64_t stride, int value_bytes, int words,
                                  int rounds, std::uint64_t walk_columns = kWalkColumns) {
  const auto divide_up = [](std::uint64_t a, std::uint64_t b) { return a / b + (a % b != 0); };
  const auto align_up = [](std::uint64_t bytes) { return (bytes + 255) & ~std::uint64_t{255}; };
  ColumnLayout layout;
  ColumnPlan& plan = layout.plan;
  plan.job = job;
  plan.rounds = rounds;
  if (job.count == 0) return layout;
  plan.pitch = std::min(stride, job.count);
  plan.rows = divide_up(job.count, plan.pitch);
  plan.last_row_columns = job.count - (plan.rows - 1) * plan.pitch;
  plan.walk = plan.pitch >= walk_columns;
  if (plan.walk) {
    plan.blocks = divide_up(plan.pitch, kColumnThreads);
    return layout;
  }
  // Few rows leave threads for more columns.
  const std::uint64_t rows = column_rows(value_bytes);
  int stretches = kMaxStretches;
  while (stretches > 1 && stretches / 2 * rows >= plan.rows) stretches /= 2;
  plan.stretches = stretches;
  plan.width = kColumnThreads / stretches;
  plan.strips = static_cast<unsigned>(divide_up(plan.pitch, plan.width));
  // A stride of a few strips: the width that leaves the fewest threads idle.
  double best = static_cast<double>(plan.pitch) / (static_cast<double>(plan.strips) * plan.width);
  const unsigned fewest = static_cast<unsigned>(divide_up(plan.pitch, 2 * plan.width));
  for (unsigned strips = fewest; stretches == kMaxStretches && strips <= 16; ++strips) {
    const int width = static_cast<int>(divide_up(plan.pitch, strips));
    const int high = std::min(kMaxStretches, kColumnThreads / width);
    const double used = static_cast<double>(plan.pitch) * high / (strips * kColumnThreads);
    if (used > best + 0.05) {
      best = used;
      plan.strips = strips;
      plan.width = width;
      plan.stretches = high;
    }
  }
  const std::uint64_t link_rows = plan.stretches * rows;
  plan.links = static_cast<unsigned>(divide_up(plan.rows, link_rows));
  plan.blocks = plan.links * static_cast<std::uint64_t>(plan.strips);

  const std::uint64_t link_bytes = link_rows * plan.pitch * value_bytes;
  const std::uint64_t wanted =
      std::min<std::uint64_t>(plan.links, divide_up(kChapterBytes, link_bytes));
  plan.group_links = 1;
  while (plan.group_links < kMaxColumnGroup &&
         plan.group_links * static_cast<std::uint64_t>(plan.group_links) < wanted) {
    ++plan.group_links;
  }
  plan.chapter_groups = static_cast<int>(
      std::min<std::uint64_t>(kMaxColumnGroup, divide_up(wanted, plan.group_links)));
  plan.groups = static_cast<unsigned>(divide_up(plan.links, plan.group_links));
  plan.chapters = static_cast<unsigned>(divide_up(plan.groups, plan.chapter_groups));
  if (plan.links > 1) {
    const std::uint64_t slot =
        plan.pitch * words * rounds * (value_bytes == 8 ? 2 : 1) * sizeof(unsigned long long);
    layout.sums_bytes = align_up(plan.links * slot);
    layout.totals_bytes = align_up(plan.groups * slot);
    layout.bytes = 256 + layout.sums_bytes + layout.totals_bytes + align_up(plan.chapters * slot);
  }
  return layout;
}

}  // namespace gdelta::scan
