// Segmentations with every edge, arrays that begin anywhere, and serial references that share no code
// with what they test. For tests on a GPU and on the simulated device alike.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gdelta/primitives/segments.h"

namespace gdelta::segments_test {

/// A copy in device memory that begins `skip` values behind an aligned place and ends where memory
/// does.
template <class Value>
class OnDevice {
 public:
  explicit OnDevice(const std::vector<Value>& values, std::size_t skip = 0)
      : count_(values.size()), skip_(skip) {
    void* data = nullptr;
    EXPECT_EQ(cudaMalloc(&data, (count_ + skip_) * sizeof(Value) + 1), cudaSuccess);
    data_ = static_cast<Value*>(data);
    cudaMemcpy(data_ + skip_, values.data(), count_ * sizeof(Value), cudaMemcpyHostToDevice);
  }
  OnDevice(const OnDevice&) = delete;
  ~OnDevice() { cudaFree(data_); }
  Value* data() const { return data_ + skip_; }
  std::vector<Value> values() const {
    std::vector<Value> values(count_);
    cudaMemcpy(values.data(), data(), count_ * sizeof(Value), cudaMemcpyDeviceToHost);
    return values;
  }

 private:
  std::size_t count_;
  std::size_t skip_;
  Value* data_ = nullptr;
};

/// Scratch full of rubbish.
inline std::vector<unsigned char> rubbish(std::size_t bytes) {
  return std::vector<unsigned char>(bytes, 0xee);
}

/// Lengths of segments, of which some may be zero.
using Lengths = std::vector<std::uint64_t>;

inline std::vector<bool> heads_of(const Lengths& lengths) {
  std::vector<bool> heads;
  for (const std::uint64_t length : lengths)
    for (std::uint64_t r = 0; r < length; ++r) heads.push_back(r == 0);
  return heads;
}

inline std::vector<std::uint32_t> bits_of(const std::vector<bool>& heads) {
  std::vector<std::uint32_t> words((heads.size() + 31) / 32);
  for (std::size_t r = 0; r < heads.size(); ++r)
    if (heads[r]) words[r / 32] |= 1u << (r % 32);
  // Bits behind the last row mean nothing.
  if (heads.size() % 32 != 0) words.back() |= ~0u << (heads.size() % 32);
  return words;
}

template <class Offset>
std::vector<Offset> offsets_of(const Lengths& lengths) {
  std::vector<Offset> offsets(1, 0);
  for (const std::uint64_t length : lengths)
    offsets.push_back(static_cast<Offset>(offsets.back() + length));
  return offsets;
}

/// Neighbours differ, others may be equal.
inline std::vector<std::uint16_t> keys_of(const std::vector<bool>& heads) {
  std::vector<std::uint16_t> keys;
  std::uint16_t key = 7;
  for (const bool head : heads) {
    if (head) key = static_cast<std::uint16_t>(key % 3 + 1);
    keys.push_back(key);
  }
  return keys;
}

/// Segments that end at these rows and at the last.
inline Lengths lengths_between(std::vector<std::uint64_t> ends, std::uint64_t rows) {
  ends.push_back(rows);
  std::sort(ends.begin(), ends.end());
  Lengths lengths;
  std::uint64_t begin = 0;
  for (const std::uint64_t end : ends) {
    if (end <= begin || end > rows) continue;
    lengths.push_back(end - begin);
    begin = end;
  }
  return lengths;
}

/// All that `rows` can be cut into, with names. `edges`: what heads are set beside.
inline std::vector<std::pair<std::string, Lengths>> segmentations(
    std::uint64_t rows, const std::vector<std::uint64_t>& edges, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::pair<std::string, Lengths>> all;
  all.push_back({"no heads", lengths_between({}, rows)});
  all.push_back({"all heads", Lengths(rows, 1)});
  for (const unsigned mean : {2u, 13u, 1500u, 20000u}) {
    std::vector<std::uint64_t> ends;
    for (std::uint64_t row = 1; row < rows; ++row)
      if (random() % mean == 0) ends.push_back(row);
    all.push_back({"one in " + std::to_string(mean), lengths_between(ends, rows)});
  }
  for (const int beside : {-1, 0, 1}) {
    std::vector<std::uint64_t> ends;
    for (const std::uint64_t edge : edges)
      for (std::uint64_t row = edge; row < rows; row += edge) ends.push_back(row + beside);
    all.push_back({"edges " + std::to_string(beside), lengths_between(ends, rows)});
  }
  std::vector<std::uint64_t> around;
  for (std::uint64_t row = 1; row < rows; ++row)
    if (row < rows / 5 || row > rows - rows / 9) around.push_back(row);
  all.push_back({"one huge", lengths_between(around, rows)});
  // Empty segments: first, last, consecutive.
  Lengths empty{0, 0};
  for (const std::uint64_t length : lengths_between({rows / 3, rows / 2}, rows))
    empty.insert(empty.end(), {length, 0, 0, 0});
  all.push_back({"empty", empty});
  Lengths desert(5000, 0);  // more in a row than a block of threads looks at
  for (const std::uint64_t length : lengths_between({rows / 3, rows / 3 + 7}, rows)) {
    desert.push_back(length);
    desert.insert(desert.end(), 2500, 0);
  }
  all.push_back({"desert", desert});
  return all;
}

/// One scan after the other, by rows that know their segment.
template <class Value, class Op>
std::vector<Value> reference(const SegmentedScan& scan, int order, std::vector<Value> values,
                             const std::vector<bool>& heads, Op op, Value identity) {
  const auto tuple = static_cast<std::size_t>(scan.tuple);
  std::vector<std::size_t> segment;
  for (std::size_t r = 0; r < heads.size(); ++r)
    segment.push_back(r == 0 ? 0 : segment.back() + heads[r]);
  const std::size_t rows = heads.size();
  for (int q = 1; q <= order; ++q) {
    std::vector<Value> sums(values.size());
    std::vector<Value> before(values.size(), identity);
    for (std::size_t step = 0; step < rows; ++step) {
      const std::size_t row = scan.backward ? rows - 1 - step : step;
      const std::size_t last = scan.backward ? row + 1 : row - 1;
      const bool continues = step > 0 && segment[row] == segment[last];
      for (std::size_t lane = 0; lane < tuple; ++lane) {
        const std::size_t i = row * tuple + lane;
        if (continues) before[i] = sums[last * tuple + lane];
        sums[i] = continues ? op(before[i], values[i]) : values[i];
      }
    }
    values.swap(scan.exclusive && q == order ? before : sums);
  }
  return values;
}

template <class Value>
std::vector<Value> random_values(std::uint64_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<Value> values(count);
  for (Value& value : values) value = static_cast<Value>(random());
  return values;
}

/// Where two arrays differ first, in words.
template <class Value>
std::string difference(const std::vector<Value>& a, const std::vector<Value>& b) {
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
    if (std::memcmp(&a[i], &b[i], sizeof(Value)) != 0)
      return "differ at " + std::to_string(i) + " of " + std::to_string(a.size());
  return a.size() == b.size() ? "" : "differ in size";
}

}  // namespace gdelta::segments_test
