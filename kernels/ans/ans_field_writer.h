// The tables of the ans coder as models say them: one writer, for host and device, over a sink that has two
// functions: `le` takes a number of so many bytes, `varint` a number. Spec: coders/ans.md.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/ans/ans_bin.h"
#include "kernels/deltas/zigzag.h"

namespace gdelta {

inline constexpr int kAnsStartBytes = 3;

/// What stands before the first table, in that many bytes.
template <class Sink>
GDELTA_HD void write_ans_start(Sink& sink, int slot_bits, int span_bits, int tables) {
  sink.le(1, static_cast<std::uint64_t>(slot_bits));
  sink.le(1, static_cast<std::uint64_t>(span_bits));
  sink.le(1, static_cast<std::uint64_t>(tables));
}

/// What stands before the first bin of a table.
template <class Sink>
GDELTA_HD void write_ans_table_start(Sink& sink, int bins) {
  sink.varint(static_cast<std::uint64_t>(bins - 1));
}

namespace detail {

template <class Word>
GDELTA_HD std::uint64_t sign_extended(Word word) {
  return static_cast<std::uint64_t>(std::int64_t{static_cast<std::make_signed_t<Word>>(word)});
}

}  // namespace detail

/// `before` is the bin before it, or nullptr: a bin begins so far behind the end of that, or behind 0.
template <class Sink, class Word>
GDELTA_HD void write_ans_bin(Sink& sink, const AnsBin<Word>* before, const AnsBin<Word>& bin) {
  std::uint64_t expected = 0;
  if (before != nullptr)
    expected = detail::sign_extended(before->lower) +
               (before->offset_bits == 64 ? 0 : std::uint64_t{1} << before->offset_bits);
  sink.varint(bin.frequency);
  sink.le(1, bin.offset_bits);
  sink.varint(zigzag_encode(detail::sign_extended(bin.lower) - expected, 64));
}

}  // namespace gdelta
