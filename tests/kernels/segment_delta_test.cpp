#include "kernels/deltas/segment_delta.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "noise.h"

namespace gdelta {
namespace {

std::size_t all_tuples(const SegmentDelta& delta) {
  return std::accumulate(delta.lengths.begin(), delta.lengths.end(), std::size_t{0});
}

/// Calls visit(delta, values) for these segments at each width, tuple and order.
template <class Visit>
void for_every_shape(const std::vector<std::vector<std::uint32_t>>& all,
                     const std::vector<int>& tuples, const Visit& visit) {
  for (const auto& lengths : all)
    for (const int bytes : {1, 2, 3, 4, 8})
      for (const int tuple : tuples)
        for (int order = 0; order <= 8; ++order) {
          SCOPED_TRACE(testing::Message() << lengths.size() << ' ' << bytes << ' ' << order);
          const std::vector<std::uint8_t> orders(64, static_cast<std::uint8_t>(order));
          const SegmentDelta delta{.lengths = lengths,
                                   .tuple = tuple,
                                   .value_bytes = bytes,
                                   .orders = orders.data(),
                                   .head_order = 8 - order};
          visit(delta, test::noise(all_tuples(delta) * static_cast<std::size_t>(tuple * bytes)));
        }
}

/// Values that have been split and joined again, in so many stretches at most, the last one first: none may write behind
/// its own.
std::vector<unsigned char> split_and_joined(const SegmentDelta& delta,
                                            const std::vector<unsigned char>& values,
                                            std::size_t stretches) {
  constexpr std::size_t kBehind = 64;
  std::vector<unsigned char> residuals(values.size()), joined(values.size() + kBehind, 0xa5);
  split_segments(delta, values.data(), residuals.data());
  join_heads(delta, residuals.data());
  auto all = segment_stretches(delta, all_tuples(delta), stretches);
  std::reverse(all.begin(), all.end());
  for (const SegmentStretch& stretch : all)
    join_stretch(delta, stretch, residuals.data(), joined.data());
  EXPECT_EQ(std::count(joined.end() - kBehind, joined.end(), 0xa5), std::ptrdiff_t{kBehind});
  joined.resize(values.size());
  return joined;
}

TEST(SegmentDelta, JoiningUndoesSplittingAtEveryWidthAndOrder) {
  for_every_shape(
      {{}, {0, 0}, {1}, {40}, {0, 3, 0, 0, 1, 17, 0}, std::vector<std::uint32_t>(30, 1)},
      {1, 3, 64}, [](const SegmentDelta& delta, const std::vector<unsigned char>& values) {
        for (const std::size_t stretches : {1, 2, 5, 100})
          EXPECT_EQ(split_and_joined(delta, values, stretches), values);
      });
}

// Sums of a lane alone run on through blocks of residuals and through segments that others sum, because pages begin in them.
TEST(SegmentDelta, SumsOfALaneAloneRunThroughBlocksAndThroughSegmentsOfAnyLength) {
  std::vector<std::uint32_t> uneven, short_ones;
  for (std::uint32_t i = 0; i < 900; ++i) {
    uneven.push_back(i * i % 23);
    short_ones.push_back(1 + i * i % 5);
  }
  for_every_shape({{9000}, {5, 4095, 1, 4097, 2}, uneven, short_ones}, {1},
                  [](const SegmentDelta& of, const std::vector<unsigned char>& values) {
                    EXPECT_EQ(split_and_joined(of, values, 1), values);
                    EXPECT_EQ(split_and_joined(of, values, 3), values);
                    SegmentDelta delta = of;
                    const auto states = segment_states(of, values.data(), 256, 8);
                    delta.states = {.page_tuples = 256, .of_lane = 8, .words = states.data()};
                    EXPECT_EQ(split_and_joined(delta, values, 2), values);
                  });
}

// The states that pages say are those that sums come to, so taking them changes nothing.
TEST(SegmentDelta, SumsGoOnFromTheStatesOfPages) {
  for_every_shape(
      {{40}, {0, 3, 0, 0, 1, 17, 0, 5}, std::vector<std::uint32_t>(30, 1), {9, 8, 8, 8, 8}}, {1, 3},
      [](const SegmentDelta& of, const std::vector<unsigned char>& values) {
        SegmentDelta delta = of;
        for (const std::size_t page : {1, 4, 7, 64}) {
          const std::vector<unsigned char> states = segment_states(of, values.data(), page, 8);
          ASSERT_EQ(states.size(), (all_tuples(of) + page - 1) / page *
                                       static_cast<std::size_t>(8 * of.tuple * of.value_bytes));
          delta.states = {.page_tuples = page, .of_lane = 8, .words = states.data()};
          for (const std::size_t stretches : {1, 3})
            EXPECT_EQ(split_and_joined(delta, values, stretches), values);
        }
      });
}

TEST(SegmentDelta, StatesAreTakenButWhereASegmentBegins) {
  const std::vector<std::uint32_t> lengths = {3, 6};  // heads 10, 20; the pages begin at 0, 4, 8
  const std::vector<unsigned char> residuals = {10, 10, 1, 1, 1, 1, 1, 1, 1};
  const std::uint8_t order = 1;
  const auto joined = [&](std::vector<unsigned char> states) {
    const SegmentDelta delta{.lengths = lengths,
                             .orders = &order,
                             .head_order = 1,
                             .states = {.page_tuples = 4, .of_lane = 1, .words = states.data()}};
    std::vector<unsigned char> heads = residuals, values(9);
    join_heads(delta, heads.data());
    join_stretch(delta, {.lengths = lengths, .all_heads = 2}, heads.data(), values.data());
    return values;
  };
  using Bytes = std::vector<unsigned char>;
  EXPECT_EQ(joined({0, 99, 4}), (Bytes{10, 11, 12, 20, 21, 22, 23, 24, 25}));
  EXPECT_EQ(joined({5, 0, 50}), (Bytes{15, 16, 17, 25, 26, 27, 28, 29, 76}));
}

TEST(SegmentDelta, StretchesHaveAboutAsManyTuplesEachAndAreNoMoreThanAsked) {
  const std::vector<std::uint32_t> even(1000, 3);
  const std::uint8_t order = 1;
  for (const std::size_t most : {1, 2, 7, 1000, 5000}) {
    const SegmentDelta delta{
        .lengths = even, .tuple = 1, .value_bytes = 1, .orders = &order, .head_order = 1};
    const auto stretches = segment_stretches(delta, 3000, most);
    EXPECT_EQ(stretches.size(), std::min<std::size_t>(most, 1000));
    for (const SegmentStretch& stretch : stretches)
      EXPECT_LE(stretch.lengths.size(), 1000 / stretches.size() + 1);
  }
  const std::vector<std::uint32_t> uneven = {0, 900, 0, 1, 2, 97, 0, 0};
  const auto stretches = segment_stretches({uneven, 1, 1, &order, 1}, 1000, 4);
  EXPECT_EQ(stretches[0].lengths.size(), 2u);
  EXPECT_EQ(stretches[1].first_tuple, 900u);
  EXPECT_EQ(stretches[1].first_head, 1u);
  EXPECT_EQ(stretches[1].all_heads, 4u);
  EXPECT_LE(stretches.size(), 4u);
  EXPECT_EQ(segment_stretches({{}, 1, 1, &order, 1}, 0, 4).size(), 1u);
}

TEST(SegmentDelta, HeadsStandFirstAndDifferencesBeginAnewInEachSegment) {
  const std::vector<std::uint32_t> lengths = {3, 0, 1, 4};
  const std::vector<unsigned char> values = {10, 13, 16, 50, 100, 101, 103, 106};
  std::vector<unsigned char> residuals(8);
  const auto split = [&](std::uint8_t order, int head_order) {
    split_segments({lengths, 1, 1, &order, head_order}, values.data(), residuals.data());
    return residuals;
  };
  using Bytes = std::vector<unsigned char>;
  EXPECT_EQ(split(0, 0), (Bytes{10, 50, 100, 13, 16, 101, 103, 106}));
  EXPECT_EQ(split(1, 1), (Bytes{10, 40, 50, 3, 3, 1, 2, 3}));
  EXPECT_EQ(split(2, 2), (Bytes{10, 30, 10, 3, 0, 1, 1, 1}));
}

}  // namespace
}  // namespace gdelta
