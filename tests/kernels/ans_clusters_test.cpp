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
    classes_.resize(words_.size());
    find_fine_classes(words_.data(), words_.size(), classes_.data());
    for (std::size_t at = 0; at < words_.size(); at += kMaxAnsTile)
      stretches_.emplace_back(classes_.data() + at, std::size_t{kMaxAnsTile});
  }
  ClusterCosts find(int most = kMostClusters) const {
    return find_clusters(stretches_,
                         {.most_clusters = most, .rounds = 4, .all_residuals = words_.size()});
  }
  int cluster_of(const ClusterCosts& costs, std::size_t first, std::size_t count) const {
    return costs.choose({classes_.data() + first, count});
  }

  std::vector<Word> words_;
  std::vector<std::uint16_t> classes_;
  std::vector<std::span<const std::uint16_t>> stretches_;
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

TYPED_TEST(AnsClusters, AreFoundInEveryNumberDownToOne) {
  this->make(64, [](std::size_t i) { return static_cast<int>(i / 64 % 8 * 3 + 1); });
  const std::vector<ClusterCosts> found = find_all_clusters(
      this->stretches_, {.most_clusters = 8, .rounds = 4, .all_residuals = this->words_.size()});
  ASSERT_EQ(found.size(), 4u);
  for (std::size_t k = 0; k < found.size(); ++k) EXPECT_EQ(found[k].clusters, 8 >> k);
  const ClusterCosts eight = this->find(8);
  ASSERT_EQ(eight.clusters, 8);
  EXPECT_EQ(found[0].costs, eight.costs);
  // Few residuals have one.
  EXPECT_EQ(
      find_all_clusters(this->stretches_, {.most_clusters = 8, .rounds = 4, .all_residuals = 1})
          .size(),
      1u);
}

TYPED_TEST(AnsClusters, OfShortStretchesAreFound) {
  const std::vector<std::uint16_t> one{FineClasses::kHalf + 5};
  const std::vector<std::span<const std::uint16_t>> stretches{one};
  EXPECT_EQ(
      find_clusters(stretches, {.most_clusters = 8, .rounds = 4, .all_residuals = 1}).clusters, 1);
}

// Of any length: vectors, units and what is left of them.
TYPED_TEST(AnsClusters, AreChosenByCostsThatAddUp) {
  this->make(64, [](std::size_t i) { return static_cast<int>(i / 64 % 8 * 3 + 1); });
  const ClusterCosts costs = this->find();
  ASSERT_GT(costs.clusters, 1);
  for (std::size_t count = 1; count <= kMaxAnsTile; ++count) {
    const std::size_t first = 7 * count;
    std::uint32_t sums[kMostClusters] = {};
    for (std::size_t i = first; i < first + count; ++i)
      for (int c = 0; c < costs.clusters; ++c)
        sums[c] += costs.costs[static_cast<std::size_t>(this->classes_[i] * kMostClusters + c)];
    EXPECT_EQ(this->cluster_of(costs, first, count),
              std::min_element(sums, sums + costs.clusters) - sums)
        << count;
  }
}

TYPED_TEST(AnsClusters, HaveCostsOfWhichAUnitAddsUpIn16Bits) {
  // One class in nearly all residuals: all others are as rare as can be.
  this->make(200, [](std::size_t i) { return i == 7 ? 30 : 0; });
  const ClusterCosts costs = this->find();
  for (const std::uint16_t cost : costs.costs)
    EXPECT_LE(cost * ClusterCosts::kUnit, std::numeric_limits<std::uint16_t>::max());
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
  for (const Signed residual : residuals)
    EXPECT_EQ(kCoarseClass[FineClasses::of(static_cast<TypeParam>(residual))],
              ResidualClasses::of(static_cast<TypeParam>(residual)))
        << residual;
  for (int residual = 0; residual < 8; ++residual)
    EXPECT_EQ(ResidualClasses::of(static_cast<TypeParam>(residual)),
              static_cast<unsigned>(kResidualClasses / 2 + residual));
}

// Around every power of two and every class, by vectors and one by one.
TYPED_TEST(AnsClusters, HaveTheSameFineClassesSideBySide) {
  using Signed = std::make_signed_t<TypeParam>;
  std::vector<TypeParam> residuals;
  for (int bit = 0; bit < std::numeric_limits<TypeParam>::digits; ++bit)
    for (std::uint64_t part = 16; part < 32; ++part)
      for (const int more : {-1, 0, 1}) {
        const auto size = static_cast<TypeParam>((part << bit >> 4) + static_cast<TypeParam>(more));
        residuals.push_back(size);
        residuals.push_back(static_cast<TypeParam>(0 - size));
        residuals.push_back(static_cast<TypeParam>(~size));
      }
  residuals.push_back(static_cast<TypeParam>(std::numeric_limits<Signed>::min()));
  residuals.push_back(static_cast<TypeParam>(std::numeric_limits<Signed>::max()));
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{15}, std::size_t{16},
                                  std::size_t{17}, residuals.size()}) {
    std::vector<std::uint16_t> classes(count + 1, 0xabcd);
    find_fine_classes(residuals.data(), count, classes.data());
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_EQ(classes[i], FineClasses::of(residuals[i]))
          << static_cast<Signed>(residuals[i]) << " of " << count;
    EXPECT_EQ(classes[count], 0xabcd);
  }
}

}  // namespace
}  // namespace gdelta
