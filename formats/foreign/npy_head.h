// NPY, versions 1 to 3: one array of numbers behind a Python literal that describes it.
#pragma once

#include "formats/foreign/foreign.h"

namespace gdelta::format {

/// The longest last dimension that counts as a tuple. Longer ones are rows: of an image, of a
/// table, whose neighbours along the row predict each other.
inline constexpr std::uint64_t kMostTupleDimension = 8;

/// Does what recognise does, for one format; `data_bytes` may still exceed the file.
/// The tuple is the dimension that moves fastest in memory (the last one in C order, the first one
/// in Fortran order, dimensions of 1 not counted) if the array has another one and it is at most
/// kMostTupleDimension; complex numbers double it. Structured arrays become a record of columns,
/// fields of fields included. Rows lie along the dimension that moves fastest beside the tuple, planes along that
/// and the next one.
std::optional<Recognised> recognise_npy(std::span<const std::byte> prefix,
                                        std::optional<std::uint64_t> total_bytes);

}  // namespace gdelta::format
