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
#include <cuda_bf16.h>
#include <cuda_fp16.h>
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

#include "bench/cuda_check.h"
#include "gdelta/scan_custom.cuh"
#include "kernels/scan/scan_cuda.h"

namespace {

using namespace gdelta::scan;

#define STRESS_CHECK(call) GDELTA_CHECK_OR(call, std::_Exit(2))  // other threads run

constexpr int kSlotsOfThread = 2;  // scans that a thread has under way, each on a stream of its own
constexpr double kHangSeconds = 30;
constexpr int kMostPrinted = 20;
constexpr std::size_t kGuardBytes = 512;
constexpr int kBlocks = 512, kThreads = 256;

__host__ __device__ inline std::uint64_t mix(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(mix(seed)) {}
  std::uint64_t next() { return mix(state_ += 0x632be59bd9b4e019); }
  std::uint64_t below(std::uint64_t n) { return next() % n; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  /// 0 ... 2^bits, every magnitude as often as another.
  std::uint64_t magnitude(int bits) {
    const int b = static_cast<int>(below(bits + 1));
    return b == 0 ? below(2)
                  : (std::uint64_t{1} << (b - 1)) + below((std::uint64_t{1} << (b - 1)) + 1);
  }

 private:
  std::uint64_t state_;
};

// ---- What is asked

enum class Rule : std::uint8_t {
  differences,   // sums: the differences of order q are the input
  parity,        // xor: the same over GF(2)
  ratios,        // products of odd numbers: both sides of the ratio of order q
  recurrence,    // maximum, minimum, and, or
  float_sum,     // sums that are exact in their type
  float_sign,    // products of 1 and -1
  only_repeats,  // other sums of floats: the same bits twice
};

struct Task {
  Shape shape;
  Path path = Path::automatic;
  bool in_place = false;
  int in_offset = 0;  // in values
  int out_offset = 0;
  Rule rule = Rule::differences;
  bool custom = false;  // affine maps by scan_custom; shape.type does not matter
  std::uint64_t data_seed = 0;

  int value_bytes() const { return custom ? 8 : type_bytes(shape.type); }
  std::string text() const {
    static const char* const ops[] = {"sum", "product", "max", "min", "xor", "and", "or"};
    static const char* const types[] = {"i8",  "u8",  "i16", "u16",  "i32", "u32",
                                        "i64", "u64", "f16", "bf16", "f32", "f64"};
    static const char* const paths[] = {"automatic", "single",  "group",
                                        "stream",    "cluster", "resident"};
    char line[256];
    std::snprintf(line, sizeof line,
                  "%s %s order %d tuple %llu count %llu%s%s%s in+%d out+%d path %s data %llx",
                  custom ? "custom" : ops[int(shape.op)],
                  custom ? "affine" : types[int(shape.type)], shape.order,
                  (unsigned long long)shape.tuple, (unsigned long long)shape.count,
                  shape.exclusive ? " exclusive" : "", shape.backward ? " backward" : "",
                  in_place ? " in place" : "", in_offset, out_offset, paths[int(path)],
                  (unsigned long long)data_seed);
    return line;
  }
};

/// Integers up to which every one is a value of the type.
double exact_limit(Type type) {
  switch (type) {
    case Type::bf16:
      return 256;
    case Type::f16:
      return 2048;
    case Type::f32:
      return 16777216;
    default:
      return 7e13;  // and binomials times it are still exact in double
  }
}

Rule rule_of(const Shape& shape) {
  if (!is_float(shape.type)) {
    if (shape.op == Operator::sum) return Rule::differences;
    if (shape.op == Operator::product) return Rule::ratios;
    return shape.op == Operator::bit_xor ? Rule::parity : Rule::recurrence;
  }
  if (shape.op == Operator::product) return Rule::float_sign;
  if (shape.op != Operator::sum) return Rule::recurrence;
  const double rows = 1 + static_cast<double>(shape.count) / static_cast<double>(shape.tuple);
  double largest = 1;
  for (int q = 0; q < shape.order; ++q) largest *= rows;
  return largest <= exact_limit(shape.type) ? Rule::float_sum : Rule::only_repeats;
}

Task random_task(Random& random, int most_bits) {
  Task task;
  task.data_seed = random.next();
  const int bits = random.below(100) < 3 ? std::min(27, most_bits) : std::min(24, most_bits);
  Shape& shape = task.shape;
  shape.count = random.magnitude(bits);
  if (random.one_in(12)) {
    task.custom = true;
    shape.order = 1 + static_cast<int>(random.below(2));
    shape.tuple = random.one_in(2) ? 1 : 1 + random.below(64);
    shape.exclusive = shape.order == 1 && random.one_in(3);
    shape.count = std::min<std::uint64_t>(shape.count, 1 << 24);
    task.in_place = random.one_in(4);
    return task;
  }
  do {
    shape.op = random.one_in(2) ? Operator::sum : Operator(random.below(7));
    shape.type = Type(random.below(12));
  } while (!is_valid(shape));
  shape.order = random.one_in(3) ? 1 : 1 + static_cast<int>(random.below(kMaxOrder));
  switch (random.below(8)) {
    case 0:
    case 1:
      shape.tuple = 1;
      break;
    case 2:
    case 3:
    case 4:
      shape.tuple = 1 + random.below(8);
      break;
    case 5:
      shape.tuple = 1 + random.below(64);
      break;
    case 6:
      shape.tuple = 65 + random.below(2000);
      break;
    default:
      shape.tuple = 1 + random.magnitude(21);
  }
  shape.exclusive = random.one_in(3);
  shape.backward = random.one_in(3);
  task.in_place = random.one_in(3);
  if (random.one_in(2)) {
    task.in_offset = static_cast<int>(random.below(16));
    task.out_offset = random.one_in(2) ? task.in_offset : static_cast<int>(random.below(16));
  }
  if (task.in_place) task.out_offset = task.in_offset;
  if (!random.one_in(4)) task.path = Path(random.below(1 + int(Path::resident)));
  if (!can_take(shape, task.path, 0)) task.path = Path::automatic;
  task.rule = rule_of(shape);
  return task;
}

// ---- Device: data

/// Raw values of any width from a seed; what they are depends on what can be checked.
template <class U>
__global__ void fill(U* to, std::uint64_t count, std::uint64_t seed, Type type, Operator op) {
  for (std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; i < count;
       i += std::uint64_t{gridDim.x} * blockDim.x) {
    const std::uint64_t bits = mix(seed + i);
    U value = static_cast<U>(bits);
    if (is_float(type) && (op == Operator::sum || op == Operator::product)) {
      const U one = static_cast<U>(type == Type::f16    ? 0x3c00
                                   : type == Type::bf16 ? 0x3f80
                                   : type == Type::f32  ? 0x3f800000
                                                        : 0x3ff0000000000000);
      const U sign = static_cast<U>(U{1} << (8 * sizeof(U) - 1));
      value = (bits & 1) ? one : static_cast<U>(one | sign);
      if (op == Operator::sum && (bits & 2)) value = 0;
    } else if (op == Operator::product) {
      value |= 1;
    } else if (is_float(type) && static_cast<U>(value << 1) == static_cast<U>(~U{1})) {
      value = 0;  // the key of this NaN stands for "no value yet"
    } else if ((op == Operator::bit_and || op == Operator::bit_or) && (bits >> 40) % 997 != 0) {
      value = op == Operator::bit_and ? static_cast<U>(~U{0}) : U{0};  // so that it takes long
    }
    to[i] = value;
  }
}

// ---- Device: checks

template <class U>
__device__ double as_double(U bits, Type type) {
  if constexpr (sizeof(U) == 2) {
    const auto raw = static_cast<unsigned short>(bits);
    return type == Type::f16 ? static_cast<double>(__half2float(__ushort_as_half(raw)))
                             : static_cast<double>(__bfloat162float(__ushort_as_bfloat16(raw)));
  } else if constexpr (sizeof(U) == 4) {
    return static_cast<double>(__uint_as_float(bits));
  } else if constexpr (sizeof(U) == 8) {
    return __longlong_as_double(static_cast<long long>(bits));
  } else {
    return 0;
  }
}

/// Unsigned numbers in the order of the values.
template <class U>
__device__ U sort_key(U bits, Type type) {
  const U sign = static_cast<U>(U{1} << (8 * sizeof(U) - 1));
  if (is_float(type)) return (bits & sign) ? static_cast<U>(~bits) : static_cast<U>(bits | sign);
  return is_signed(type) ? static_cast<U>(bits ^ sign) : bits;
}

template <class U>
__device__ U apply(Operator op, Type type, U a, U b) {
  switch (op) {
    case Operator::max:
      return sort_key(a, type) > sort_key(b, type) ? a : b;
    case Operator::min:
      return sort_key(a, type) < sort_key(b, type) ? a : b;
    case Operator::bit_and:
      return a & b;
    default:
      return a | b;
  }
}

struct CheckArgs {
  Shape shape;
  Rule rule;
  std::uint64_t identity;
  unsigned long long* wrong;
};

/// in, out: without offsets. Counts the values that break the rule.
template <class U>
__global__ void check(const U* in, const U* out, CheckArgs args) {
  const Shape& shape = args.shape;
  const std::uint64_t n = shape.count, s = shape.tuple;
  const auto at = [&](std::uint64_t j) { return shape.backward ? n - 1 - j : j; };
  for (std::uint64_t j = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; j < n;
       j += std::uint64_t{gridDim.x} * blockDim.x) {
    bool good = true;
    if (shape.exclusive) {
      if (j < s) good = out[at(j)] == static_cast<U>(args.identity);
      if (n <= s || j >= n - s) {  // the inclusive value would be behind the end
        if (!good) atomicAdd(args.wrong, 1ull);
        continue;
      }
    }
    const auto y = [&](std::uint64_t i) { return out[at(shape.exclusive ? i + s : i)]; };
    const U x = in[at(j)];
    std::uint64_t binomial = 1, sum = 0, even = 1, odd = x;
    double float_sum = 0;
    U parity = 0;
    switch (args.rule) {
      case Rule::recurrence:
        good &= y(j) == (j < s ? x : apply(shape.op, shape.type, y(j - s), x));
        break;
      case Rule::only_repeats:
        break;
      default:
        for (int m = 0; m <= shape.order; ++m) {
          if (static_cast<std::uint64_t>(m) > j / s) break;
          const U term = y(j - m * s);
          if (args.rule == Rule::differences) {
            sum += m % 2 ? 0 - binomial * term : binomial * term;
          } else if (args.rule == Rule::float_sum) {
            const double value = static_cast<double>(binomial) * as_double(term, shape.type);
            float_sum += m % 2 ? -value : value;
          } else if (args.rule == Rule::ratios) {
            for (std::uint64_t k = 0; k < binomial; ++k) (m % 2 ? odd : even) *= term;
          } else if (binomial % 2) {
            parity ^= term;
          }
          binomial = binomial * (shape.order - m) / (m + 1);
        }
        if (args.rule == Rule::differences) good &= static_cast<U>(sum) == x;
        if (args.rule == Rule::float_sum) good &= float_sum == as_double(x, shape.type);
        if (args.rule == Rule::ratios) good &= static_cast<U>(odd) == static_cast<U>(even);
        if (args.rule == Rule::parity) good &= parity == x;
        if (args.rule == Rule::float_sign) {
          const U sign = static_cast<U>(U{1} << (8 * sizeof(U) - 1));
          good &= ((parity ^ x) & sign) == 0 && ((y(j) ^ x) & static_cast<U>(~sign)) == 0;
        }
    }
    if (!good) atomicAdd(args.wrong, 1ull);
  }
}

/// Bytes that should be what they were.
__global__ void check_guard(const unsigned char* bytes, std::size_t count,
                            unsigned long long* wrong) {
  for (std::size_t i = threadIdx.x; i < count; i += blockDim.x) {
    if (bytes[i] != 0xa5) atomicAdd(wrong, 1ull);
  }
}

__global__ void check_same(const unsigned char* a, const unsigned char* b, std::size_t bytes,
                           unsigned long long* wrong) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < bytes;
       i += std::size_t{gridDim.x} * blockDim.x) {
    if (a[i] != b[i]) atomicAdd(wrong, 1ull);
  }
}

