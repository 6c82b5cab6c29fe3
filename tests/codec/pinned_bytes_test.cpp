// The bytes of every level, coder and type are those of the tables in `pinned`. If a change of bytes is
// meant, or a coder is new, this writes them anew:
//
//   GDELTA_UPDATE_PINNED=1 build/dev/tests/gdelta_codec_tests --gtest_filter='PinnedBytes.*'
#include <cstdlib>

#include "codec/pinned_cases.h"
#ifdef GDELTA_HAS_CUDA
#include "codec/cuda/cuda_cases.h"
#endif

namespace gdelta::test {
namespace {

void expect_pinned(const PinnedTables& tables) {
  for (const auto& [table, rows] : tables) {
    const PinnedRows pinned = read_pinned_rows(table);
    EXPECT_EQ(rows.size(), pinned.size()) << pinned_path(table);
    for (const auto& [name, part] : rows) {
      const auto found = pinned.find(name);
      ASSERT_NE(found, pinned.end()) << name << " is not in " << pinned_path(table);
      EXPECT_EQ(part, found->second) << table << ' ' << name;
    }
  }
}

TEST(PinnedBytes, AreWhatTheCpuWrites) {
  const PinnedTables tables = pinned_tables("cpu");
  if (std::getenv("GDELTA_UPDATE_PINNED") != nullptr)
    for (const auto& [table, rows] : tables) write_pinned_rows(table, rows);
  expect_pinned(tables);
}

#ifdef GDELTA_HAS_CUDA
TEST(PinnedBytesCuda, AreWhatTheGpuWrites) {
  GDELTA_NEEDS_GPU();
  expect_pinned(pinned_tables("cuda"));
}
#endif

}  // namespace
}  // namespace gdelta::test
