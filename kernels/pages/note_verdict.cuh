// Verdicts that blocks of one kernel give side by side, each on what it has found: the gravest and then the lowest stays.
// Nothing has to be made ready before: the first block to say something of a chunk clears what was there before the call.
#pragma once

#include "kernels/pages/chunk_verdict.h"

namespace gdelta::cuda {

/// What has been found wrong, from what counts least up: the content of a page is looked at if the page breaks no rule, and pages if
/// the head is right.
enum class Fault : std::uint32_t { none = 0, content = 1, page = 2, head = 3 };

/// Makes `verdict` good, once a call, and waits until that is done; by one thread of a warp. `cell` is memory that no other
/// verdict of the call has. `call` is a number that no other call has, so that nothing left in the cell means this one.
__device__ inline void open_verdict(ChunkVerdict& verdict, unsigned long long& cell,
                                    std::uint64_t call) {
  const std::uint64_t opening = 2 * call, open = opening + 1;
  std::uint64_t found = *static_cast<volatile unsigned long long*>(&cell);
  while (found != open) {
    if (found == opening) {
      found = *static_cast<volatile unsigned long long*>(&cell);
      continue;
    }
    const std::uint64_t before = found;
    found = atomicCAS(&cell, before, opening);
    if (found != before) continue;
    verdict = {};
    __threadfence();  // the verdict is clear before it is open
    atomicExch(&cell, open);
    return;
  }
  __threadfence();  // what is noted comes behind the clearing
}

/// Makes `verdict`, which is open, {code, byte} unless something graver, or of its kind something lower, is noted
/// there. By one thread of a warp.
__device__ inline void note_fault(ChunkVerdict& verdict, Fault fault, std::int32_t code,
                                  std::uint64_t byte) {
  constexpr std::uint32_t kHeld = 1u << 31;  // by the thread that writes
  const auto own = static_cast<std::uint32_t>(fault);
  std::uint32_t noted = kHeld;
  while ((noted & kHeld) != 0) noted = atomicOr(&verdict.reserved, kHeld);
  __threadfence();  // what the holder before has written is read
  volatile ChunkVerdict& shared = verdict;
  if (own > noted || (own == noted && byte < shared.byte)) {
    shared.code = code;
    shared.byte = byte;
    noted = own;
  }
  __threadfence();  // the next holder reads it
  atomicExch(&verdict.reserved, noted);
}

}  // namespace gdelta::cuda
