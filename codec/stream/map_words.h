// Maps of a column in words, for people who look into a file.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "formats/gdelta/column_head.h"

namespace gdelta {

struct MapWords {
  std::string
      values;  // "decimal /100", "by lane: ordered, decimal /10"; empty if values stay what they are
  std::string lanes;  // "lanes 1-0 0+1/2": what each target loses or gets; empty if nothing
};

/// `head` is that of the chunk's block, whose column `column_head` was parsed without an error.
MapWords map_words(std::span<const std::byte> head, const Column& column,
                   const format::ColumnHead& column_head, std::uint64_t records);

}  // namespace gdelta
