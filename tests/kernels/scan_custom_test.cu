// A caller's own operator that does not commute: composition of affine maps.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "gdelta/scan_custom.cuh"

namespace gdelta {
namespace {

struct Affine {
  std::uint32_t factor;
  std::uint32_t offset;
};

/// First `earlier`, then `later`, mod 2^32.
struct Compose {
  __host__ __device__ Affine operator()(const Affine& earlier, const Affine& later) const {
    return {later.factor * earlier.factor, later.factor * earlier.offset + later.offset};
  }
};

void expect_like_reference(const CustomScan& scan, bool in_place) {
  std::mt19937_64 random(scan.count);
  std::vector<Affine> values(scan.count);
  for (Affine& v : values)
    v = {static_cast<std::uint32_t>(random()) | 1, static_cast<std::uint32_t>(random())};
  Affine *in = nullptr, *out = nullptr;
  void* scratch = nullptr;
  const std::size_t bytes = scan_custom_scratch_bytes<Affine>(scan);
  ASSERT_EQ(cudaMalloc(&in, scan.count * sizeof(Affine) + 1), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&out, scan.count * sizeof(Affine) + 1), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&scratch, bytes), cudaSuccess);
  cudaMemset(scratch, 0xee, bytes);
  cudaMemcpy(in, values.data(), scan.count * sizeof(Affine), cudaMemcpyHostToDevice);
  Affine* const target = in_place ? in : out;
  ASSERT_EQ(scan_custom(scan, in, target, Compose{}, Affine{1, 0}, scratch, bytes, nullptr),
            cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  std::vector<Affine> result(scan.count);
  cudaMemcpy(result.data(), target, scan.count * sizeof(Affine), cudaMemcpyDeviceToHost);
  for (int order = 0; order < scan.order; ++order) {
    for (std::size_t i = scan.tuple; i < scan.count; ++i)
      values[i] = Compose{}(values[i - scan.tuple], values[i]);
  }
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < scan.count; ++i) {
    const std::size_t tuple = scan.tuple;
    const Affine expected = !scan.exclusive ? values[i]
                            : i < tuple     ? Affine{1, 0}
                                            : values[i - tuple];
    wrong += result[i].factor != expected.factor || result[i].offset != expected.offset;
  }
  EXPECT_EQ(wrong, 0u) << "count " << scan.count << " order " << scan.order << " tuple "
                       << scan.tuple;
  cudaFree(in);
  cudaFree(out);
  cudaFree(scratch);
}

TEST(ScanCustom, ComposesAffineMapsInOrder) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
    GTEST_SKIP() << "no CUDA device on this machine";
  for (const std::uint64_t count : {0, 1, 7, 1023, 1024, 1025, 33'000, 1'000'003}) {
    for (const int tuple : {1, 2, 3, 7, 64}) {
      for (const int order : {1, 3}) {
        expect_like_reference({count, order, tuple, order == 3}, tuple == 2);
      }
    }
  }
}

}  // namespace
}  // namespace gdelta
