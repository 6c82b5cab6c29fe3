#include "simulator/device_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>

#include "simulator/device.h"

namespace simulator {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kAlign = 256;
constexpr unsigned char kRubbish = 0xd7;
/// Addresses are given out once, so that memory that has been given back cannot be touched. Where they begin is fixed:
/// every access asks.
constexpr std::size_t kAddresses = std::size_t{1} << 38;
constexpr std::uintptr_t kFirstAddress = std::uintptr_t{1} << 44;
/// By page: how many of its last bytes only the rounding has added.
constexpr std::uintptr_t kAddedAt = kFirstAddress + kAddresses;

unsigned char* reserve(std::uintptr_t at, std::size_t bytes, int protection) {
  void* const wanted = reinterpret_cast<void*>(at);
  void* const room = mmap(wanted, bytes, protection,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (room != wanted) std::abort();
  return static_cast<unsigned char*>(room);
}

struct Allocation {
  std::size_t at;
  std::size_t room_bytes;
  std::size_t bytes;
};

std::mutex g_mutex;
std::map<unsigned char*, Allocation> g_allocations;
std::size_t g_used = 0;
unsigned char* const g_addresses = reserve(kFirstAddress, kAddresses, PROT_NONE);
std::uint8_t* const g_added = reserve(kAddedAt, kAddresses / kPage, PROT_READ | PROT_WRITE);

std::size_t rounded_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

void* allocate(std::size_t bytes) {
  if (bytes > kDeviceBytes) return nullptr;
  const std::size_t rounded = rounded_up(bytes, kAlign);
  const std::size_t room_bytes = rounded_up(rounded, kPage);
  const std::lock_guard lock(g_mutex);
  if (room_bytes + kPage > kAddresses - g_used) return nullptr;
  const std::size_t at = g_used;
  unsigned char* const room = g_addresses + at;
  if (room_bytes > 0 && mprotect(room, room_bytes, PROT_READ | PROT_WRITE) != 0) return nullptr;
  g_used += room_bytes + kPage;
  unsigned char* const data = room + room_bytes - rounded;
  std::memset(data + bytes, kRubbish, rounded - bytes);
  if (room_bytes > 0)
    g_added[(at + room_bytes) / kPage - 1] = static_cast<std::uint8_t>(rounded - bytes);
  g_allocations[data] = {at, room_bytes, bytes};
  return data;
}

bool is_allocated(const void* data) {
  const std::lock_guard lock(g_mutex);
  auto* const place = static_cast<unsigned char*>(const_cast<void*>(data));
  const auto behind = g_allocations.upper_bound(place);
  if (behind == g_allocations.begin()) return false;
  const auto& [begin, allocation] = *std::prev(behind);
  return place < begin + allocation.bytes;
}

bool release(void* data) {
  if (data == nullptr) return true;
  const std::lock_guard lock(g_mutex);
  const auto found = g_allocations.find(static_cast<unsigned char*>(data));
  if (found == g_allocations.end()) return false;
  const auto& [begin, allocation] = *found;
  const bool whole =
      std::all_of(begin + allocation.bytes, begin + rounded_up(allocation.bytes, kAlign),
                  [](unsigned char byte) { return byte == kRubbish; });
  if (!whole) {
    std::fprintf(stderr, "simulator: somebody has written behind an allocation\n");
    std::abort();
  }
  if (allocation.room_bytes > 0 &&
      mmap(g_addresses + allocation.at, allocation.room_bytes, PROT_NONE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
    std::abort();
  g_allocations.erase(found);
  return true;
}

namespace {

inline void check_place(const void* data, std::size_t bytes) {
  const std::size_t at = reinterpret_cast<std::uintptr_t>(data) - kFirstAddress;
  if (at >= kAddresses) return;
  const std::uint8_t added = reinterpret_cast<const std::uint8_t*>(kAddedAt)[at / kPage];
  if (added > 0 && at % kPage + bytes > kPage - added) fault("an access behind an allocation");
}

// A GPU faults if a word does not lie at a multiple of its size.
template <std::size_t kBytes>
inline void check_word(const void* p) {
  if (reinterpret_cast<std::uintptr_t>(p) % kBytes != 0) fault("a misaligned access");
  check_place(p, kBytes);
}

}  // namespace

void check_access(const void* data, std::size_t bytes) { check_place(data, bytes); }

}  // namespace simulator

// What GCC calls before every access of code that is compiled with -fsanitize=kernel-address.
extern "C" {
#define GDELTA_CHECKED(bytes)                                                           \
  void __asan_load##bytes##_noabort(const void* p) { simulator::check_word<bytes>(p); } \
  void __asan_store##bytes##_noabort(const void* p) { simulator::check_word<bytes>(p); }
GDELTA_CHECKED(1)
GDELTA_CHECKED(2)
GDELTA_CHECKED(4)
GDELTA_CHECKED(8)
GDELTA_CHECKED(16)
#undef GDELTA_CHECKED
void __asan_loadN_noabort(const void* p, std::size_t bytes) { simulator::check_access(p, bytes); }
void __asan_storeN_noabort(const void* p, std::size_t bytes) { simulator::check_access(p, bytes); }
void __asan_handle_no_return() {}
// Around the switches of ci/mutants, which are read as a program starts.
void __asan_before_dynamic_init(const char*) {}
void __asan_after_dynamic_init() {}
}
