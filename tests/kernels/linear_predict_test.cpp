// Linear prediction and its inverse, coefficients, and the fields that tell of them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "kernels/linear/linear_fit.h"
#include "kernels/linear/linear_model.h"

namespace gdelta {
namespace {

struct Case {
  int value_bytes;
  int tuple;
  std::uint64_t tuples;
  int own;
  int source_taps;
  int shift;
  bool is_unsigned;
};

LinearModel model_of(const Case& c, std::mt19937_64& random) {
  LinearModel model{.run_bits = 8, .is_unsigned = c.is_unsigned, .lanes = {}, .coefficients = {}};
  for (int lane = 0; lane < c.tuple; ++lane) {
    LinearLane shape{.own = static_cast<std::uint8_t>(c.own),
                     .num_sources = 0,
                     .shift = static_cast<std::uint8_t>(c.shift),
                     .sources = {}};
    for (int back = std::min(lane, 2); back > 0 && c.source_taps > 0; --back)
      shape.sources[shape.num_sources++] = {static_cast<std::uint8_t>(lane - back),
                                            static_cast<std::uint8_t>(c.source_taps)};
    model.lanes.push_back(shape);
  }
  model.coefficients.resize(model.runs(c.tuples) * model.taps());
  for (std::int16_t& coefficient : model.coefficients)
    coefficient = static_cast<std::int16_t>(random());
  return model;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const int bytes : {1, 2, 3, 4, 8})
    for (const bool is_unsigned : {false, true}) {
      for (const std::uint64_t tuples : {1, 2, 255, 256, 257, 8 * 256, 8 * 256 + 1, 9 * 256 + 63})
        all.push_back({bytes, 2, tuples, 3, 2, 15, is_unsigned});
      for (const int own : {0, 1, 7, 8, 9, 31, 32})
        all.push_back({bytes, 1, 700, own, 0, 8, is_unsigned});
      for (const int taps : {1, 2, 8}) all.push_back({bytes, 5, 600, 4, taps, 3, is_unsigned});
      for (const int shift : {0, 1, 8, 9, 15})
        all.push_back({bytes, 1, 300, 5, 0, shift, is_unsigned});
      all.push_back({bytes, 64, 300, 2, 1, 9, is_unsigned});
    }
  return all;
}

std::vector<unsigned char> random_words(const Case& c, std::mt19937_64& random) {
  std::vector<unsigned char> words(c.tuples * static_cast<std::uint64_t>(c.tuple * c.value_bytes));
  for (unsigned char& byte : words) byte = static_cast<unsigned char>(random());
  return words;
}

TEST(LinearPredict, EveryWordComesBackWhateverTheCoefficientsAre) {
  std::mt19937_64 random(1);
  for (const Case& c : cases()) {
    const LinearModel model = model_of(c, random);
    std::vector<unsigned char> words = random_words(c, random);
    words.resize(words.size() + 256 * 8 * 64, 0x5a);  // a run more, which is not theirs
    std::vector<unsigned char> changed = words;
    const LinearColumn column{changed.data(), c.tuples, c.value_bytes};
    const std::uint64_t runs = model.runs(c.tuples);
    predict_linear(column, model, 0, runs);
    undo_linear(column, model, 0, runs);
    EXPECT_EQ(changed, words) << c.value_bytes << ' ' << c.tuple << ' ' << c.tuples << ' ' << c.own;
  }
}

TEST(LinearPredict, RunsAreUndoneAlikeAloneAndSideBySide) {
  std::mt19937_64 random(2);
  const Case c{.value_bytes = 2,
               .tuple = 2,
               .tuples = 20 * 256 + 100,
               .own = 9,
               .source_taps = 4,
               .shift = 10,
               .is_unsigned = false};
  const LinearModel model = model_of(c, random);
  std::vector<unsigned char> together = random_words(c, random), alone = together;
  const std::uint64_t runs = model.runs(c.tuples);
  undo_linear({together.data(), c.tuples, 2}, model, 0, runs);
  for (std::uint64_t run = runs; run-- > 0;)
    undo_linear({alone.data(), c.tuples, 2}, model, run, run + 1);
  EXPECT_EQ(together, alone);
}

// The sum of the page by itself: 64 bits throughout.
TEST(LinearPredict, PredictsWhatThePageSays) {
  std::mt19937_64 random(3);
  for (const auto& [bytes, is_unsigned] : {std::pair{1, false},
                                           {2, false},
                                           {3, false},
                                           {4, false},
                                           {1, true},
                                           {2, true},
                                           {3, true},
                                           {4, true}}) {
    const Case c{.value_bytes = bytes,
                 .tuple = 1,
                 .tuples = 256,
                 .own = 2,
                 .source_taps = 0,
                 .shift = 6,
                 .is_unsigned = is_unsigned};
    const LinearModel model = model_of(c, random);
    std::vector<unsigned char> words = random_words(c, random);
    const auto word = [&, value_bytes = bytes, reads_unsigned = is_unsigned](std::uint64_t i) {
      std::int64_t value = 0;
      std::memcpy(&value, words.data() + i * static_cast<unsigned>(value_bytes),
                  static_cast<std::size_t>(value_bytes));
      if (reads_unsigned) return value;
      const int spare = 64 - 8 * value_bytes;
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << spare) >> spare;
    };
    std::vector<std::int64_t> wanted;
    for (std::uint64_t i = 0; i < c.tuples; ++i) {
      std::int64_t p = i == 0 ? 0 : word(0);
      if (i >= 2)
        p = (model.coefficients[0] * word(i - 1) + model.coefficients[1] * word(i - 2) + 32) >> 6;
      wanted.push_back(word(i) - p);
    }
    predict_linear({words.data(), c.tuples, bytes}, model, 0, 1);
    for (std::uint64_t i = 0; i < c.tuples; ++i)
      EXPECT_EQ(static_cast<std::uint64_t>(word(i) - wanted[i]) << (64 - 8 * bytes), 0u) << i;
  }
}

