// What lanes are thought to cost at an order.
#include "codec/plan/lane_orders.h"

#include <gtest/gtest.h>

#include "codec/plan/planned_values.h"
#include "kernels/bitpack/order_cost.h"

namespace gdelta::test {
namespace {

ColumnBytes bytes_of_column(const Bytes& values, const Column& column) {
  const auto bytes = static_cast<std::size_t>(column.bytes());
  return {reinterpret_cast<const unsigned char*>(values.data()), bytes, values.size() / bytes,
          column};
}

TEST(LaneOrders, DifferencesSeeTheFirstValueBeforeAChunk) {
  ValueBytes values(4);
  for (int i = 0; i < 128; ++i) values.put(1'000'000'000 + i);
  const ColumnBytes column = bytes_of_column(values.bytes(), {ValueType::i32, 1, false});
  const ResidualSource source(column, format::Front{});
  // Residuals 0, 1, 1, …, zigzagged in two bits; a descriptor; one state.
  EXPECT_EQ(lane_bits(source, 0, 1, {2, 96}, Workers::alone()), 128u * 2 + 16 + 32);

  std::uint32_t words[4 + 3];
  source.values_with_history(0, 2, 3, 4, History::first_value, words);
  const std::uint32_t first = 1'000'000'000;
  const std::uint32_t expected[] = {first,     first,     first,    first + 1,
                                    first + 2, first + 3, first + 4};
  EXPECT_TRUE(std::equal(words, words + 7, expected));
}

TEST(LaneOrders, EachOrderCostsWhatItsResidualsDo) {
  // A polynomial of degree 7: differences shrink until the last order has nothing left.
  ValueBytes values(8);
  for (std::int64_t i = 0; i < 128 * 5; ++i) {
    std::int64_t power = 1;
    for (int degree = 0; degree < 7; ++degree) power *= i - 300;
    values.put(power);
  }
  const ColumnBytes column = bytes_of_column(values.bytes(), {ValueType::i64, 1, false});
  const ResidualSource source(column, format::Front{});
  for (int order = 0; order <= kMaxOrder; ++order)
    EXPECT_EQ(lane_bits(source, 0, order, {kMaxOrder, 96}, Workers::alone()),
              packed_lane_bits(source, 0, order, 0, 128 * 5, Workers::alone()))
        << "order " << order;
}

TEST(LaneOrders, SampledGroupsAreSpreadOverTheWholeLane) {
  // Quiet at first: whoever looks there alone thinks that the lane is cheap.
  Draws draws(1);
  ValueBytes values(4);
  for (int i = 0; i < 128 * 1000; ++i) values.put(i < 128 * 200 ? 0 : draws.around_zero(1 << 19));
  const ColumnBytes column = bytes_of_column(values.bytes(), {ValueType::i32, 1, false});
  const ResidualSource source(column, format::Front{});
  const double bits = static_cast<double>(lane_bits(source, 0, 0, {2, 96}, Workers::alone()));
  EXPECT_NEAR(bits / (0.8 * 128 * 1000 * 20), 1, 0.05);

  for (const std::uint64_t tuples : {127u, 128u, 129u, 128u * 97, 1u << 20}) {
    const GroupSample sample = sample_groups<std::uint64_t>(tuples, 1, 96);
    const std::uint64_t last = sample.first_tuple(sample.count - 1) / 128;
    EXPECT_EQ(sample.first_tuple(0), 0u);
    EXPECT_GE(last + 1 + (sample.groups + sample.count - 1) / sample.count, sample.groups)
        << tuples;
    for (std::uint64_t k = 1; k < sample.count; ++k)
      EXPECT_LE(sample.first_tuple(k) - sample.first_tuple(k - 1),
                (sample.groups / sample.count + 1) * 128);
  }
}

TEST(LaneOrders, AHigherOrderIsTakenOnlyWhereItCostsLess) {
  // Nothing to gain: every order costs its states.
  const Bytes zeros(4 * 4096, std::byte{0});
  const ColumnBytes column = bytes_of_column(zeros, {ValueType::i32, 1, false});
  const ResidualSource source(column, format::Front{});
  EXPECT_EQ(choose_orders(source, std::nullopt, {8, 96}, Workers::alone()).orders[0], 0);
  EXPECT_EQ(choose_orders(source, 7, {8, 96}, Workers::alone()).orders[0], 7);
}

TEST(LaneOrders, ALongLookIsToldPieceByPieceToItsEnd) {
  struct Listener final : Work {
    void add(double share) override {
      done += share;
      ++calls;
    }
    double done = 0;
    int calls = 0;
  } listener;
  const Bytes zeros(2 * 128 * 3 * 4096, std::byte{0});
  const ColumnBytes column = bytes_of_column(zeros, {ValueType::u8, 2, false});
  choose_orders({column, format::Front{}}, std::nullopt, {8, ~std::uint64_t{0}}, Workers::alone(),
                &listener);
  EXPECT_GE(listener.calls, 2 * 3);  // 4096 groups of each lane at a time
  EXPECT_NEAR(listener.done, 1, 1e-9);
}

}  // namespace
}  // namespace gdelta::test
