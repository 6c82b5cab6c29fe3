// Which spans of residuals share a table.
#include "kernels/ans/ans_clusters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

namespace gdelta {
namespace {

template <class Word>
class AnsClusters : public testing::Test {
 public:
  /// Stretches of residuals of `bits_of(i)` bits at place i.
  template <class BitsOf>
  void make(std::size_t stretches, const BitsOf& bits_of) {
    std::mt19937_64 random(9);
    for (std::size_t i = 0; i < stretches * kMaxAnsTile; ++i) {
      const auto size = static_cast<std::int64_t>(random() >> 1 >> (63 - bits_of(i)));
      words_.push_back(static_cast<Word>(random() % 2 == 0 ? size : -1 - size));
    }
    for (std::size_t at = 0; at < words_.size(); at += kMaxAnsTile)
      stretches_.emplace_back(words_.data() + at, std::size_t{kMaxAnsTile});
  }
  ClusterCosts find(int most = kMostClusters) const {
    return find_clusters<Word>(
        stretches_, {.most_clusters = most, .rounds = 4, .all_residuals = words_.size()});
  }
  int cluster_of(const ClusterCosts& costs, std::size_t first, std::size_t count) const {
    std::uint32_t sums[kMostClusters] = {};
    costs.add(words_.data() + first, count, sums);
    return costs.cheapest(sums);
  }

  std::vector<Word> words_;
  std::vector<std::span<const Word>> stretches_;
};
using Words = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(AnsClusters, Words);

TYPED_TEST(AnsClusters, OfOneScaleAreOne) {
  this->make(64, [](std::size_t) { return 12; });
  const ClusterCosts costs = this->find();
  EXPECT_EQ(costs.clusters, 1);
  EXPECT_EQ(costs.span_bits, kMaxSpanBits);
}

TYPED_TEST(AnsClusters, OfTwoScalesInTurnAreTwoAndTellThemApart) {
  for (const std::size_t turn : {64, 128, 256}) {
    this->words_.clear();
    this->stretches_.clear();
    this->make(64, [=](std::size_t i) { return i / turn % 2 == 0 ? 2 : 20; });
    const ClusterCosts costs = this->find();
    EXPECT_EQ(costs.clusters, 2);
    EXPECT_LE(std::size_t{1} << costs.span_bits, turn);
    const int small = this->cluster_of(costs, 0, turn);
    const int large = this->cluster_of(costs, turn, turn);
    EXPECT_NE(small, large);
    for (std::size_t at = 0; at < this->words_.size(); at += turn)
      EXPECT_EQ(this->cluster_of(costs, at, turn), at / turn % 2 == 0 ? small : large) << at;
  }
}

TYPED_TEST(AnsClusters, AreNoMoreThanAskedFor) {
  this->make(64, [](std::size_t i) { return static_cast<int>(i / 64 % 8 * 3 + 1); });
  EXPECT_GE(this->find().clusters, 4);
  for (const int most : {1, 2, 4}) EXPECT_LE(this->find(most).clusters, most);
}

TYPED_TEST(AnsClusters, AreOneWhereTablesCostMoreThanTheySave) {
  this->make(1, [](std::size_t i) { return i / 64 % 2 == 0 ? 4 : 6; });
  EXPECT_EQ(this->find().clusters, 1);
}

TYPED_TEST(AnsClusters, OfShortStretchesAreFound) {
  const std::vector<TypeParam> one{TypeParam{5}};
  const std::vector<std::span<const TypeParam>> stretches{std::span<const TypeParam>(one)};
  EXPECT_EQ(
      find_clusters<TypeParam>(stretches, {.most_clusters = 8, .rounds = 4, .all_residuals = 1})
          .clusters,
      1);
}

TYPED_TEST(AnsClusters, HaveCostsThatAddUp) {
  this->make(16, [](std::size_t i) { return i / 64 % 2 == 0 ? 2 : 20; });
  const ClusterCosts costs = this->find();
  std::uint32_t sums[kMostClusters] = {}, parts[kMostClusters] = {};
  costs.add(this->words_.data(), 100, sums);
  costs.add(this->words_.data(), 37, parts);
  costs.add(this->words_.data() + 37, 63, parts);
  for (int c = 0; c < costs.clusters; ++c) {
    EXPECT_EQ(sums[c], parts[c]);
    std::uint32_t expected = 0;
    for (int i = 0; i < 100; ++i)
      expected += costs.costs[ResidualClasses::of(this->words_[static_cast<std::size_t>(i)]) *
                                  kMostClusters +
                              static_cast<unsigned>(c)];
    EXPECT_EQ(sums[c], expected);
  }
}

TYPED_TEST(AnsClusters, HaveClassesThatRiseWithResiduals) {
  using Signed = std::make_signed_t<TypeParam>;
  std::vector<Signed> residuals{std::numeric_limits<Signed>::min(), -1, 0, 1,
                                std::numeric_limits<Signed>::max()};
  for (int bit = 1; bit < std::numeric_limits<Signed>::digits; ++bit)
    for (const int more : {-1, 0, 1})
      for (const int sign : {-1, 1})
        residuals.push_back(static_cast<Signed>(sign * ((Signed{1} << bit) + more)));
  std::sort(residuals.begin(), residuals.end());
  unsigned before = 0;
  for (const Signed residual : residuals) {
    const unsigned number = ResidualClasses::of(static_cast<TypeParam>(residual));
    EXPECT_GE(number, before) << residual;
    EXPECT_LT(number, static_cast<unsigned>(kResidualClasses));
    before = number;
    // Of the other sign, and as far from zero.
    EXPECT_EQ(ResidualClasses::of(static_cast<TypeParam>(-1 - residual)),
              kResidualClasses - 1 - number)
        << residual;
  }
  for (int residual = 0; residual < 8; ++residual)
    EXPECT_EQ(ResidualClasses::of(static_cast<TypeParam>(residual)),
              static_cast<unsigned>(kResidualClasses / 2 + residual));
}

}  // namespace
}  // namespace gdelta
