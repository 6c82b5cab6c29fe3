// Breadth-first search, written once and run by schedules of every kind; over plain neighbours and over
// packed ones, which the kernel unpacks as it meets them.
//
// usage: bfs [vertices]
// Exits with 0 if every level is that of a plain queue, or if there is no GPU to ask.
#include <queue>

#include "sample_frontier.cuh"
#include "sample_matrix.h"
#include "sample_packed.cuh"

namespace {

constexpr std::uint32_t kUnseen = ~0u;

std::vector<std::uint32_t> plain_levels(const sample::Matrix& graph, std::uint32_t source) {
  std::vector<std::uint32_t> levels(graph.rows(), kUnseen);
  std::queue<std::uint32_t> waiting({source});
  levels[source] = 0;
  for (; !waiting.empty(); waiting.pop()) {
    const std::uint32_t from = waiting.front();
    for (std::uint32_t e = graph.offsets[from]; e < graph.offsets[from + 1]; ++e) {
      const std::uint32_t to = graph.columns[e];
      if (levels[to] != kUnseen) continue;
      levels[to] = levels[from] + 1;
      waiting.push(to);
    }
  }
  return levels;
}

/// The work: whoever comes first marks the vertex.
struct Discover {
  std::uint32_t* levels;
  std::uint32_t level;
  __device__ bool operator()(std::uint32_t, std::uint64_t, std::uint32_t to) const {
    return levels[to] == kUnseen && atomicCAS(levels + to, kUnseen, level) == kUnseen;
  }
};

template <class Schedule, class Neighbours>
std::vector<std::uint32_t> levels_by(const Schedule& schedule,
                                     const sample::Graph<Neighbours>& graph, std::uint32_t source) {
  std::vector<std::uint32_t> start(graph.vertices, kUnseen);
  start[source] = 0;
  const sample::DeviceArray<std::uint32_t> levels(start);
  sample::Frontier frontier(graph, source);
  for (std::uint32_t level = 1; !frontier.empty(); ++level)
    frontier.advance(schedule, Discover{levels.data(), level});
  return levels.values();
}

}  // namespace

int main(int argc, char** argv) {
  if (!sample::has_device()) return 0;
  const auto vertices = static_cast<std::uint32_t>(argc > 1 ? std::atoi(argv[1]) : 200'000);
  const sample::Matrix m = sample::make_matrix(vertices);
  const sample::DeviceArray<std::uint32_t> offsets(m.offsets), neighbours(m.columns);
  const sample::PackedOnDevice packed(m.columns);
  const sample::Graph<const std::uint32_t*> graph{offsets.data(), neighbours.data(), vertices};
  const sample::Graph<sample::PackedColumns> packed_graph{offsets.data(), packed.columns(),
                                                          vertices};
  const std::uint32_t source = m.columns.empty() ? 0 : m.columns[0];
  const auto expected = plain_levels(m, source);
  std::printf("%u vertices, %zu edges in %zu bytes, packed in %zu\n", vertices, m.columns.size(),
              m.columns.size() * 4, packed.bytes());
  sample::for_some_schedules([&](auto schedule, const char* name) {
    sample::expect(levels_by(schedule, graph, source) == expected, name);
    sample::expect(levels_by(schedule, packed_graph, source) == expected, "  packed");
  });
}
