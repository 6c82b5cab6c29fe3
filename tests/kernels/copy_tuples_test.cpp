#include "kernels/words/copy_tuples.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace gdelta {
namespace {

using Steps = std::pair<std::size_t, std::size_t>;

/// Tuples from one place to another, and nothing beside them.
void expect_copied(std::size_t bytes, std::size_t count, Steps steps) {
  const auto [from_step, to_step] = steps;
  std::vector<unsigned char> from((count > 0 ? count - 1 : 0) * from_step + bytes);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<unsigned char>(37 * i + 1);
  std::vector<unsigned char> to((count > 0 ? count - 1 : 0) * to_step + bytes, 0xa5), expected = to;
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t b = 0; b < bytes; ++b) expected[i * to_step + b] = from[i * from_step + b];
  copy_tuples(from.data(), from_step, to.data(), to_step, bytes, count);
  EXPECT_EQ(to, expected) << bytes << " bytes, " << count << " tuples, " << from_step << " to "
                          << to_step;
}

TEST(CopyTuples, CopiesTuplesOfEverySizeAndNothingElse) {
  for (std::size_t bytes = 1; bytes <= 130; ++bytes) {
    for (const std::size_t count : {0, 1, 2, 7}) {
      for (const std::size_t more : {0, 1, 13}) {
        expect_copied(bytes, count, {bytes + more, bytes});
        expect_copied(bytes, count, {bytes, bytes + more});
        expect_copied(bytes, count, {0, bytes + more});
      }
    }
  }
}

}  // namespace
}  // namespace gdelta
