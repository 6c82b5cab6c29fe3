// Scans of f16 and bf16 on every path of the device against the reference of the CPU.
#ifdef GDELTA_HAS_CUDA
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "kernels/scan/scan_cuda.h"
#include "tests/kernels/has_device.h"
#include "tests/kernels/scan_half_reference.h"
#include "tests/kernels/scan_reference.h"

namespace gdelta::scan {
namespace {

using Halves = std::vector<std::uint16_t>;

/// Device memory that is given back.
class DeviceBytes {
 public:
  explicit DeviceBytes(std::size_t bytes) { cudaMalloc(&data_, bytes); }
  ~DeviceBytes() { cudaFree(data_); }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
  void* get() { return data_; }

 private:
  void* data_ = nullptr;
};

void expect_like_reference(const Shape& shape, Path path) {
  const Halves in = half_values(shape, shape.count);
  Halves expected = in;
  reference_half_scan(shape, expected);
  const std::size_t bytes = in.size() * sizeof(std::uint16_t);
  const std::size_t scratch_size = scratch_bytes(shape, path, 0);
  DeviceBytes values(bytes), scratch(scratch_size);
  cudaMemcpy(values.get(), in.data(), bytes, cudaMemcpyHostToDevice);
  ASSERT_EQ(
      launch_scan(shape, path, values.get(), values.get(), scratch.get(), scratch_size, nullptr),
      cudaSuccess)
      << describe(shape) << " path " << int(path);
  Halves result(in.size());
  ASSERT_EQ(cudaMemcpy(result.data(), values.get(), bytes, cudaMemcpyDeviceToHost), cudaSuccess);
  for (std::size_t i = 0; i < result.size(); ++i)
    ASSERT_EQ(result[i], expected[i]) << describe(shape) << " path " << int(path) << " at " << i;
}

TEST(ScanHalfCuda, EveryOperatorIsThatOfTheReferenceOnEveryPath) {
  GDELTA_NEEDS_DEVICE();
  for (const Path path :
       {Path::automatic, Path::single, Path::group, Path::stream, Path::cluster, Path::resident}) {
    for (const std::uint64_t count : {1, 71, 3'000, 50'001, 1'000'003}) {
      for (const Shape& shape : half_shapes(count)) {
        if (path != Path::automatic && !can_take(shape, path, 0)) continue;
        expect_like_reference(shape, path);
        if (HasFatalFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace gdelta::scan
#endif
