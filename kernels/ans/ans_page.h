// A page of the ans coder, behind the states of its deltas. Spec: coders/ans.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/ans/ans_symbol.h"
#include "kernels/ans/ans_tables.h"

namespace gdelta {

/// Decodes pages of one column. Keeps its memory from page to page.
template <class Word>
class AnsPageDecoder {
 public:
  /// `tables` outlives it.
  explicit AnsPageDecoder(const AnsDecodeTables<Word>& tables) : tables_(tables) {}

  /// in      page: from the number of its words to its end
  /// out     words: lane after lane, `lane_words` apart, `tuples` residuals each
  /// Gives false if the page breaks a rule of its spec.
  bool decode(std::span<const unsigned char> page, int tuple, std::uint64_t tuples, Word* words,
              std::uint64_t lane_words);

 private:
  bool read_selectors(std::span<const unsigned char> packed, const AnsPageShape& shape);

  const AnsDecodeTables<Word>& tables_;
  std::vector<std::uint8_t> selectors_;
  std::vector<std::uint16_t> words_;  // padded, as are the offsets: reading stays inside for a tile
  std::vector<unsigned char> offsets_;
};

/// Encodes pages of one column.
template <class Word>
class AnsPageEncoder {
 public:
  /// `names`: what selectors and bins are called by those who have chosen them.
  AnsPageEncoder(const AnsTables<Word>& tables, const AnsNames& names);

  /// Appends a page. `words`: lane after lane, `lane_words` apart, of residuals; `bins`: the name of each
  /// one's bin in its table, in the same places; `selectors`: AnsPageShape's, in order, as names of tables.
  void encode(const AnsPageShape& shape, const Word* words, const std::uint8_t* bins,
              std::uint64_t lane_words, const std::uint8_t* selectors,
              std::vector<std::byte>& page);

 private:
  void encode_symbols(const AnsPageShape& shape, const std::uint8_t* bins, std::uint64_t lane_words,
                      const std::uint8_t* selectors);

  std::byte* write_offsets(const AnsPageShape& shape, const Word* words, const std::uint8_t* bins,
                           std::uint64_t lane_words, const std::uint8_t* selectors,
                           std::byte* out) const;

  // By name: kMaxTableBins for each table.
  std::vector<std::uint8_t> table_names_;
  std::vector<AnsSymbol> symbols_;
  std::vector<Word> lowers_, offset_bits_;
  std::vector<int> num_names_;  // in use, of each table
  int slot_bits_;
  alignas(32) std::uint32_t states_[kMaxAnsStates] = {};
  std::vector<std::uint16_t> room_;  // its end is the page's words
  std::vector<std::byte> page_;      // what `encode` appends, with room behind
  std::size_t num_words_ = 0;
};

}  // namespace gdelta
