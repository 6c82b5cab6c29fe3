// Memory that was allocated just now and is about to be filled: the system puts pages behind it one by one as they are
// touched, which takes longer than filling them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <vector>

#include "codec/backend/backend.h"
#include "codec/coders/workers.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace gdelta {

/// Makes room for so many bytes in all, and says whether it could: what was said to come may be more than there is. No memory
/// is touched.
inline bool reserve_if_possible(std::vector<std::byte>& out, std::uint64_t bytes) {
  try {
    out.reserve(static_cast<std::size_t>(bytes));
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  } catch (const std::length_error&) {
    return false;
  }
}

/// Has the system put pages behind [begin, begin + bytes), by so many threads (0: all), if they are worth it; what is in them is not
/// changed. Where the system cannot, they come when they are touched.
inline void populate(std::byte* begin, std::size_t bytes, int threads) {
#ifdef MADV_POPULATE_WRITE  // Linux 5.14
  constexpr std::uintptr_t kPage = 4096;
  constexpr std::uint64_t kPagesOfAPiece = 4096;
  constexpr std::size_t kWorthIt = std::size_t{8} << 20;
  if (bytes < kWorthIt) return;
  const auto skipped = static_cast<std::size_t>(-reinterpret_cast<std::uintptr_t>(begin) % kPage);
  std::byte* const first = begin + skipped;
  Workers workers(cpu_threads(threads));
  workers.for_ranges(
      (bytes - skipped) / kPage, kPagesOfAPiece, [first](std::uint64_t from, std::uint64_t to) {
        static_cast<void>(madvise(first + from * kPage, (to - from) * kPage, MADV_POPULATE_WRITE));
      });
#else
  static_cast<void>(begin);
  static_cast<void>(bytes);
  static_cast<void>(threads);
#endif
}

/// Makes room for so many elements, with pages behind it.
template <class Element>
void fresh_room(std::vector<Element>& out, std::uint64_t count, int threads) {
  out.reserve(static_cast<std::size_t>(count));
  populate(reinterpret_cast<std::byte*>(out.data()),
           static_cast<std::size_t>(count) * sizeof(Element), threads);
}

}  // namespace gdelta
