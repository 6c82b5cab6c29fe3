// Radix sort of keys with values by the split primitive (Blelloch; Sengupta, Harris, Zhang, Owens): one
// stable split a bit.
//
// usage: radix_sort [pairs]
// Exits with 0 if the result is that of a stable sort on the host, or if there is no GPU to ask.
#include <random>
#include <utility>

#include "gdelta/primitives/split.cuh"
#include "sample_device.h"

namespace {

struct Pair {
  std::uint32_t key;
  std::uint32_t value;
  bool operator==(const Pair&) const = default;
};

constexpr int kThreads = 256;

/// A bit of every key as a mark. The grid has a thread a pair, and a warp writes a word.
__global__ void mark_bit(const Pair* pairs, std::uint64_t count, int bit, std::uint32_t* words) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  const bool mine = i < count && (pairs[i].key >> bit & 1) != 0;
  const unsigned word = __ballot_sync(~0u, mine);
  if (threadIdx.x % 32 == 0 && i < count) words[i / 32] = word;
}

std::vector<Pair> sorted(const std::vector<Pair>& pairs) {
  const std::uint64_t count = pairs.size();
  sample::DeviceArray<Pair> from(pairs), to(count);
  const sample::DeviceArray<std::uint32_t> words(count / 32 + 1);
  const sample::DeviceArray<unsigned long long> unmarked(1);
  const sample::DeviceArray<char> scratch(gdelta::split_scratch_bytes(count));
  for (int bit = 0; bit < 32; ++bit) {
    sample::launch(mark_bit, count / kThreads + 1, kThreads, from.data(), count, bit, words.data());
    sample::check(gdelta::split(count, from.data(), gdelta::Marks{words.data()}, to.data(),
                                unmarked.data(), scratch.data(), scratch.count(), nullptr));
    std::swap(from, to);
  }
  return from.values();
}

}  // namespace

int main(int argc, char** argv) {
  if (!sample::has_device()) return 0;
  const auto count = static_cast<std::uint32_t>(argc > 1 ? std::atoi(argv[1]) : 1'000'000);
  std::mt19937 random(2);
  std::vector<Pair> pairs;
  for (std::uint32_t i = 0; i < count; ++i)
    pairs.push_back({static_cast<std::uint32_t>(random()) >> i % 24, i});  // short keys come often
  auto expected = pairs;
  std::stable_sort(expected.begin(), expected.end(),
                   [](const Pair& a, const Pair& b) { return a.key < b.key; });
  std::printf("%u pairs\n", count);
  sample::expect(sorted(pairs) == expected, "radix sort by splits");
}
