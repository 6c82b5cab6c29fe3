// For samples: columns of a sparse matrix, or neighbours of a graph, packed, and read where they are needed:
// inside a kernel, by any thread, in any order. Groups of 128 store their smallest column and how far
// the others lie above it, in as few bits as the farthest needs.
#pragma once

#include <bit>
#include <stdexcept>

#include "sample_device.h"

namespace sample {

constexpr std::uint64_t kPackedGroup = 128;

/// Where its distances begin: they take a whole number of four words.
struct PackedGroup {
  std::uint32_t smallest;
  std::uint32_t width : 6;  ///< bits of a distance, 0 to 32
  std::uint32_t first_four : 26;
};

/// In device memory; stands where `const std::uint32_t*` does.
struct PackedColumns {
  const PackedGroup* groups;
  const std::uint32_t* words;
  __device__ std::uint32_t operator[](std::uint64_t entry) const {
    const PackedGroup group = groups[entry / kPackedGroup];
    const std::uint32_t bit = static_cast<std::uint32_t>(entry % kPackedGroup) * group.width;
    const std::uint32_t* const word = words + std::size_t{group.first_four} * 4 + bit / 32;
    const std::uint32_t from_here = __funnelshift_r(word[0], word[1], bit % 32);
    return group.smallest + (group.width < 32 ? from_here & ~(~0u << group.width) : from_here);
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
      const std::size_t first = words.size();
      if (first / 4 >> 26 != 0) throw std::length_error("more packed columns than groups can name");
      groups.push_back({*least, width, static_cast<std::uint32_t>(first / 4)});
      words.resize(first + kPackedGroup * width / 32);
      for (std::size_t e = begin; e < end; ++e)
        put(words.data() + first, (e - begin) * width, columns[e] - *least);
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
