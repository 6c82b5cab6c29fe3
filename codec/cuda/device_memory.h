// Owned device memory, pinned host memory, streams: freed when they go out of scope. They grow on
// demand and never shrink, so that a batch after the first allocates nothing.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <utility>

#include "codec/cuda/cuda_error.h"

namespace gdelta::cuda {

enum class MemoryKind { device, pinned };

template <MemoryKind kKind>
class CudaMemory {
 public:
  CudaMemory() = default;
  CudaMemory(CudaMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  CudaMemory& operator=(CudaMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~CudaMemory() { release(); }

  /// Makes room for `bytes`; what was there is lost if it grows.
  Result<void> reserve(std::uint64_t bytes) {
    if (bytes <= bytes_) return {};
    release();
    const std::uint64_t rounded = (bytes + kGrain - 1) / kGrain * kGrain;
    void* data = nullptr;
    if constexpr (kKind == MemoryKind::device) {
      GDELTA_CUDA_TRY(cudaMalloc(&data, rounded));
    } else {
      GDELTA_CUDA_TRY(cudaMallocHost(&data, rounded));
    }
    data_ = static_cast<unsigned char*>(data);
    bytes_ = rounded;
    return {};
  }
  unsigned char* data() const { return data_; }

 private:
  static constexpr std::uint64_t kGrain = 1ull << 20;

  void release() {
    // A failure here would have failed the calls before it.
    if (data_ == nullptr) return;
    if constexpr (kKind == MemoryKind::device) {
      static_cast<void>(cudaFree(data_));
    } else {
      static_cast<void>(cudaFreeHost(data_));
    }
    data_ = nullptr;
    bytes_ = 0;
  }

  unsigned char* data_ = nullptr;
  std::uint64_t bytes_ = 0;
};

using DeviceMemory = CudaMemory<MemoryKind::device>;
using PinnedMemory = CudaMemory<MemoryKind::pinned>;

class CudaStream {
 public:
  CudaStream() = default;
  CudaStream(CudaStream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  CudaStream& operator=(CudaStream&& other) noexcept {
    std::swap(stream_, other.stream_);
    return *this;
  }
  ~CudaStream() {
    if (stream_ != nullptr) static_cast<void>(cudaStreamDestroy(stream_));
  }

  Result<void> open() {
    if (stream_ == nullptr)
      GDELTA_CUDA_TRY(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    return {};
  }
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace gdelta::cuda
