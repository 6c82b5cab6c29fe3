// Segmented sums of random values beside a copy of them and CUB's scan by key, in one run; prints CSV.
// usage: segscan_bench [log2 of the values, 28]
//
// segments: rows of a segment, on average (geometric lengths); `one` is all of the array; `skewed` is
// one of half of the array among such of 1 to 20 rows. fraction_of_copy: the time of a copy of the
// values over the scan's. fraction_of_floor: the same for a copy of all that has to move, bits, offsets
// (eight bytes each) or keys (four) included. Forms `cub_keys`: CUB, once for every order.
#include <thrust/iterator/reverse_iterator.h>

#include <cstdio>
#include <cstdlib>
#include <cub/device/device_scan.cuh>
#include <string>

#include "bench/device_array.h"
#include "bench/launch_timing.h"
#include "gdelta/primitives/segmented_sums.cuh"

namespace gdelta::bench {
namespace {

__host__ __device__ std::uint64_t mix(std::uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

/// mean 0: one segment; -1: skewed.
__device__ bool is_head(std::uint64_t row, std::uint64_t count, long long mean) {
  if (row == 0) return true;
  if (mean == 0) return false;
  if (mean < 0) {
    if (row > count / 4 && row < count / 4 * 3) return false;
    mean = 10;
  }
  return mix(row * 3 + 1) % static_cast<std::uint64_t>(mean) == 0;
}

template <class Value>
__global__ void make_values(std::uint64_t count, Value* values) {
  for (std::uint64_t i = blockIdx.x * 256ull + threadIdx.x; i < count; i += gridDim.x * 256ull)
    values[i] = static_cast<Value>(mix(i));
}

__global__ void mark_heads(std::uint64_t count, long long mean, std::uint32_t* marks) {
  for (std::uint64_t i = blockIdx.x * 256ull + threadIdx.x; i < count; i += gridDim.x * 256ull)
    marks[i] = is_head(i, count, mean);
}

/// From numbers of segments, counted from one, to bits and offsets. `count` is a multiple of 32.
__global__ void describe(std::uint64_t count, long long mean, const std::uint32_t* keys,
                         std::uint32_t* bits, std::uint64_t* offsets) {
  for (std::uint64_t i = blockIdx.x * 256ull + threadIdx.x; i < count; i += gridDim.x * 256ull) {
    const bool head = is_head(i, count, mean);
    if (head) offsets[keys[i] - 1] = i;
    const unsigned word = __ballot_sync(~0u, head);
    if (threadIdx.x % 32 == 0) bits[i / 32] = word;
  }
}

template <class Value>
__global__ void count_wrong(std::uint64_t count, const Value* a, const Value* b,
                            unsigned long long* wrong) {
  for (std::uint64_t i = blockIdx.x * 256ull + threadIdx.x; i < count; i += gridDim.x * 256ull)
    if (a[i] != b[i]) atomicAdd(wrong, 1ull);
}

constexpr int kBlocks = 2048;
constexpr int kWarmups = 2;
constexpr int kRuns = 11;

struct Rows {
  std::uint64_t count;
  std::string name;
  std::uint64_t segments;
  std::uint32_t* keys;
  std::uint32_t* bits;
  std::uint64_t* offsets;
};

Rows make_rows(std::uint64_t count, long long mean) {
  Rows rows{.count = count,
            .name = mean == 0  ? "one"
                    : mean < 0 ? "skewed"
                               : std::to_string(mean),
            .segments = 0,
            .keys = device_array<std::uint32_t>(count),
            .bits = device_array<std::uint32_t>(count / 32),
            .offsets = nullptr};
  mark_heads<<<kBlocks, 256>>>(count, mean, rows.keys);
  std::size_t bytes = 0;
  const auto number = static_cast<std::int64_t>(count);
  GDELTA_CHECK(cub::DeviceScan::InclusiveSum(nullptr, bytes, rows.keys, rows.keys, number));
  char* const scratch = device_array<char>(bytes);
  GDELTA_CHECK(cub::DeviceScan::InclusiveSum(scratch, bytes, rows.keys, rows.keys, number));
  std::uint32_t segments = 0;
  GDELTA_CHECK(cudaMemcpy(&segments, rows.keys + count - 1, 4, cudaMemcpyDeviceToHost));
  GDELTA_CHECK(cudaFree(scratch));
  rows.segments = segments;
  rows.offsets = device_array<std::uint64_t>(segments);
  describe<<<kBlocks, 256>>>(count, mean, rows.keys, rows.bits, rows.offsets);
  GDELTA_CHECK(cudaDeviceSynchronize());
  return rows;
}

void free_rows(const Rows& rows) {
  GDELTA_CHECK(cudaFree(rows.keys));
  GDELTA_CHECK(cudaFree(rows.bits));
  GDELTA_CHECK(cudaFree(rows.offsets));
}

template <class Value>
struct Arrays {
  Value* in;
  Value* out;
  Value* expected;
  const char* type;
  double copy;  ///< seconds
};

/// CUB, an order after the other.
template <class Keys, class From, class To>
void cub_sums(int order, Keys keys, From from, To to, std::uint64_t count, void* scratch,
              std::size_t& bytes) {
  const auto number = static_cast<std::int64_t>(count);
  GDELTA_CHECK(cub::DeviceScan::InclusiveSumByKey(scratch, bytes, keys, from, to, number));
  for (int q = 1; q < order && scratch != nullptr; ++q)
    GDELTA_CHECK(cub::DeviceScan::InclusiveSumByKey(scratch, bytes, keys, to, to, number));
}

void print_row(const char* type, const char* form, bool backward, int order, const Rows& rows,
               double copy, double seconds, double value_bytes, double extra_bytes) {
  const double floor = copy * (2 * value_bytes + extra_bytes) / (2 * value_bytes);
  std::printf("%s,%s,%s,%d,%s,%.4f,%.4f\n", type, form, backward ? "backward" : "forward", order,
              rows.name.c_str(), copy / seconds, floor / seconds);
  std::fflush(stdout);
}

template <int Order, class Value, class Segments>
void measure(const Arrays<Value>& arrays, const Rows& rows, const char* form, bool backward,
             const Segments& segments, double extra_bytes) {
  const SegmentedScan scan{
      .count = rows.count, .tuple = 1, .exclusive = false, .backward = backward};
  const std::size_t bytes = segmented_sums_scratch_bytes<Order, Value>(scan, segments);
  char* const scratch = device_array<char>(bytes);
  GDELTA_CHECK(cudaMemset(arrays.out, 0xee, rows.count * sizeof(Value)));
  const double seconds = median_seconds(kWarmups, kRuns, [&] {
    GDELTA_CHECK(
        segmented_sums<Order>(scan, arrays.in, arrays.out, segments, scratch, bytes, nullptr));
  });
  unsigned long long wrong = 0;
  auto* const counter = device_array<unsigned long long>(1);
  GDELTA_CHECK(cudaMemset(counter, 0, 8));
  count_wrong<<<kBlocks, 256>>>(rows.count, arrays.out, arrays.expected, counter);
  GDELTA_CHECK(cudaMemcpy(&wrong, counter, 8, cudaMemcpyDeviceToHost));
  if (wrong != 0) {
    std::fprintf(stderr, "%s order %d by %s, %s: %llu sums are wrong\n", arrays.type, Order, form,
                 rows.name.c_str(), wrong);
    std::exit(1);
  }
  GDELTA_CHECK(cudaFree(counter));
  GDELTA_CHECK(cudaFree(scratch));
  print_row(arrays.type, form, backward, Order, rows, arrays.copy, seconds,
            static_cast<double>(rows.count * sizeof(Value)), extra_bytes);
}

template <int Order, class Value>
void measure_order(const Arrays<Value>& arrays, const Rows& rows) {
  const std::uint64_t count = rows.count;
  const double bits = static_cast<double>(count) / 8;
  for (const bool backward : {false, true}) {
    std::size_t bytes = 0;
    char* scratch = nullptr;
    const auto cub = [&] {
      if (backward) {
        cub_sums(Order, thrust::make_reverse_iterator(rows.keys + count),
                 thrust::make_reverse_iterator(arrays.in + count),
                 thrust::make_reverse_iterator(arrays.expected + count), count, scratch, bytes);
      } else {
        cub_sums(Order, rows.keys, arrays.in, arrays.expected, count, scratch, bytes);
      }
    };
    cub();
    scratch = device_array<char>(bytes);
    const double seconds = median_seconds(1, 3, cub);
    measure<Order>(arrays, rows, "flags", backward, HeadFlags{rows.bits}, bits);
    if (!backward) {
      measure<Order>(arrays, rows, "offsets", backward,
                     SegmentOffsets<std::uint64_t>{rows.offsets, rows.segments},
                     static_cast<double>(rows.segments) * 8);
      measure<Order>(arrays, rows, "keys", backward, SegmentKeys<std::uint32_t>{rows.keys},
                     static_cast<double>(count) * 4);
    }
    print_row(arrays.type, "cub_keys", backward, Order, rows, arrays.copy, seconds,
              static_cast<double>(count * sizeof(Value)), static_cast<double>(count) * 4);
    GDELTA_CHECK(cudaFree(scratch));
  }
}

template <class Value>
Arrays<Value> make_arrays(const char* type, std::uint64_t count) {
  Arrays<Value> arrays{.in = device_array<Value>(count),
                       .out = device_array<Value>(count),
                       .expected = device_array<Value>(count),
                       .type = type,
                       .copy = 0};
  make_values<<<kBlocks, 256>>>(count, arrays.in);
  arrays.copy = median_seconds(3, 21, [&] {
    GDELTA_CHECK(
        cudaMemcpyAsync(arrays.out, arrays.in, count * sizeof(Value), cudaMemcpyDeviceToDevice));
  });
  std::fprintf(stderr, "%s: a copy moves %.0f GB/s of values\n", type,
               static_cast<double>(count * sizeof(Value)) / arrays.copy * 1e-9);
  return arrays;
}

template <class Value>
void free_arrays(const Arrays<Value>& arrays) {
  GDELTA_CHECK(cudaFree(arrays.in));
  GDELTA_CHECK(cudaFree(arrays.out));
  GDELTA_CHECK(cudaFree(arrays.expected));
}

}  // namespace
}  // namespace gdelta::bench

int main(int argc, char** argv) {
  using namespace gdelta::bench;
  const std::uint64_t count = std::uint64_t{1} << (argc > 1 ? std::atoi(argv[1]) : 28);
  std::printf("type,form,direction,order,segments,fraction_of_copy,fraction_of_floor\n");
  const auto words = make_arrays<std::uint32_t>("u32", count);
  for (const long long mean : {1ll, 3ll, 10ll, 100ll, 10'000ll, 1'000'000ll, 0ll, -1ll}) {
    const Rows rows = make_rows(count, mean);
    measure_order<1>(words, rows);
    measure_order<2>(words, rows);
    measure_order<3>(words, rows);
    measure_order<4>(words, rows);
    if (mean == 10 || mean == 0) measure_order<8>(words, rows);
    free_rows(rows);
  }
  free_arrays(words);
  const auto longs = make_arrays<std::uint64_t>("u64", count / 2);
  for (const long long mean : {10ll, 10'000ll}) {
    const Rows rows = make_rows(count / 2, mean);
    measure_order<1>(longs, rows);
    measure_order<2>(longs, rows);
    free_rows(rows);
  }
  free_arrays(longs);
}
