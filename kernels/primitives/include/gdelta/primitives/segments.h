// Where segments of an array begin: by bits, by offsets or by keys. For any C++ compiler.
//
// An array is rows of `tuple` values; a segment is some rows that follow each other, and its first is
// its head. Row 0 is a head whatever is said.
#pragma once

#include <cstdint>

namespace gdelta {

/// Bit r % 32 of words[r / 32] says that row r is a head. Segments have at least one row.
/// Shapes      words [(rows + 31) / 32], 4-byte aligned; bits beyond the last row may be anything
struct HeadFlags {
  const std::uint32_t* words;
};

/// Segment s has the rows offsets[s] ... offsets[s + 1] - 1, none if both are equal. Offsets rise;
/// those at or beyond the last row begin nothing.
/// Shapes      offsets [segments]; a last one that says where the array ends may follow, and is not
///             read
template <class Offset>
struct SegmentOffsets {
  const Offset* offsets;
  std::uint64_t segments;
};

/// Row r is a head if its key is another than that of the row before.
/// Shapes      keys [rows]
template <class Key>
struct SegmentKeys {
  const Key* keys;
};

/// One segment: the array.
struct WholeArray {};

/// Bit i % 32 of words[i / 32] says whether value i is marked.
/// Shapes      words [(count + 31) / 32], 4-byte aligned
struct Marks {
  const std::uint32_t* words;
};

/// A scan inside segments.
struct SegmentedScan {
  std::uint64_t count = 0;  ///< values: a multiple of `tuple`
  int tuple = 1;            ///< lanes, 1 ... 64
  bool exclusive = false;   ///< shifted by one row; every segment starts with the identity
  bool backward = false;    ///< from the last row of every segment to its head
};

}  // namespace gdelta
