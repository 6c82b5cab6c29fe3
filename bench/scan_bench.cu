// Scan against a copy of the same size and CUB, in one run; prints CSV. docs/scan.md says what the
// numbers mean.
//   scan_bench [--quick] [--energy] [--tables FILE] [--one TYPE,ORDER,TUPLE,COUNT]... [--workers N]
//   [--only quick|paths|small_paths|sizes|orders|tuples|strides|custom|grid|types]...
// Every row is timed as a graph of launches over rotating buffers, so that neither launch gaps nor
// a warm L2 flatter anybody; the median of several replays counts. Every sum is checked, CUB's too:
// its differences of order q are the input.
// CUB and Thrust are asked as their users would ask them (scan_peers.h); Thrust has columns in the
// tables only.
// `custom` is the composition of affine maps (u32 pairs), which does not commute.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/affine_maps.cuh"
#include "bench/cub_scan.cuh"
#include "bench/cuda_check.h"
#include "bench/energy_meter.h"
#include "bench/launch_timing.h"
#include "bench/scan_peers.h"
#include "bench/scan_tables.h"
#include "gdelta/scan_custom.cuh"
#include "kernels/scan/scan_cuda.h"
#include "kernels/scan/scan_policy.h"

namespace {

using namespace gdelta::scan;
using namespace gdelta::bench;

constexpr std::size_t kArenaBytes = std::size_t{17} << 30;
unsigned char* g_in;
unsigned char* g_out;
void* g_scratch;
std::vector<Policy> g_policies(usual_policies().begin(), usual_policies().end());
std::size_t g_scratch_bytes;
void* g_cub;
std::size_t g_cub_bytes;
cudaStream_t g_stream;
unsigned long long* g_wrong;

__global__ void fill_random(std::uint64_t* words, std::size_t count) {
  for (std::size_t i = blockIdx.x * std::size_t(blockDim.x) + threadIdx.x; i < count;
       i += gridDim.x * blockDim.x) {
    std::uint64_t z = (i + 1) * 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    words[i] = z ^ (z >> 31);
  }
}

template <class T>
__global__ void check_differences(const T* in, const T* out, std::size_t count, std::size_t tuple,
                                  int order, unsigned long long* wrong) {
  for (std::size_t i = blockIdx.x * std::size_t(blockDim.x) + threadIdx.x; i < count;
       i += gridDim.x * blockDim.x) {
    T sum = 0;
    T binomial = 1;
    for (int m = 0; m <= order && m * tuple <= i; ++m) {
      const T term = binomial * out[i - m * tuple];
      sum = m % 2 ? sum - term : sum + term;
      binomial = static_cast<T>(std::uint64_t(binomial) * (order - m) / (m + 1));
    }
    if (sum != in[i]) atomicAdd(wrong, 1ull);
  }
}

struct Timing {
  std::size_t bytes;
  int copies;
  int replays;
  std::size_t offset(int copy) const { return copy * ((bytes + 4095) / 4096 * 4096); }
};

Timing timing_for(std::size_t bytes) {
  Timing t{bytes, 1, 7};
  if (bytes < (std::size_t{64} << 20)) {
    t.copies = static_cast<int>(
        std::min<std::size_t>(20, (std::size_t{1} << 30) / std::max<std::size_t>(bytes, 1)));
    t.replays = 9;
  } else if (bytes < (std::size_t{1} << 30)) {
    t.copies = 3;
  }
  return t;
}

/// Median seconds of one of the launches, each over buffers of its own.
template <class Launch>
double graph_seconds(const Launch& launch, const Timing& t) {
  return median_graph_seconds(g_stream, t.copies, t.replays, launch);
}

/// The faster of copies launched one by one and copies in a graph (whose nodes may use another
/// engine).
double copy_seconds(std::size_t bytes) {
  static std::map<std::size_t, double> known;
  if (const auto it = known.find(bytes); it != known.end()) return it->second;
  const Timing t = timing_for(bytes);
  const auto copy = [&](int c) {
    GDELTA_CHECK(cudaMemcpyAsync(g_out + t.offset(c), g_in + t.offset(c), bytes,
                                 cudaMemcpyDeviceToDevice, g_stream));
  };
  const double in_graph = graph_seconds(copy, t);
  const double one_by_one = median_seconds(
      0, t.replays,
      [&] {
        for (int c = 0; c < t.copies; ++c) copy(c);
      },
      g_stream);
  return known[bytes] = std::min(in_graph, one_by_one / t.copies);
}

bool is_checked(const Shape& shape) {
  return shape.op == Operator::sum && !is_float(shape.type) && !shape.exclusive && !shape.backward;
}

/// Says so if the first buffer of results is no sum of the first buffer of values.
void check_sum(const char* who, const Shape& shape) {
  GDELTA_CHECK(cudaMemsetAsync(g_wrong, 0, 8, g_stream));
  const auto check = [&](auto zero) {
    using T = decltype(zero);
    check_differences<T><<<2048, 256, 0, g_stream>>>(reinterpret_cast<const T*>(g_in),
                                                     reinterpret_cast<const T*>(g_out), shape.count,
                                                     shape.tuple, shape.order, g_wrong);
  };
  switch (type_bytes(shape.type)) {
    case 1:
      check(std::uint8_t{});
      break;
    case 2:
      check(std::uint16_t{});
      break;
    case 4:
      check(std::uint32_t{});
      break;
    default:
      check(std::uint64_t{});
  }
  unsigned long long wrong = 0;
  GDELTA_CHECK(cudaMemcpyAsync(&wrong, g_wrong, 8, cudaMemcpyDeviceToHost, g_stream));
  GDELTA_CHECK(cudaStreamSynchronize(g_stream));
  if (wrong != 0) {
    std::fprintf(stderr, "WRONG: %s, %llu values, type %d order %d tuple %llu count %llu\n", who,
                 wrong, int(shape.type), shape.order, (unsigned long long)shape.tuple,
                 (unsigned long long)shape.count);
  }
}

/// Results of an earlier run must not pass for those of this one.
void forget_results(const Timing& t) {
  GDELTA_CHECK(cudaMemsetAsync(g_out, 0xee, t.bytes, g_stream));
}

double scan_seconds(const Shape& shape, Path path) {
  const Timing t = timing_for(shape.count * type_bytes(shape.type));
  const std::size_t need = scratch_bytes(shape, path, 0, g_policies);
  if (need > g_scratch_bytes) return 0;
  forget_results(t);
  const double s = graph_seconds(
      [&](int c) {
        GDELTA_CHECK(launch_scan(shape, path, g_in + t.offset(c), g_out + t.offset(c), g_scratch,
                                 need, g_stream, g_policies));
      },
      t);
  if (is_checked(shape)) check_sum("ours", shape);
  return s;
}

/// 0 if CUB has no way.
double cub_seconds(const Shape& shape) {
  const Timing t = timing_for(shape.count * type_bytes(shape.type));
  std::size_t need = 0;
  const cudaError_t error = launch_cub(shape, g_in, g_out, nullptr, need, g_stream);
  if (error == cudaErrorNotSupported || need > g_cub_bytes) return 0;
  GDELTA_CHECK(error);
  forget_results(t);
  const double s = graph_seconds(
      [&](int c) {
        GDELTA_CHECK(
            launch_cub(shape, g_in + t.offset(c), g_out + t.offset(c), g_cub, need, g_stream));
      },
      t);
  Shape scanned = shape;
  scanned.count = peer_count(shape);
  if (is_checked(scanned)) check_sum("CUB", scanned);
  return s;
}

/// 0 for shapes that are not in the thesis's tables.
double thrust_seconds(const Shape& shape) {
  const Timing t = timing_for(shape.count * type_bytes(shape.type));
  if (!launch_thrust(shape, g_in, g_out, g_cub, g_cub_bytes, g_stream)) return 0;
  return graph_seconds(
      [&](int c) {
        launch_thrust(shape, g_in + t.offset(c), g_out + t.offset(c), g_cub, g_cub_bytes, g_stream);
      },
      t);
}

// ---- A caller's operator

constexpr int kMapTuple = 4;

/// `tuple` is 1 or kMapTuple.
void custom_row(int order, int tuple, std::uint64_t count) {
  const std::size_t bytes = count * sizeof(Affine);
  const Timing t = timing_for(bytes);
  const gdelta::CustomScan scan{.count = count, .order = order, .tuple = tuple, .exclusive = false};
  const std::size_t need = gdelta::scan_custom_scratch_bytes<Affine>(scan);
  if (need > g_scratch_bytes) return;
  const double copy = copy_seconds(bytes);
  const double ours = graph_seconds(
      [&](int c) {
        GDELTA_CHECK(gdelta::scan_custom(scan, reinterpret_cast<const Affine*>(g_in + t.offset(c)),
                                         reinterpret_cast<Affine*>(g_out + t.offset(c)), Compose{},
                                         Affine{1, 0}, g_scratch, need, g_stream));
      },
      t);
  if (order == 1) {
    unsigned long long wrong = 0;
    GDELTA_CHECK(cudaMemset(g_wrong, 0, 8));
    check_affine<<<2048, 256>>>(reinterpret_cast<const Affine*>(g_in),
                                reinterpret_cast<const Affine*>(g_out), count, tuple, false,
                                g_wrong);
    GDELTA_CHECK(cudaMemcpy(&wrong, g_wrong, 8, cudaMemcpyDeviceToHost));
    if (wrong != 0) std::fprintf(stderr, "WRONG: %llu maps, tuple %d\n", wrong, tuple);
  }
  const auto cub_scan = [&](int c, void* scratch, std::size_t& scratch_bytes) {
    const auto* const from = g_in + t.offset(c);
    auto* const to = g_out + t.offset(c);
    if (tuple == 1)
      return repeat_cub_scan<Affine>(order, count, Compose{}, from, to, scratch, scratch_bytes,
                                     g_stream);
    return repeat_cub_scan<Tuple<Affine, kMapTuple>>(order, count / kMapTuple, Lanewise<Compose>{},
                                                     from, to, scratch, scratch_bytes, g_stream);
  };
  std::size_t cub_need = 0;
  GDELTA_CHECK(cub_scan(0, nullptr, cub_need));
  const double cub = graph_seconds([&](int c) { GDELTA_CHECK(cub_scan(c, g_cub, cub_need)); }, t);
  std::printf("u32x2,custom,%d,%d,%llu,%.3f,%.4f,%.4f\n", order, tuple, (unsigned long long)count,
              count / ours * 1e-9, copy / ours, copy / cub);
}

// ---- Rows

RateTables g_rates;
bool g_with_thrust = false;

/// Rows of several paths share a measurement.
double known_cub_seconds(const Shape& shape) {
  static std::map<std::string, double> known;
  const std::string name = key_of(op_name(shape.op), shape);
  if (const auto it = known.find(name); it != known.end()) return it->second;
  return known[name] = cub_seconds(shape);
}

bool row(const Shape& shape, bool with_cub, Path path = Path::automatic) {
  const std::size_t bytes = shape.count * type_bytes(shape.type);
  if (bytes > kArenaBytes) return false;
  if (g_rates.has("ours", shape) && shape.op == Operator::sum && path == Path::automatic)
    return false;
  const double copy = copy_seconds(bytes);
  const double ours = scan_seconds(shape, path);
  const double cub = with_cub ? known_cub_seconds(shape) : 0;
  char cub_text[32] = "";
  if (cub > 0) std::snprintf(cub_text, sizeof cub_text, "%.4f", copy / cub);
  std::printf("%s,%s,%d,%llu,%llu,%.3f,%.4f,%s\n", type_name(shape.type), op_name(shape.op),
              shape.order, (unsigned long long)shape.tuple, (unsigned long long)shape.count,
              shape.count / ours * 1e-9, copy / ours, cub_text);
  if (shape.op == Operator::sum && path == Path::automatic) {
    g_rates.note("ours", shape, ours);
    if (cub > 0) g_rates.note("cub", shape, cub);
    const double thrust = with_cub && g_with_thrust ? thrust_seconds(shape) : 0;
    if (thrust > 0) g_rates.note("thrust", shape, thrust);
  }
  return true;
}

/// A row for each path that can take the shape, with the path's name in front.
void path_rows(const Shape& shape, bool with_cub, std::initializer_list<Path> paths) {
  for (const Path path : paths) {
    if (!can_take(shape, path, 0, g_policies)) continue;
    std::printf("%s,", path_name(path));
    row(shape, with_cub, path);
  }
}

/// Powers of two from 2^lowest to 2^25 bytes; above 64 KiB, where paths hand over, one between two.
std::vector<std::uint64_t> small_sizes(int lowest) {
  std::vector<std::uint64_t> sizes;
  for (int p = lowest; p <= 25; ++p) {
    sizes.push_back(std::uint64_t{1} << p);
    if (p >= 16 && p < 25) sizes.push_back(std::uint64_t{3} << (p - 1));
  }
  return sizes;
}

// ---- Energy: the driver's counter, over about a second of launches each

void energy() {
  const EnergyMeter meter;
  if (!meter.joules()) {
    std::fprintf(stderr, "no energy counter\n");
    return;
  }
  constexpr std::uint64_t kCount = std::uint64_t{1} << 30;
  const auto measure = [&](const char* name, int order, const auto& launch) {
    launch();
    GDELTA_CHECK(cudaDeviceSynchronize());
    const double begin = meter.joules().value_or(0);
    const auto start = std::chrono::steady_clock::now();
    std::size_t launches = 0;
    double seconds = 0;
    while (seconds < 0.9) {
      for (int i = 0; i < 10; ++i) launch();
      GDELTA_CHECK(cudaDeviceSynchronize());
      launches += 10;
      seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
    const double joules = meter.joules().value_or(begin) - begin;
    std::fprintf(stderr, "energy %s order %d: %.3f J/GB of values, %.0f W\n", name, order,
                 joules / (launches * kCount * 4e-9), joules / seconds);
  };
  measure("copy", 0, [&] {
    GDELTA_CHECK(cudaMemcpyAsync(g_out, g_in, kCount * 4, cudaMemcpyDeviceToDevice, g_stream));
  });
  for (const int order : {1, 2, 5, 8}) {
    const Shape shape = sum_of(Type::u32, order, 1, kCount);
    const std::size_t need = scratch_bytes(shape, Path::automatic, 0, g_policies);
    measure("ours", order, [&] {
      GDELTA_CHECK(
          launch_scan(shape, Path::automatic, g_in, g_out, g_scratch, need, g_stream, g_policies));
    });
    measure("cub", order, [&] {
      std::size_t size = g_cub_bytes;
      GDELTA_CHECK(launch_cub(shape, g_in, g_out, g_cub, size, g_stream));
    });
  }
}

// ---- Sections

constexpr std::uint64_t kLarge = std::uint64_t{1} << 28;

/// Some of everything; `--quick` has CUB beside more of them.
void quick_rows(bool quick) {
  for (const Type type : {Type::u32, Type::u64}) {
    const std::uint64_t n = type == Type::u32 ? 2 * kLarge : kLarge;
    for (const int order : {1, 2, 3, 4, 5, 6, 7, 8})
      row(sum_of(type, order, 1, n), quick && order == 1);
    for (const int tuple : {2, 3, 5, 8, 16, 64}) row(sum_of(type, 1, tuple, n), false);
    for (const int tuple : {2, 4, 8}) row(sum_of(type, 2, tuple, n), false);
    row(sum_of(type, 4, 4, n), false);
  }
  for (const Type type : {Type::u8, Type::u16}) {
    for (const int order : {1, 2}) row(sum_of(type, order, 1, 4 * kLarge), quick);
  }
  for (const int p : {10, 12, 14, 16, 18, 20, 22, 24, 26})
    row(sum_of(Type::u32, 1, 1, std::uint64_t{1} << p), quick);
  row(sum_of(Type::u32, 1, 1000, kLarge), false);
  row(sum_of(Type::u32, 1, 1'000'000, kLarge), false);
  row(sum_of(Type::f32, 1, 1, 2 * kLarge), quick);
  row({.op = Operator::max, .type = Type::u32, .order = 1, .tuple = 1, .count = 2 * kLarge}, quick);
  row({.op = Operator::product, .type = Type::u32, .order = 2, .tuple = 1, .count = 2 * kLarge},
      false);
}

/// Where the group kernel hands over to the stream kernel.
void paths_rows() {
  for (const Type type : {Type::u8, Type::u32, Type::u64}) {
    for (const int order : {1, 2, 8}) {
      for (int p = 24; p <= 29; ++p) {
        path_rows(sum_of(type, order, 1, (std::uint64_t{1} << p) / type_bytes(type)), false,
                  {Path::group, Path::stream});
      }
    }
  }
}

/// The sizes in on_chip_range.
void small_paths_rows() {
  for (const Type type : {Type::u8, Type::u16, Type::u32, Type::u64, Type::f32}) {
    for (const int order : {1, 2, 4, 8}) {
      if (is_float(type) && order > 2) continue;
      for (const int tuple : {1, 2, 3, 8}) {
        for (const std::uint64_t bytes : small_sizes(17)) {
          path_rows(sum_of(type, order, tuple, bytes / type_bytes(type)), true,
                    {Path::cluster, Path::resident, Path::group, Path::stream});
        }
      }
    }
  }
}

void sizes_rows() {
  for (const Type type : {Type::u32, Type::u64}) {
    for (const std::uint64_t n : thesis_counts(32)) row(sum_of(type, 1, 1, n), true);
  }
}

void orders_rows() {
  for (const Type type : {Type::u32, Type::u64}) {
    for (const std::uint64_t n : thesis_counts(30)) {
      for (const int order : {2, 3, 4, 5, 8}) row(sum_of(type, order, 1, n), true);
    }
  }
}

void tuples_rows() {
  for (const Type type : {Type::u32, Type::u64}) {
    for (const std::uint64_t n : thesis_counts(30)) {
      for (const int tuple : {2, 5, 8}) row(sum_of(type, 1, tuple, n), true);
    }
    for (const int tuple : {3, 4, 6, 7, 16, 32, 64}) row(sum_of(type, 1, tuple, kLarge), true);
  }
}

void strides_rows() {
  for (const Type type : {Type::u32, Type::u64}) {
    for (const int stride : {1000, 1'000'000}) {
      for (const int p : {20, 22, 24, 26, 28, 30}) {
        for (const int order : {1, 2})
          row(sum_of(type, order, stride, std::uint64_t{1} << p), true);
      }
    }
  }
}

void custom_rows() {
  for (const int order : {1, 2}) {
    for (int p = 10; p <= 28; p += 2) custom_row(order, 1, std::uint64_t{1} << p);
    custom_row(order, kMapTuple, kLarge);
  }
}

void grid_rows() {
  for (const Type type : {Type::u32, Type::u64}) {
    for (const int order : {1, 2, 3, 4, 5, 6, 7, 8}) {
      for (const int tuple : {1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 64})
        row(sum_of(type, order, tuple, kLarge), true);
    }
  }
}

void types_rows() {
  for (const Type type : {Type::u8, Type::u16, Type::f32, Type::f64}) {
    for (const int order : {1, 2})
      row(sum_of(type, order, 1, (std::uint64_t{1} << 30) / type_bytes(type)), true);
  }
  for (const Type type : {Type::f16, Type::bf16}) row(sum_of(type, 1, 1, kLarge), true);
  for (const Operator op : {Operator::product, Operator::max, Operator::min, Operator::bit_xor,
                            Operator::bit_and, Operator::bit_or}) {
    for (const int order : {1, 2})
      row({.op = op, .type = Type::u32, .order = order, .tuple = 1, .count = kLarge}, true);
  }
}

struct Options {
  bool quick = false;
  bool with_energy = false;
  const char* tables = nullptr;
  std::vector<std::string> only;
  std::vector<Shape> singles;

  bool names(const char* section) const {
    return std::find(only.begin(), only.end(), section) != only.end();
  }
  bool wants(const char* section) const {
    if (!only.empty()) return names(section);
    // Rows with a path in front are of another kind, so they have to be asked for.
    return quick == !std::strcmp(section, "quick") && !std::strstr(section, "paths");
  }
};

/// TYPE,ORDER,TUPLE,COUNT with the number of a type; nothing if the text is something else.
std::optional<Shape> parse_shape(const char* text) {
  int type = 0;
  Shape shape;
  unsigned long long tuple = 0;
  unsigned long long count = 0;
  if (std::sscanf(text, "%d,%d,%llu,%llu", &type, &shape.order, &tuple, &count) != 4)
    return std::nullopt;
  shape.type = Type(type);
  shape.tuple = tuple;
  shape.count = count;
  return shape;
}

/// The stream kernel from the first byte, with so many warps.
std::vector<Policy> stream_policies(int warps) {
  std::vector<Policy> policies;
  for (const int bytes : {1, 2, 4, 8})
    policies.push_back({.value_bytes = bytes,
                        .max_order = kMaxOrder,
                        .max_state = 512,
                        .min_bytes = 0,
                        .path = Path::stream,
                        .worker_warps = std::clamp(warps, 1, kMaxStreamUnits)});
  return policies;
}

std::optional<Options> parse_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    const bool more = i + 1 < argc;
    if (arg == "--quick") options.quick = true;
    if (arg == "--energy") options.with_energy = true;
    if (arg == "--only" && more) options.only.push_back(argv[++i]);
    if (arg == "--workers" && more) g_policies = stream_policies(std::atoi(argv[++i]));
    if (arg == "--tables" && more) options.tables = argv[++i];
    if (arg == "--one" && more) {
      const std::optional<Shape> shape = parse_shape(argv[++i]);
      if (!shape) return std::nullopt;
      options.singles.push_back(*shape);
    }
  }
  return options;
}

