// What the head of a file says of the dimensions of an array.
#pragma once

#include <cstdint>

namespace gdelta::format {

/// How many records a row and a plane of an array have, as far as it has several rows and several planes and its head says so;
/// else 0.
struct ArrayRows {
  std::uint64_t row_records = 0;
  std::uint64_t plane_records = 0;

  bool operator==(const ArrayRows&) const = default;
};

}  // namespace gdelta::format
