// What a level is: one row of everything that depends on it. Higher levels look at more and try more;
// none changes what a stream may hold.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "codec/coders/zstd_levels.h"
#include "gdelta/types.h"
#include "kernels/ans/ans_effort.h"

namespace gdelta {

/// How hard detection looks at bytes of which nothing is said.
enum class DetectionEffort : std::uint8_t { quick, normal, thorough };

struct OrderPolicy {
  int highest;
  std::uint64_t groups;  ///< how many of a column are looked at, all lanes together
};

struct StridePolicy {
  int most;                   ///< 0: none are looked for
  std::uint64_t longest;      ///< stride looked for, in tuples
  std::uint64_t comparisons;  ///< that a search may make
  /// What one has to save, for decoding becomes a second pass.
  std::uint64_t gain_permille;
};

struct SegmentPolicy {
  /// What prediction inside segments has to save of a column: decoding takes half as long again at least, and up to three times as
  /// long where segments are short (docs/ragged.md).
  std::uint64_t gain_permille;
  /// That much more, times the share of its tuples that are heads: the more of them, the longer decoding takes.
  std::uint64_t heads_permille = 0;
  /// Lengths are packed if that costs the chunk no more than this: few pages of ans, which is all they fill, are long waits
  /// for a device.
  std::uint64_t packed_lengths_permille = 0;
};

/// Whether zstd takes a column is found out by trials: quick ones of many candidates, then some of the
/// best as the encoder would do it.
struct ZstdPolicy {
  /// zstd decodes on the host alone and slower, so it has to be clearly smaller than pack: at most so
  /// many per cent of it. 0: numbers are not given to zstd.
  int percent_of_pack;
  std::uint32_t frame_bytes;  ///< what a long frame holds
  std::uint64_t stretches;    ///< compressed on trial; 0: all of the column
  std::uint64_t stretch_bytes;
  ZstdLevels quick;
  ZstdLevels levels;           ///< those the encoder takes
  std::size_t most_finalists;  ///< 0: the quick trial decides
  std::uint64_t doubt_share;   ///< a finalist exceeds the best by at most this part of it
  /// Quick trials decide if they exceed the limit by more than this part of it, and stretches do; else levels that
  /// count, and the whole column.
  std::uint64_t close_share;
  std::uint64_t
      repeated_share;       ///< of values that no less than this part of repeats, frames are tried
  bool every_front;         ///< an order for each lane, orders 0 and 1, every map
  bool both_plane_frames;   ///< planes in frames of their own, and in long ones
  std::uint64_t table_mib;  ///< what libzstd holds for the longest frames
};

/// Linear prediction is fitted to stretches of a column first.
struct LinearPolicy {
  std::size_t shapes;  ///< of taps, that each lane is tried with; 0: it is not tried at all
  int least_run_bits;
  int most_run_bits;
  std::uint64_t stretches;  ///< each as long as the longest runs
};

struct LevelPolicy {
  std::uint64_t chunk_bytes;  ///< decoded, unless the caller says
  DetectionEffort detection;
  OrderPolicy orders;
  StridePolicy strides;
  SegmentPolicy segments;
  ZstdPolicy zstd;
  AnsEffort ans;
  LinearPolicy linear = {};
  /// Maps in a pass of their own are found as quick_maps.h says.
  bool quick_maps = false;
  bool plans_without_maps = false;  ///< too, if maps in a pass of their own were found
  bool tries_all_of_short = false;  ///< columns: every order and frame, by compressing

