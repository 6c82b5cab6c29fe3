// Quicksort of all segments at once (Blelloch; Sengupta, Harris, Zhang, Owens): the first value of every
// segment is its pivot, distributed to all of it; marks say what lies above, and split-and-segment makes
// two segments of each. Done when everything is in order.
//
// usage: quicksort [values]
// Exits with 0 if the result is that of a sort on the host, or if there is no GPU to ask.
#include <random>
#include <utility>

#include "gdelta/primitives/distribute.cuh"
#include "gdelta/primitives/split_and_segment.cuh"
#include "sample_device.h"

namespace {

constexpr int kThreads = 256;

/// Marks what lies above its pivot; in turn what does not lie below, since a segment whose pivot is its
/// smallest, or its largest, is only cut by one of both.
__global__ void mark_above(const float* values, const float* pivots, std::uint64_t count,
                           bool or_equal, std::uint32_t* words) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  const bool mine = i < count && (or_equal ? values[i] >= pivots[i] : values[i] > pivots[i]);
  const unsigned word = __ballot_sync(~0u, mine);
  if (threadIdx.x % 32 == 0 && i < count) words[i / 32] = word;
}

__global__ void count_descents(const float* values, std::uint64_t count, unsigned* descents) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  const unsigned mine = __ballot_sync(~0u, i + 1 < count && values[i] > values[i + 1]);
  if (threadIdx.x % 32 == 0 && mine != 0) atomicAdd(descents, 1u);
}

/// What a pass reads and what it writes.
struct Side {
  explicit Side(std::uint64_t count) : values(count), heads(count / 32 + 1) { heads.fill_bytes(0); }
  sample::DeviceArray<float> values;
  sample::DeviceArray<std::uint32_t> heads;
  gdelta::HeadFlags segments() const { return {heads.data()}; }
};

class Quicksort {
 public:
  explicit Quicksort(const std::vector<float>& values)
      : count_(values.size()),
        from_(count_),
        to_(count_),
        pivots_(count_),
        marks_(count_ / 32 + 1),
        descents_(1),
        scratch_(
            std::max(gdelta::distribute_scratch_bytes<float>({.count = count_}, from_.segments()),
                     gdelta::split_and_segment_scratch_bytes(count_, from_.segments()))) {
    sample::check(cudaMemcpy(from_.values.data(), values.data(), count_ * sizeof(float),
                             cudaMemcpyHostToDevice));
  }
  bool is_sorted() {
    descents_.fill_bytes(0);
    sample::launch(count_descents, count_ / kThreads + 1, kThreads, from_.values.data(), count_,
                   descents_.data());
    return descents_.at(0) == 0;
  }
  void pass(bool or_equal) {
    const float* const values = from_.values.data();
    sample::check(gdelta::distribute({.count = count_}, values, pivots_.data(), from_.segments(),
                                     scratch_.data(), scratch_.count(), nullptr));
    sample::launch(mark_above, count_ / kThreads + 1, kThreads, values, pivots_.data(), count_,
                   or_equal, marks_.data());
    sample::check(gdelta::split_and_segment(count_, values, gdelta::Marks{marks_.data()},
                                            from_.segments(), to_.values.data(), to_.heads.data(),
                                            scratch_.data(), scratch_.count(), nullptr));
    std::swap(from_, to_);
  }
  std::vector<float> values() const { return from_.values.values(); }

 private:
  std::uint64_t count_;
  Side from_, to_;
  sample::DeviceArray<float> pivots_;
  sample::DeviceArray<std::uint32_t> marks_;
  sample::DeviceArray<unsigned> descents_;
  sample::DeviceArray<char> scratch_;
};

}  // namespace

int main(int argc, char** argv) {
  if (!sample::has_device()) return 0;
  const auto count = static_cast<std::uint32_t>(argc > 1 ? std::atoi(argv[1]) : 1'000'000);
  std::mt19937 random(3);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random() % (2 * count + 1)) - 100;
  auto expected = values;
  std::sort(expected.begin(), expected.end());
  Quicksort sort(values);
  int passes = 0;
  for (; !sort.is_sorted(); ++passes) sort.pass(passes % 2 == 0);
  std::printf("%u values, %d passes\n", count, passes);
  sample::expect(sort.values() == expected, "quicksort by segmented scans");
}
