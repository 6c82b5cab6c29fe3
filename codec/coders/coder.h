// What the library does with a coder. A row of gdelta/coders.h names an object of this kind,
// NAME_coder, which the coder's own files define.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "codec/coders/column_bytes.h"
#include "codec/coders/decode_scratch.h"
#include "codec/coders/section_to_decode.h"
#include "codec/coders/work.h"
#include "codec/coders/workers.h"
#include "codec/coders/zstd_levels.h"
#include "kernels/ans/ans_effort.h"

namespace gdelta {

struct ColumnToEncode {
  const ColumnBytes& column;
  const format::ColumnModel& model;
  ZstdLevels zstd_levels;
  AnsEffort ans_effort;
  Workers& workers;
  /// What pages begin with if the front says so (Front::says_states): of each page, lane after lane.
  std::span<const unsigned char> page_states = {};
  Work* work = nullptr;  ///< is told of what is done; nullptr: nobody wants to know
};

/// What the size of a residual is measured by, when orders are chosen for a coder.
enum class OrderCost : std::uint8_t {
  groups,   // the width that its group needs
  symbols,  // the share of residuals of its size
};

/// What the library does with a coder that codes tables of dictionaries: numbers of `width` bytes each,
/// little-endian, in one piece.
struct TableCoder {
  void (*encode)(std::span<const unsigned char> numbers, int width, std::vector<std::byte>& coded);
  /// Whether `coded` decodes to exactly numbers.size() bytes.
  bool (*decode)(std::span<const unsigned char> coded, std::span<unsigned char> numbers);
  /// What `decode` holds beside both of them.
  std::uint64_t (*scratch)(std::uint64_t number_bytes);
};

struct ColumnCoder {
  /// Appends the section of a column, and says what the model does of it, but for the checks.
  void (*encode)(const ColumnToEncode& column, std::vector<std::byte>& section,
                 format::SectionTable& table);
  /// Decodes a section to the column's place. Gives check 6 of spec.md, section 8, if that fails;
  /// contents are checked elsewhere.
  std::optional<Error> (*decode)(const SectionToDecode& section);
  /// What `decode` holds, but for what undoing strides takes.
  DecodeScratch (*scratch)(const Column& column, const format::ColumnHead& head,
                           std::uint64_t records);
  /// Gives the tuples of a page / 128 in a column of so many records, if the coder chooses them.
  std::uint32_t (*page_groups)(const Column& column, std::uint64_t records,
                               const AnsEffort& effort) = nullptr;
  OrderCost order_cost = OrderCost::groups;
  /// No section with the coder's own fields is shorter. 0: not known.
  std::uint64_t shortest = 0;
  /// From this level on the planner tries it, as the reason in its row says (format::ChosenBy), and keeps it
  /// if it is smallest. 0: the planner has ways of its own to choose it.
  int tried_from_level = 0;
  /// About how long a section of these residuals of a column is, found out soon, and sooner if it is longer than `wanted`
  /// by a lot. Coders that are chosen by patience have it.
  std::uint64_t (*sampled_bytes)(std::span<const unsigned char> residuals, const Column& column,
                                 std::uint64_t wanted) = nullptr;
  /// Columns of fewer bytes are not worth its trials, unless it is asked for.
  std::uint64_t shortest_column = 0;
  /// No section of these residuals is shorter, by what is known without a trial. nullptr: nothing is.
  std::uint64_t (*least_bytes)(std::span<const unsigned char> residuals) = nullptr;
  /// What `encode` holds for a chunk of so many bytes, if that is more than residuals and sections.
  std::uint64_t (*encode_scratch)(std::uint64_t chunk_bytes) = nullptr;
  /// Only of columns for which trials decide all (tries_everything), unless it is asked for.
  bool for_short_columns = false;
  /// If its row says that it codes tables.
  const TableCoder* tables = nullptr;
};

#define GDELTA_DECLARATION(name, number, ...) extern const ColumnCoder name##_coder;
GDELTA_CODERS(GDELTA_DECLARATION)
#undef GDELTA_DECLARATION

/// Precondition: a number below kNumCoders, which every head that was parsed has.
const ColumnCoder& column_coder(Coder coder);

/// Decodes residuals into the sink, their deltas undone.
using DecodeResiduals = std::optional<Error> (*)(const SectionToDecode& section,
                                                 const ValueSink& sink);
/// What coders of residuals have in common: undoes strides, map and byte order behind `wide`, for values
/// of 64 bits, or `narrow`, for all others in words of 32.
std::optional<Error> decode_residuals(const SectionToDecode& section, DecodeResiduals narrow,
                                      DecodeResiduals wide);

}  // namespace gdelta
