// Copies in host memory by all threads: one alone is slower than memory, and than a bus.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "codec/coders/workers.h"

namespace gdelta {

struct HostCopy {
  void* to;
  const void* from;
  std::size_t bytes;
};

/// memcpy, or what takes its place.
using CopyBytes = void* (*)(void* to, const void* from, std::size_t bytes);

/// Copies by all the workers.
inline void run_host_copies(Workers& workers, std::span<const HostCopy> copies,
                            CopyBytes copy_bytes = std::memcpy) {
  // Long copies are cut, so that one chunk of 256 MiB keeps all threads busy as well.
  constexpr std::size_t kPiece = 256 << 10;
  std::vector<HostCopy> pieces;
  for (const HostCopy& copy : copies) {
    for (std::size_t at = 0; at < copy.bytes; at += kPiece)
      pieces.push_back({static_cast<char*>(copy.to) + at, static_cast<const char*>(copy.from) + at,
                        std::min(kPiece, copy.bytes - at)});
  }
  workers.for_each(pieces.size(), [&](std::size_t i) {
    copy_bytes(pieces[i].to, pieces[i].from, pieces[i].bytes);
  });
}

}  // namespace gdelta
