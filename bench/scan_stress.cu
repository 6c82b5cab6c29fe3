// Random scans from many threads on many streams, with copies and other kernels on the same GPU, for
// as long as asked. Every result is checked on the device by what defines it (differences of order q
// give the input back; the next maximum follows from the one before; ...), so the check shares
// nothing with the scan. A second run of the same scan must give the same bits: that is all that is
// asked of floating-point sums that are not exact.
//
//   gdelta-stress-scan SECONDS [--seed N] [--threads N] [--values LOG2] [--alone]
//
// Sizes are log-uniform up to 2^24 values, three in a hundred up to 2^27 (`--values` bounds both);
// `--alone` leaves out the other work. A scan that has not ended after 30 seconds is reported as a
// hang. Exit code 0: no difference; 1: differences; 3: a hang.
#include <cuda_runtime.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "bench/affine_maps.cuh"
#include "bench/cuda_check.h"
#include "bench/stress_checks.cuh"
#include "bench/stress_tasks.h"
#include "gdelta/scan_custom.cuh"
#include "kernels/scan/scan_cuda.h"

namespace {

using namespace gdelta::bench;
using namespace gdelta::scan;

#define STRESS_CHECK(call) GDELTA_CHECK_OR(call, std::_Exit(2))  // other threads run

constexpr int kSlotsOfThread = 2;  // scans that a thread has under way, each on a stream of its own
constexpr double kHangSeconds = 30;
constexpr int kMostPrinted = 20;
constexpr std::size_t kGuardBytes = 512;
constexpr int kBlocks = 512, kThreads = 256;

// ---- Other work

__global__ void spin(unsigned* sink, int rounds) {
  extern __shared__ unsigned words[];
  unsigned x = threadIdx.x + blockIdx.x;
  for (int i = 0; i < rounds; ++i) {
    x = x * 1664525u + 1013904223u;
    words[threadIdx.x] = x;
    __syncthreads();  // every word is written
    x ^= words[(threadIdx.x + 1) % blockDim.x];
    __syncthreads();  // and read
  }
  if (x == 12345) *sink = x;
}

std::atomic<bool> g_stop{false};

void other_work(std::uint64_t seed) {
  Random random(seed);
  constexpr int kStreams = 4;
  constexpr std::size_t kBytes = std::size_t{256} << 20;
  cudaStream_t streams[kStreams];
  unsigned char* memory = nullptr;
  unsigned char* host = nullptr;
  STRESS_CHECK(cudaMalloc(&memory, 2 * kBytes));
  STRESS_CHECK(cudaMallocHost(&host, std::size_t{4} << 20));
  for (auto& stream : streams)
    STRESS_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  while (!g_stop) {
    cudaStream_t stream = streams[random.below(kStreams)];
    const std::size_t bytes = random.magnitude(27) + 1;
    switch (random.below(4)) {
      case 0:
        STRESS_CHECK(
            cudaMemcpyAsync(memory, memory + kBytes, bytes, cudaMemcpyDeviceToDevice, stream));
        break;
      case 1:
        STRESS_CHECK(cudaMemcpyAsync(memory + random.below(kBytes), host,
                                     std::min(bytes, std::size_t{4} << 20), cudaMemcpyHostToDevice,
                                     stream));
        break;
      default: {
        const unsigned blocks = 1 + static_cast<unsigned>(random.below(400));
        const unsigned threads = 32u << random.below(6);
        const std::size_t shared = 4096 + 8192 * random.below(6);
        spin<<<blocks, threads, shared, stream>>>(reinterpret_cast<unsigned*>(memory),
                                                  1 << random.below(14));
        STRESS_CHECK(cudaGetLastError());
      }
    }
    if (random.one_in(3)) STRESS_CHECK(cudaStreamSynchronize(stream));
  }
  for (auto& stream : streams) {
    STRESS_CHECK(cudaStreamSynchronize(stream));
    STRESS_CHECK(cudaStreamDestroy(stream));
  }
  STRESS_CHECK(cudaFree(memory));
  STRESS_CHECK(cudaFreeHost(host));
}

// ---- Workers

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::mutex g_print;
std::atomic<std::uint64_t> g_shapes{0}, g_values{0}, g_differences{0}, g_refused{0};

/// One scan under way at a time, with memory and a stream of its own.
class Slot {
 public:
  void open() {
    STRESS_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    STRESS_CHECK(cudaMallocHost(&wrong_host_, sizeof(unsigned long long)));
    STRESS_CHECK(cudaMalloc(&wrong_, sizeof(unsigned long long)));
  }

