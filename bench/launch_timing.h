// For benches: how long work on a stream takes.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "bench/cuda_check.h"

namespace gdelta::bench {

/// Two events around what is launched between them.
class LaunchClock {
 public:
  LaunchClock() {
    GDELTA_CHECK(cudaEventCreate(&begin_));
    GDELTA_CHECK(cudaEventCreate(&end_));
  }
  ~LaunchClock() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  LaunchClock(const LaunchClock&) = delete;
  LaunchClock& operator=(const LaunchClock&) = delete;

  /// Seconds that the stream takes for what `launch()` enqueues.
  template <class Launch>
  double seconds(cudaStream_t stream, const Launch& launch) {
    GDELTA_CHECK(cudaEventRecord(begin_, stream));
    launch();
    GDELTA_CHECK(cudaGetLastError());
    GDELTA_CHECK(cudaEventRecord(end_, stream));
    GDELTA_CHECK(cudaEventSynchronize(end_));
    float milliseconds = 0;
    GDELTA_CHECK(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return milliseconds * 1e-3;
  }

 private:
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

inline double median_of(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

/// Median seconds of what `launch()` enqueues, over `runs` runs behind `warmups` that do not count.
template <class Launch>
double median_seconds(int warmups, int runs, const Launch& launch, cudaStream_t stream = nullptr) {
  LaunchClock clock;
  std::vector<double> seconds;
  for (int run = 0; run < warmups + runs; ++run) {
    const double taken = clock.seconds(stream, launch);
    if (run >= warmups) seconds.push_back(taken);
  }
  return median_of(std::move(seconds));
}

/// What slow launches may take; then there are fewer replays.
inline constexpr double kReplaySeconds = 0.1;

/// Median seconds of one of the launches `launch(0)` to `launch(launches - 1)`, which are replayed as a graph, so that gaps between
/// them do not count. The first replay does not count.
template <class Launch>
double median_graph_seconds(cudaStream_t stream, int launches, int replays, const Launch& launch) {
  cudaGraph_t graph;
  cudaGraphExec_t instance;
  GDELTA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < launches; ++i) launch(i);
  GDELTA_CHECK(cudaStreamEndCapture(stream, &graph));
  GDELTA_CHECK(cudaGraphInstantiate(&instance, graph, 0));
  const auto replay = [&] { GDELTA_CHECK(cudaGraphLaunch(instance, stream)); };
  LaunchClock clock;
  const double first = clock.seconds(stream, replay);
  if (first * replays > kReplaySeconds)
    replays = std::min(replays, static_cast<int>(kReplaySeconds / first) | 1);
  std::vector<double> seconds;
  for (int i = 0; i < replays; ++i) seconds.push_back(clock.seconds(stream, replay));
  GDELTA_CHECK(cudaGraphExecDestroy(instance));
  GDELTA_CHECK(cudaGraphDestroy(graph));
  return median_of(std::move(seconds)) / launches;
}

}  // namespace gdelta::bench
