// Finds the fastest scan policies on this device and prints them as rows of kUsualPolicies in
// kernels/scan/scan_policy.cpp. Takes about a minute, 1.4 GB of GPU memory and a GPU with nothing else
// to do.
//   tune_scan > scan_policies.txt
// For each value size and some orders and tuples it times the stream kernel with half to all of its
// worker warps on 512 MiB, then the stream kernel and the group kernel on 512 KiB to 512 MiB. Rows say
// where the stream takes over and how many warps it wants there; there are as many as are worth it.
// Launches are replayed as a graph over rotating buffers, as in bench/scan_bench.cu.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <utility>
#include <vector>

#include "bench/cuda_check.h"
#include "bench/launch_timing.h"
#include "kernels/scan/scan_cuda.h"
#include "kernels/scan/scan_policy.h"

namespace {

using namespace gdelta::scan;

// 512 KiB to 512 MiB: powers of two, and one size between each two.
constexpr int kSizes = 21;
constexpr std::size_t size_bytes(int s) { return std::size_t(s % 2 == 0 ? 2 : 3) << (18 + s / 2); }
constexpr std::size_t kBytes = size_bytes(kSizes - 1);
constexpr std::size_t kScratch = std::size_t{256} << 20;
constexpr int kMostLaunches = 64;   // more than the L2 cache holds, even of the smallest size
constexpr float kNever = 1e30f;     // milliseconds of what a path cannot do
constexpr float kNoise = 0.01f;     // a choice has to be better than another by more than this
constexpr float kSeldom = 0.1f;     // weight of sizes that aligned scans spend on the chip
constexpr float kWorthARow = 0.1f;  // a tenth for one size of one cell, a hundredth for ten
unsigned char* g_in;
unsigned char* g_out;
void* g_scratch;
cudaStream_t g_stream;

/// Median milliseconds of a scan.
float time_scan(const Shape& shape, Path path, std::span<const Policy> policies) {
  const std::size_t need = scratch_bytes(shape, path, 0, policies);
  if (need > kScratch || !can_take(shape, path, 0, policies)) return kNever;
  const std::size_t bytes = shape.count * type_bytes(shape.type);
  const int launches = static_cast<int>(std::min<std::size_t>(kBytes / bytes, kMostLaunches));
  const double seconds = gdelta::bench::median_graph_seconds(g_stream, launches, 9, [&](int i) {
    GDELTA_CHECK(launch_scan(shape, path, g_in + i * bytes, g_out + i * bytes, g_scratch, need,
                             g_stream, policies));
  });
  return static_cast<float>(seconds * 1e3);
}

void print_rows(const std::vector<Policy>& rows) {
  for (const Policy& row : rows) {
    const bool stream = row.path == Path::stream;
    std::printf(
        "    {.value_bytes = %d, .max_order = %d, .max_state = %d, .min_bytes = %lluu << 10, "
        ".path = Path::%s, .worker_warps = %d},\n",
        row.value_bytes, row.max_order, row.max_state,
        static_cast<unsigned long long>(row.min_bytes >> 10), stream ? "stream" : "group",
        row.worker_warps);
  }
  std::fflush(stdout);
}

/// The stream kernel for any size, with so many warps.
std::array<Policy, 1> workers(int value_bytes, int warps) {
  return {Policy{.value_bytes = value_bytes,
                 .max_order = kMaxOrder,
                 .max_state = 512,
                 .min_bytes = 0,
                 .path = Path::stream,
                 .worker_warps = warps}};
}

/// What was measured for an order and a tuple.
struct Cell {
  Shape shape;  ///< of kBytes
  int most;     ///< warps that the stream kernel takes, unless told otherwise
  int best;
  std::array<float, kMaxStreamUnits + 1> workers_ms;  ///< stream on kBytes, by warps
  std::array<float, kSizes> stream_ms;                ///< with the best number of warps
  std::array<float, kSizes> group_ms;
  std::array<bool, kSizes> on_chip;  ///< another path takes this size, if buffers are aligned

