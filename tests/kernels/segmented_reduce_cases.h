// What segmented reduction is held to, on a GPU and on the simulated device: a serial reference over segments of
// every length, by an operator that does not commute.
#pragma once

#include "gdelta/primitives/segmented_reduce.cuh"
#include "kernels/segments_cases.h"

namespace gdelta::segments_test {

/// x -> scale × x + shift, modulo 2^32: one after the other.
struct Affine {
  std::uint32_t scale = 1;
  std::uint32_t shift = 0;
  friend bool operator==(const Affine&, const Affine&) = default;
};
struct Follow {
  __host__ __device__ Affine operator()(const Affine& a, const Affine& b) const {
    return {a.scale * b.scale, a.shift * b.scale + b.shift};
  }
};
struct AffineOf {
  const std::uint32_t* words;
  __host__ __device__ Affine operator()(std::uint64_t i) const {
    return {words[i] | 1, words[i] * 2654435761u};
  }
};

inline std::vector<Affine> reduced(const std::vector<std::uint32_t>& words,
                                   const Lengths& lengths) {
  std::vector<Affine> results;
  std::uint64_t at = 0;
  for (const std::uint64_t length : lengths) {
    Affine sum;
    for (const std::uint64_t end = at + length; at < end; ++at)
      sum = Follow{}(sum, AffineOf{words.data()}(at));
    results.push_back(sum);
  }
  return results;
}

template <class Offset>
void expect_reduced(const Lengths& lengths, const std::string& what) {
  const std::vector<Offset> offsets = offsets_of<Offset>(lengths);
  const auto count = static_cast<std::uint64_t>(offsets.back());
  std::mt19937 random(static_cast<unsigned>(lengths.size()));
  std::vector<std::uint32_t> words(count);
  for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random());
  const OnDevice<std::uint32_t> in(words);
  const OnDevice<Offset> where(offsets);
  const OnDevice<Affine> out(std::vector<Affine>(lengths.size(), Affine{7, 7}));
  const SegmentOffsets<Offset> segments{where.data(), lengths.size()};
  const std::size_t bytes = segmented_reduce_scratch_bytes<Affine>(count, segments);
  const OnDevice<unsigned char> scratch(rubbish(bytes));
  ASSERT_EQ(plan_segmented_reduce<Affine>(count, segments, scratch.data(), bytes, nullptr),
            cudaSuccess);
  const std::vector<Affine> expected = reduced(words, lengths);
  for (int run = 0; run < 2; ++run) {  // by one plan
    ASSERT_EQ(segmented_reduce(count, AffineOf{in.data()}, segments, out.data(), Follow{}, Affine{},
                               scratch.data(), bytes, nullptr),
              cudaSuccess);
    const std::vector<Affine> results = out.values();
    const auto differ = std::mismatch(results.begin(), results.end(), expected.begin());
    EXPECT_TRUE(differ.first == results.end())
        << what << ": segment " << differ.first - results.begin() << " of " << lengths.size();
  }
}

/// `scale`: how many values the longer ones have.
inline void expect_segmented_reduce(std::uint64_t scale) {
  constexpr std::uint64_t kPart = segmented_reduce_detail::kPart;
  std::vector<std::pair<std::string, Lengths>> all = {
      {"nothing", {}},
      {"one empty segment", {0}},
      {"one value", {1}},
      {"empty segments alone", Lengths(3 * kPart, 0)},
      {"one segment of many parts", {50 * kPart + 3}},
      {"a segment of few parts between others", {1, 3 * kPart, 2}},
      {"empty first, last and between", {0, 0, 5, 0, 0, kPart, 0, 9, 0}},
      {"segments as long as parts", Lengths(20, kPart)},
      {"with their ends as long as parts", Lengths(20, kPart - 1)},
      {"segments of one value", Lengths(scale, 1)}};
  std::mt19937 random(3);
  for (const std::uint64_t most : {3u, 40u, 3000u}) {
    Lengths lengths;
    for (std::uint64_t values = 0; values < scale; values += lengths.back())
      lengths.push_back(random() % 5 == 0 ? 0 : random() % most);
    lengths.push_back(40 * kPart);  // a huge one among many
    for (int i = 0; i < 100; ++i) lengths.push_back(random() % 4);
    all.push_back({"up to " + std::to_string(most), lengths});
  }
  for (const auto& [what, lengths] : all) {
    expect_reduced<std::uint32_t>(lengths, what);
    expect_reduced<std::uint64_t>(lengths, what + ", offsets of 64 bits");
  }
}

/// Too little scratch is refused before anything is launched.
inline void expect_segmented_reduce_refuses_little_scratch() {
  const SegmentOffsets<std::uint32_t> segments{nullptr, 10};
  const std::size_t bytes = segmented_reduce_scratch_bytes<Affine>(100, segments);
  EXPECT_EQ(plan_segmented_reduce<Affine>(100, segments, nullptr, bytes - 1, nullptr),
            cudaErrorInvalidValue);
  Affine* const out = nullptr;
  EXPECT_EQ(segmented_reduce(100, AffineOf{nullptr}, segments, out, Follow{}, Affine{}, nullptr,
                             bytes - 1, nullptr),
            cudaErrorInvalidValue);
}

}  // namespace gdelta::segments_test