TEST(LinearPredict, FieldsTellTheModel) {
  std::mt19937_64 random(4);
  for (const Case& c : cases()) {
    if (c.value_bytes != 2) continue;
    LinearModel model = model_of(c, random);
    // One coefficient is the same in all runs, others differ by little.
    for (std::size_t at = 0; at < model.coefficients.size(); ++at)
      if (model.taps() > 1 && at % model.taps() > 0)
        model.coefficients[at] =
            static_cast<std::int16_t>(at % model.taps() == 1 ? -5 : model.coefficients[at] % 9);
    const std::vector<std::byte> fields = linear_fields(model, c.tuples);
    const LinearModel read = read_linear_fields(
        reinterpret_cast<const unsigned char*>(fields.data()), c.tuple, c.tuples);
    EXPECT_EQ(read.run_bits, model.run_bits);
    EXPECT_EQ(read.is_unsigned, model.is_unsigned);
    EXPECT_EQ(read.coefficients, model.coefficients);
    ASSERT_EQ(read.lanes.size(), model.lanes.size());
    for (std::size_t lane = 0; lane < read.lanes.size(); ++lane) {
      EXPECT_EQ(read.lanes[lane].taps(), model.lanes[lane].taps());
      EXPECT_EQ(read.lanes[lane].shift, model.lanes[lane].shift);
      EXPECT_EQ(read.lanes[lane].history(), model.lanes[lane].history());
    }
  }
}

// ---- Coefficients

std::vector<unsigned char> i16_words(const std::vector<double>& values) {
  std::vector<unsigned char> words;
  for (const double value : values) {
    const auto word = static_cast<std::uint16_t>(static_cast<std::int16_t>(std::lround(value)));
    words.push_back(static_cast<unsigned char>(word));
    words.push_back(static_cast<unsigned char>(word >> 8));
  }
  return words;
}

