// For benches: the energy that a GPU has drawn, from the counter of its driver.
#pragma once

#include <cuda_runtime.h>
#include <dlfcn.h>

#include <optional>

namespace gdelta::bench {

/// Reads nvmlDeviceGetTotalEnergyConsumption of the current device. The library is the driver's and has no place among
/// a toolkit's packages, so it is opened when it is asked for.
class EnergyMeter {
 public:
  EnergyMeter() {
    void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (library == nullptr) return;
    const auto init = reinterpret_cast<int (*)()>(dlsym(library, "nvmlInit_v2"));
    const auto find = reinterpret_cast<int (*)(const char*, void**)>(
        dlsym(library, "nvmlDeviceGetHandleByPciBusId_v2"));
    const auto total = reinterpret_cast<int (*)(void*, unsigned long long*)>(
        dlsym(library, "nvmlDeviceGetTotalEnergyConsumption"));
    char bus[32] = {};
    int device = 0;
    if (init == nullptr || find == nullptr || total == nullptr || init() != 0 ||
        cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetPCIBusId(bus, sizeof bus, device) != cudaSuccess || find(bus, &device_) != 0)
      return;
    total_ = total;
  }

  /// Joules since the driver was loaded; nothing if the driver does not tell. It moves every 20 to 100 ms.
  std::optional<double> joules() const {
    unsigned long long millijoules = 0;
    if (total_ == nullptr || total_(device_, &millijoules) != 0) return std::nullopt;
    return static_cast<double>(millijoules) * 1e-3;
  }

 private:
  void* device_ = nullptr;
  int (*total_)(void*, unsigned long long*) = nullptr;
};

}  // namespace gdelta::bench
