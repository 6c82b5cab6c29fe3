// A case of the golden files: the stream that a file is, and the values that it decodes to.
#pragma once

#include <string>

#include "plain_choice.h"

namespace gdelta::plain {

struct GoldenCase {
  std::string name;
  Bytes values;
  Bytes stream;
};

/// Numbers that wander like a sensor's, the same on every machine: a walk with steps of about
/// `step`, cut to the width of the column, with now and then a value far away.
Bytes wandering_values(const Layout& layout, std::size_t records, std::uint64_t step,
                       std::uint64_t seed);

}  // namespace gdelta::plain
