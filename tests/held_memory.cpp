#include "held_memory.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define GDELTA_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define GDELTA_SANITIZED 1
#endif
#endif

#if defined(__GLIBC__) && !defined(GDELTA_SANITIZED)
#define GDELTA_COUNTS_MEMORY 1
#endif

namespace {

// Constant-initialised: the loader allocates before anything of this program runs.
std::atomic<std::int64_t> held{0};
std::atomic<std::int64_t> most_held{0};

}  // namespace

#ifdef GDELTA_COUNTS_MEMORY

// The program's malloc stands before glibc's; the work is done by glibc's under its other name.
extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* memory, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
void __libc_free(void* memory);
}

namespace {

void count(std::int64_t bytes) {
  const std::int64_t now = held.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  std::int64_t most = most_held.load(std::memory_order_relaxed);
  while (now > most && !most_held.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
  }
}

std::int64_t size_of(void* memory) {
  return memory == nullptr ? 0 : static_cast<std::int64_t>(malloc_usable_size(memory));
}

void* counted(void* memory) {
  count(size_of(memory));
  return memory;
}

}  // namespace

extern "C" {

void* malloc(std::size_t bytes) { return counted(__libc_malloc(bytes)); }

void* calloc(std::size_t number, std::size_t bytes) {
  return counted(__libc_calloc(number, bytes));
}

void* realloc(void* memory, std::size_t bytes) {
  const std::int64_t before = size_of(memory);
  void* const moved = __libc_realloc(memory, bytes);
  if (moved == nullptr && bytes > 0) return nullptr;  // `memory` is as it was
  // If it moved, both were there while it was copied.
  if (moved != memory) {
    count(size_of(moved));
    count(-before);
  } else {
    count(size_of(moved) - before);
  }
  return moved;
}

void* memalign(std::size_t alignment, std::size_t bytes) {
  return counted(__libc_memalign(alignment, bytes));
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) { return memalign(alignment, bytes); }

int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  void* const aligned = memalign(alignment, bytes);
  if (aligned == nullptr) return ENOMEM;
  *memory = aligned;
  return 0;
}

void free(void* memory) {
  count(-size_of(memory));
  __libc_free(memory);
}

}  // extern "C"

#endif

namespace gdelta::test {

std::uint64_t held_bytes() {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, held.load()));
}

bool held_memory_is_counted() {
#ifdef GDELTA_COUNTS_MEMORY
  return true;
#else
  return false;
#endif
}

HeldMemory::HeldMemory() : begin_(held_bytes()) { most_held = static_cast<std::int64_t>(begin_); }

std::uint64_t HeldMemory::peak() const {
  const auto most = static_cast<std::uint64_t>(std::max<std::int64_t>(0, most_held.load()));
  return most > begin_ ? most - begin_ : 0;
}

std::uint64_t HeldMemory::now() const {
  const std::uint64_t now = held_bytes();
  return now > begin_ ? now - begin_ : 0;
}

}  // namespace gdelta::test
