// gdelta-tune-scan: finds the fastest scan policies on this device and prints a table for
// load_scan_tuning().
//   gdelta-tune-scan > scan_policies.txt
// For each value size and range of orders and tuples it times the stream kernel with half to all of
// its worker warps on 512 MiB, then the group kernel and the stream kernel on less and less, and
// writes where the stream takes over and how many warps it wants there.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/scan/scan_cuda.h"
#include "kernels/scan/scan_policy.h"

namespace {

using namespace gdelta::scan;

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "gdelta-tune-scan: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

constexpr std::size_t kBytes = std::size_t{512} << 20;
constexpr std::size_t kScratch = std::size_t{128} << 20;
constexpr float kNever = 1e30f;  // milliseconds of what a path cannot do
unsigned char* g_in;
unsigned char* g_out;
void* g_scratch;

/// Median milliseconds of a scan.
float time_scan(const Shape& shape, Path path) {
  const std::size_t need = scratch_bytes(shape, path, 0);
  if (need > kScratch || !can_take(shape, path, 0)) return kNever;
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "event");
  check(cudaEventCreate(&end), "event");
  std::vector<float> times;
  for (int r = 0; r < 7; ++r) {
    check(cudaEventRecord(begin), "event");
    for (int i = 0; i < 4; ++i)
      check(launch_scan(shape, path, g_in, g_out, g_scratch, need, nullptr), "scan");
    check(cudaEventRecord(end), "event");
    check(cudaEventSynchronize(end), "scan");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end), "event");
    if (r > 0) times.push_back(ms / 4);
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void use_workers(int warps) {
  std::string table;
  for (const int bytes : {1, 2, 4, 8}) {
    table += std::to_string(bytes) + " 8 512 0 " + std::to_string(int(Path::stream)) + " " +
             std::to_string(warps) + "\n";
  }
  load_policies(table.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) {
    const bool help = std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0;
    std::fprintf(help ? stdout : stderr,
                 "usage: gdelta-tune-scan > TABLE\n"
                 "Times the scan kernels on the first GPU and prints the fastest choices.\n"
                 "A program loads them with gdelta::load_scan_tuning(\"TABLE\").\n"
                 "Needs about 1.2 GB of GPU memory and a GPU with nothing else to do.\n");
    return help ? 0 : 1;
  }
  check(cudaMalloc(&g_in, kBytes), "memory");
  check(cudaMalloc(&g_out, kBytes), "memory");
  check(cudaMalloc(&g_scratch, kScratch), "memory");
  std::vector<unsigned> random(kBytes / 4);
  unsigned state = 1;
  for (unsigned& word : random) word = state = state * 1664525u + 1013904223u;
  check(cudaMemcpy(g_in, random.data(), kBytes, cudaMemcpyHostToDevice), "memory");
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, 0), "device");
  std::printf(
      "# scan policies of %s\n# value_bytes max_order max_state min_bytes path(2 group, 3 stream) "
      "workers\n",
      properties.name);

  for (const Type type : {Type::u8, Type::u16, Type::u32, Type::u64}) {
    const int bytes = type_bytes(type);
    std::fprintf(stderr, "values of %d bytes\n", bytes);
    for (const int order : {1, 2, 4, 8}) {
      for (const int tuple : {1, 8, 64}) {
        Shape shape{Operator::sum, type,  order,         static_cast<std::uint64_t>(tuple),
                    false,         false, kBytes / bytes};
        const int most = stream_shape(bytes, order).workers;
        int best_warps = most;
        float best = kNever;
        for (int warps = most / 2; warps <= most; ++warps) {
          use_workers(warps);
          const float ms = time_scan(shape, Path::stream);
          if (ms < best) best = ms, best_warps = warps;
        }
        if (best == kNever) continue;  // the device has no stream kernel for this
        use_workers(best_warps);
        std::size_t from = kBytes;
        for (std::size_t size = kBytes / 2; size >= (std::size_t{1} << 20); size /= 2) {
          shape.count = size / bytes;
          if (time_scan(shape, Path::stream) > time_scan(shape, Path::group)) break;
          from = size;
        }
        std::printf("%d %d %d %zu %d %d\n", bytes, order, order * tuple, from, int(Path::stream),
                    best_warps);
      }
    }
  }
  return 0;
}
