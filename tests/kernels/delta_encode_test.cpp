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

template <class Value>
void check(int order, std::uint64_t tuple, std::uint64_t count, scan::Type type) {
  const std::vector<Value> values =
      scan::random_values<Value>(count, 11 + order, scan::Operator::sum);
  std::vector<Value> expected = values;
  for (int q = 0; q < order; ++q) {
    for (std::size_t i = count; i-- > tuple;)
      expected[i] = static_cast<Value>(expected[i] - expected[i - tuple]);
  }
  std::vector<Value> encoded(count);
  delta_encode(sizeof(Value), order, tuple, count, values.data(), encoded.data());
  ASSERT_EQ(encoded, expected) << "order " << order << " tuple " << tuple << " count " << count;
#ifdef GDELTA_HAS_CUDA
  int devices = 0;
  if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0 && count > 0) {
    void *in = nullptr, *out = nullptr;
    cudaMalloc(&in, count * sizeof(Value));
    cudaMalloc(&out, count * sizeof(Value));
    cudaMemcpy(in, values.data(), count * sizeof(Value), cudaMemcpyHostToDevice);
    ASSERT_EQ(launch_delta_encode(sizeof(Value), order, tuple, count, in, out, nullptr),
              cudaSuccess);
    std::vector<Value> result(count);
    cudaMemcpy(result.data(), out, count * sizeof(Value), cudaMemcpyDeviceToHost);
    ASSERT_EQ(result, expected) << "device, order " << order << " tuple " << tuple << " count "
                                << count;
    cudaFree(in);
    cudaFree(out);
  }
#endif
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

}  // namespace
}  // namespace gdelta
