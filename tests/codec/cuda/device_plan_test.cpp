// device_encode looks at the groups that the CPU looks at, and decides as it does if orders cost the
// same. Values are zero but for a few, whose group alone decides the plan.
#ifdef GDELTA_HAS_CUDA
#include "codec/cuda/device_encode_cases.h"

namespace gdelta::test {
namespace {

constexpr std::size_t kGroup = 128;  // values

/// Bytes that take few bits at order 1 and all of theirs at order 0.
void fill_decider(Bytes& values, std::size_t group, std::size_t lane, std::size_t tuple) {
  for (std::size_t i = 0; i < kGroup && (group * kGroup + i) * tuple + lane < values.size(); ++i)
    values[(group * kGroup + i) * tuple + lane] = static_cast<std::byte>(100 + i);
}

// Of 40 groups a lane's sample has 32.
TEST(DevicePlanCudaSmall, EverySampledGroupOfALaneCountsAndNoOther) {
  GDELTA_NEEDS_GPU();
  constexpr std::size_t kTuple = 3, kChunk = kTuple * (40 * kGroup + 3);
  Bytes values;
  for (std::size_t group = 0; group < 40; ++group) {
    Bytes chunk(kChunk);
    fill_decider(chunk, group, group % kTuple, kTuple);
    values.insert(values.end(), chunk.begin(), chunk.end());
  }
  expect_stream_of_cpu(values, {ValueType::u8, kTuple, false}, kChunk, std::nullopt);
}

// A run at the end costs an exception for each of its values at order 0, one at order 1 and two at
// order 2, and every page a state for each order: for some run it is the same.
TEST(DevicePlanCudaSmall, OfOrdersThatCostTheSameTheLowestIsTaken) {
  GDELTA_NEEDS_GPU();
  for (std::size_t groups = 1; groups <= 40; groups += 3) {
    Bytes values;
    for (std::size_t run = 1; run <= 10; ++run) {
      values.resize(values.size() + kGroup * groups);
      std::fill_n(values.rbegin(), run, std::byte{100});
    }
    expect_stream_of_cpu(values, {ValueType::u8, 1, false}, kGroup * groups, std::nullopt);
  }
}

}  // namespace
}  // namespace gdelta::test
#endif