  /// Whether all numbers become what a device decodes.
  constexpr bool is_for_devices() const { return zstd.percent_of_pack == 0; }
};

inline constexpr int kLowestLevel = 1;
inline constexpr int kHighestLevel = 9;
/// The one by which the device plans.
inline constexpr int kDeviceLevel = 1;
inline constexpr std::uint64_t kAllGroups = ~std::uint64_t{0};

/// How hard ans is fitted at the level by which the device plans, at levels 3 and 4, at level 5, else below level 7,
/// below level 9, and there.
inline constexpr AnsEffort kDeviceAns{.most_tables = 4,
                                      .most_to_single = 2,
                                      .rounds = 3,
                                      .sampled_stretches = 64,
                                      .cells = 128,
                                      .table_sample = 2048,
                                      .for_warps = true};
inline constexpr AnsEffort kQuickAns{.most_tables = 8,
                                     .rounds = 1,
                                     .sampled_stretches = 48,
                                     .cells = 64,
                                     .table_sample = 2048,
                                     .counts_several = false};
inline constexpr AnsEffort kShortAns{.most_tables = 8,
                                     .rounds = 1,
                                     .sampled_stretches = 128,
                                     .cells = 208,
                                     .table_sample = 4096,
                                     .counts_several = false};
inline constexpr AnsEffort kUsualAns{.most_tables = 8,
                                     .rounds = 3,
                                     .sampled_stretches = 128,
                                     .cells = 256,
                                     .table_sample = 4096,
                                     .counts_several = false};
inline constexpr AnsEffort kBroadAns{.most_tables = 16,
                                     .rounds = 3,
                                     .sampled_stretches = 256,
                                     .cells = 256,
                                     .table_sample = 4096,
                                     .counts_several = true};
inline constexpr AnsEffort kWholeAns{.most_tables = 16,
                                     .rounds = 8,
                                     .sampled_stretches = 2048,
                                     .cells = 384,
                                     .table_sample = 16384,
                                     .counts_several = true,
                                     .fewest_of_table = 128,
                                     .fewest_of_cell = 1,
                                     .page_residuals = 65536};

/// The rows of the levels, from kLowestLevel on.
inline constexpr LevelPolicy kLevels[] = {
    // 1
    {.chunk_bytes = 1u << 20,
     .detection = DetectionEffort::quick,
     .orders = {.highest = 2, .groups = 96},
     .strides = {.most = 0, .longest = 2048, .comparisons = 1u << 18, .gain_permille = 20},
     .segments = {.gain_permille = 60, .heads_permille = 1000},
     .zstd = {.percent_of_pack = 0,
              .frame_bytes = 1u << 20,
              .stretches = 2,
              .stretch_bytes = 32u << 10,
              .quick = {1},
              .levels = {1},
              .most_finalists = 0,
              .doubt_share = 32,
              .close_share = 12,
              .repeated_share = 4,
              .every_front = false,
              .both_plane_frames = false,
              .table_mib = 4},
     .ans = kDeviceAns,
     .quick_maps = true},
    // 2
    {.chunk_bytes = 1u << 20,
     .detection = DetectionEffort::quick,
     .orders = {.highest = 4, .groups = 96},
     .strides = {.most = 0, .longest = 2048, .comparisons = 1u << 18, .gain_permille = 20},
     .segments = {.gain_permille = 60},
     .zstd = {.percent_of_pack = 0,
              .frame_bytes = 1u << 20,
              .stretches = 2,
              .stretch_bytes = 32u << 10,
              .quick = {1},
              .levels = {1},
              .most_finalists = 0,
              .doubt_share = 32,
              .close_share = 12,
              .repeated_share = 4,
              .every_front = false,
              .both_plane_frames = false,
              .table_mib = 4},
     .ans = kUsualAns},
    // 3
    {.chunk_bytes = 1u << 20,
     .detection = DetectionEffort::normal,
     .orders = {.highest = kMaxOrder, .groups = 48},
     .strides = {.most = 1, .longest = 2048, .comparisons = 1u << 18, .gain_permille = 20},
     .segments = {.gain_permille = 20, .heads_permille = 100, .packed_lengths_permille = 20},
     .zstd = {.percent_of_pack = 80,
              .frame_bytes = 1u << 20,
              .stretches = 2,
              .stretch_bytes = 16u << 10,
              .quick = {1},
              .levels = {1},
              .most_finalists = 0,
              .doubt_share = 32,
              .close_share = 12,
              .repeated_share = 4,
              .every_front = false,
              .both_plane_frames = false,
              .table_mib = 8},
     .ans = kQuickAns},
    // 4
    {.chunk_bytes = 1u << 20,
     .detection = DetectionEffort::normal,
     .orders = {.highest = kMaxOrder, .groups = 48},
     .strides = {.most = 1, .longest = 2048, .comparisons = 1u << 18, .gain_permille = 20},
     .segments = {.gain_permille = 20, .heads_permille = 100, .packed_lengths_permille = 20},
     .zstd = {.percent_of_pack = 85,
              .frame_bytes = 1u << 20,
              .stretches = 2,
              .stretch_bytes = 16u << 10,
              .quick = {1},
              .levels = {2, 1},
              .most_finalists = 0,
              .doubt_share = 32,
              .close_share = 12,
              .repeated_share = 4,
              .every_front = false,
              .both_plane_frames = false,
              .table_mib = 8},
     .ans = kQuickAns},
    // 5
    {.chunk_bytes = 1u << 20,
     .detection = DetectionEffort::normal,
     .orders = {.highest = kMaxOrder, .groups = 96},
     .strides =
         {.most = kMaxStrides, .longest = 4096, .comparisons = 1u << 20, .gain_permille = 20},
     .segments = {.gain_permille = 20, .heads_permille = 100, .packed_lengths_permille = 20},
     .zstd = {.percent_of_pack = 95,
              .frame_bytes = 1u << 20,
              .stretches = 2,
              .stretch_bytes = 32u << 10,
              .quick = {1},
              .levels = {3, 1, 2},
              .most_finalists = 0,
              .doubt_share = 32,
              .close_share = 12,
              .repeated_share = 4,
              .every_front = false,
              .both_plane_frames = false,
              .table_mib = 16},
     .ans = kShortAns},
    // 6
    {.chunk_bytes = 1u << 20,
     .detection = DetectionEffort::thorough,
     .orders = {.highest = kMaxOrder, .groups = 512},
     .strides =
         {.most = kMaxStrides, .longest = 4096, .comparisons = 1u << 21, .gain_permille = 20},
     .segments = {.gain_permille = 20, .heads_permille = 100, .packed_lengths_permille = 20},
     .zstd = {.percent_of_pack = 96,
              .frame_bytes = 1u << 20,
              .stretches = 4,
              .stretch_bytes = 32u << 10,
              .quick = {1},
              .levels = {6, 1},
              .most_finalists = 3,
              .doubt_share = 32,
              .close_share = 3,
              .repeated_share = 8,
              .every_front = true,
              .both_plane_frames = false,
              .table_mib = 16},
     .ans = kUsualAns},
    // 7
    {.chunk_bytes = 1u << 20,
     .detection = DetectionEffort::thorough,
     .orders = {.highest = kMaxOrder, .groups = 512},
     .strides =
         {.most = kMaxStrides, .longest = 65536, .comparisons = 1u << 23, .gain_permille = 5},
     .segments = {.gain_permille = 5},
     .zstd = {.percent_of_pack = 98,
              .frame_bytes = 1u << 20,
              .stretches = 4,
              .stretch_bytes = 64u << 10,
              .quick = {1},
              .levels = {11, 6, 1},
              .most_finalists = 3,
              .doubt_share = 32,
              .close_share = 8,
              .repeated_share = 8,
              .every_front = true,
              .both_plane_frames = false,
              .table_mib = 40},
     .ans = kBroadAns,
     .linear = {.shapes = 2, .least_run_bits = 12, .most_run_bits = 12, .stretches = 8}},
    // 8
    {.chunk_bytes = 1u << 20,
     .detection = DetectionEffort::thorough,
     .orders = {.highest = kMaxOrder, .groups = 512},
     .strides =
         {.most = kMaxStrides, .longest = 65536, .comparisons = 1u << 23, .gain_permille = 5},
     .segments = {.gain_permille = 5},
     .zstd = {.percent_of_pack = 100,
              .frame_bytes = 1u << 20,
              .stretches = 4,
              .stretch_bytes = 128u << 10,
              .quick = {3, 1},
              .levels = {15, 1},
              .most_finalists = 2,
              .doubt_share = 4,
              .close_share = 8,
              .repeated_share = 8,
              .every_front = true,
              .both_plane_frames = false,
              .table_mib = 64},
     .ans = kBroadAns,
     .linear = {.shapes = 4, .least_run_bits = 11, .most_run_bits = 12, .stretches = 24},
     .plans_without_maps = true},
    // 9
    {.chunk_bytes = 16u << 20,
     .detection = DetectionEffort::thorough,
     .orders = {.highest = kMaxOrder, .groups = kAllGroups},
     .strides =
         {.most = kMaxStrides, .longest = kMaxStride, .comparisons = 1u << 25, .gain_permille = 1},
     .segments = {.gain_permille = 1},
     .zstd = {.percent_of_pack = 100,
              .frame_bytes = kMaxChunkBytes,
              .stretches = 0,
              .stretch_bytes = 0,
              .quick = {3},
              .levels = {19},
              .most_finalists = 2,
              .doubt_share = 4,
              .close_share = 8,
              .repeated_share = 8,
              .every_front = true,
              .both_plane_frames = true,
              .table_mib = 112},
     .ans = kWholeAns,
     .linear = {.shapes = 6, .least_run_bits = 10, .most_run_bits = 13, .stretches = 16},
     .plans_without_maps = true,
     .tries_all_of_short = true},
};
static_assert(std::size(kLevels) == kHighestLevel - kLowestLevel + 1);

/// The row of a level; of the nearest one if there is none.
constexpr const LevelPolicy& level_policy(int level) {
  return kLevels[std::clamp(level, kLowestLevel, kHighestLevel) - kLowestLevel];
}

/// The longest stride that a column of so many records may have.
constexpr std::uint64_t longest_stride(std::uint64_t records) {
  return records / 4 < kMaxStride ? records / 4 : kMaxStride;
}

/// In bytes.
inline constexpr std::uint64_t kShortColumn = 1 << 16;

/// Whether trials of a whole column decide, not samples: of a short one they tell more and take little.
constexpr bool tries_everything(int level, std::uint64_t column_bytes) {
  return level_policy(level).tries_all_of_short && column_bytes <= kShortColumn;
}

}  // namespace gdelta