/// x -> a x + b; composition does not commute.
struct Affine {
  std::uint32_t a, b;
};
struct Compose {
  __host__ __device__ Affine operator()(const Affine& first, const Affine& second) const {
    return {first.a * second.a, second.a * first.b + second.b};
  }
};

__global__ void fill_affine(Affine* to, std::uint64_t count, std::uint64_t seed) {
  for (std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; i < count;
       i += std::uint64_t{gridDim.x} * blockDim.x) {
    const std::uint64_t bits = mix(seed + i);
    to[i] = {static_cast<std::uint32_t>(bits) | 1u, static_cast<std::uint32_t>(bits >> 32)};
  }
}

__global__ void check_affine(const Affine* in, const Affine* out, std::uint64_t n, std::uint64_t s,
                             bool exclusive, unsigned long long* wrong) {
  const auto same = [](const Affine& x, const Affine& y) { return x.a == y.a && x.b == y.b; };
  for (std::uint64_t j = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; j < n;
       j += std::uint64_t{gridDim.x} * blockDim.x) {
    bool good = true;
    if (!exclusive) {
      good = same(out[j], j < s ? in[j] : Compose{}(out[j - s], in[j]));
    } else {
      good = same(out[j], j < s ? Affine{1, 0} : Compose{}(out[j - s], in[j - s]));
    }
    if (!good) atomicAdd(wrong, 1ull);
  }
}

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
      check<U><<<kBlocks, kThreads, 0, stream_>>>(reinterpret_cast<const U*>(in),
                                                  reinterpret_cast<const U*>(out),
                                                  CheckArgs{shape, task_.rule, identity, wrong_});
    });
    if (is_float(shape.type) || task_.data_seed % 4 == 0) {
      scan(again);
      check_same<<<kBlocks, kThreads, 0, stream_>>>(out, again, bytes, wrong_);
    }
    STRESS_CHECK(cudaGetLastError());
  }

  void begin_custom() {
    const Shape& shape = task_.shape;
    const gdelta::CustomScan scan{shape.count, shape.order, static_cast<int>(shape.tuple),
                                  shape.exclusive};
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

}  // namespace

