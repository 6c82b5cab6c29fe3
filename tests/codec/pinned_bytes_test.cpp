// The bytes of every level, coder and type are those of pinned_bytes.csv. If a change of bytes is
// meant, this writes the table anew:
//
//   GDELTA_UPDATE_PINNED=1 build/dev/tests/gdelta_codec_tests --gtest_filter='PinnedBytes.*'
#include <cstdlib>

#include "codec/pinned_cases.h"
#ifdef GDELTA_HAS_CUDA
#include "codec/cuda/cuda_cases.h"
#endif

namespace gdelta::test {
namespace {

void expect_pinned(const std::map<std::string, std::string>& rows) {
  const auto pinned = read_pinned_rows();
  EXPECT_EQ(rows.size(), pinned.size());
  for (const auto& [name, part] : rows) {
    const auto found = pinned.find(name);
    ASSERT_NE(found, pinned.end()) << name << " is not in " << pinned_path();
    EXPECT_EQ(part, found->second) << name;
  }
}

TEST(PinnedBytes, AreWhatTheCpuWrites) {
  const auto rows = pinned_rows("cpu");
  if (std::getenv("GDELTA_UPDATE_PINNED") != nullptr) write_pinned_rows(rows);
  expect_pinned(rows);
}

#ifdef GDELTA_HAS_CUDA
TEST(PinnedBytesCuda, AreWhatTheGpuWrites) {
  GDELTA_NEEDS_GPU();
  expect_pinned(pinned_rows("cuda"));
}
#endif

}  // namespace
}  // namespace gdelta::test
