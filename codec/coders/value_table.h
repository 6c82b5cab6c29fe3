// The table of a dictionary: made from the values of a lane, coded, and decoded on the host.
// Spec: maps/dictionary.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "formats/gdelta/maps/map_fields.h"
#include "gdelta/types.h"

namespace gdelta {

/// Different words, numbered as they come, up to a limit.
class DistinctWords {
 public:
  explicit DistinctWords(std::size_t most);

  /// Numbers the word, if it is new; false if there are too many.
  bool add(std::uint64_t word);
  /// Numbers those that are new; false once there are too many.
  template <class Word>
  bool add_all(std::span<const Word> words);
  /// The number of a word that is there.
  std::uint32_t number_of(std::uint64_t word) const;
  /// Puts their numbers in the place of words that are there.
  template <class Word>
  void find_numbers(std::span<Word> words) const;
  const std::vector<std::uint64_t>& words() const { return words_; }

 private:
  std::size_t first_slot_of(std::uint64_t word) const;
  std::size_t slot_of(std::uint64_t word) const;
  void double_slots();

  std::size_t most_;
  std::vector<std::uint64_t> words_;
  // A power of two of them, four times as many as words or more: a number + 1, or 0.
  std::vector<std::uint32_t> slots_;
  int shift_ = 0;
};

/// The values of a lane, each once, as numbers of their type rise; floats as `ordered` has them.
void sort_as_numbers(std::vector<std::uint64_t>& values, ValueType type);

struct CodedTable {
  format::TableFields fields;
  std::vector<std::byte> bytes;
};

/// In bins. `values` are sorted as above: 1 … 65536 of them.
CodedTable encode_table(std::span<const std::uint64_t> values, ValueType type);

/// The same by a coder that codes tables.
CodedTable encode_table_by(Coder coder, std::span<const std::uint64_t> values, ValueType type);

/// What decode_table holds for tables of so many entries, made by one of `coders` (ColumnHead::table_coders) or in
/// bins.
std::uint64_t table_scratch(std::uint64_t entries, std::uint32_t coders, ValueType type);

/// The values in the order of their indices; none if the table is damaged.
std::optional<std::vector<std::uint64_t>> decode_table(const format::TableFields& fields,
                                                       const unsigned char* bytes, ValueType type);

}  // namespace gdelta
