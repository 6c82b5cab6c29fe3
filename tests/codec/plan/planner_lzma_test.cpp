// Where LZMA is planned: at the highest level, for what repeats, and where it saves enough to be decoded slowly.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "codec/coders/coder.h"
#include "codec/coders/lzma_section.h"
#include "codec/plan/patient_choice.h"
#include "codec/plan/planned_values.h"
#include "codec/plan/tried_coders.h"

namespace gdelta::test {
namespace {

/// Values of few bytes each that come again at no distance in particular, which LZMA has short matches for.
Bytes corners_of_triangles() {
  Draws draws(1);
  ValueBytes values(4);
  for (std::int64_t i = 0; i < 60'000; ++i) values.put(i / 4 + draws.below(3) * 977 % 4096);
  return values.bytes();
}

Bytes text() {
  Draws draws(2);
  Bytes bytes;
  while (bytes.size() < 150'000)
    for (const char c : std::to_string(draws.below(9000)) + " " + std::to_string(draws.below(40)) +
                            ".5e-0" + std::to_string(draws.below(7)) + "\n")
      bytes.push_back(static_cast<std::byte>(c));
  return bytes;
}

/// Points of four numbers, of which two come again from about 32 points before.
Bytes points(int count) {
  Draws draws(4);
  std::vector<std::array<std::int64_t, 4>> all;
  ValueBytes values(4);
  for (int i = 0; i < count; ++i) {
    std::array<std::int64_t, 4> next;
    for (std::int64_t& number : next) number = draws.below(1 << 24);
    if (i >= 34) {
      const auto& before = all[static_cast<std::size_t>(i - 30 - draws.below(4))];
      next[0] = all[static_cast<std::size_t>(i) - 32][0] + draws.around_zero(3000);
      if (draws.below(3) > 0) next[1] = before[1];
      next[3] = before[3];
    }
    next[2] = draws.below(1 << 10) << 13;
    all.push_back(next);
    for (const std::int64_t number : next) values.put(number);
  }
  return values.bytes();
}

/// Points whose differences to those 32 before come again.
Bytes moving_points() {
  Draws draws(5);
  std::vector<std::array<std::int64_t, 4>> all, steps;
  ValueBytes values(4);
  for (int i = 0; i < 9000; ++i) {
    std::array<std::int64_t, 4> next{}, step;
    for (std::int64_t& number : step) number = draws.below(1 << 18);
    if (i >= 36) {
      const auto& before = steps[static_cast<std::size_t>(i - 30 - draws.below(4))];
      for (std::size_t lane = 0; lane < 4; ++lane)
        if (draws.below(4) > 0) step[lane] = before[lane];
      next = all[static_cast<std::size_t>(i) - 32];
    }
    for (std::size_t lane = 0; lane < 4; ++lane) next[lane] += step[lane];
    all.push_back(next);
    steps.push_back(step);
    for (const std::int64_t number : next) values.put(number);
  }
  return values.bytes();
}

Coder coder_of(const Bytes& values, const Layout& layout, const EncodeSettings& settings) {
  return plan_chunk(values, layout, layout == byte_layout(), settings).columns[0].section.coder;
}

TEST(PlannerLzma, TakesTextAtTheHighestLevelAlone) {
  for (int level = 1; level <= 9; ++level)
    EXPECT_EQ(coder_of(text(), byte_layout(), at_level(level)),
              level == 9 ? Coder::lzma : Coder::zstd)
        << level;
}

TEST(PlannerLzma, IsLeftOutWhereADeviceIsToDecode) {
  EncodeSettings settings = at_level(9);
  settings.device_decodable = true;
  EXPECT_NE(coder_of(text(), byte_layout(), settings), Coder::lzma);
}

TEST(PlannerLzma, TakesTheTextOnlyAsItIsClearlySmaller) {
  const auto size_with = [&](std::optional<Coder> coder) {
    EncodeSettings settings = at_level(9);
    settings.coder = coder;
    const ChunkPlan plan = plan_chunk(text(), byte_layout(), true, settings);
    return encode_chunk(text(), byte_layout(), true, plan).size();
  };
  const std::size_t others = std::min({size_with(Coder::zstd), size_with(Coder::ans)});
  EXPECT_EQ(size_with(std::nullopt), size_with(Coder::lzma));
  EXPECT_LT(size_with(std::nullopt), others * 97 / 100);
}

TEST(PlannerLzma, DoesNotTakeNoise) {
  Draws draws(3);
  ValueBytes values(2);
  for (int i = 0; i < 50'000; ++i) values.put(draws.around_zero(200));
  EXPECT_NE(coder_of(values.bytes(), layout_of("i16"), at_level(9)), Coder::lzma);
}

TEST(PlannerLzma, TakesPointsThatComeAgainWhetherFewOrMany) {
  for (const int count : {1024, 9000})
    EXPECT_EQ(coder_of(points(count), layout_of("u32x4"), at_level(9)), Coder::lzma) << count;
}

TEST(PlannerLzma, TakesTheStrideOfTheWidths) {
  const format::ColumnModel model = plan_column(moving_points(), "u32x4", at_level(9));
  EXPECT_EQ(model.section.coder, Coder::lzma);
  ASSERT_GE(model.front.num_strides, 1);
  EXPECT_EQ(model.front.strides[0].stride, 32u);
}

std::size_t stream_size(const Bytes& values, LzmaTuples tuples) {
  std::vector<std::byte> stream;
  encode_lzma_stream({reinterpret_cast<const unsigned char*>(values.data()), values.size()}, tuples,
                     LzmaEffort::most, stream);
  return stream.size();
}

TEST(PlannerLzma, ABytesPlaceInATupleForetellsIt) {
  for (const int count : {1000, 20'000}) {
    Draws draws(6);
    ValueBytes values(1);
    for (int i = 0; i < count; ++i)
      for (int lane = 0; lane < 8; ++lane) {
        values.put(draws.below(256));
        values.put(32 * lane + draws.below(32));
      }
    EXPECT_LT(stream_size(values.bytes(), {.width = 1, .tuple = 16}),
              stream_size(values.bytes(), {.width = 1, .tuple = 1}) * 9 / 10)
        << count;
  }
}

TEST(PlannerLzma, TakesTheOrderThatIsAskedForAndAnyLevel) {
  for (const int level : {1, 5, 9}) {
    EncodeSettings settings = at_level(level);
    settings.coder = Coder::lzma;
    settings.order = 2;
    const format::ColumnModel model = plan_column(corners_of_triangles(), "i32", settings);
    EXPECT_EQ(model.section.coder, Coder::lzma);
    EXPECT_EQ(model.front.orders[0], 2);
  }
}

TEST(TableCoders, AreThoseThatAreTriedOfColumnsThatTheHostDecodesAnyway) {
  format::ColumnModel model;
  const auto coders = [&](Coder of_column, const EncodeSettings& settings) {
    model.section.coder = of_column;
    return gdelta::table_coders(model, settings);
  };
  const std::vector<Coder> none, lzma = {Coder::lzma};
  EXPECT_EQ(coders(Coder::lzma, at_level(9)), lzma);
  EXPECT_EQ(coders(Coder::zstd, at_level(9)), lzma);
  EXPECT_EQ(coders(Coder::lzma, at_level(8)), none);
  for (const Coder of_column : {Coder::ans, Coder::pack, Coder::raw})
    EXPECT_EQ(coders(of_column, at_level(9)), none);
  EncodeSettings settings = at_level(9);
  settings.device_decodable = true;
  EXPECT_EQ(coders(Coder::zstd, settings), none);
  settings = at_level(9);
  settings.coder = Coder::zstd;
  EXPECT_EQ(coders(Coder::zstd, settings), none);
  settings = at_level(1);
  settings.coder = Coder::lzma;
  EXPECT_EQ(coders(Coder::lzma, settings), lzma);
}

std::span<const unsigned char> unsigned_bytes(const Bytes& bytes) {
  return {reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()};
}

TEST(PlannerLzma, NoStreamIsShorterThanTheLeastThatIsKnownOfIt) {
  Draws draws(9);
  std::uint64_t most_known = 0;
  for (const std::size_t count : {1, 2, 16, 64, 127, 500, 4000})
    for (const std::int64_t kinds : {1, 2, 3, 16, 60, 256})
      for (const std::int64_t step : {1, 37, 255}) {
        ValueBytes values(1);
        for (std::size_t i = 0; i < count; ++i) values.put(draws.below(kinds) * step % 256);
        const std::uint64_t least =
            column_coder(Coder::lzma).least_bytes(unsigned_bytes(values.bytes()));
        EXPECT_LE(least, stream_size(values.bytes(), {.width = 1, .tuple = 1}))
            << count << ' ' << kinds << ' ' << step;
        most_known = std::max(most_known, least);
      }
  EXPECT_GT(most_known, 60u);  // all bytes there are, once each
}

// LZMA would save a byte or two of it.
constexpr std::string_view kShortText =
    "clude <algorithm>\n#include <optional>\n#include <vector>\n\n#includ";
static_assert(kShortText.size() == 64);

TEST(PlannerLzma, IsNotTriedOnChunksThatAreTooShortToGain) {
  Bytes bytes;
  for (const char letter : kShortText) bytes.push_back(static_cast<std::byte>(letter));
  EXPECT_NE(coder_of(bytes, layout_of("u8"), at_level(9)), Coder::lzma);
  EncodeSettings asked = at_level(9);
  asked.coder = Coder::lzma;
  EXPECT_EQ(coder_of(bytes, layout_of("u8"), asked), Coder::lzma);
}

TEST(PlannerLzma, AFirstTryThatMissesByALotIsNotFollowedByOthers) {
  Draws draws(10);
  ValueBytes values(2);
  for (int i = 0; i < 300; ++i) values.put(draws.below(4) << 8 | draws.below(256));
  const ColumnCoder& lzma = column_coder(Coder::lzma);
  const Column column = layout_of("u16").columns[0];
  const auto bytes = unsigned_bytes(values.bytes());
  const std::uint64_t best = lzma.sampled_bytes(bytes, column, ~std::uint64_t{0});
  EXPECT_EQ(lzma.sampled_bytes(bytes, column, best), best);
  EXPECT_GT(lzma.sampled_bytes(bytes, column, best / 2), best);
}

}  // namespace
}  // namespace gdelta::test
