// What is freed stays with the process for what is allocated next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace gdelta {

/// Lets an allocator that learns from what is freed keep the scratch of a chunk for the next one, in calls that may hold so many
/// bytes. The GNU library gives memory back to the system until so large a block has been freed once (mallopt(3),
/// M_MMAP_THRESHOLD), and each page of new memory costs a fault: at level 3 a fifth of the time. Takes microseconds.
inline void keep_freed_memory(std::uint64_t bytes) {
  // The largest that it learns from is 32 MiB.
  constexpr std::size_t kBlock = (std::size_t{32} << 20) - (std::size_t{64} << 10);
  if (bytes < kBlock) return;
  void* const block = std::malloc(kBlock);
  if (block != nullptr) *static_cast<volatile char*>(block) = 0;  // or the pair is left out
  std::free(block);
}

}  // namespace gdelta
