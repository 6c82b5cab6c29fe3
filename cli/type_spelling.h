// Other names of the types: those of C, NumPy, Rust, ALSA and FFmpeg.
#pragma once

#include <string>
#include <string_view>

namespace gdelta::cli {

/// The text that parse_type and parse_record take, for a text that spells types as others do:
/// "int16", "float32", "double", "<f4", ">i2", "s16le", "S16_LE", "F32", each with a tuple after an
/// x if a record may have one. What is no such spelling stays as it is.
std::string own_type_names(std::string_view text);

}  // namespace gdelta::cli
