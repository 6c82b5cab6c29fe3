#include "peak_memory.h"

#include <malloc.h>

#include <fstream>
#include <string>

namespace gdelta::cli {

namespace {

/// A line such as "VmHWM:   1234 kB" of what the system knows about this process, in bytes.
std::optional<std::uint64_t> status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::uint64_t kib = 0;
    if (word == name && status >> kib) return kib << 10;
  }
  return std::nullopt;
}

}  // namespace

PeakMemory::PeakMemory() {
  malloc_trim(0);  // what earlier work left to the allocator would hide what later work takes
  // "5" makes the peak the size of now (Linux 4.0).
  std::ofstream reset("/proc/self/clear_refs");
  reset << "5" << std::flush;
  if (reset) before_ = status_bytes("VmRSS:");
}

std::optional<std::uint64_t> PeakMemory::bytes() const {
  const auto peak = status_bytes("VmHWM:");
  if (!before_ || !peak) return std::nullopt;
  return *peak > *before_ ? *peak - *before_ : 0;
}

}  // namespace gdelta::cli
