// Where LZMA is planned: at the highest level, for what repeats, and where it saves enough to be decoded slowly.
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace gdelta::test
