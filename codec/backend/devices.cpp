#include <tbb/info.h>
#include <unistd.h>

#include "codec/backend/backend.h"

namespace gdelta {

std::vector<DeviceInfo> list_devices() {
  DeviceInfo cpu;
  cpu.name = "cpu";
  cpu.description = std::to_string(tbb::info::default_concurrency()) + " threads";
  const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGE_SIZE);
  if (pages > 0 && page_bytes > 0)
    cpu.memory_bytes = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
  std::vector<DeviceInfo> devices{cpu};
  for (DeviceInfo& gpu : list_cuda_devices()) devices.push_back(std::move(gpu));
  return devices;
}

}  // namespace gdelta