  void begin(const Task& task) {
    {
      const std::lock_guard lock(g_print);
      task_ = task;
    }
    started_ = now();
    STRESS_CHECK(cudaMemsetAsync(wrong_, 0, sizeof(unsigned long long), stream_));
    task.custom ? begin_custom() : begin_scan();
    STRESS_CHECK(cudaMemcpyAsync(wrong_host_, wrong_, sizeof(unsigned long long),
                                 cudaMemcpyDeviceToHost, stream_));
  }

  void finish() {
    if (started_ == 0) return;
    const cudaError_t error = cudaStreamSynchronize(stream_);
    started_ = 0;
    if (error != cudaSuccess) {
      const std::lock_guard lock(g_print);
      std::printf("FAILED %s: %s\n", task_.text().c_str(), cudaGetErrorString(error));
      std::fflush(stdout);
      std::_Exit(2);  // nothing works on this device any more
    }
    ++g_shapes;
    g_values += task_.shape.count;
    if (*wrong_host_ != 0) {
      if (++g_differences > kMostPrinted) return;
      const std::lock_guard lock(g_print);
      std::printf("DIFFERENCE %s: %llu values\n", task_.text().c_str(), *wrong_host_);
      std::fflush(stdout);
    }
  }

  double started() const { return started_; }
  std::string text() const { return task_.text(); }

 private:
  /// Room for at least `bytes`; grown rarely.
  struct Room {
    unsigned char* data = nullptr;
    std::size_t bytes = 0;
    unsigned char* take(std::size_t need) {
      if (need > bytes) {
        STRESS_CHECK(cudaFree(data));
        bytes = std::max(need + need / 2, std::size_t{1} << 20);
        STRESS_CHECK(cudaMalloc(&data, bytes));
      }
      return data;
    }
  };

