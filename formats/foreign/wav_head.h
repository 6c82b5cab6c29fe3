// WAV: RIFF, RIFX (big-endian) and RF64/BW64 (64-bit sizes) files of plain samples.
#pragma once

#include "formats/foreign/foreign.h"

namespace gdelta::format {

/// Does what recognise does, for one format; `data_bytes` may still exceed the file and hold a partial record.
std::optional<Recognised> recognise_wav(std::span<const std::byte> prefix,
                                        std::optional<std::uint64_t> total_bytes);

/// The next chunk of samples of the file whose samples `before` have ended; their format holds on
/// until there is another.
std::optional<Recognised> recognise_more_wav(const Recognised& before,
                                             std::span<const std::byte> prefix,
                                             std::optional<std::uint64_t> bytes_left);

}  // namespace gdelta::format
