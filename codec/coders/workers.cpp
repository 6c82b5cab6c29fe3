#include "codec/coders/workers.h"

#include <algorithm>

namespace gdelta {

namespace {

// Threads seldom begin together; a few stretches for each even that out.
constexpr std::uint64_t kRangesPerThread = 4;

}  // namespace

Workers& Workers::alone() {
  thread_local Workers workers(1);
  return workers;
}

std::uint64_t Workers::num_ranges(std::uint64_t count, std::uint64_t grain) const {
  if (threads_ == 1) return 1;
  const std::uint64_t most = kRangesPerThread * static_cast<std::uint64_t>(threads_);
  return std::clamp<std::uint64_t>(count / grain, 1, most);
}

}  // namespace gdelta
