// What the chunks of a file have in common, collected one by one in little memory.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "gdelta/stream.h"

namespace gdelta::cli {

inline constexpr std::size_t kTypeColumns = 11;
inline constexpr std::size_t kCoderColumns = 11;
inline constexpr std::size_t kOrderColumns = 9;
inline constexpr const char* kSegmentsMark = " seg";

class FileSummary {
 public:
  void add(const ChunkInfo& chunk, const Layout& layout);

  /// "i16x2", "9 columns", "3 layouts", "u8" if there are only opaque chunks, "-" if there is
  /// none; at most kTypeColumns long, as the others below.
  std::string type() const;
  /// "2", "0-3", and "+s640" if there is a further stride, "+s" if that is too long to tell or
  /// there are several; kSegmentsMark behind it if chunks say their segments.
  std::string orders() const;
  /// Coders by how many columns of chunks they code, the most frequent first: "pack,zstd"; "constant +1"
  /// if there is no room for one more; "unknown" if this version does not know a stage.
  std::string coders() const;
  bool has_segments() const { return has_segments_; }
  bool has_unknown() const { return models().coders.back() > 0; }
  /// What encoders noted beside the layouts of chunks of numbers: every note once.
  const std::vector<LayoutNote>& notes() const { return notes_; }
  /// Bytes of all sections: what the file takes without heads and indexes.
  std::uint64_t section_bytes() const { return section_bytes_; }

 private:
  struct Models {
    std::set<int> orders;
    std::set<std::uint64_t> strides;
    // Columns of chunks, by the coder's number; the last are those of which something is not known.
    std::array<std::uint64_t, kNumCoders + 1> coders = {};
  };

  /// Those of numbers, or if there are none, those of opaque bytes.
  const Models& models() const { return has_numbers_ ? numbers_ : opaque_; }

  Models numbers_;
  Models opaque_;
  std::vector<LayoutNote> notes_;
  std::uint64_t section_bytes_ = 0;
  bool has_numbers_ = false;
  bool has_opaque_ = false;
  bool has_segments_ = false;
  std::size_t last_layout_ = 0;
  std::string first_type_;
  std::size_t first_columns_ = 0;
  std::set<std::size_t> types_;  // hashes of the texts of layouts
};

}  // namespace gdelta::cli
