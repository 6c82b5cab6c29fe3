// Copies between the caller's memory and pinned memory: one thread alone is slower than the bus. Memory that
// the caller has pinned needs none.
#pragma once

#include <cuda_runtime_api.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

namespace gdelta::cuda {

struct HostCopy {
  void* to;
  const void* from;
  std::size_t bytes;
};

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

inline void run_host_copies(tbb::task_arena& arena, std::span<const HostCopy> copies) {
  // Long copies are cut, so that one chunk of 256 MiB keeps all threads busy as well.
  constexpr std::size_t kPiece = 1 << 20;
  std::vector<HostCopy> pieces;
  for (const HostCopy& copy : copies) {
    for (std::size_t at = 0; at < copy.bytes; at += kPiece)
      pieces.push_back({static_cast<char*>(copy.to) + at, static_cast<const char*>(copy.from) + at,
                        std::min(kPiece, copy.bytes - at)});
  }
  arena.execute([&] {
    tbb::parallel_for(std::size_t{0}, pieces.size(), [&](std::size_t i) {
      std::memcpy(pieces[i].to, pieces[i].from, pieces[i].bytes);
    });
  });
}

}  // namespace gdelta::cuda
