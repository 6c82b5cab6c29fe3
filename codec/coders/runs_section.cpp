// The runs coder's section. Spec: coders/runs.md.
#include <algorithm>

#include "codec/coders/coder.h"
#include "codec/coders/pack_section.h"
#include "codec/coders/residual_source.h"
#include "kernels/deltas/lane_delta.h"

namespace gdelta {
namespace {

constexpr std::uint64_t kGroup = format::kGroupValues;

void append_le(std::vector<std::byte>& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<std::byte>(value >> (8 * i)));
}

template <class Word>
void encode_page(const ResidualSource& source, const format::ColumnModel& model,
                 std::uint64_t first, std::uint64_t tuples, std::vector<std::byte>& section) {
  const Column& column = source.column().column;
  const int bytes = value_bytes(column.type);
  std::vector<std::byte> counts, runs;
  std::vector<Word> words(kMaxOrder + tuples);
  for (int lane = 0; lane < column.tuple; ++lane) {
    Word states[kMaxOrder];
    source.residuals(lane, first, tuples, model.orders[lane], History::first_value, words.data(),
                     states);
    for (int k = 0; k < model.orders[lane]; ++k) append_le(section, states[k], bytes);
    for (std::uint64_t at = 0; at < tuples;) {
      const std::uint64_t end = std::min(tuples, (at / kGroup + 1) * kGroup);
      unsigned count = 0;
      for (std::uint64_t next = at; at < end; at = next, ++count) {
        while (next < end && words[next] == words[at]) ++next;
        append_le(runs, next - at - 1, 1);
        append_le(runs, words[at], bytes);
      }
      append_le(counts, count, 1);
    }
  }
  section.insert(section.end(), counts.begin(), counts.end());
  section.insert(section.end(), runs.begin(), runs.end());
}

void encode_runs(const ColumnToEncode& encode, std::vector<std::byte>& section,
                 std::vector<std::uint32_t>& page_ends) {
  const ResidualSource source(encode.column, encode.model);
  const std::uint64_t page = page_values_of(encode.model, source.records());
  const std::size_t start = section.size();
  for (std::uint64_t first = 0; first < source.records(); first += page) {
    const std::uint64_t tuples = std::min(page, source.records() - first);
    if (value_bytes(encode.column.column.type) == 8) {
      encode_page<std::uint64_t>(source, encode.model, first, tuples, section);
    } else {
      encode_page<std::uint32_t>(source, encode.model, first, tuples, section);
    }
    page_ends.push_back(static_cast<std::uint32_t>(section.size() - start));
  }
}

/// False where the page breaks a rule. `words`: lane after lane, `lane_words` apart.
template <class Word>
bool decode_runs_page(format::Cursor states, const Column& column, const format::ColumnModel& model,
                      std::uint64_t tuples, Word* words, std::uint64_t lane_words) {
  const int bytes = value_bytes(column.type);
  const std::uint64_t groups = (tuples + kGroup - 1) / kGroup;
  format::Cursor counts = states, runs = states;
  if (!counts.skip(format::page_state_bytes(model, column))) return false;
  runs = counts;
  if (!runs.skip(groups * column.tuple)) return false;
  for (int lane = 0; lane < column.tuple; ++lane) {
    Word* const out = words + lane * lane_words;
    for (std::uint64_t at = 0; at < tuples;) {
      const std::uint64_t end = std::min(tuples, (at / kGroup + 1) * kGroup);
      for (int count = counts.byte(); count > 0; --count) {
        const std::uint64_t length = runs.byte() + std::uint64_t{1};
        const auto value = static_cast<Word>(runs.fixed(bytes));
        if (runs.failed || length > end - at) return false;
        std::fill_n(out + at, length, value);
        at += length;
      }
      if (at != end) return false;
    }
    Word state[kMaxOrder];
    for (int k = 0; k < model.orders[lane]; ++k) state[k] = static_cast<Word>(states.fixed(bytes));
    sum_lane(out, tuples, model.orders[lane], state);
  }
  return runs.done();
}

template <class Word>
std::optional<Error> decode_pages(const SectionToDecode& section, const ValueSink& sink) {
  const format::ColumnModel& model = section.head->model;
  const std::uint64_t page_values = page_values_of(model, section.records());
  std::vector<Word> words(page_values * section.column.tuple);
  for (std::uint64_t page = 0; page < section.head->num_parts; ++page) {
    const std::uint64_t at = section.part_at(page), first = page * page_values;
    const std::uint64_t tuples = std::min(page_values, section.records() - first);
    if (!decode_runs_page(format::Cursor{section.at(at), section.part_end(page) - at},
                          section.column, model, tuples, words.data(), page_values))
      return Error{Errc::corrupt, "a page of runs is damaged", {}, section.byte + at};
    for (int lane = 0; lane < section.column.tuple; ++lane)
      sink.store(lane, first, tuples, words.data() + lane * page_values);
  }
  return std::nullopt;
}

std::optional<Error> decode_runs(const SectionToDecode& section) {
  return decode_residuals(section, value_bytes(section.column.type) == 8
                                       ? decode_pages<std::uint64_t>
                                       : decode_pages<std::uint32_t>);
}

}  // namespace

const ColumnCoder runs_coder{
    .encode = encode_runs, .decode = decode_runs, .scratch = pack_coder.scratch};

}  // namespace gdelta
