// How much memory the code under test holds: every byte that it was given by malloc and its relatives
// (operator new, zstd, oneTBB among their callers), whether it was touched or not.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

namespace gdelta::test {

/// Bytes that are allocated now, by all threads; 0 if they are not counted.
std::uint64_t held_bytes();

/// False under a sanitizer, whose own malloc is not counted.
bool held_memory_is_counted();

/// Watches what is held from its construction on. One at a time; what other threads hold counts.
class HeldMemory {
 public:
  HeldMemory();
  HeldMemory(const HeldMemory&) = delete;
  HeldMemory& operator=(const HeldMemory&) = delete;

  /// The most that was held at any time so far, above what was held at the beginning.
  std::uint64_t peak() const;
  /// What is held now above what was held at the beginning; 0 if it is less.
  std::uint64_t now() const;

 private:
  std::uint64_t begin_;
};

/// The peak of one call. What it returns is gone when this returns.
template <class Call>
std::uint64_t peak_of(const Call& call) {
  const HeldMemory held;
  (void)call();
  return held.peak();
}

}  // namespace gdelta::test

/// The first line of a test that promises memory.
#define GDELTA_NEEDS_COUNTED_MEMORY()            \
  if (!::gdelta::test::held_memory_is_counted()) \
  GTEST_SKIP() << "memory is not counted under a sanitizer"