  int state() const { return shape.order * static_cast<int>(shape.tuple); }
  Shape sized(int s) const {
    Shape sized = shape;
    sized.count = size_bytes(s) / type_bytes(shape.type);
    return sized;
  }
  /// The size from which on the stream is never slower; kSizes if there is none.
  int stream_from() const {
    int from = kSizes;
    while (from > 0 && stream_ms[from - 1] <= group_ms[from - 1]) --from;
    return from;
  }
  /// Milliseconds of a size if this row is chosen.
  float cost(int s, const Policy& row) const {
    if (row.path != Path::stream) return group_ms[s];
    return stream_ms[s] * workers_ms[std::min(row.worker_warps, most)] / workers_ms[best];
  }
};

/// False if the device has no stream kernel for this.
bool measure_workers(Cell& cell) {
  const int bytes = type_bytes(cell.shape.type);
  cell.workers_ms.fill(kNever);
  cell.best = cell.most;
  int tile_values = 0;
  for (int warps = cell.most; warps >= cell.most / 2; --warps) {
    const auto policies = workers(bytes, warps);
    const int tile = describe_stream(cell.shape, 0, policies).tile_values;
    // Fewer may fit than are asked for.
    cell.workers_ms[warps] = warps < cell.most && tile == tile_values
                                 ? cell.workers_ms[warps + 1]
                                 : time_scan(cell.shape, Path::stream, policies);
    tile_values = tile;
    if (cell.workers_ms[warps] < cell.workers_ms[cell.best]) cell.best = warps;
  }
  if (cell.workers_ms[cell.most] == kNever) return false;
  // The best of many is partly luck: it has to be better twice.
  const auto is_better = [&] {
    return cell.workers_ms[cell.best] * (1 + kNoise) < cell.workers_ms[cell.most];
  };
  if (is_better()) {
    for (const int warps : {cell.most, cell.best}) {
      cell.workers_ms[warps] = time_scan(cell.shape, Path::stream, workers(bytes, warps));
    }
  }
  if (!is_better()) cell.best = cell.most;
  return true;
}

void measure_sizes(Cell& cell) {
  const auto policies = workers(type_bytes(cell.shape.type), cell.best);
  for (int s = 0; s < kSizes; ++s) {
    const Shape sized = cell.sized(s);
    cell.stream_ms[s] = time_scan(sized, Path::stream, policies);
    cell.group_ms[s] = time_scan(sized, Path::group, policies);
    const Path path = chosen_path(sized, 0, policies);
    cell.on_chip[s] = path == Path::cluster || path == Path::resident;
  }
}

// ---- The table: few rows that lose little

/// How much slower than the best the rows are, summed over sizes and cells, beyond noise.
struct Loss {
  float sum = 0;
  float worst = 0;
};

Loss loss_of(const std::vector<Policy>& rows, const std::vector<Cell>& cells) {
  Loss loss;
  for (const Cell& cell : cells) {
    for (int s = 0; s < kSizes; ++s) {
      const float best = std::min(cell.stream_ms[s], cell.group_ms[s]);
      const float ratio = cell.cost(s, choose_policy(cell.sized(s), 90, rows)) / best;
      const float behind = std::clamp(ratio - 1 - kNoise, 0.0f, 1.0f);
      loss.sum += cell.on_chip[s] ? kSeldom * behind : behind;
      if (!cell.on_chip[s]) loss.worst = std::max(loss.worst, behind);
    }
  }
  return loss;
}

/// Rows for every cell: where its stream kernel takes over, and one that keeps smaller sizes from
/// falling to the rows of wider states.
std::vector<Policy> rows_of(const std::vector<Cell>& cells) {
  std::vector<Policy> rows;
  for (const Cell& cell : cells) {
    const int bytes = type_bytes(cell.shape.type);
    const int from = cell.stream_from();
    // All of a cell's warps are written as the most that any has, so that cells agree.
    const int warps = cell.best == cell.most ? kMaxStreamUnits : cell.best;
    if (from < kSizes) {
      rows.push_back(
          {bytes, cell.shape.order, cell.state(), size_bytes(from), Path::stream, warps});
    }
    rows.push_back({bytes, cell.shape.order, cell.state(), 0, Path::group, kGroupWarps});
  }
  return rows;
}

/// Calls f(rows) for every table with one or two rows less: what they chose is left to the rows
/// after them, as these are or with what the rows in question chose.
template <class F>
void for_each_shorter(const std::vector<Policy>& rows, F f) {
  for (std::size_t count : {1, 2}) {
    for (std::size_t i = 0; i + count <= rows.size(); ++i) {
      std::vector<Policy> fewer = rows;
      const auto gone = fewer.begin() + static_cast<std::ptrdiff_t>(i);
      fewer.erase(gone, gone + static_cast<std::ptrdiff_t>(count));
      f(fewer);
      if (i == fewer.size()) continue;
      Policy& heir = fewer[i];
      heir.min_bytes = rows[i].min_bytes;
      heir.path = rows[i].path;
      heir.worker_warps = rows[i].worker_warps;
      f(fewer);
    }
  }
}

/// Takes rows away, the least missed first, while none of them is worth its place.
std::vector<Policy> drop_rows(std::vector<Policy> rows, const std::vector<Cell>& cells) {
  for (;;) {
    const float before = loss_of(rows, cells).sum;
    std::vector<Policy> best;
    float least = kWorthARow;  // loss for a row
    for_each_shorter(rows, [&](const std::vector<Policy>& fewer) {
      const float loss = (loss_of(fewer, cells).sum - before) / (rows.size() - fewer.size());
      if (loss < least) best = fewer, least = loss;
    });
    if (least == kWorthARow) return rows;
    rows = best;
  }
}

}  // namespace

