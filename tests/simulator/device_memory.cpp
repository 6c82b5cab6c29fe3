#include "simulator/device_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

namespace simulator {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kAlign = 256;
constexpr unsigned char kRubbish = 0xd7;

struct Allocation {
  void* room;
  std::size_t room_bytes;
  std::size_t bytes;
};

std::mutex g_mutex;
std::map<unsigned char*, Allocation> g_allocations;

}  // namespace

void* allocate(std::size_t bytes) {
  if (bytes > kDeviceBytes) return nullptr;
  const std::size_t rounded = (bytes + kAlign - 1) / kAlign * kAlign;
  const std::size_t room_bytes = (rounded + kPage - 1) / kPage * kPage + kPage;
  void* const room = mmap(nullptr, room_bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return nullptr;
  auto* const end = static_cast<unsigned char*>(room) + room_bytes - kPage;
  if (mprotect(end, kPage, PROT_NONE) != 0) return nullptr;
  unsigned char* const data = end - rounded;
  std::memset(data + bytes, kRubbish, rounded - bytes);
  const std::lock_guard lock(g_mutex);
  g_allocations[data] = {room, room_bytes, bytes};
  return data;
}

bool release(void* data) {
  if (data == nullptr) return true;
  const std::lock_guard lock(g_mutex);
  const auto found = g_allocations.find(static_cast<unsigned char*>(data));
  if (found == g_allocations.end()) return false;
  const auto& [begin, allocation] = *found;
  const std::size_t rounded = (allocation.bytes + kAlign - 1) / kAlign * kAlign;
  const bool whole = std::all_of(begin + allocation.bytes, begin + rounded,
                                 [](unsigned char byte) { return byte == kRubbish; });
  if (!whole) {
    std::fprintf(stderr, "simulator: somebody has written behind an allocation\n");
    std::abort();
  }
  munmap(allocation.room, allocation.room_bytes);
  g_allocations.erase(found);
  return true;
}

}  // namespace simulator