TEST(LinearFit, FindsTheCoefficientsOfAResonance) {
  std::mt19937 random(5);
  std::vector<double> values(4096);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = (i < 2 ? 0 : 1.8 * values[i - 1] - 0.95 * values[i - 2]) +
                (static_cast<double>(random() % 2001) - 1000) / 4;
  std::vector<unsigned char> words = i16_words(values);
  const LinearStretch stretch({words.data(), values.size(), 2}, 1, false, 0, values.size());
  const LinearLane shape{.own = 2, .num_sources = 0, .shift = 10, .sources = {}};
  const FittedLane fitted = LaneMoments(stretch, 0, shape).fit(shape, 4);
  EXPECT_NEAR(fitted.coefficients[0] / 1024.0, 1.8, 0.02);
  EXPECT_NEAR(fitted.coefficients[1] / 1024.0, -0.95, 0.02);
  const LaneMoments with_deltas(stretch, 0,
                                {.own = 4, .num_sources = 0, .shift = 10, .sources = {}});
  for (int order = 0; order <= kMaxLinearDelta; ++order)
    EXPECT_LT(fitted.bits, with_deltas.delta_bits(order)) << order;
}

TEST(LinearFit, FindsWhatALaneHasOfAnother) {
  std::mt19937 random(6);
  std::vector<double> values(2 * 2048);
  for (std::size_t i = 0; i < values.size(); i += 2) {
    values[i] = static_cast<double>(random() % 20001) - 10000;
    values[i + 1] = 0.5 * values[i] - (i > 0 ? 0.25 * values[i - 2] : 0);
  }
  std::vector<unsigned char> words = i16_words(values);
  const LinearStretch stretch({words.data(), 2048, 2}, 2, false, 0, 2048);
  const LinearLane shape{.own = 0, .num_sources = 1, .shift = 8, .sources = {{0, 2}}};
  const FittedLane fitted = LaneMoments(stretch, 1, shape).fit(shape, 4);
  EXPECT_EQ(fitted.coefficients[0], 128);
  EXPECT_EQ(fitted.coefficients[1], -64);
}

// What is left of each stretch counts by its logarithm: a loud one does not drown a quiet one.
TEST(LinearFit, ListensToQuietStretches) {
  std::mt19937 random(8);
  std::vector<double> values(4096);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double noise = (static_cast<double>(random() % 2001) - 1000) / 1000;
    values[i] = i < 3072 ? (i < 2 ? 100 : 1.9 * values[i - 1] - 0.98 * values[i - 2]) + 20 * noise
                         : 9000 * noise;
  }
  std::vector<unsigned char> words = i16_words(values);
  const LinearStretch stretch({words.data(), values.size(), 2}, 1, false, 0, values.size());
  const LinearLane shape{.own = 2, .num_sources = 0, .shift = 10, .sources = {}};
  const FittedLane fitted = LaneMoments(stretch, 0, shape).fit(shape, 4);
  EXPECT_NEAR(fitted.coefficients[0] / 1024.0, 1.9, 0.1);
  EXPECT_NEAR(fitted.coefficients[1] / 1024.0, -0.98, 0.1);
}

TEST(LinearFit, NothingStrangeComesOfStrangeRuns) {
  std::mt19937_64 random(7);
  const LinearLane shape{.own = 32, .num_sources = 0, .shift = 12, .sources = {}};
  for (const std::uint64_t tuples : {1, 32, 33, 34, 70, 256})
    for (const int kind : {0, 1, 2}) {
      std::vector<unsigned char> words(8 * tuples);
      for (unsigned char& byte : words)
        byte = kind == 0 ? 0 : kind == 1 ? 0x7f : static_cast<unsigned char>(random());
      const LinearStretch stretch({words.data(), tuples, 8}, 1, kind == 1, 0, tuples);
      const LaneMoments moments(stretch, 0, shape);
      const FittedLane fitted = moments.fit(shape, 4);
      EXPECT_LE(std::abs(fitted.bits), static_cast<std::int64_t>(tuples) * 256 * 64);
      // A number that does not change needs no more than one tap, or none.
      for (const std::int16_t c : fitted.coefficients) EXPECT_TRUE(kind > 0 || c == 0);
    }
}

}  // namespace
}  // namespace gdelta
