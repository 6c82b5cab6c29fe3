// Memory of the simulated device: behind every allocation, rounded up to 256 bytes, lies a page that
// nobody can touch, and what the rounding has added is looked at when the memory is given back.
#pragma once

#include <cstddef>

namespace simulator {

constexpr std::size_t kDeviceBytes = std::size_t{4} << 30;

/// A multiple of 256. Null where there is no room.
void* allocate(std::size_t bytes);
/// False where there is no such allocation. Aborts where somebody has written behind it.
bool release(void* data);

}  // namespace simulator
