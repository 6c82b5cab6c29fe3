// The scan by a caller's operator on the simulated device: composition of affine maps, which does not
// commute, against a serial reference.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "gdelta/scan_custom.cuh"
#include "simulator/scan_launch.h"

namespace gdelta {
namespace {

/// Larger maps are not staged in shared memory.
template <int kSpare>
struct Affine {
  std::uint32_t factor = 1;
  std::uint32_t offset = 0;
  std::uint32_t spare[kSpare] = {};
  bool operator==(const Affine&) const = default;
};
static_assert(custom_scan::kStaged<Affine<2>> && !custom_scan::kStaged<Affine<10>>);

/// First `earlier`, then `later`, mod 2^32.
struct Compose {
  template <class Map>
  Map operator()(const Map& earlier, const Map& later) const {
    Map both;
    both.factor = later.factor * earlier.factor;
    both.offset = later.factor * earlier.offset + later.offset;
    return both;
  }
};

template <class Map>
std::vector<Map> random_maps(std::uint64_t count) {
  std::mt19937 random(static_cast<unsigned>(count));
  std::vector<Map> maps(count);
  for (Map& map : maps) {
    map.factor = random() | 1;
    map.offset = random();
  }
  return maps;
}

template <class Map>
std::vector<Map> reference(const CustomScan& scan, std::vector<Map> maps) {
  const auto tuple = static_cast<std::size_t>(scan.tuple);
  for (int order = 0; order < scan.order; ++order) {
    for (std::size_t i = tuple; i < maps.size(); ++i) maps[i] = Compose{}(maps[i - tuple], maps[i]);
  }
  if (!scan.exclusive) return maps;
  std::vector<Map> shifted(maps.size());
  for (std::size_t i = tuple; i < maps.size(); ++i) shifted[i] = maps[i - tuple];
  return shifted;
}

template <class Map>
void expect_reference(const CustomScan& scan) {
  std::vector<Map> maps = random_maps<Map>(scan.count);
  const std::vector<Map> expected = reference(scan, maps);
  const scan::ScanScratch scratch(scan_custom_scratch_bytes<Map>(scan));
  ASSERT_EQ(scan_custom(scan, maps.data(), maps.data(), Compose{}, Map{}, scratch.data(),
                        scratch.size(), nullptr),
            cudaSuccess);
  EXPECT_TRUE(scratch.is_whole());
  EXPECT_TRUE(maps == expected) << "count " << scan.count << " order " << scan.order << " tuple "
                                << scan.tuple;
}

TEST(ScanCustomSimulator, KeepsTheOrderOfWhatDoesNotCommute) {
  for (const std::uint64_t count : {0, 1, 7, 1023, 1024, 1025, 9'000}) {
    for (const int tuple : {1, 2, 3, 7, 64}) {
      for (const int order : {1, 3}) {
        expect_reference<Affine<2>>({count, order, tuple, order == 3});
        expect_reference<Affine<10>>({count, order, tuple, order == 1});
      }
    }
  }
}

TEST(ScanCustomSimulator, AGroupOfTilesFollowsAnother) {
  const std::uint64_t tile = custom_scan::kThreads * custom_scan::kRun;
  expect_reference<Affine<2>>({(custom_scan::kGroup + 2) * tile + 1, 1, 1, false});
}

TEST(ScanCustomSimulator, RefusesWhatItCannotDo) {
  Affine<2> map;
  const auto scan = [&](const CustomScan& asked, std::size_t bytes) {
    const scan::ScanScratch scratch(1 << 16);
    return scan_custom(asked, &map, &map, Compose{}, Affine<2>{}, scratch.data(), bytes, nullptr);
  };
  EXPECT_EQ(scan({1, 0, 1, false}, 1 << 16), cudaErrorInvalidValue);
  EXPECT_EQ(scan({1, 1, 0, false}, 1 << 16), cudaErrorInvalidValue);
  EXPECT_EQ(scan({1, 1, 65, false}, 1 << 16), cudaErrorInvalidValue);
  EXPECT_EQ(scan({1, 1, 1, false}, 256), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace gdelta
