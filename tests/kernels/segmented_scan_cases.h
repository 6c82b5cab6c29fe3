// What every segmented scan is held to, on a GPU and on the simulated device.
#pragma once

#include "gdelta/primitives/segmented_scan_host.h"
#include "gdelta/primitives/segmented_sums.cuh"
#include "kernels/segments_cases.h"

namespace gdelta::segments_test {

inline std::string name_of(const SegmentedScan& scan, int order) {
  return std::string(scan.backward ? "backward" : "forward") +
         (scan.exclusive ? " exclusive" : " inclusive") + " order " + std::to_string(order) +
         " tuple " + std::to_string(scan.tuple) + " count " + std::to_string(scan.count);
}

/// Runs `launch(in, out, scratch)` over device arrays.
template <class Value, class Launch>
std::vector<Value> on_device(const std::vector<Value>& values, std::size_t skip, bool in_place,
                             std::size_t scratch_bytes, Launch launch) {
  const OnDevice<Value> in(values, skip);
  const OnDevice<Value> out(std::vector<Value>(values.size()), in_place ? 0 : 3 * skip);
  const OnDevice<unsigned char> scratch(rubbish(scratch_bytes));
  Value* const target = in_place ? in.data() : out.data();
  EXPECT_EQ(launch(in.data(), target, scratch.data()), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  return in_place ? in.values() : out.values();
}

/// Sums by one form of segments.
template <int Order, class Value, class Segments>
void expect_sums(const SegmentedScan& scan, const std::vector<Value>& values,
                 const std::vector<Value>& expected, const Segments& segments, std::size_t skip,
                 const std::string& what) {
  const std::size_t bytes = segmented_sums_scratch_bytes<Order, Value>(scan, segments);
  const auto sums =
      on_device(values, skip, skip == 2, bytes, [&](const Value* in, Value* out, void* scratch) {
        return segmented_sums<Order>(scan, in, out, segments, scratch, bytes, nullptr);
      });
  EXPECT_EQ(difference(sums, expected), "") << what << ", " << name_of(scan, Order);
}

/// All forms, directions and shifts of one segmentation; the host's results too.
template <int Order, class Value>
void expect_all_forms(int tuple, const Lengths& lengths, std::size_t skip, bool thorough,
                      const std::string& what) {
  const std::vector<bool> heads = heads_of(lengths);
  const std::vector<Value> values = random_values<Value>(heads.size() * tuple, 5);
  const std::vector<std::uint32_t> bits = bits_of(heads);
  const auto offsets = offsets_of<std::uint32_t>(lengths);
  const auto keys = keys_of(heads);
  const OnDevice<std::uint32_t> device_bits(bits, skip);
  const OnDevice<std::uint32_t> device_offsets(offsets);
  const OnDevice<std::uint16_t> device_keys(keys);
  for (const bool backward : {false, true}) {
    for (const bool exclusive : {false, true}) {
      const SegmentedScan scan{
          .count = values.size(), .tuple = tuple, .exclusive = exclusive, .backward = backward};
      const auto expected = reference(
          scan, Order, values, heads, [](Value a, Value b) { return static_cast<Value>(a + b); },
          Value{0});
      expect_sums<Order>(scan, values, expected, HeadFlags{device_bits.data()}, skip,
                         what + " by flags");
      if (!thorough && (exclusive || backward != (skip % 2 == 1))) continue;
      expect_sums<Order>(scan, values, expected,
                         SegmentOffsets<std::uint32_t>{device_offsets.data(), lengths.size()}, 0,
                         what + " by offsets");
      expect_sums<Order>(scan, values, expected, SegmentKeys<std::uint16_t>{device_keys.data()}, 0,
                         what + " by keys");
      std::vector<Value> host(values.size());
      segmented_sums_host(Order, scan, values.data(), host.data(), HeadFlags{bits.data()});
      EXPECT_EQ(difference(host, expected), "") << what << " by flags, on the host";
      segmented_sums_host(Order, scan, values.data(), host.data(),
                          SegmentOffsets<std::uint32_t>{offsets.data(), lengths.size()});
      EXPECT_EQ(difference(host, expected), "") << what << " by offsets, on the host";
      segmented_sums_host(Order, scan, values.data(), host.data(),
                          SegmentKeys<std::uint16_t>{keys.data()});
      EXPECT_EQ(difference(host, expected), "") << what << " by keys, on the host";
    }
  }
}

/// Rows of a tile of the stream kernel whose run is `run` long, with 16 warps; what is beside other
/// edges is as good.
inline std::vector<std::uint64_t> edges_of(std::uint64_t run, std::uint64_t warps, int tuple) {
  const std::uint64_t groups = 32 / static_cast<unsigned>(tuple);
  return {run, run * groups, run * groups * warps};
}

template <int Order, class Value>
void expect_all_segmentations(int tuple, std::uint64_t rows,
                              const std::vector<std::uint64_t>& edges) {
  std::size_t skip = 0;
  for (const auto& [name, lengths] : segmentations(rows, edges, 1)) {
    expect_all_forms<Order, Value>(tuple, lengths, skip, rows < 600, name);
    skip = (skip + 1) % 4;
  }
}

/// Composition of affine maps mod 2^32 does not commute.
struct Affine {
  std::uint32_t factor;
  std::uint32_t offset;
};
struct Compose {
#ifdef __CUDACC__
  __host__ __device__
#endif
      Affine
      operator()(const Affine& earlier, const Affine& later) const {
    return {later.factor * earlier.factor, later.factor * earlier.offset + later.offset};
  }
};

inline void expect_any_operator(int tuple, std::uint64_t rows) {
  for (const auto& [name, lengths] : segmentations(rows, {8, 1024}, 2)) {
    const std::vector<bool> heads = heads_of(lengths);
    const auto words = random_values<std::uint64_t>(rows * tuple, 3);
    std::vector<Affine> values;
    for (const std::uint64_t word : words)
      values.push_back(
          {static_cast<std::uint32_t>(word) | 1, static_cast<std::uint32_t>(word >> 32)});
    const OnDevice<std::uint32_t> bits(bits_of(heads));
    const Affine identity{1, 0};
    for (const bool backward : {false, true}) {
      const SegmentedScan scan{
          .count = values.size(), .tuple = tuple, .exclusive = backward, .backward = backward};
      const auto expected = reference(scan, 1, values, heads, Compose{}, identity);
      const HeadFlags flags{bits.data()};
      const std::size_t bytes = segmented_scan_scratch_bytes<Affine>(scan, flags);
      const auto sums =
          on_device(values, 0, true, bytes, [&](const Affine* in, Affine* out, void* scratch) {
            return segmented_scan(scan, in, out, flags, Compose{}, identity, scratch, bytes,
                                  nullptr);
          });
      EXPECT_EQ(difference(sums, expected), "") << name << ", " << name_of(scan, 1);
    }
  }
}

}  // namespace gdelta::segments_test
