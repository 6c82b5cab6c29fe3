// For benches: how long work on the host takes.
#pragma once

#include <algorithm>
#include <chrono>

namespace gdelta::bench {

/// The least seconds of three runs.
template <class Function>
double best_wall_seconds(const Function& function) {
  double best = 1e9;
  for (int run = 0; run < 3; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    function();
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

}  // namespace gdelta::bench
