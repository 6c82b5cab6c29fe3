// What a sample would cost under a layout.
#include "codec/detect/layout_cost.h"

#include <gtest/gtest.h>

#include "codec/plan/planned_values.h"

namespace gdelta::test {
namespace {

TEST(LayoutCost, DoesNotDependOnWhatLiesBehindTheSample) {
  Draws draws(1);
  for (const std::uint64_t records : {150u, 400u, 2000u}) {
    Bytes room;
    for (std::uint64_t i = 0; i < 12 * records + 1000; ++i)
      room.push_back(static_cast<std::byte>(draws.below(16)));
    const std::size_t bytes = 12 * records;
    Bytes other = room;
    for (std::size_t i = bytes; i < other.size(); ++i)
      other[i] = static_cast<std::byte>(draws.below(256));
    for (const Stretches stretches : {Stretches{1, bytes}, {3, bytes / 4}, {100, bytes}})
      EXPECT_EQ(layout_cost(std::span(room).first(bytes), {4, 3, false}, stretches, 3),
                layout_cost(std::span(other).first(bytes), {4, 3, false}, stretches, 3))
          << records << " records, " << stretches.count << " stretches";
  }
}

}  // namespace
}  // namespace gdelta::test
