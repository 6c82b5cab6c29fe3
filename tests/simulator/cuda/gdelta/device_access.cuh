// Stands in for gdelta/device_access.cuh: the same functions on the simulated device.
#pragma once

#include <cuda_runtime.h>

#include <atomic>

#include "simulator/bulk.h"

namespace gdelta::device {

inline unsigned char* dynamic_shared() { return simulator::dynamic_shared(); }

inline void store_release(unsigned* p, unsigned value) {
  std::atomic_ref<unsigned>(*p).store(value);
}

/// Whoever reads in a loop lets others write.
inline unsigned load_acquire(const unsigned* p) {
  simulator::yield();
  return std::atomic_ref<unsigned>(*const_cast<unsigned*>(p)).load();
}

}  // namespace gdelta::device
