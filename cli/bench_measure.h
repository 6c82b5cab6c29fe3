// Compression and decompression in memory, timed: gdelta and, beside it, zstd.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "gdelta/codec.h"

namespace gdelta::cli {

/// One coder at one level on one file. Seconds are medians.
struct Measurement {
  std::string file;
  std::string codec;  // "gdelta", "zstd"
  int level = 0;
  std::string device;
  int threads = 1;
  std::string layout;         // what gdelta took the numbers for, and how that is known
  std::string layout_origin;  // as FoundLayout::origin
  std::uint64_t decoded_bytes = 0;
  std::uint64_t compressed_bytes = 0;
  double search_seconds = 0;  // for type and tuple, if they were searched
  double encode_seconds = 0;  // without the search
  double decode_seconds = 0;
  // What either direction held at most, beside the uncompressed bytes.
  std::optional<std::uint64_t> encode_memory;
  std::optional<std::uint64_t> decode_memory;

  double ratio() const;
  double encode_gb_s() const;  // 10^9 uncompressed bytes a second
  double decode_gb_s() const;
};

/// What gdelta takes an input for at some level, and how long it looked for that: no time if it
/// need not look.
struct Search {
  FoundLayout found;
  double seconds = 0;
};
/// Errors      those of find_layout
Result<Search> measure_search(std::span<const std::byte> input, const EncodeOptions& options);

/// Told what is under way: "compressing", "decompressing".
using Notice = std::function<void(std::string_view step)>;

/// One run each way, more if they are short; every decoded copy is compared with the input, which
/// is not empty. `search` is what measure_search said under the same options.
/// Errors      those of compress and decompress; corrupt if the bytes differ
Result<Measurement> measure_gdelta(std::span<const std::byte> input, const EncodeOptions& options,
                                   const Search& search, const Notice& notice);

/// Does the same for zstd, which compresses on `threads` threads and decompresses on one.
Result<Measurement> measure_zstd(std::span<const std::byte> input, int level, int threads,
                                 const Notice& notice);

}  // namespace gdelta::cli
