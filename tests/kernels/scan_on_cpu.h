// The CPU scan with scratch of exactly the bytes that it asks for, full of rubbish.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "kernels/scan/scan_cpu.h"

namespace gdelta::scan {

inline void scan_on_cpu(const Shape& shape, const void* in, void* out) {
  constexpr unsigned char kRubbish = 0xa5;
  const std::size_t bytes = scan_cpu_scratch_bytes(shape);
  std::vector<unsigned char> scratch(bytes + 1, kRubbish);
  scan_cpu(shape, in, out, scratch.data());
  EXPECT_EQ(scratch[bytes], kRubbish) << "behind the scratch";
}

}  // namespace gdelta::scan
