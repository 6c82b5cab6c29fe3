#include "formats/foreign/las_head.h"

#include <algorithm>

#include "formats/foreign/byte_view.h"

namespace gdelta::format {

namespace {

// The public header block of all versions begins alike; later ones are longer.
constexpr std::uint64_t kVersionAt = 24, kHeaderBytesAt = 94, kPointsAt = 96, kPointFormatAt = 104;
constexpr std::uint64_t kPointBytesAt = 105, kNumPointsAt = 107;
constexpr std::uint64_t kShortestHeader = 227;
// Version 1.4 counts points in 64 bits, too.
constexpr std::uint64_t kLongHeader = 375, kLongNumPointsAt = 247;

// Compressed points have the highest bit of the format set.
constexpr std::uint64_t kMostPointFormat = 10, kFirstLongFormat = 6;

bool has_time(std::uint64_t format) { return format == 1 || format >= 3; }
bool has_infrared(std::uint64_t format) { return format == 8 || format == 10; }
bool has_colours(std::uint64_t format) {
  return format == 2 || format == 3 || format == 5 || format == 7 || has_infrared(format);
}
bool has_waves(std::uint64_t format) {
  return format == 4 || format == 5 || format == 9 || format == 10;
}

/// The fields of a point of a known format.
Layout fields_of(std::uint64_t format) {
  Layout layout;
  const auto add = [&](ValueType type, int tuple = 1) {
    layout.columns.push_back({type, static_cast<std::uint8_t>(tuple), false});
  };
  add(ValueType::i32, 3);  // coordinates
  add(ValueType::u16);     // intensity
  add(ValueType::u8);      // returns
  if (format < kFirstLongFormat) {
    add(ValueType::u8);  // class
    add(ValueType::i8);  // angle of the scanner
    add(ValueType::u8);  // the user's
  } else {
    add(ValueType::u8);  // flags
    add(ValueType::u8);  // class
    add(ValueType::u8);  // the user's
    add(ValueType::i16);
  }
  add(ValueType::u16);  // source
  if (has_time(format)) add(ValueType::f64);
  if (has_colours(format)) add(ValueType::u16, has_infrared(format) ? 4 : 3);
  if (has_waves(format)) {
    add(ValueType::u8);      // descriptor
    add(ValueType::u64);     // place
    add(ValueType::u32);     // length
    add(ValueType::f32, 4);  // of the return, and its direction
  }
  return layout;
}

/// A point of so many bytes, if its fields have room in them.
std::optional<Layout> layout_of(std::uint64_t format, std::uint64_t point_bytes) {
  Layout layout = fields_of(format);
  const std::uint64_t known = layout.record_bytes();
  if (point_bytes < known) return std::nullopt;
  for (std::uint64_t more = point_bytes - known; more > 0;) {
    const std::uint64_t tuple = std::min<std::uint64_t>(more, kMaxTuple);
    layout.columns.push_back({ValueType::u8, static_cast<std::uint8_t>(tuple), false});
    more -= tuple;
  }
  return layout;
}

}  // namespace

std::optional<Recognised> recognise_las(std::span<const std::byte> prefix,
                                        std::optional<std::uint64_t> /*total_bytes*/) {
  const ByteView file(prefix);
  if (file.text(0, 4) != "LASF" || !file.has(0, kShortestHeader)) return std::nullopt;
  const std::uint64_t header_bytes = file.number(kHeaderBytesAt, 2);
  const std::uint64_t points = file.number(kPointsAt, 4);
  const std::uint64_t format = file.number(kPointFormatAt, 1);
  if (file.number(kVersionAt, 1) != 1 || header_bytes < kShortestHeader || points < header_bytes ||
      !file.has(0, points) || format > kMostPointFormat)
    return std::nullopt;
  const std::uint64_t point_bytes = file.number(kPointBytesAt, 2);
  auto layout = layout_of(format, point_bytes);
  if (!layout) return std::nullopt;
  std::uint64_t count = file.number(kNumPointsAt, 4);
  if (header_bytes >= kLongHeader) count = std::max(count, file.number(kLongNumPointsAt, 8));
  if (count == 0) return std::nullopt;
  return Recognised{
      .head_bytes = points,
      .layout = *std::move(layout),
      .data_bytes = count > kUntilTheEnd / point_bytes ? kUntilTheEnd : count * point_bytes};
}

}  // namespace gdelta::format