  void begin_scan() {
    const Shape& shape = task_.shape;
    const int width = task_.value_bytes();
    const std::size_t bytes = shape.count * width;
    const std::size_t whole = bytes + 16 * width + 2 * kGuardBytes;
    unsigned char* const in = in_.take(whole) + kGuardBytes + task_.in_offset * width;
    unsigned char* const out_base = out_.take(whole);
    unsigned char* const out = out_base + kGuardBytes + task_.out_offset * width;
    unsigned char* const again = again_.take(whole) + kGuardBytes + task_.out_offset * width;
    const std::size_t scratch_size = scratch_bytes(shape, task_.path, 0);
    unsigned char* const scratch = scratch_.take(scratch_size + kGuardBytes);
    const auto each_width = [&](auto f) {
      switch (width) {
        case 1:
          return f(std::uint8_t{});
        case 2:
          return f(std::uint16_t{});
        case 4:
          return f(std::uint32_t{});
        default:
          return f(std::uint64_t{});
      }
    };
    each_width([&](auto zero) {
      using U = decltype(zero);
      fill<U><<<kBlocks, kThreads, 0, stream_>>>(reinterpret_cast<U*>(in), shape.count,
                                                 task_.data_seed, shape.type, shape.op);
    });
    STRESS_CHECK(cudaMemsetAsync(out_base, 0xa5, whole, stream_));
    STRESS_CHECK(cudaMemsetAsync(scratch, 0xa5, scratch_size + kGuardBytes, stream_));
    const auto scan = [&](unsigned char* to) {
      if (task_.in_place)
        STRESS_CHECK(cudaMemcpyAsync(to, in, bytes, cudaMemcpyDeviceToDevice, stream_));
      const cudaError_t error = launch_scan(shape, task_.path, task_.in_place ? to : in, to,
                                            scratch, scratch_size, stream_);
      if (error != cudaSuccess) {
        cudaGetLastError();  // or later launches would be blamed
        if (++g_refused > kMostPrinted) return;
        const std::lock_guard lock(g_print);
        std::printf("REFUSED %s: %s\n", task_.text().c_str(), cudaGetErrorString(error));
      }
    };
    scan(out);
    check_guard<<<1, kThreads, 0, stream_>>>(out_base, out - out_base, wrong_);
    check_guard<<<1, kThreads, 0, stream_>>>(out + bytes, out_base + whole - (out + bytes), wrong_);
    check_guard<<<1, kThreads, 0, stream_>>>(scratch + scratch_size, kGuardBytes, wrong_);
    Shape shifted = shape;
    shifted.exclusive = true;
    std::uint64_t identity =
        shape.op == Operator::sum || shape.op == Operator::bit_xor ? 0 : key_map(shifted).lowest;
    if (shape.op == Operator::product) {
      identity = !is_float(shape.type)      ? 1
                 : shape.type == Type::f16  ? 0x3c00
                 : shape.type == Type::bf16 ? 0x3f80
                 : shape.type == Type::f32  ? 0x3f800000
                                            : 0x3ff0000000000000;
    }
    each_width([&](auto zero) {
      using U = decltype(zero);
      check<U><<<kBlocks, kThreads, 0, stream_>>>(
          reinterpret_cast<const U*>(in), reinterpret_cast<const U*>(out),
          CheckArgs{.shape = shape, .rule = task_.rule, .identity = identity, .wrong = wrong_});
    });
    if (is_float(shape.type) || task_.data_seed % 4 == 0) {
      scan(again);
      check_same<<<kBlocks, kThreads, 0, stream_>>>(out, again, bytes, wrong_);
    }
    STRESS_CHECK(cudaGetLastError());
  }

  void begin_custom() {
    const Shape& shape = task_.shape;
    const gdelta::CustomScan scan{.count = shape.count,
                                  .order = shape.order,
                                  .tuple = static_cast<int>(shape.tuple),
                                  .exclusive = shape.exclusive};
    const std::size_t bytes = shape.count * sizeof(Affine) + kGuardBytes;
    auto* const in = reinterpret_cast<Affine*>(in_.take(bytes));
    auto* const out = reinterpret_cast<Affine*>(out_.take(bytes));
    auto* const again = reinterpret_cast<Affine*>(again_.take(bytes));
    const std::size_t scratch_size = gdelta::scan_custom_scratch_bytes<Affine>(scan);
    void* const scratch = scratch_.take(scratch_size);
    fill_affine<<<kBlocks, kThreads, 0, stream_>>>(in, shape.count, task_.data_seed);
    STRESS_CHECK(cudaMemsetAsync(out, 0xa5, bytes, stream_));
    const Affine* from = in;
    if (task_.in_place) {
      STRESS_CHECK(cudaMemcpyAsync(out, in, shape.count * sizeof(Affine), cudaMemcpyDeviceToDevice,
                                   stream_));
      from = out;
    }
    STRESS_CHECK(gdelta::scan_custom(scan, from, out, Compose{}, Affine{1, 0}, scratch,
                                     scratch_size, stream_));
    const Affine* before = in;
    if (shape.order == 2) {  // order 1 once more in between
      gdelta::CustomScan first = scan;
      first.order = 1;
      STRESS_CHECK(gdelta::scan_custom(first, in, again, Compose{}, Affine{1, 0}, scratch,
                                       scratch_size, stream_));
      check_affine<<<kBlocks, kThreads, 0, stream_>>>(in, again, shape.count, shape.tuple, false,
                                                      wrong_);
      before = again;
    }
    check_affine<<<kBlocks, kThreads, 0, stream_>>>(before, out, shape.count, shape.tuple,
                                                    shape.exclusive, wrong_);
    STRESS_CHECK(cudaGetLastError());
  }

