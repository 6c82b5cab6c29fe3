// Runs of equal residuals. Spec: formats/gdelta/coders/runs.md.
#include <algorithm>

#include "codec/coders/coder.h"
#include "codec/coders/pack_section.h"
#include "codec/coders/residual_source.h"
#include "kernels/deltas/zigzag.h"

namespace gdelta {
namespace {

constexpr std::uint64_t kLongestRun = 65536;

template <class Word>
void encode_pages(const ColumnToEncode& encode, std::vector<std::byte>& section,
                  std::vector<std::uint32_t>& page_ends) {
  const ResidualSource source(encode.column, encode.model.front);
  const Column& column = encode.column.column;
  const int bytes = value_bytes(column.type);
  const std::uint64_t page_values = page_values_of(encode.model.section, source.records());
  const std::size_t start = section.size();
  std::vector<Word> words(kMaxOrder + page_values);
  for (std::uint64_t first = 0; first < source.records(); first += page_values) {
    const std::uint64_t tuples = std::min(page_values, source.records() - first);
    std::vector<std::byte> runs;
    for (int lane = 0; lane < column.tuple; ++lane) {
      Word states[kMaxOrder];
      const int order = encode.model.front.orders[lane];
      source.residuals(lane, first, tuples, order, History::first_value, words.data(), states);
      for (int k = 0; k < order; ++k) format::append_le(section, bytes, states[k]);
      for (std::uint64_t i = 0, end = 0; i < tuples; i = end) {
        while (end < tuples && words[end] == words[i] && end - i < kLongestRun) ++end;
        format::append_le(runs, 2, end - i - 1);
        format::append_le(runs, bytes, words[i]);
      }
    }
    section.insert(section.end(), runs.begin(), runs.end());
    page_ends.push_back(static_cast<std::uint32_t>(section.size() - start));
  }
}

void encode_runs(const ColumnToEncode& encode, std::vector<std::byte>& section,
                 format::SectionTable& table) {
  if (value_bytes(encode.column.column.type) == 8) {
    encode_pages<std::uint64_t>(encode, section, table.ends);
  } else {
    encode_pages<std::uint32_t>(encode, section, table.ends);
  }
}

/// Gives false if the page breaks a rule.
template <class Word>
bool decode_page(const unsigned char* p, const unsigned char* end, const SectionToDecode& section,
                 std::uint64_t first, std::uint64_t tuples, std::vector<Word>& words,
                 const ValueSink& sink) {
  const format::Front& front = section.head->model.front;
  const int bytes = value_bytes(section.column.type);
  const unsigned char* state_in = p;
  const std::uint64_t state_bytes = format::page_state_bytes(front, section.column);
  if (static_cast<std::uint64_t>(end - p) < state_bytes) return false;
  p += state_bytes;
  for (int lane = 0; lane < section.column.tuple; ++lane) {
    Word states[kMaxOrder];
    for (int k = 0; k < front.orders[lane]; ++k, state_in += bytes)
      states[k] = static_cast<Word>(format::load_le(state_in, bytes));
    for (std::uint64_t i = 0; i < tuples;) {
      if (end - p < 2 + bytes) return false;
      const std::uint64_t run_end = i + format::load_le(p, 2) + 1;
      const Word residual = zigzag_decode(static_cast<Word>(format::load_le(p + 2, bytes)));
      p += 2 + bytes;
      if (run_end > tuples) return false;
      for (; i < run_end; ++i) {
        Word value = residual;
        for (int k = 0; k < front.orders[lane]; ++k) value = states[k] += value;
        words[i] = value;
      }
    }
    sink.store(lane, first, tuples, words.data());
  }
  return p == end;
}

template <class Word>
std::optional<Error> decode_pages(const SectionToDecode& section, const ValueSink& sink) {
  const std::uint64_t page_values = page_values_of(section.head->model.section, section.records());
  FirstDamage damage;
  std::vector<Word> words(page_values);
  for (std::uint64_t page = 0; page < section.head->num_parts; ++page) {
    const std::uint64_t first = page * page_values;
    if (!decode_page(section.at(section.part_at(page)), section.at(section.part_end(page)), section,
                     first, std::min(page_values, section.records() - first), words, sink)) {
      damage.note(section.part_at(page));
      break;
    }
  }
  return damage.error(section.byte, "a page of runs is damaged");
}

std::optional<Error> decode_runs(const SectionToDecode& section) {
  return decode_residuals(section, decode_pages<std::uint32_t>, decode_pages<std::uint64_t>);
}

DecodeScratch runs_scratch(const Column& column, const format::ColumnHead& head,
                           std::uint64_t records) {
  return {.bytes = page_values_of(head.model.section, records) *
                   static_cast<std::uint64_t>(value_bytes(column.type) == 8 ? 8 : 4)};
}

}  // namespace

const ColumnCoder runs_coder{.encode = encode_runs, .decode = decode_runs, .scratch = runs_scratch};

}  // namespace gdelta
