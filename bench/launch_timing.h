// For benches: how long work on the default stream takes.
#pragma once

#include <algorithm>
#include <vector>

#include "bench/cuda_check.h"

namespace gdelta::bench {

/// Median seconds of what `launch()` enqueues, over `runs` runs behind `warmups` that do not count.
template <class Launch>
double median_seconds(int warmups, int runs, const Launch& launch) {
  cudaEvent_t begin, end;
  GDELTA_CHECK(cudaEventCreate(&begin));
  GDELTA_CHECK(cudaEventCreate(&end));
  std::vector<double> seconds;
  for (int run = 0; run < warmups + runs; ++run) {
    GDELTA_CHECK(cudaEventRecord(begin));
    launch();
    GDELTA_CHECK(cudaGetLastError());
    GDELTA_CHECK(cudaEventRecord(end));
    GDELTA_CHECK(cudaEventSynchronize(end));
    float milliseconds = 0;
    GDELTA_CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    if (run >= warmups) seconds.push_back(milliseconds * 1e-3);
  }
  GDELTA_CHECK(cudaEventDestroy(begin));
  GDELTA_CHECK(cudaEventDestroy(end));
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

}  // namespace gdelta::bench
