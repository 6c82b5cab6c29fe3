// The scan of the public API: what it refuses, what it returns, and what a build without CUDA says.
#include "gdelta/scan.h"

#include <gtest/gtest.h>

#include <vector>

namespace gdelta {
namespace {

TEST(ScanApi, ScansHostMemory) {
  const std::vector<std::int32_t> in = {1, 10, 2, 20, 3, 30};
  std::vector<std::int32_t> out(6);
  Scan scan;
  scan.type = ValueType::i32;
  scan.tuple = 2;
  scan.order = 2;
  scan.count = 6;
  ASSERT_TRUE(scan_host(scan, in.data(), out.data()));
  EXPECT_EQ(out, (std::vector<std::int32_t>{1, 10, 4, 40, 10, 100}));
  scan.exclusive = true;
  ASSERT_TRUE(scan_host(scan, in.data(), out.data()));
  EXPECT_EQ(out, (std::vector<std::int32_t>{0, 0, 1, 10, 4, 40}));
}

TEST(ScanApi, RefusesWhatCannotBe) {
  std::vector<std::int32_t> values(8);
  const auto code = [&](const Scan& scan, const void* in, void* out) {
    const Result<void> result = scan_host(scan, in, out);
    return result ? Errc::ok : result.error().code;
  };
  Scan scan;
  scan.type = ValueType::i32;
  scan.count = 4;
  EXPECT_EQ(code(scan, values.data(), values.data()), Errc::ok);
  EXPECT_EQ(code(scan, values.data(), values.data() + 1), Errc::invalid_argument);
  EXPECT_EQ(code(scan, nullptr, values.data()), Errc::invalid_argument);
  scan.order = 9;
  EXPECT_EQ(code(scan, values.data(), values.data()), Errc::invalid_argument);
  scan.order = 1;
  scan.tuple = 0;
  EXPECT_EQ(code(scan, values.data(), values.data()), Errc::invalid_argument);
  scan.tuple = 1;
  scan.type = ValueType::i24;
  EXPECT_EQ(code(scan, values.data(), values.data()), Errc::invalid_argument);
  scan.type = ValueType::f32;
  scan.op = ScanOperator::bit_xor;
  EXPECT_EQ(code(scan, values.data(), values.data()), Errc::invalid_argument);
}

TEST(ScanApi, DeviceScratchIsKnownOrTheBackendIsMissing) {
  Scan scan;
  scan.count = 1 << 20;
  const Result<std::size_t> bytes = scan_scratch_bytes(scan);
  if (bytes) {
    EXPECT_GT(*bytes, 0u);
  } else {
    EXPECT_TRUE(bytes.error().code == Errc::unsupported_backend ||
                bytes.error().code == Errc::device_error);
  }
}

}  // namespace
}  // namespace gdelta