int main(int argc, char** argv) {
  double seconds = 0;
  std::uint64_t seed = 1;
  int threads = 6, most_bits = 27;
  bool alone = false;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    const bool more = i + 1 < argc;
    if (arg == "--seed" && more) {
      seed = std::strtoull(argv[++i], nullptr, 10);
    } else if (arg == "--threads" && more) {
      threads = std::max(1, std::atoi(argv[++i]));
    } else if (arg == "--values" && more) {
      most_bits = std::clamp(std::atoi(argv[++i]), 1, 32);
    } else if (arg == "--alone") {
      alone = true;
    } else {
      seconds = std::atof(arg.c_str());
    }
  }
  if (seconds <= 0) {
    std::fprintf(stderr, "usage: %s SECONDS [--seed N] [--threads N] [--values LOG2] [--alone]\n",
                 argv[0]);
    return 2;
  }
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "no CUDA device on this machine\n");
    return 2;
  }
  std::vector<std::vector<Slot>> slots;
  for (int t = 0; t < threads; ++t) slots.emplace_back(kSlotsOfThread);
  std::vector<std::thread> workers;
  const double begin = now();
  for (int t = 0; t < threads; ++t)
    workers.emplace_back(work, std::ref(slots[t]), mix(seed) + t, most_bits);
  if (!alone) workers.emplace_back(other_work, mix(seed) + 1000);

  double reported = begin;
  const auto watch = [&] {
    const double at = now();
    for (const auto& of_thread : slots) {
      for (const Slot& slot : of_thread) {
        const double started = slot.started();
        if (started == 0 || at - started < kHangSeconds) continue;
        const std::lock_guard lock(g_print);
        std::printf("HANG for %.0f s (seed %llu); under way:\n", at - started,
                    (unsigned long long)seed);
        for (const auto& all : slots) {
          for (const Slot& other : all) {
            if (other.started() != 0) std::printf("  %s\n", other.text().c_str());
          }
        }
        std::fflush(stdout);
        std::_Exit(3);
      }
    }
    if (at - reported >= 60) {
      reported = at;
      std::printf("%.0f s: %llu shapes, %llu differences\n", at - begin,
                  (unsigned long long)g_shapes, (unsigned long long)g_differences);
      std::fflush(stdout);
    }
  };
  while (now() - begin < seconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    watch();
  }
  g_stop = true;
  std::atomic<bool> joined{false};
  std::thread watcher([&] {
    while (!joined) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      watch();
    }
  });
  for (auto& worker : workers) worker.join();
  joined = true;
  watcher.join();
  std::printf(
      "%llu shapes, %.2f G values, %llu differences, %llu refused, seed %llu, %d threads, %.0f s\n",
      (unsigned long long)g_shapes, g_values * 1e-9, (unsigned long long)g_differences,
      (unsigned long long)g_refused, (unsigned long long)seed, threads, now() - begin);
  return g_differences + g_refused == 0 ? 0 : 1;
}