void allocate() {
  GDELTA_CHECK(cudaStreamCreateWithFlags(&g_stream, cudaStreamNonBlocking));
  GDELTA_CHECK(cudaMalloc(&g_in, kArenaBytes));
  GDELTA_CHECK(cudaMalloc(&g_out, kArenaBytes));
  g_scratch_bytes = std::size_t{3} << 30;
  g_cub_bytes = std::size_t{256} << 20;
  GDELTA_CHECK(cudaMalloc(&g_scratch, g_scratch_bytes));
  GDELTA_CHECK(cudaMalloc(&g_cub, g_cub_bytes));
  GDELTA_CHECK(cudaMalloc(&g_wrong, 8));
  fill_random<<<4096, 256>>>(reinterpret_cast<std::uint64_t*>(g_in), kArenaBytes / 8);
  // An idle GPU starts slow: keep it busy until its clocks are up.
  for (int i = 0; i < 150; ++i) {
    GDELTA_CHECK(
        cudaMemcpyAsync(g_out, g_in, std::size_t{4} << 30, cudaMemcpyDeviceToDevice, g_stream));
  }
  GDELTA_CHECK(cudaDeviceSynchronize());
}

void print_sections(const Options& options) {
  const std::pair<const char*, std::function<void()>> sections[] = {
      {"quick", [&] { quick_rows(options.quick); }},
      {"paths", paths_rows},
      {"small_paths", small_paths_rows},
      {"sizes", sizes_rows},
      {"orders", orders_rows},
      {"tuples", tuples_rows},
      {"strides", strides_rows},
      {"custom", custom_rows},
      {"grid", grid_rows},
      {"types", types_rows},
  };
  for (const auto& [name, rows] : sections) {
    if (!options.wants(name)) continue;
    const auto begin = std::chrono::steady_clock::now();
    rows();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    std::fprintf(stderr, "%s: %.1f s\n", name, taken.count());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<Options> options = parse_options(argc, argv);
  if (!options) return 1;
  g_with_thrust = options->tables != nullptr;
  allocate();
  cudaDeviceProp properties;
  GDELTA_CHECK(cudaGetDeviceProperties(&properties, 0));
  const std::size_t big = std::size_t{4} << 30;
  std::fprintf(stderr, "%s, copy of 4 GiB: %.0f GB/s read and written\n", properties.name,
               2e-9 * big / copy_seconds(big));
  const bool by_path = options->names("paths") || options->names("small_paths");
  std::printf("%stype,op,order,tuple,n,gitems_s,fraction_of_copy,cub_fraction_of_copy\n",
              by_path ? "path," : "");
  for (const Shape& shape : options->singles) row(shape, false);
  if (!options->singles.empty()) return 0;
  print_sections(*options);
  if (options->tables != nullptr && !g_rates.print(options->tables, properties.name)) return 1;
  if (options->with_energy) energy();
  return 0;
}