  cudaStream_t stream_ = nullptr;
  Room in_, out_, again_, scratch_;
  unsigned long long* wrong_ = nullptr;
  unsigned long long* wrong_host_ = nullptr;
  Task task_;
  std::atomic<double> started_{0};
};

void work(std::vector<Slot>& slots, std::uint64_t seed, int most_bits) {
  Random random(seed);
  for (Slot& slot : slots) slot.open();
  while (!g_stop) {
    for (Slot& slot : slots) {
      slot.finish();
      if (!g_stop) slot.begin(random_task(random, most_bits));
    }
  }
  for (Slot& slot : slots) slot.finish();
}

// ---- The program

struct Options {
  double seconds = 0;
  std::uint64_t seed = 1;
  int threads = 6;
  int most_bits = 27;
  bool alone = false;
};

Options parse_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    const bool more = i + 1 < argc;
    if (arg == "--seed" && more) {
      options.seed = std::strtoull(argv[++i], nullptr, 10);
    } else if (arg == "--threads" && more) {
      options.threads = std::max(1, std::atoi(argv[++i]));
    } else if (arg == "--values" && more) {
      options.most_bits = std::clamp(std::atoi(argv[++i]), 1, 32);
    } else if (arg == "--alone") {
      options.alone = true;
    } else {
      options.seconds = std::atof(arg.c_str());
    }
  }
  return options;
}

using Slots = std::vector<std::vector<Slot>>;  // of each thread

[[noreturn]] void report_hang(const Slots& slots, double seconds, std::uint64_t seed) {
  const std::lock_guard lock(g_print);
  std::printf("HANG for %.0f s (seed %llu); under way:\n", seconds, (unsigned long long)seed);
  for (const auto& of_thread : slots) {
    for (const Slot& slot : of_thread) {
      if (slot.started() != 0) std::printf("  %s\n", slot.text().c_str());
    }
  }
  std::fflush(stdout);
  std::_Exit(3);
}

/// Until `is_over()`: ends the program if a scan hangs, and tells every minute how far it is.
template <class IsOver>
void watch(const Slots& slots, std::uint64_t seed, double begin, const IsOver& is_over) {
  static double reported = begin;
  while (!is_over()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const double at = now();
    for (const auto& of_thread : slots) {
      for (const Slot& slot : of_thread) {
        const double started = slot.started();
        if (started != 0 && at - started >= kHangSeconds) report_hang(slots, at - started, seed);
      }
    }
    if (at - reported < 60) continue;
    reported = at;
    std::printf("%.0f s: %llu shapes, %llu differences\n", at - begin, (unsigned long long)g_shapes,
                (unsigned long long)g_differences);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse_options(argc, argv);
  if (options.seconds <= 0) {
    std::fprintf(stderr, "usage: %s SECONDS [--seed N] [--threads N] [--values LOG2] [--alone]\n",
                 argv[0]);
    return 2;
  }
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "no CUDA device on this machine\n");
    return 2;
  }
  Slots slots;
  for (int t = 0; t < options.threads; ++t) slots.emplace_back(kSlotsOfThread);
  std::vector<std::thread> workers;
  const double begin = now();
  for (int t = 0; t < options.threads; ++t)
    workers.emplace_back(work, std::ref(slots[t]), mix(options.seed) + t, options.most_bits);
  if (!options.alone) workers.emplace_back(other_work, mix(options.seed) + 1000);

  watch(slots, options.seed, begin, [&] { return now() - begin >= options.seconds; });
  g_stop = true;
  std::atomic<bool> joined{false};
  std::thread watcher([&] { watch(slots, options.seed, begin, [&] { return joined.load(); }); });
  for (auto& worker : workers) worker.join();
  joined = true;
  watcher.join();
  std::printf(
      "%llu shapes, %.2f G values, %llu differences, %llu refused, seed %llu, %d threads, %.0f s\n",
      (unsigned long long)g_shapes, g_values * 1e-9, (unsigned long long)g_differences,
      (unsigned long long)g_refused, (unsigned long long)options.seed, options.threads,
      now() - begin);
  return g_differences + g_refused == 0 ? 0 : 1;
}
