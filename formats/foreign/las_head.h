// LAS, versions 1.0 to 1.4: points of a laser scanner, not compressed, behind a head and records that
// describe them.
#pragma once

#include "formats/foreign/foreign.h"

namespace gdelta::format {

/// Does what recognise does, for one format; `data_bytes` may still exceed the file.
/// Point data record formats 0 to 10 become a column of three coordinates and one of each other field; bytes
/// that a file adds to its points are columns of bytes.
std::optional<Recognised> recognise_las(std::span<const std::byte> prefix,
                                        std::optional<std::uint64_t> total_bytes);

}  // namespace gdelta::format
