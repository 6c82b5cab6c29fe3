// Copies between the caller's memory and pinned memory: one thread alone is slower than the bus. Memory that
// the caller has pinned needs none.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "codec/coders/host_copies.h"
#include "codec/cuda/stream_copy.h"

namespace gdelta::cuda {

/// Whether the device can copy from or to this memory itself, and it is long enough to be worth a copy of its own.
inline bool is_pinned(const void* data, std::size_t bytes) {
  constexpr std::size_t kWorthACopy = 64 << 10;
  if (bytes < kWorthACopy) return false;
  for (const std::size_t at : {std::size_t{0}, bytes - 1}) {
    cudaPointerAttributes attributes{};
    const void* const place = static_cast<const char*>(data) + at;
    if (cudaPointerGetAttributes(&attributes, place) != cudaSuccess ||
        attributes.type != cudaMemoryTypeHost)
      return false;
  }
  return true;
}

/// Places for stretches of the caller's memory, one behind the other in memory of the device: neighbours stay
/// neighbours, so that one copy takes them all, and others begin at multiples of 16.
class NeighbourPlaces {
 public:
  /// Where the next one goes.
  std::uint64_t place(std::span<const std::byte> stretch) {
    constexpr std::uint64_t kAlign = 16;
    const std::byte* const begin = stretch.data();
    if (begin != host_end_) end_ = (end_ + kAlign - 1) / kAlign * kAlign;
    const std::uint64_t at = end_;
    end_ += stretch.size();
    host_end_ = begin + stretch.size();
    return at;
  }
  /// Bytes of all, with what lies between them.
  std::uint64_t bytes() const { return end_; }

 private:
  std::uint64_t end_ = 0;
  const std::byte* host_end_ = nullptr;
};

/// Copies as one where each begins, on both sides, behind the end of the one before it: chunks of one array are
/// neighbours, and a copy over the bus costs microseconds beside its bytes.
inline std::vector<HostCopy> join_neighbours(std::span<const HostCopy> copies) {
  const auto end_of = [](const void* begin, std::size_t bytes) -> const void* {
    return static_cast<const char*>(begin) + bytes;
  };
  std::vector<HostCopy> joined;
  for (const HostCopy& copy : copies) {
    if (!joined.empty() && end_of(joined.back().to, joined.back().bytes) == copy.to &&
        end_of(joined.back().from, joined.back().bytes) == copy.from)
      joined.back().bytes += copy.bytes;
    else
      joined.push_back(copy);
  }
  return joined;
}

/// Enqueues copies to the device or from it; what is on the host is pinned.
inline cudaError_t enqueue_copies(std::span<const HostCopy> copies, cudaMemcpyKind kind,
                                  cudaStream_t stream) {
  for (const HostCopy& copy : join_neighbours(copies))
    if (auto error = cudaMemcpyAsync(copy.to, copy.from, copy.bytes, kind, stream)) return error;
  return cudaSuccess;
}

}  // namespace gdelta::cuda
