// What decoding the chunks of a table on the device takes.
#pragma once

#include <cstdint>

namespace gdelta {

/// What kinds of columns chunks may have; true is always safe. The device launches no kernel for a
/// kind that is denied and refuses chunks that have it all the same (`corrupt`). Chunks with a column that
/// no device decodes (decodes_on_device), which are left to the host, do not count.
struct ChunkKinds {
  bool placed = true;  ///< raw or constant columns
  bool strides = true;
  bool stride_pairs = true;  ///< columns with two of them
  /// A guess that moves nothing but time: how many columns, over all chunks, have strides. If there are many, they are
  /// undone where pages are decoded; 0: not known.
  std::uint64_t stride_columns = 0;
  bool linear = true;        ///< columns that are predicted linearly
  bool maps = true;          ///< columns with maps that have fields, or lanes less others
  bool map_passes = true;    ///< and such as are undone behind pages, as ColumnInfo says
  bool exceptions = true;    ///< and those with exceptions
  bool dictionaries = true;  ///< lanes whose values are looked up; decoding them takes more scratch
  bool segments = true;      ///< chunks that say their segments
  bool segment_pages =
      true;  ///< columns that are predicted inside them and whose pages say their states
  bool segment_passes = true;  ///< and those whose pages do not
  bool opaque = true;          ///< chunks of bytes that are not numbers
  bool warp_pages = true;      ///< pages of coder pack that are no longer than those of page_coders
  /// Bit k: pages of the coder of number k; of pack only those of more than 32 groups in all, or of more
  /// than 8 groups a lane of tuples of more than 4.
  std::uint32_t page_coders = ~std::uint32_t{0};
  /// A guess that moves nothing but time: how many groups of a lane the longest pages of those coders have; 0: not known.
  std::uint64_t page_groups = 0;
};

inline constexpr ChunkKinds kNoChunkKinds{.placed = false,
                                          .strides = false,
                                          .stride_pairs = false,
                                          .stride_columns = 0,
                                          .linear = false,
                                          .maps = false,
                                          .map_passes = false,
                                          .exceptions = false,
                                          .dictionaries = false,
                                          .segments = false,
                                          .segment_pages = false,
                                          .segment_passes = false,
                                          .opaque = false,
                                          .warp_pages = false,
                                          .page_coders = 0,
                                          .page_groups = 0};

}  // namespace gdelta
