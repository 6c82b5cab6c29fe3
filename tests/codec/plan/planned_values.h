// Values that a planner must see something in, and what it plans for them.
#pragma once

#include <bit>

#include "codec/chunk/chunk_cases.h"
#include "codec/plan/planner.h"
#include "codec/plan/quick_maps.h"

namespace gdelta::test {

inline EncodeSettings at_level(int level) {
  EncodeSettings settings;
  settings.level = level;
  return settings;
}

/// Without the coders that are tried beside it, so that the plan is pack's.
inline EncodeSettings pack_at_level(int level) {
  EncodeSettings settings = at_level(level);
  settings.coder = Coder::pack;
  return settings;
}

inline Layout layout_of(const char* record) { return parse_record(record).value(); }

inline format::ColumnModel plan_column(const Bytes& values, const char* record,
                                       const EncodeSettings& settings) {
  return plan_chunk(values, layout_of(record), false, settings).columns[0];
}

/// The maps that low levels find for a column.
inline ColumnMaps quick_maps_of(const Bytes& values, const char* record,
                                const EncodeSettings& settings = at_level(1)) {
  const Layout layout = layout_of(record);
  ColumnMaps maps;
  std::optional<PlainFronts> plain;
  map_quickly({.first = reinterpret_cast<const unsigned char*>(values.data()),
               .record_bytes = layout.record_bytes(),
               .records = values.size() / layout.record_bytes(),
               .column = layout.columns[0]},
              settings, Workers::alone(), maps, plain);
  return maps;
}

/// Little-endian values of a width, one after the other.
class ValueBytes {
 public:
  explicit ValueBytes(int width) : width_(width) {}
  void put(std::int64_t value) {
    put_value(bytes_, static_cast<std::uint64_t>(value), width_, false);
  }
  void put_float(float value) {
    put(static_cast<std::int64_t>(std::bit_cast<std::uint32_t>(value)));
  }
  const Bytes& bytes() const { return bytes_; }

 private:
  int width_;
  Bytes bytes_;
};

/// Draws that are the same everywhere, as those of a standard distribution are not.
class Draws {
 public:
  explicit Draws(unsigned seed) : random_(seed) {}
  /// 0 … bound - 1
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(bound));
  }
  /// -bound … bound
  std::int64_t around_zero(std::int64_t bound) {
    const auto size = static_cast<std::uint64_t>(bound);
    return static_cast<std::int64_t>(random_() % (2 * size + 1) - size);
  }
  std::vector<std::int64_t> many_below(std::size_t count, std::int64_t bound) {
    std::vector<std::int64_t> values(count);
    for (std::int64_t& value : values) value = below(bound);
    return values;
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace gdelta::test
