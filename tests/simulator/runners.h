// Threads that are kept from launch to launch: one of the simulated device is dear to begin, for what all kernels share
// is thread-local.
#pragma once

#include <functional>

namespace simulator {

/// Calls run() on so many threads at once, each other than all that run now; returns when all have returned.
void run_side_by_side(unsigned threads, const std::function<void()>& run);

}  // namespace simulator
