// One-pass delta encoding against repeated differences, and against the scan that undoes it.
#include "kernels/delta/delta_encode.h"

#include <gtest/gtest.h>

#include "kernels/scan/scan_cpu.h"
#include "tests/kernels/scan_reference.h"

#ifdef GDELTA_HAS_CUDA
#include <cuda_runtime.h>

#include "kernels/delta/delta_encode_cuda.h"
#endif

namespace gdelta {
namespace {

/// Repeated differences, one order after the other.
template <class Value>
std::vector<Value> differences(std::vector<Value> values, int order, std::uint64_t tuple) {
  for (int q = 0; q < order; ++q) {
    for (std::size_t i = values.size(); i-- > tuple;)
      values[i] = static_cast<Value>(values[i] - values[i - tuple]);
  }
  return values;
}

template <class Value>
void check(int order, std::uint64_t tuple, std::uint64_t count, scan::Type type) {
  const std::vector<Value> values =
      scan::random_values<Value>(count, 11 + order, scan::Operator::sum);
  std::vector<Value> encoded(count);
  delta_encode(sizeof(Value), order, tuple, count, values.data(), encoded.data());
  ASSERT_EQ(encoded, differences(values, order, tuple))
      << "order " << order << " tuple " << tuple << " count " << count;
  if (order == 0) return;
  scan::scan_cpu({scan::Operator::sum, type, order, tuple, false, false, count}, encoded.data(),
                 encoded.data());
  ASSERT_EQ(encoded, values) << "order " << order << " tuple " << tuple << " count " << count;
}

TEST(DeltaEncode, IsRepeatedDifferencesAndUndoneByAScan) {
  for (int order = 0; order <= kMaxDeltaOrder; ++order) {
    for (const std::uint64_t tuple : {1ull, 2ull, 3ull, 64ull, 1000ull, 5000ull, 1ull << 62}) {
      for (const std::uint64_t count : {0, 1, 2, 17, 4095, 10'007}) {
        check<std::uint8_t>(order, tuple, count, scan::Type::u8);
        check<std::uint16_t>(order, tuple, count, scan::Type::u16);
        check<std::uint32_t>(order, tuple, count, scan::Type::u32);
        check<std::uint64_t>(order, tuple, count, scan::Type::u64);
      }
    }
  }
}

#ifdef GDELTA_HAS_CUDA
template <class Value>
void check_device(int order, std::uint64_t tuple, std::uint64_t count) {
  const std::vector<Value> values =
      scan::random_values<Value>(count, 11 + order, scan::Operator::sum);
  void *in = nullptr, *out = nullptr;
  ASSERT_EQ(cudaMalloc(&in, count * sizeof(Value)), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&out, count * sizeof(Value)), cudaSuccess);
  cudaMemcpy(in, values.data(), count * sizeof(Value), cudaMemcpyHostToDevice);
  ASSERT_EQ(launch_delta_encode(sizeof(Value), order, tuple, count, in, out, nullptr), cudaSuccess);
  std::vector<Value> result(count);
  ASSERT_EQ(cudaMemcpy(result.data(), out, count * sizeof(Value), cudaMemcpyDeviceToHost),
            cudaSuccess);
  ASSERT_EQ(result, differences(values, order, tuple))
      << "order " << order << " tuple " << tuple << " count " << count;
  cudaFree(in);
  cudaFree(out);
}

TEST(DeltaEncodeCudaSmall, IsRepeatedDifferences) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
    GTEST_SKIP() << "no CUDA device on this machine";
  for (int order = 0; order <= kMaxDeltaOrder; ++order) {
    for (const std::uint64_t tuple : {1ull, 3ull, 64ull, 5000ull, 1ull << 62}) {
      for (const std::uint64_t count : {1, 2, 17, 1023, 1024, 1025, 10'007}) {
        check_device<std::uint8_t>(order, tuple, count);
        check_device<std::uint16_t>(order, tuple, count);
        check_device<std::uint32_t>(order, tuple, count);
        check_device<std::uint64_t>(order, tuple, count);
      }
    }
  }
}
#endif

}  // namespace
}  // namespace gdelta
