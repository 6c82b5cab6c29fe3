// Tuples of a column that stand between those of other columns.
#pragma once

#include <cstddef>

namespace gdelta {

/// Copies `count` tuples of so many bytes, which begin `from_step` bytes behind each other, to where they begin `to_step`
/// bytes behind each other. A step of 0 reads the same tuple again and again. They do not overlap.
void copy_tuples(const unsigned char* from, std::size_t from_step, unsigned char* to,
                 std::size_t to_step, std::size_t tuple_bytes, std::size_t count);

}  // namespace gdelta
