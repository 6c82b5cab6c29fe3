// Compression and decompression in memory, timed: gdelta and, beside it, zstd.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "gdelta/codec.h"

namespace gdelta::cli {

/// One line of the result. Speeds are medians, in 10^9 uncompressed bytes a second.
struct Measurement {
  std::string codec;  // "gdelta", "zstd"
  int level = 0;
  std::string device;
  int threads = 1;
  double ratio = 0;
  double encode_gb_s = 0;
  double decode_gb_s = 0;
};

/// At least three runs each way, more where they are short; every decoded copy is compared with the
/// input.
/// Errors      those of compress and decompress; corrupt where the bytes differ
Result<Measurement> measure_gdelta(std::span<const std::byte> input, const EncodeOptions& options);

/// The same for zstd, which compresses on `threads` threads and decompresses on one.
Result<Measurement> measure_zstd(std::span<const std::byte> input, int level, int threads);

}  // namespace gdelta::cli
