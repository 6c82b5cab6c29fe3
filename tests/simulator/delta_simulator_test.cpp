// The delta encoder of the device on a simulated one, against differences taken one order after the
// other. Input and output end before a page that nobody can touch.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "kernels/delta/delta_encode_cuda.h"
#include "kernels/delta/lane_delta.h"
#include "simulator/guarded_bytes.h"

namespace gdelta {
namespace {

using simulator::GuardedBytes;

template <class Value>
std::span<const unsigned char> bytes_of(const std::vector<Value>& values) {
  return {reinterpret_cast<const unsigned char*>(values.data()), values.size() * sizeof(Value)};
}

template <class Value>
void expect_differences(int order, std::uint64_t tuple, std::uint64_t count) {
  std::mt19937_64 random(count);
  std::vector<Value> values(count);
  for (Value& value : values) value = static_cast<Value>(random());
  std::vector<Value> expected = values;
  for (int k = 0; k < order; ++k) {
    for (std::uint64_t i = count; i-- > tuple;)
      expected[i] = static_cast<Value>(expected[i] - expected[i - tuple]);
  }
  // No multiple of 16 bytes: what the rounding adds may be touched by nobody, and is compared.
  const std::size_t rest = (16 - count * sizeof(Value) % 16) % 16;
  const GuardedBytes in(bytes_of(values), 0, true), out(bytes_of(values), 0, true);
  const std::vector<unsigned char> behind(out.data() + count * sizeof(Value),
                                          out.data() + count * sizeof(Value) + rest);
  ASSERT_EQ(launch_delta_encode(sizeof(Value), order, tuple, count, in.data(), out.data(), nullptr),
            cudaSuccess);
  const auto* const differences = reinterpret_cast<const Value*>(out.data());
  for (std::uint64_t i = 0; i < count; ++i)
    ASSERT_EQ(differences[i], expected[i])
        << sizeof(Value) << " bytes, order " << order << ", tuple " << tuple << ", value " << i
        << " of " << count;
  ASSERT_TRUE(std::equal(behind.begin(), behind.end(), out.data() + count * sizeof(Value)));
}

TEST(DeltaSimulator, DifferencesOfEveryOrderAreThoseOfRepeatedDifferences) {
  for (int order = 0; order <= kMaxDeltaOrder; ++order) {
    for (const std::uint64_t count : {1, 255, 1023, 1024, 1025, 2300}) {
      for (const std::uint64_t tuple : {1, 3, 256, 1100, 5000}) {
        expect_differences<std::uint8_t>(order, tuple, count);
        expect_differences<std::uint16_t>(order, tuple, count);
        expect_differences<std::uint32_t>(order, tuple, count);
        expect_differences<std::uint64_t>(order, tuple, count);
      }
    }
  }
}

TEST(DeltaSimulator, AStrideThatOverflowsMeetsNoValue) {
  for (const std::uint64_t tuple : {~std::uint64_t{0}, std::uint64_t{1} << 63})
    expect_differences<std::uint32_t>(8, tuple, 1500);
}

TEST(DeltaSimulator, NothingIsWrittenWhereThereIsNothing) {
  EXPECT_EQ(launch_delta_encode(4, 1, 1, 0, nullptr, nullptr, nullptr), cudaSuccess);
}

}  // namespace
}  // namespace gdelta
