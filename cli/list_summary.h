// What the chunks of a file have in common, collected one by one in little memory.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>

#include "gdelta/stream.h"

namespace gdelta::cli {

class FileSummary {
 public:
  void add(const ChunkInfo& chunk, const Layout& layout);

  /// "i16x2", "3 layouts", "u8" where there are only opaque chunks, "-" where there is none.
  std::string type() const;
  /// "2", "0-3", and after a + the distances of further strides.
  std::string orders() const;
  /// By how many columns of chunks they code, the most frequent first: "pack,zstd".
  std::string coders() const;

 private:
  struct Models {
    std::set<int> orders;
    std::set<std::uint64_t> strides;
    std::array<std::uint64_t, 4> coders = {};  // columns of chunks, by the coder's number
  };

  /// Those of numbers, or where there are none, those of opaque bytes.
  const Models& models() const { return has_numbers_ ? numbers_ : opaque_; }

  Models numbers_;
  Models opaque_;
  bool has_numbers_ = false;
  bool has_opaque_ = false;
  std::size_t last_layout_ = 0;
  std::string first_type_;
  std::set<std::size_t> types_;  // hashes of the texts of layouts
};

}  // namespace gdelta::cli
