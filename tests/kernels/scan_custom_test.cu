// A caller's own operators that do not commute: composition of affine maps, which crosses shared
// memory on its way, and products of matrices, which are too large for that.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "gdelta/scan_custom.cuh"
#include "kernels/has_device.h"

namespace gdelta {
namespace {

struct Affine {
  std::uint32_t factor;
  std::uint32_t offset;
};

/// First `earlier`, then `later`, mod 2^32.
struct Compose {
  static constexpr Affine kIdentity{1, 0};
  __host__ __device__ Affine operator()(const Affine& earlier, const Affine& later) const {
    return {later.factor * earlier.factor, later.factor * earlier.offset + later.offset};
  }
};

struct Matrix {
  std::uint32_t at[3][3];
};
static_assert(custom_scan::kStaged<Affine> && !custom_scan::kStaged<Matrix>);

struct Multiply {
  static constexpr Matrix kIdentity{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  __host__ __device__ Matrix operator()(const Matrix& earlier, const Matrix& later) const {
    Matrix product{};
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        for (int k = 0; k < 3; ++k) product.at[i][j] += earlier.at[i][k] * later.at[k][j];
      }
    }
    return product;
  }
};

template <class Value, class Op>
void expect_like_reference(const CustomScan& scan, bool in_place) {
  std::mt19937_64 random(scan.count);
  std::vector<Value> values(scan.count);
  for (Value& v : values) {
    std::uint32_t words[sizeof(Value) / 4];
    for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random()) | 1;
    std::memcpy(&v, words, sizeof(Value));
  }
  const std::size_t bytes = scan.count * sizeof(Value);
  Value *in = nullptr, *out = nullptr;
  void* scratch = nullptr;
  const std::size_t scratch_bytes = scan_custom_scratch_bytes<Value>(scan);
  ASSERT_EQ(cudaMalloc(&in, bytes + 1), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&out, bytes + 1), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&scratch, scratch_bytes), cudaSuccess);
  cudaMemset(scratch, 0xee, scratch_bytes);
  cudaMemcpy(in, values.data(), bytes, cudaMemcpyHostToDevice);
  Value* const target = in_place ? in : out;
  ASSERT_EQ(scan_custom(scan, in, target, Op{}, Op::kIdentity, scratch, scratch_bytes, nullptr),
            cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  std::vector<Value> result(scan.count);
  cudaMemcpy(result.data(), target, bytes, cudaMemcpyDeviceToHost);
  for (int order = 0; order < scan.order; ++order) {
    // Not in place: GCC 12 at -O3 jams two orders of that loop into one, which is wrong.
    std::vector<Value> sums;
    for (std::size_t i = 0; i < scan.count; ++i)
      sums.push_back(i < std::size_t(scan.tuple) ? values[i]
                                                 : Op{}(sums[i - scan.tuple], values[i]));
    values.swap(sums);
  }
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < scan.count; ++i) {
    const std::size_t tuple = scan.tuple;
    const Value expected = !scan.exclusive ? values[i]
                           : i < tuple     ? Op::kIdentity
                                           : values[i - tuple];
    wrong += std::memcmp(&result[i], &expected, sizeof(Value)) != 0;
  }
  EXPECT_EQ(wrong, 0u) << "count " << scan.count << " order " << scan.order << " tuple "
                       << scan.tuple;
  cudaFree(in);
  cudaFree(out);
  cudaFree(scratch);
}

TEST(ScanCustom, KeepsTheOrderOfWhatDoesNotCommute) {
  GDELTA_NEEDS_DEVICE();
  for (const std::uint64_t count : {0, 1, 7, 1023, 1024, 1025, 33'000, 1'000'003}) {
    for (const int tuple : {1, 2, 3, 7, 64}) {
      for (const int order : {1, 3}) {
        const CustomScan scan{
            .count = count, .order = order, .tuple = tuple, .exclusive = order == 3};
        expect_like_reference<Affine, Compose>(scan, tuple == 2);
        if (count < 100'000) expect_like_reference<Matrix, Multiply>(scan, tuple == 2);
      }
    }
  }
}

/// What compute-sanitizer can take.
TEST(ScanCustomCudaSmall, KeepsTheOrderOfWhatDoesNotCommute) {
  GDELTA_NEEDS_DEVICE();
  for (const int tuple : {1, 3}) {
    expect_like_reference<Affine, Compose>({600'001, 2, tuple, false}, false);
    expect_like_reference<Matrix, Multiply>({5'001, 1, tuple, true}, true);
  }
}

}  // namespace
}  // namespace gdelta
