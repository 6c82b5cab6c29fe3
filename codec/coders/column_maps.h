// The value maps and the lane map of a column that are undone in a pass of their own: applied before a
// coder sees the values, and undone behind it. Spec: spec.md, section 5.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "codec/coders/column_bytes.h"
#include "codec/coders/decode_scratch.h"
#include "codec/coders/section_to_decode.h"
#include "codec/coders/value_table.h"
#include "codec/coders/workers.h"
#include "formats/gdelta/chunk_block.h"
#include "kernels/words/lane_steps.h"
#include "kernels/words/maps/lane_mapping.h"

namespace gdelta {

struct ColumnMaps {
  std::vector<LaneMapping> lanes = {};  // one each, or none at all
  std::vector<LaneStep> steps = {};     // in the order in which the encoder takes them
  /// Each lane with a dictionary has its values here, sorted (value_table.h); empty if there is none.
  std::vector<std::vector<std::uint64_t>> tables = {};
  /// Those that may code a table in the place of bins, if it is clearly smaller then.
  std::vector<Coder> table_coders = {};

  bool empty() const { return lanes.empty() && steps.empty(); }
};
/// Whether values become the same words; whatever codes tables.
bool is_same(const ColumnMaps& a, const ColumnMaps& b);

/// A column behind its maps: integers of the same width, little-endian, without gaps.
class MappedColumn {
 public:
  /// `maps` are not empty.
  MappedColumn(const ColumnBytes& column, ColumnMaps maps, Workers& workers);

  /// The caller's values must be there as long as exceptions are asked for.
  const ColumnBytes& column() const { return mapped_; }
  /// Lets these coders make tables anew that are clearly smaller then.
  void code_tables(const std::vector<Coder>& coders);
  /// There is no column() any more, only what follows its section.
  void forget_column() { bytes_.reset(); }
  bool has_column() const { return bytes_ != nullptr; }
  std::uint64_t exceptions() const { return exceptions_.size(); }
  std::size_t tables() const { return tables_.size(); }
  std::vector<bool> lanes_with_exceptions() const;
  std::uint64_t exception_bytes() const;
  /// Counts them with what the head says of them; 0 without dictionaries.
  std::uint64_t table_bytes() const;
  /// Appends exceptions and tables as they follow the section.
  void append_behind(std::vector<std::byte>& out) const;
  /// Sets the maps of a model, and the fields that say what they are.
  void describe(format::Front& front, format::SectionTable& table) const;

 private:
  template <class Word>
  void map(Workers& workers);
  void append_exceptions(std::vector<std::byte>& out) const;
  void append_fields(std::size_t lane, std::vector<std::byte>& out) const;

  ColumnBytes column_;
  ColumnMaps maps_;
  std::unique_ptr<unsigned char[]> bytes_;
  ColumnBytes mapped_;
  std::vector<std::uint64_t> exceptions_;  // record × tuple + lane
  std::vector<CodedTable> tables_;         // one for each of maps_.tables
};

/// The maps of a column that has a pass, as its head says.
ColumnMaps read_column_maps(const SectionToDecode& section);

/// What undoing them holds.
DecodeScratch maps_scratch(const Column& column, const format::ColumnHead& head);

/// Undoes them: `values` are those of a MappedColumn. Gives the part of check 6 of spec.md, section 8,
/// that is about exceptions and dictionaries, if it fails.
std::optional<Error> place_mapped_column(const SectionToDecode& section,
                                         const unsigned char* values);

}  // namespace gdelta
