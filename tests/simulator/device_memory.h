// Memory of the simulated device. Behind every allocation, rounded up to 256 bytes, lies a page that
// nobody can touch. What the rounding has added is looked at when the memory is given back, and,
// if the compiler calls `check_access` before every access of a kernel, is not even read.
#pragma once

#include <cstddef>

namespace simulator {

constexpr std::size_t kDeviceBytes = std::size_t{4} << 30;
/// Whether the compiler calls it: see CMakeLists.txt.
#if defined(__GNUC__) && !defined(__clang__)
constexpr bool kChecksAccesses = true;
#else
constexpr bool kChecksAccesses = false;
#endif

/// A multiple of 256. Null if there is no room.
void* allocate(std::size_t bytes);
/// False if there is no such allocation. Aborts if somebody has written behind it.
bool release(void* data);
/// Whether it lies in memory that was allocated here.
bool is_allocated(const void* data);
/// Ends the launch if a kernel's access ends behind the allocation that it begins in.
void check_access(const void* data, std::size_t bytes);

}  // namespace simulator
