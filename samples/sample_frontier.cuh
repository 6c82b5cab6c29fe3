// For samples: walking a graph from frontier to frontier (Merrill, Garland, Grimshaw). The vertices of a
// frontier are tiles and their edges atoms; where each begins is a prefix sum of degrees, made anew for
// every frontier.
#pragma once

#include <utility>

#include "gdelta/scan_custom.cuh"
#include "sample_schedules.cuh"

namespace sample {

/// CSR in device memory: the edges of vertex v lead to neighbours[offsets[v]] ... [offsets[v + 1] - 1].
/// `Neighbours`: const std::uint32_t*, or PackedColumns.
template <class Neighbours>
struct Graph {
  const std::uint32_t* offsets;
  Neighbours neighbours;
  std::uint32_t vertices;
};

struct LoadDegree {
  const std::uint32_t* offsets;
  const std::uint32_t* frontier;
  __device__ std::uint64_t operator()(std::uint64_t i) const {
    return offsets[frontier[i] + 1] - offsets[frontier[i]];
  }
};

struct Plus {
  __device__ std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const { return a + b; }
};

/// Visits edges; whoever is to be visited next is told by `visit(from, edge, to)`.
template <class Neighbours, class Visit>
struct FollowEdges {
  Graph<Neighbours> graph;
  const std::uint32_t* frontier;
  const std::uint64_t* begins;
  Visit visit;
  std::uint32_t* next;
  unsigned* num_next;
  __device__ void operator()(const gdelta::Piece& piece) const {
    const std::uint32_t from = frontier[piece.tile];
    const std::uint64_t first_edge = graph.offsets[from];
    const std::uint64_t first_atom = begins[piece.tile];
    for (std::uint64_t atom = piece.begin; atom < piece.end; atom += piece.step) {
      const std::uint64_t edge = first_edge + (atom - first_atom);
      const std::uint32_t to = graph.neighbours[edge];
      if (visit(from, edge, to)) next[atomicAdd(num_next, 1u)] = to;
    }
  }
};

template <class Neighbours>
class Frontier {
 public:
  Frontier(const Graph<Neighbours>& graph, std::uint32_t source)
      : graph_(graph),
        now_(graph.vertices),
        next_(graph.vertices),
        begins_(std::size_t{graph.vertices} + 1),
        num_next_(1),
        scan_scratch_(gdelta::scan_custom_scratch_bytes<std::uint64_t>({.count = graph.vertices})),
        plan_scratch_(0) {
    check(cudaMemcpy(now_.data(), &source, sizeof source, cudaMemcpyHostToDevice));
    begins_.fill_bytes(0);
  }
  bool empty() const { return count_ == 0; }

  /// Visits all edges of the frontier. `visit` is true once for every vertex of the next one.
  template <class Schedule, class Visit>
  void advance(const Schedule& schedule, const Visit& visit) {
    check(gdelta::custom_scan::launch<std::uint64_t>(
        {.count = count_}, LoadDegree{graph_.offsets, now_.data()},
        gdelta::custom_scan::ToArray<std::uint64_t>{begins_.data() + 1}, Plus{}, std::uint64_t{0},
        scan_scratch_.data(), scan_scratch_.count(), nullptr));
    const gdelta::CsrTiles<std::uint64_t> tiles{begins_.data(), count_, begins_.at(count_)};
    num_next_.fill_bytes(0);
    if (tiles.atoms > 0) {
      const FollowEdges<Neighbours, Visit> work{.graph = graph_,
                                                .frontier = now_.data(),
                                                .begins = begins_.data(),
                                                .visit = visit,
                                                .next = next_.data(),
                                                .num_next = num_next_.data()};
      run_schedule(schedule, tiles, work, plan_scratch_);
    }
    count_ = num_next_.at(0);
    std::swap(now_, next_);
  }

 private:
  Graph<Neighbours> graph_;
  DeviceArray<std::uint32_t> now_, next_;
  DeviceArray<std::uint64_t> begins_;  ///< of the edges of now_[i], counted through the frontier
  DeviceArray<unsigned> num_next_;
  DeviceArray<char> scan_scratch_, plan_scratch_;
  std::uint64_t count_ = 1;
};

}  // namespace sample
