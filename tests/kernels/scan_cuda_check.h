// What a path of the device scan writes, compared with the serial reference.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "kernels/scan/scan_cuda.h"
#include "tests/kernels/has_device.h"
#include "tests/kernels/scan_reference.h"

namespace gdelta::scan {

/// Device memory with bytes before and after that must stay as they are.
class GuardedBuffer {
 public:
  GuardedBuffer(std::size_t bytes, std::size_t offset) : bytes_(bytes), offset_(kGuard + offset) {
    cudaMalloc(&data_, bytes_ + offset_ + kGuard);
    cudaMemset(data_, 0xa5, bytes_ + offset_ + kGuard);
  }
  ~GuardedBuffer() { cudaFree(data_); }
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;
  void* get() { return static_cast<char*>(data_) + offset_; }
  bool guards_hold() const {
    std::vector<unsigned char> head(offset_), tail(kGuard);
    cudaMemcpy(head.data(), data_, offset_, cudaMemcpyDeviceToHost);
    cudaMemcpy(tail.data(), static_cast<char*>(data_) + offset_ + bytes_, kGuard,
               cudaMemcpyDeviceToHost);
    const auto whole = [](unsigned char c) { return c == 0xa5; };
    return std::all_of(head.begin(), head.end(), whole) &&
           std::all_of(tail.begin(), tail.end(), whole);
  }

 private:
  static constexpr std::size_t kGuard = 256;
  void* data_ = nullptr;
  std::size_t bytes_;
  std::size_t offset_;
};

struct Placement {
  std::size_t in_offset = 0;  // in values
  std::size_t out_offset = 0;
  bool in_place = false;
};

template <class Value>
::testing::AssertionResult scans_like_reference(const Shape& shape, Path path, Placement placement,
                                                std::uint64_t seed) {
  std::vector<Value> expected = random_values<Value>(shape.count, seed, shape.op);
  const std::size_t bytes = shape.count * sizeof(Value);
  GuardedBuffer in(bytes, placement.in_offset * sizeof(Value));
  GuardedBuffer out(placement.in_place ? 0 : bytes, placement.out_offset * sizeof(Value));
  void* const target = placement.in_place ? in.get() : out.get();
  cudaMemcpy(in.get(), expected.data(), bytes, cudaMemcpyHostToDevice);
  reference_scan(shape, expected);

  const std::size_t scratch_size = scratch_bytes(shape, path, 0);
  GuardedBuffer scratch(scratch_size, 0);
  const cudaError_t error =
      launch_scan(shape, path, in.get(), target, scratch.get(), scratch_size, nullptr);
  if (error != cudaSuccess) return ::testing::AssertionFailure() << cudaGetErrorString(error);
  const cudaError_t done = cudaDeviceSynchronize();
  if (done != cudaSuccess) {
    std::fprintf(stderr, "%s: %s\n", describe(shape).c_str(), cudaGetErrorString(done));
    std::abort();  // nothing works on this device any more
  }
  std::vector<Value> result(shape.count);
  cudaMemcpy(result.data(), target, bytes, cudaMemcpyDeviceToHost);
  if (std::memcmp(result.data(), expected.data(), bytes) != 0) {
    std::size_t at = 0;
    std::size_t wrong = 0;
    for (std::size_t i = shape.count; i-- > 0;) {
      if (std::memcmp(&result[i], &expected[i], sizeof(Value)) != 0) at = i, ++wrong;
    }
    return ::testing::AssertionFailure() << wrong << " values differ, the first at " << at;
  }
  if (!in.guards_hold() || !out.guards_hold() || !scratch.guards_hold()) {
    return ::testing::AssertionFailure() << "wrote outside its buffers";
  }
  return ::testing::AssertionSuccess();
}

inline ::testing::AssertionResult check(const Shape& shape, Path path, Placement placement = {},
                                        std::uint64_t seed = 1) {
  switch (shape.type) {
    case Type::i8:
      return scans_like_reference<std::int8_t>(shape, path, placement, seed);
    case Type::u8:
      return scans_like_reference<std::uint8_t>(shape, path, placement, seed);
    case Type::i16:
      return scans_like_reference<std::int16_t>(shape, path, placement, seed);
    case Type::u16:
      return scans_like_reference<std::uint16_t>(shape, path, placement, seed);
    case Type::i32:
      return scans_like_reference<std::int32_t>(shape, path, placement, seed);
    case Type::u32:
      return scans_like_reference<std::uint32_t>(shape, path, placement, seed);
    case Type::i64:
      return scans_like_reference<std::int64_t>(shape, path, placement, seed);
    case Type::u64:
      return scans_like_reference<std::uint64_t>(shape, path, placement, seed);
    case Type::f32:
      return scans_like_reference<float>(shape, path, placement, seed);
    case Type::f64:
      return scans_like_reference<double>(shape, path, placement, seed);
    default:
      return ::testing::AssertionFailure() << "no reference for this type";
  }
}

inline constexpr Type kIntegers[] = {Type::i8, Type::u16, Type::u32, Type::i64};
inline constexpr Path kPaths[] = {Path::group, Path::stream, Path::cluster, Path::resident};

/// What a path can hold: a cluster and the chip are small.
inline std::uint64_t scaled(Path path, std::uint64_t count) {
  return path == Path::cluster ? count / 97 : path == Path::resident ? count / 4 : count;
}

inline bool takes(const Shape& shape, Path path) {
  return path == Path::automatic || can_take(shape, path, 0);
}

}  // namespace gdelta::scan
