// What an input is: found out at its beginning, and again wherever an array has ended.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "codec/backend/backend.h"
#include "codec/stream/chunk_cutter.h"
#include "formats/foreign/foreign.h"

namespace gdelta {

/// How much of an input is looked at to find out what its numbers are.
inline constexpr std::size_t kSampleBytes = std::size_t{4} << 20;

/// Origins of layouts that are no names of formats.
inline constexpr std::string_view kGivenOrigin = "given", kFoundOrigin = "found";

/// Finds out what an input is: looks at its beginning, and again wherever an array has ended.
class InputPlanner {
 public:
  /// Does not own the options.
  explicit InputPlanner(const EncodeOptions& options) : options_(&options) {}

  /// How many bytes the next look takes.
  std::size_t look_bytes() const { return looked_ ? format::kNextPrefixBytes : kSampleBytes; }
  /// What the input goes on with, at least one byte. `ahead`: what follows all that was told before,
  /// look_bytes() or all that there is. `bytes_left`: from there to the end, if known.
  InputPart look(std::span<const std::byte> ahead, std::optional<std::uint64_t> bytes_left);

  /// The rest counts from the first look on. The layout of the records that were told last.
  const std::shared_ptr<const Layout>& layout() const { return layout_; }
  /// The rows of the array that was told last, if its head tells.
  const format::ArrayRows& rows() const { return rows_; }
  /// How the first layout was found: "given", "found", or the name of a format.
  std::string_view origin() const { return origin_; }
  /// What would let numbers be found that were not, in a sentence; empty if there is nothing to say.
  std::string_view advice() const { return advice_; }
  /// Arrays with a layout that were told.
  std::uint64_t num_arrays() const { return num_arrays_; }
  EncodeSettings settings() const;
  /// What the stream says beside its layouts and about itself.
  LayoutNote note() const;
  std::vector<MetadataEntry> metadata() const;

 private:
  InputPart look_first(std::span<const std::byte> sample, std::optional<std::uint64_t> total_bytes);
  InputPart tell(format::Recognised array);

  const EncodeOptions* options_;
  bool looked_ = false;
  bool plain_bytes_ = false;  // no numbers were found
  std::string_view origin_;
  std::string_view advice_;
  std::shared_ptr<const Layout> layout_;
  format::ArrayRows rows_;
  std::vector<MetadataEntry> metadata_;  // of the first array, as its head has it
  std::uint64_t num_arrays_ = 0;
  std::optional<format::Recognised> before_;  // the array that ended where the next look begins
};

}  // namespace gdelta
