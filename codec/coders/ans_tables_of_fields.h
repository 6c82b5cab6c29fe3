// The tables of the ans coder from the fields of a model.
#pragma once

#include "formats/gdelta/coders/ans_fields.h"
#include "kernels/ans/ans_tables.h"

namespace gdelta {

/// Reads as parse_ans_fields does; only if it finds no error can `tables` be used.
template <class Word>
format::HeadError read_ans_tables(format::Cursor& cursor, int value_bits, AnsTables<Word>& tables) {
  format::AnsFields fields;
  const format::HeadError error = format::parse_ans_fields(
      cursor, value_bits, fields, [&](int table, const format::AnsBinFields& bin) {
        tables.tables.resize(static_cast<std::size_t>(table) + 1);
        tables.tables.back().push_back({.lower = static_cast<Word>(bin.lower),
                                        .frequency = static_cast<std::uint16_t>(bin.frequency),
                                        .offset_bits = bin.offset_bits});
      });
  tables.slot_bits = fields.slot_bits;
  tables.span_bits = fields.span_bits;
  return error;
}

}  // namespace gdelta
