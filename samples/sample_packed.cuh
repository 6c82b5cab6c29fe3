// For samples: columns of a sparse matrix, or neighbours of a graph, packed, and read where they are needed:
// inside a kernel, by any thread, in any order. Groups of 128 store their smallest column and how far
// the others lie above it, in as few bits as the farthest needs.
#pragma once

#include <bit>

#include "sample_device.h"

namespace sample {

constexpr std::uint64_t kPackedGroup = 128;

struct PackedGroup {
  std::uint32_t smallest;
  std::uint32_t width;  ///< bits of a distance, 0 to 32
  std::uint64_t first_word;
};

/// In device memory; stands where `const std::uint32_t*` does.
struct PackedColumns {
  const PackedGroup* groups;
  const std::uint32_t* words;
  __device__ std::uint32_t operator[](std::uint64_t entry) const {
    const PackedGroup group = groups[entry / kPackedGroup];
    const std::uint64_t bit = entry % kPackedGroup * group.width;
    const std::uint32_t* const word = words + group.first_word + bit / 32;
    const std::uint64_t pair = word[0] | std::uint64_t{word[1]} << 32;
    const std::uint64_t mask = (std::uint64_t{1} << group.width) - 1;
    return group.smallest + static_cast<std::uint32_t>(pair >> bit % 32 & mask);
  }
};

/// Packs on the host and keeps the result in device memory.
class PackedOnDevice {
 public:
  explicit PackedOnDevice(const std::vector<std::uint32_t>& columns) : groups_(0), words_(0) {
    std::vector<PackedGroup> groups;
    std::vector<std::uint32_t> words;
    for (std::size_t begin = 0; begin < columns.size(); begin += kPackedGroup) {
      const std::size_t end = std::min<std::size_t>(begin + kPackedGroup, columns.size());
      const auto [least, most] =
          std::minmax_element(columns.begin() + begin, columns.begin() + end);
      const auto width = static_cast<std::uint32_t>(std::bit_width(*most - *least));
      groups.push_back({*least, width, words.size()});
      words.resize(words.size() + (kPackedGroup * width + 31) / 32);
      for (std::size_t e = begin; e < end; ++e)
        put(words.data() + groups.back().first_word, (e - begin) * width, columns[e] - *least);
    }
    words.push_back(0);  // a distance is read with the word behind it
    words.push_back(0);
    groups_ = DeviceArray<PackedGroup>(groups);
    words_ = DeviceArray<std::uint32_t>(words);
  }
  PackedColumns columns() const { return {groups_.data(), words_.data()}; }
  std::size_t bytes() const {
    return groups_.count() * sizeof(PackedGroup) + words_.count() * sizeof(std::uint32_t);
  }

 private:
  static void put(std::uint32_t* words, std::uint64_t bit, std::uint32_t distance) {
    const std::uint64_t pair = std::uint64_t{distance} << bit % 32;
    words[bit / 32] |= static_cast<std::uint32_t>(pair);
    if (pair >> 32 != 0) words[bit / 32 + 1] |= static_cast<std::uint32_t>(pair >> 32);
  }

  DeviceArray<PackedGroup> groups_;
  DeviceArray<std::uint32_t> words_;
};

}  // namespace sample