int main() {
  GDELTA_CHECK(cudaStreamCreateWithFlags(&g_stream, cudaStreamNonBlocking));
  GDELTA_CHECK(cudaMalloc(&g_in, kBytes));
  GDELTA_CHECK(cudaMalloc(&g_out, kBytes));
  GDELTA_CHECK(cudaMalloc(&g_scratch, kScratch));
  std::vector<unsigned> random(kBytes / 4);
  unsigned state = 1;
  for (unsigned& word : random) word = state = state * 1664525u + 1013904223u;
  GDELTA_CHECK(cudaMemcpy(g_in, random.data(), kBytes, cudaMemcpyHostToDevice));
  // An idle GPU starts slow: keep it busy until its clocks are up.
  for (int i = 0; i < 1000; ++i)
    GDELTA_CHECK(cudaMemcpyAsync(g_out, g_in, kBytes, cudaMemcpyDeviceToDevice, g_stream));
  GDELTA_CHECK(cudaStreamSynchronize(g_stream));
  cudaDeviceProp properties;
  GDELTA_CHECK(cudaGetDeviceProperties(&properties, 0));
  std::printf("    // %s\n", properties.name);

  bool any = false;
  for (const Type type : {Type::u8, Type::u16, Type::u32, Type::u64}) {
    const int bytes = type_bytes(type);
    std::vector<Cell> cells;
    for (const int order : {1, 2, 3, 4, 8}) {  // the last of every stream_shape among them
      for (const std::uint64_t tuple : {1, 8, 16, 64}) {
        Cell cell{};
        cell.shape = {.type = type, .order = order, .tuple = tuple, .count = kBytes / bytes};
        cell.most = stream_shape(bytes, order).workers;
        if (!measure_workers(cell)) continue;
        measure_sizes(cell);
        const int from = cell.stream_from();
        std::fprintf(stderr, "values of %d bytes, order %d, tuple %d: %d of %d warps", bytes, order,
                     int(tuple), cell.best, cell.most);
        if (from < kSizes) std::fprintf(stderr, ", stream from %zu KiB", size_bytes(from) >> 10);
        std::fprintf(stderr, "\n");
        cells.push_back(cell);
      }
    }
    if (cells.empty()) continue;
    any = true;
    // A row fits all narrower states too, so the narrow ones come first.
    std::sort(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) {
      return std::pair(a.state(), a.shape.order) < std::pair(b.state(), b.shape.order);
    });
    const std::vector<Policy> rows = drop_rows(rows_of(cells), cells);
    print_rows(rows);
    std::fprintf(stderr, "values of %d bytes: %zu rows, at worst %.0f %% slower than the best\n",
                 bytes, rows.size(), 100 * loss_of(rows, cells).worst);
  }
  if (!any) std::fprintf(stderr, "This device has one kernel only: nothing to choose.\n");
  return 0;
}
