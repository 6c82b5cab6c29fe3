// Shortest paths from one vertex, written once and run by schedules of every kind: a vertex whose distance
// has become smaller is visited again.
//
// usage: sssp [vertices]
// Exits with 0 if every distance is Dijkstra's, or if there is no GPU to ask.
#include <functional>
#include <queue>
#include <utility>

#include "sample_frontier.cuh"
#include "sample_matrix.h"

namespace {

constexpr std::uint32_t kFar = ~0u;

std::vector<std::uint32_t> plain_distances(const sample::Matrix& graph,
                                           const std::vector<std::uint32_t>& weights,
                                           std::uint32_t source) {
  using Reached = std::pair<std::uint32_t, std::uint32_t>;  // distance, vertex
  std::vector<std::uint32_t> distances(graph.rows(), kFar);
  std::priority_queue<Reached, std::vector<Reached>, std::greater<>> waiting;
  distances[source] = 0;
  waiting.push({0, source});
  while (!waiting.empty()) {
    const auto [distance, from] = waiting.top();
    waiting.pop();
    if (distance != distances[from]) continue;
    for (std::uint32_t e = graph.offsets[from]; e < graph.offsets[from + 1]; ++e) {
      const std::uint32_t to = graph.columns[e];
      if (distance + weights[e] >= distances[to]) continue;
      distances[to] = distance + weights[e];
      waiting.push({distances[to], to});
    }
  }
  return distances;
}

/// The work. A vertex joins the next frontier once, however many edges make it nearer.
struct Relax {
  const std::uint32_t* weights;
  std::uint32_t* distances;
  std::uint32_t* last_round;  ///< in which a vertex was made nearer
  std::uint32_t round;
  __device__ bool operator()(std::uint32_t from, std::uint64_t edge, std::uint32_t to) const {
    const std::uint32_t distance = distances[from] + weights[edge];
    if (atomicMin(distances + to, distance) <= distance) return false;
    return atomicExch(last_round + to, round) != round;
  }
};

using Graph = sample::Graph<const std::uint32_t*>;

template <class Schedule>
std::vector<std::uint32_t> distances_by(const Schedule& schedule, const Graph& graph,
                                        const std::uint32_t* weights, std::uint32_t source) {
  std::vector<std::uint32_t> start(graph.vertices, kFar);
  start[source] = 0;
  const sample::DeviceArray<std::uint32_t> distances(start);
  sample::DeviceArray<std::uint32_t> last_round(graph.vertices);
  last_round.fill_bytes(0);
  sample::Frontier frontier(graph, source);
  for (std::uint32_t round = 1; !frontier.empty(); ++round)
    frontier.advance(schedule, Relax{.weights = weights,
                                     .distances = distances.data(),
                                     .last_round = last_round.data(),
                                     .round = round});
  return distances.values();
}

}  // namespace

int main(int argc, char** argv) {
  if (!sample::has_device()) return 0;
  const auto vertices = static_cast<std::uint32_t>(argc > 1 ? std::atoi(argv[1]) : 200'000);
  const sample::Matrix m = sample::make_matrix(vertices);
  std::vector<std::uint32_t> weights;
  for (const double value : m.values) weights.push_back(static_cast<std::uint32_t>(value + 9));
  const sample::DeviceArray<std::uint32_t> offsets(m.offsets), neighbours(m.columns),
      on_device(weights);
  const Graph graph{offsets.data(), neighbours.data(), vertices};
  const std::uint32_t source = m.columns.empty() ? 0 : m.columns[0];
  const auto expected = plain_distances(m, weights, source);
  std::printf("%u vertices, %zu edges\n", vertices, m.columns.size());
  sample::for_some_schedules([&](auto schedule, const char* name) {
    sample::expect(distances_by(schedule, graph, on_device.data(), source) == expected, name);
  });
}
