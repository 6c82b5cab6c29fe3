// The instrument that other tests trust when they say how much memory something holds.
#include "held_memory.h"
#include "mebibyte.h"

#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

namespace gdelta::test {
namespace {

void expect_about(std::uint64_t bytes, std::uint64_t expected) {
  EXPECT_GE(bytes, expected);
  EXPECT_LE(bytes, expected + kMiB);
}

TEST(HeldMemory, MemoryThatIsNeverTouchedCounts) {
  GDELTA_NEEDS_COUNTED_MEMORY();
  const HeldMemory held;
  const std::unique_ptr<void, void (*)(void*)> memory(std::malloc(512 * kMiB), std::free);
  expect_about(held.peak(), 512 * kMiB);
}

TEST(HeldMemory, ThePeakStaysWhenMemoryIsGivenBack) {
  GDELTA_NEEDS_COUNTED_MEMORY();
  const HeldMemory held;
  std::vector<char>(64 * kMiB).clear();
  expect_about(held.peak(), 64 * kMiB);
  expect_about(held.now(), 0);
  const HeldMemory later;
  std::vector<char>(8 * kMiB).clear();
  expect_about(later.peak(), 8 * kMiB);
}

TEST(HeldMemory, EveryWayToAllocateCounts) {
  GDELTA_NEEDS_COUNTED_MEMORY();
  expect_about(peak_of([] { return std::make_unique<char[]>(5 * kMiB); }), 5 * kMiB);
  struct alignas(4096) Page {
    char bytes[4096];
  };
  expect_about(peak_of([] { return std::make_unique<Page[]>(5 * kMiB / sizeof(Page)); }), 5 * kMiB);
  using Memory = std::unique_ptr<void, void (*)(void*)>;
  expect_about(peak_of([] { return Memory(std::calloc(5, kMiB), std::free); }), 5 * kMiB);
  expect_about(peak_of([] { return Memory(std::aligned_alloc(64, 5 * kMiB), std::free); }),
               5 * kMiB);
  const HeldMemory held;
  void* memory = std::malloc(kMiB);
  memory = std::realloc(memory, 40 * kMiB);
  EXPECT_GE(held.peak(), 40 * kMiB);
  expect_about(held.now(), 40 * kMiB);
  memory = std::realloc(memory, 2 * kMiB);
  expect_about(held.now(), 2 * kMiB);
  std::free(memory);
  expect_about(held.now(), 0);
}

TEST(HeldMemory, OtherThreadsCount) {
  GDELTA_NEEDS_COUNTED_MEMORY();
  expect_about(peak_of([] {
                 std::thread([] { std::vector<char>(16 * kMiB).clear(); }).join();
                 return 0;
               }),
               16 * kMiB);
}

}  // namespace
}  // namespace gdelta::test
