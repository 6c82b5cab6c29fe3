// How much of an input is collected before it is coded.
#include <gtest/gtest.h>

#include "codec/backend/backend.h"
#include "mebibyte.h"

namespace gdelta::test {
namespace {

TEST(BatchSize, IsSoManyChunksWithinItsBounds) {
  const BatchSize size{.most_bytes = 256 * kMiB, .least_bytes = 32 * kMiB, .chunks = 64};
  EXPECT_EQ(size.bytes_of(0), 32 * kMiB);
  EXPECT_EQ(size.bytes_of(kMiB / 2), 32 * kMiB);
  EXPECT_EQ(size.bytes_of(kMiB), 64 * kMiB);
  EXPECT_EQ(size.bytes_of(3 * kMiB), 192 * kMiB);
  EXPECT_EQ(size.bytes_of(16 * kMiB), 256 * kMiB);
  EXPECT_EQ(size.bytes_of(~std::uint64_t{0}), 256 * kMiB);
}

TEST(BatchSize, OfACpuKeepsEveryThreadBusy) {
  for (const int threads : {1, 2}) {
    const BatchSize size = make_cpu_backend(threads)->batch_size();
    const auto at_once = static_cast<std::uint64_t>(cpu_threads(threads));
    EXPECT_EQ(size.bytes_of(kMiB), 4 * kMiB * at_once);
    EXPECT_EQ(size.bytes_of(16 * kMiB), 16 * kMiB * at_once);
    EXPECT_GE(size.bytes_of(4096), kMiB * at_once);
  }
}

}  // namespace
}  // namespace gdelta::test
