// What looking for a layout takes, counted.
#include <gtest/gtest.h>

#include "codec/detect/detect.h"
#include "codec/plan/planned_values.h"

namespace gdelta::test {
namespace {

/// Lanes that wander; `loudness` bits of every step are noise.
Bytes wandering(int width, int tuple, int loudness, std::size_t bytes) {
  Draws draws(static_cast<unsigned>(width * 100 + tuple * 10 + loudness));
  ValueBytes values(width);
  std::vector<std::uint64_t> at(static_cast<std::size_t>(tuple));
  while (values.bytes().size() < bytes)
    for (std::uint64_t& value : at) {
      value += static_cast<std::uint64_t>(draws.around_zero(1ll << loudness));
      values.put(static_cast<std::int64_t>(value));
    }
  return values.bytes();
}

TEST(DetectWork, AtTheLowLevelsItIsAFewTimesThatOfPackingTheSample) {
  for (const std::size_t bytes : {std::size_t{64} << 10, std::size_t{400} << 10, kMostSampleBytes})
    for (const int width : {1, 2, 4, 8})
      for (const int tuple : {1, 2, 3, 6})
        for (const int loudness : {2, 4 * width, 8 * width - 2}) {
          const Bytes sample = wandering(width, tuple, loudness, bytes);
          for (const int level : {1, 2}) {
            DetectionWork work;
            (void)detect_layout(sample, level, &work);
            // Groups of bytes, at three orders.
            EXPECT_LE(work.groups, 3 * sample.size() / 128)
                << width << 'x' << tuple << ' ' << loudness << ' ' << bytes;
          }
        }
}

TEST(DetectWork, AtTheLowLevelsWhatTheFirstLookLeavesNoDoubtOfGetsNoSecond) {
  for (const std::size_t bytes : {std::size_t{4} << 10, std::size_t{16} << 10, kMostSampleBytes})
    for (const int width : {2, 4, 8}) {
      DetectionWork work;
      const Layout layout = detect_layout(wandering(width, 1, 2, bytes), 1, &work);
      EXPECT_EQ(layout.columns[0].bytes(), width) << bytes;
      EXPECT_EQ(work.groups, 0u) << width << ' ' << bytes;
    }
}

TEST(DetectWork, AtTheLowLevelsNothingThatTakesMoreThanBytesGetsASecondLook) {
  Draws draws(5);
  ValueBytes noise(1);
  for (int i = 0; i < 4096; ++i) noise.put(draws.below(256));
  DetectionWork work;
  EXPECT_EQ(to_string(detect_layout(noise.bytes(), 1, &work)), "u8");
  EXPECT_LE(work.groups, 2 * 4 * 3u);  // two stretches of bytes, at three orders
}

TEST(DetectWork, IsCounted) {
  DetectionWork work;
  (void)detect_layout(wandering(2, 2, 8, 1 << 16), 1, &work);
  const std::uint64_t once = work.groups;
  EXPECT_GT(once, 0u);
  (void)detect_layout(wandering(2, 2, 8, 1 << 16), 1, &work);
  EXPECT_EQ(work.groups, 2 * once);
}

}  // namespace
}  // namespace gdelta::test
