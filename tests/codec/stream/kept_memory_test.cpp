// Memory that one chunk's scratch had is there for the next one's, and not asked for page by page again.
#include "codec/stream/kept_memory.h"

#include "codec/stream/stream_tools.h"
#include "held_memory.h"

#if defined(__GLIBC__)
#include <malloc.h>
#include <sys/resource.h>
#endif

namespace gdelta::test {
namespace {

TEST(KeptMemory, CallsBehindTheFirstTouchLittleNewMemory) {
  GDELTA_NEEDS_COUNTED_MEMORY();
#if defined(__GLIBC__)
  const auto page_faults = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
  };
  mallopt(M_PERTURB, 0);  // which touches what nobody uses
  const Bytes values = walk_bytes(32 << 20);
  EncodeOptions options;
  options.layout = parse_record("i32").value();
  options.level = 3;
  options.device = "cpu";
  options.threads = 1;
  Bytes stream(compress_bound(values.size(), options));
  ASSERT_TRUE(compress_into(values, stream, options));
  const long before = page_faults();
  constexpr long kCalls = 4, kPage = 4096;
  for (long call = 0; call < kCalls; ++call) ASSERT_TRUE(compress_into(values, stream, options));
  EXPECT_LT(page_faults() - before, kCalls * static_cast<long>(values.size()) / kPage / 8);
#else
  GTEST_SKIP() << "only the GNU library is known to learn from what is freed";
#endif
}

}  // namespace
}  // namespace gdelta::test
