// The sum and a histogram of a compressed column: the kernel decodes the pages into its registers, nothing is
// stored.
//
// usage: sum_and_histogram [values]
// Exits with 0 if both are those of a plain loop, or if there is no GPU to ask.
#include <algorithm>
#include <random>

#include "sample_column.h"

namespace {

using Reader = gdelta::PageReader<std::int32_t, 1>;

constexpr int kBins = 256;
constexpr int kBinShift = 16;  // a bin is 2^16 values wide, and the bins go round
__host__ __device__ constexpr unsigned bin_of(std::int32_t value) {
  return static_cast<unsigned>(value) >> kBinShift & (kBins - 1);
}

struct Totals {
  unsigned long long sum;  // modulo 2^64
  unsigned long long bins[kBins];
};

/// Neighbouring values mostly have one bin: a thread counts how often it has met the bin before it tells.
__global__ void __launch_bounds__(Reader::kThreads, Reader::kBlocks)
    total_kernel(gdelta::DevicePages pages, Totals* totals) {
  __shared__ unsigned bins[kBins];
  for (int bin = threadIdx.x; bin < kBins; bin += Reader::kThreads) bins[bin] = 0;
  __syncthreads();
  unsigned long long sum = 0;
  Reader::for_each_run(pages, [&](const Reader::Run& run) {
    unsigned bin = 0, met = 0;
    run.for_each([&](std::uint64_t, const std::int32_t(&tuple)[1]) {
      sum += static_cast<unsigned long long>(static_cast<long long>(tuple[0]));
      const unsigned own = bin_of(tuple[0]);
      if (own != bin) {
        if (met > 0) atomicAdd(bins + bin, met);
        bin = own;
        met = 0;
      }
      ++met;
    });
    if (met > 0) atomicAdd(bins + bin, met);
  });
  for (int distance = 16; distance > 0; distance /= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, distance);
  if (threadIdx.x % 32 == 0) atomicAdd(&totals->sum, sum);
  __syncthreads();
  for (int bin = threadIdx.x; bin < kBins; bin += Reader::kThreads)
    if (bins[bin] > 0) atomicAdd(totals->bins + bin, static_cast<unsigned long long>(bins[bin]));
}

std::vector<std::int32_t> make_walk(std::size_t count) {
  std::vector<std::int32_t> values(count);
  std::minstd_rand random(1);
  std::uint32_t at = 0;
  for (std::int32_t& value : values) {
    at += random() % 512 - 256;
    value = static_cast<std::int32_t>(at);
  }
  return values;
}

}  // namespace

int main(int argc, char** argv) {
  if (!sample::has_device()) return 0;
  const auto count = static_cast<std::size_t>(argc > 1 ? std::atoll(argv[1]) : 1 << 26);
  const std::vector<std::int32_t> values = make_walk(count);
  Totals right{};
  for (const std::int32_t value : values) {
    right.sum += static_cast<unsigned long long>(static_cast<long long>(value));
    ++right.bins[bin_of(value)];
  }
  sample::CompressedColumn<std::int32_t> column("i32", values);
  const sample::DeviceArray<Totals> totals(1);
  const auto read = [&] {
    column.read_pages([&](const gdelta::DevicePages& pages) {
      return gdelta::launch_reader<Reader, total_kernel>(pages, nullptr, pages, totals.data());
    });
  };
  sample::check(cudaMemset(totals.data(), 0, sizeof(Totals)));
  read();
  const Totals found = totals.at(0);
  sample::expect(column.is_whole(), "contents");
  sample::expect(found.sum == right.sum, "sum");
  sample::expect(std::equal(found.bins, found.bins + kBins, right.bins), "histogram");

  std::printf(
      "%zu values, ratio %.2f\n", count,
      static_cast<double>(column.value_bytes()) / static_cast<double>(column.stream_bytes()));
  sample::print_speeds(column, "summed in registers, contents verified", read);
  return 0;
}
