// What segmented reduction is held to, on a GPU and on the simulated device: a serial reference over segments of
// every length, by an operator that does not commute.
#pragma once

#include "gdelta/primitives/segmented_reduce.cuh"
#include "kernels/segments_cases.h"

namespace gdelta::segments_test {

/// x -> scale × x + shift, modulo 2^32 or 2^64: one after the other.
template <class Word>
struct Affine {
  Word scale = 1;
  Word shift = 0;
  friend bool operator==(const Affine&, const Affine&) = default;
  __host__ __device__ static Affine of(std::uint32_t word) {
    return {word | Word{1}, word * Word{2654435761u}};
  }
  __host__ __device__ static Affine joined(const Affine& a, const Affine& b) {
    return {a.scale * b.scale, a.shift * b.scale + b.shift};
  }
};
/// The first word, how many there are, and all of them xored: three words.
struct Summary {
  std::uint32_t count = 0;
  std::uint32_t first = 0;
  std::uint32_t parity = 0;
  friend bool operator==(const Summary&, const Summary&) = default;
  __host__ __device__ static Summary of(std::uint32_t word) { return {1, word, word}; }
  __host__ __device__ static Summary joined(const Summary& a, const Summary& b) {
    return {a.count + b.count, a.count != 0 ? a.first : b.first, a.parity ^ b.parity};
  }
};
/// The last that is not 0.
struct Last {
  std::uint32_t word = 0;
  friend bool operator==(const Last&, const Last&) = default;
  __host__ __device__ static Last of(std::uint32_t word) { return {word & (word << 3)}; }
  __host__ __device__ static Last joined(const Last& a, const Last& b) {
    return b.word != 0 ? b : a;
  }
};

template <class T>
struct Join {
  __host__ __device__ T operator()(const T& a, const T& b) const { return T::joined(a, b); }
};
template <class T>
struct ValueOf {
  const std::uint32_t* words;
  __host__ __device__ T operator()(std::uint64_t i) const { return T::of(words[i]); }
};

template <class T>
std::vector<T> reduced(const std::vector<std::uint32_t>& words, const Lengths& lengths) {
  std::vector<T> results;
  std::uint64_t at = 0;
  for (const std::uint64_t length : lengths) {
    T sum;
    for (const std::uint64_t end = at + length; at < end; ++at)
      sum = T::joined(sum, T::of(words[at]));
    results.push_back(sum);
  }
  return results;
}

/// `steps` that a thread walks; 0: as many as suit the path.
template <class T, class Offset>
void expect_reduced(const Lengths& lengths, const std::string& what, int steps = 0) {
  using namespace segmented_reduce_detail;
  const std::vector<Offset> offsets = offsets_of<Offset>(lengths);
  const auto count = static_cast<std::uint64_t>(offsets.back());
  std::mt19937 random(static_cast<unsigned>(lengths.size()));
  std::vector<std::uint32_t> words(count);
  for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random());
  const OnDevice<std::uint32_t> in(words);
  const OnDevice<Offset> where(offsets);
  const OnDevice<T> out(std::vector<T>(lengths.size(), T::of(7)));
  const SegmentOffsets<Offset> segments{where.data(), lengths.size()};
  const Path<Offset> path = path_of(count, segments, std::max(steps, 1));
  Plan plan;
  const std::size_t bytes = steps == 0 ? segmented_reduce_scratch_bytes<T>(count, segments)
                                       : lay_out<T>(path.parts(), nullptr, plan);
  const OnDevice<unsigned char> scratch(rubbish(bytes));
  ASSERT_EQ(steps == 0 ? plan_segmented_reduce<T>(count, segments, scratch.data(), bytes, nullptr)
                       : plan_path<T>(path, scratch.data(), bytes, nullptr),
            cudaSuccess);
  const std::vector<T> expected = reduced<T>(words, lengths);
  const ValueOf<T> load{in.data()};
  for (int run = 0; run < 3; ++run) {  // by one plan
    ASSERT_EQ(steps == 0 ? segmented_reduce(count, load, segments, out.data(), Join<T>{}, T{},
                                            scratch.data(), bytes, nullptr)
                         : reduce_path(path, load, out.data(), Join<T>{}, T{}, scratch.data(),
                                       bytes, nullptr),
              cudaSuccess);
    const std::vector<T> results = out.values();
    const auto differ = std::mismatch(results.begin(), results.end(), expected.begin());
    EXPECT_TRUE(differ.first == results.end())
        << what << ", " << steps << " steps, " << sizeof(T) << " bytes, run " << run << ": segment "
        << differ.first - results.begin() << " of " << lengths.size();
  }
}

/// `scale`: how many values the longer ones have.
inline void expect_segmented_reduce(std::uint64_t scale) {
  using namespace segmented_reduce_detail;
  constexpr std::uint64_t kPart = part_of(kSteps);
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
      {"segments of one value", Lengths(scale, 1)},
      {"the longest of the shortest paths", {kShortest - 2, 0}},
      {"one step more", {kShortest - 2, 0, 0}}};
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
    expect_reduced<Affine<std::uint32_t>, std::uint32_t>(lengths, what);
    expect_reduced<Affine<std::uint32_t>, std::uint64_t>(lengths, what + ", offsets of 64 bits",
                                                         kSteps);
  }
}

/// Segments of as many parts as are joined in another way each.
template <class T>
void expect_shared_segments_reduced() {
  using namespace segmented_reduce_detail;
  for (const int steps : {kShortestSteps, kShortSteps, kSteps}) {
    const auto part = static_cast<std::uint64_t>(part_of(steps));
    for (const std::uint64_t parts : {2, 5, 6, 33, 34}) {
      for (const std::uint64_t before : {std::uint64_t{1}, part - 1})
        expect_reduced<T, std::uint32_t>(
            {before, (parts - 1) * part, 5, 0, part},
            "a segment of " + std::to_string(parts) + " parts behind " + std::to_string(before),
            steps);
    }
  }
}

/// Too little scratch is refused before anything is launched.
inline void expect_segmented_reduce_refuses_little_scratch() {
  using Value = Affine<std::uint32_t>;
  const SegmentOffsets<std::uint32_t> segments{nullptr, 10};
  const std::size_t bytes = segmented_reduce_scratch_bytes<Value>(100, segments);
  EXPECT_EQ(plan_segmented_reduce<Value>(100, segments, nullptr, bytes - 1, nullptr),
            cudaErrorInvalidValue);
  Value* const out = nullptr;
  EXPECT_EQ(segmented_reduce(100, ValueOf<Value>{nullptr}, segments, out, Join<Value>{}, Value{},
                             nullptr, bytes - 1, nullptr),
            cudaErrorInvalidValue);
}

}  // namespace gdelta::segments_test
