// Threads that a machine may not have: what they would do is then done by the caller.
#pragma once

#include <system_error>
#include <thread>
#include <vector>

namespace gdelta::cuda {

/// Calls `work` in a thread of its own, the last of `threads`, or here and now if none starts. It must not wait for
/// what the caller does next.
template <class Work>
void start_or_run(std::vector<std::jthread>& threads, const Work& work) {
  try {
    threads.emplace_back(work);
    return;
  } catch (const std::system_error&) {
  }
  work();
}

}  // namespace gdelta::cuda
