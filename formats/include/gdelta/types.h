// The numbers a stream holds: value types, columns of tuples, and the layout of a record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gdelta/coders.h"
#include "gdelta/error.h"
#include "gdelta/lane_maps.h"
#include "gdelta/predictors.h"
#include "gdelta/value_maps.h"

namespace gdelta {

/// Kind of one value. The numbers are those of the format (spec.md, "Layout").
enum class ValueType : std::uint8_t {
  i8 = 0,
  u8 = 1,
  i16 = 2,
  u16 = 3,
  i24 = 4,
  u24 = 5,
  i32 = 6,
  u32 = 7,
  i64 = 8,
  u64 = 9,
  f16 = 10,
  bf16 = 11,
  f32 = 12,
  f64 = 13,
};
inline constexpr int kNumValueTypes = 14;

/// Bytes of one value: 1, 2, 3, 4 or 8.
constexpr int value_bytes(ValueType type) {
  constexpr int kBytes[kNumValueTypes] = {1, 1, 2, 2, 3, 3, 4, 4, 8, 8, 2, 2, 4, 8};
  return kBytes[static_cast<int>(type)];
}
constexpr int value_bits(ValueType type) { return 8 * value_bytes(type); }
constexpr bool is_float(ValueType type) { return type >= ValueType::f16; }

/// Names a coder: "raw", "constant", "pack", ...
std::string_view coder_name(Coder coder);
/// Lists those that EncodeOptions::coder may name, in the order of their numbers.
std::vector<Coder> asked_coders();
/// Lists their names: "raw, pack, ...".
std::string asked_coder_names();
/// Whether a device decodes its sections; others are left to the host.
bool decodes_on_device(Coder coder);
/// Names a map: "ordered", ...; "none" for no map.
std::string_view map_name(ValueMap map);
std::string_view map_name(LaneMap map);
/// Explains the name: "floats are mapped to integers that keep their order"; empty for no map.
std::string_view map_sentence(ValueMap map);
/// Explains what is said of the map's steps: "1-0: lane 1 less lane 0, the first"; empty for no map.
std::string_view map_sentence(LaneMap map);
/// Names a predictor: "deltas"; "none" for no predictor.
std::string_view predictor_name(Predictor predictor);
/// Explains the name; empty if orders tell enough.
std::string_view predictor_sentence(Predictor predictor);

inline constexpr int kMaxTuple = 64;
inline constexpr int kMaxOrder = 8;
inline constexpr int kMaxStrides = 2;                    // beyond the tuple itself
inline constexpr std::uint64_t kMaxStride = 1ull << 22;  // in tuples
/// Whether values may be taken less those so many tuples before.
constexpr bool is_stride(std::uint64_t tuples) { return tuples >= 2 && tuples <= kMaxStride; }
inline constexpr std::uint64_t kFindStride = ~0ull;  // asked for in place of one: it is to be found
inline constexpr std::uint64_t kMaxRecordBytes = 1ull << 16;
inline constexpr std::uint64_t kMaxTupleBytes = 8 * kMaxTuple;
inline constexpr int kMaxColumns = 4096;
inline constexpr std::uint64_t kMaxChunkBytes = 1ull << 28;  // decoded

/// `tuple` values of one type that stand next to each other in every record.
struct Column {
  ValueType type = ValueType::u8;
  std::uint8_t tuple = 1;  // 1..kMaxTuple
  bool big_endian = false;
  constexpr int bytes() const { return value_bytes(type) * tuple; }
  friend bool operator==(const Column&, const Column&) = default;
};

/// What one record consists of: columns one after the other, without gaps. A plain stream of tuples
/// has one column.
struct Layout {
  std::vector<Column> columns;
  std::uint64_t record_bytes() const;
  friend bool operator==(const Layout&, const Layout&) = default;
};

/// Where a layout comes from. The numbers are those of the format (spec.md, section 3.1).
enum class LayoutOrigin : std::uint8_t { unknown = 0, given = 1, found = 2, file_format = 3 };
/// Names an origin: "given", "found", "file format"; "unknown" for others.
std::string_view origin_name(LayoutOrigin origin);

/// What an encoder notes beside a layout; decoding does not need it.
struct LayoutNote {
  std::uint8_t level = 0;  // 1..9; 0: not said
  LayoutOrigin origin = LayoutOrigin::unknown;
  friend bool operator==(const LayoutNote&, const LayoutNote&) = default;
};

/// Something that is said about a stream, in UTF-8: "sample_rate" is "44100".
struct MetadataEntry {
  std::string key;  // 1 to 255 bytes
  std::string value;
  friend bool operator==(const MetadataEntry&, const MetadataEntry&) = default;
};
inline constexpr std::size_t kMaxKeyBytes = 255;
inline constexpr std::size_t kMaxMetadataBytes = 1 << 16;  // of all entries, with their lengths
/// Checks these limits, and that all is UTF-8. Errors: invalid_argument, naming what is wrong.
Result<void> check_metadata(std::span<const MetadataEntry> entries);

/// The layout of opaque bytes: one column of u8.
const Layout& byte_layout();

/// Checks the limits above. Errors: invalid_argument.
Result<void> check_layout(const Layout& layout);

/// Reads "i32" or "f32:be".  Errors: invalid_argument, naming the types there are.
Result<Column> parse_type(std::string_view text);
/// Reads "i32x3,u16,u8x2,f64" or "i16:bex2".  Errors: invalid_argument.
Result<Layout> parse_record(std::string_view text);
/// Writes what parse_record reads.
std::string to_string(const Layout& layout);
std::string_view type_name(ValueType type);

}  // namespace gdelta
