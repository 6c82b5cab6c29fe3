#include "codec/chunk/chunk_decode.h"

#include <algorithm>
#include <memory>

#include "codec/coders/coder.h"
#include "codec/coders/column_maps.h"
#include "codec/coders/part_checks.h"
#include "codec/coders/predictor.h"
#include "kernels/deltas/segment_delta.h"
#include "kernels/words/copy_tuples.h"
#include "kernels/words/packed_value.h"

namespace gdelta {
namespace {

using format::ColumnHead;
using format::ParsedChunk;

// Fewer are not worth another thread.
constexpr std::uint64_t kFewestParts = 16;
// Nor are fewer records.
constexpr std::uint64_t kFewestRecords = 1 << 14;
// About what the checks of the content take of decoding, and to put columns between others.
constexpr double kShareOfChecks = 0.2, kShareOfPlacing = 0.1;

/// The first part of the column whose content differs, as an error.
std::optional<Error> verify_column(const SectionToDecode& section) {
  const ColumnBytes values{.first = section.out,
                           .record_bytes = section.tuple_bytes(),
                           .records = section.records(),
                           .column = section.column};
  const unsigned char* const head = section.at(section.chunk->frame.head_at);
  FirstDamage damage;
  section.workers->for_ranges(section.head->num_parts, kFewestParts, section.work,
                              [&](std::uint64_t begin, std::uint64_t end) {
                                for (std::uint64_t part = begin; part < end; ++part) {
                                  if (check_of_part(values, section.head->model.section, part) ==
                                      format::part_check_at(head, *section.head, part))
                                    continue;
                                  return damage.note(section.part_at(part));
                                }
                              });
  return damage.error(section.byte, "the chunk's content differs from its check");
}

std::optional<Error> decode_column(const SectionToDecode& section) {
  return column_coder(section.head->model.section.coder).decode(section);
}

// Columns of records that have several are decoded by themselves, where they stay in a cache.
bool are_apart(const ParsedChunk& chunk, const Layout& layout) {
  return num_columns(chunk, layout) > 1;
}

std::uint64_t most_column_bytes(const ParsedChunk& chunk, const Layout& layout) {
  int most = 0;
  for (const Column& column : layout.columns) most = std::max(most, column.bytes());
  return chunk.records * static_cast<std::uint64_t>(most);
}

// Puts a column that is decoded by itself between others.
void place_column(const SectionToDecode& section, unsigned char* out, std::uint64_t record_bytes) {
  const std::uint64_t bytes = section.tuple_bytes();
  section.workers->for_ranges(
      section.records(), kFewestRecords, section.work, [&](std::uint64_t begin, std::uint64_t end) {
        copy_tuples(section.out + begin * bytes, bytes, out + begin * record_bytes, record_bytes,
                    bytes, end - begin);
      });
}

DecodeScratch scratch_of(const Column& column, const ColumnHead& head, std::uint64_t records) {
  DecodeScratch scratch = column_coder(head.model.section.coder).scratch(column, head, records);
  if (head.is_finished_later()) scratch.bytes += records * format::tuple_bytes(column);
  scratch.add(column_predictor(head.model.front.predictor).scratch(column, records));
  if (format::maps_in_a_pass(head.model.front)) scratch.add(maps_scratch(column, head));
  return scratch;
}

/// The lengths of the segments of a chunk: a column of its own, whose numbers add up to the records.
class LengthsDecoder {
 public:
  LengthsDecoder(const ChunkToDecode& chunk, Workers& workers)
      : chunk_(chunk), workers_(workers), parsed_(lengths_chunk(chunk.parsed)) {
    bytes_.resize(lengths_bytes(chunk.parsed));
  }

  std::optional<Error> decode(std::vector<std::uint32_t>& lengths) {
    if (auto error = decode_column(section())) return error;
    lengths.resize(parsed_.records);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i)
      sum += lengths[i] = PackedValue<4>::load(bytes_.data() + 4 * i);
    if (sum != chunk_.parsed.records)
      return refused("the lengths of the segments do not add up to the chunk's records");
    const auto says_states = [](const ColumnHead& head) { return head.model.front.says_states; };
    if (!format::heads_suit_states(SegmentDelta{.lengths = lengths}.heads(), sum) &&
        std::ranges::any_of(chunk_.parsed.columns, says_states))
      return refused("pages begin with states, but the chunk has too many segments for that");
    return std::nullopt;
  }
  std::optional<Error> verify() { return verify_column(section()); }

 private:
  Error refused(const char* message) {
    return {.code = Errc::corrupt,
            .message = message,
            .chunk = {},
            .byte = chunk_.byte + section().section_at()};
  }
  static ParsedChunk lengths_chunk(const ParsedChunk& chunk) {
    ParsedChunk parsed;
    parsed.frame = chunk.frame;
    parsed.records = chunk.segments.lengths;
    parsed.columns = {chunk.lengths};
    return parsed;
  }
  SectionToDecode section() {
    return {.block = chunk_.block.first(parsed_.frame.block_bytes()),
            .byte = chunk_.byte,
            .chunk = &parsed_,
            .head = &parsed_.columns[0],
            .column = format::kLengthColumn,
            .out = bytes_.data(),
            .workers = &workers_,
            .lengths = {}};
  }

  const ChunkToDecode& chunk_;
  Workers& workers_;
  ParsedChunk parsed_;
  std::vector<unsigned char> bytes_;  // as the coder gives them
};

}  // namespace

DecodeScratch decode_scratch(const Layout& layout, const ParsedChunk& chunk) {
  DecodeScratch most;
  if (chunk.segments.lengths > 0)
    most.cover(scratch_of(format::kLengthColumn, chunk.lengths, chunk.segments.lengths));
  for (std::size_t c = 0; c < num_columns(chunk, layout); ++c)
    most.cover(scratch_of(layout.columns[c], chunk.columns[c], chunk.records));
  if (are_apart(chunk, layout)) most.bytes += most_column_bytes(chunk, layout);
  most.bytes += lengths_bytes(chunk);
  return most;
}

std::uint64_t lengths_bytes(const ParsedChunk& chunk) {
  return chunk.segments.lengths * format::tuple_bytes(format::kLengthColumn);
}

std::uint64_t parsed_chunk_bytes(const Layout& layout) {
  return layout.columns.size() * sizeof(ColumnHead);
}

std::optional<Error> decode_chunk(const ChunkToDecode& chunk, std::span<std::byte> out, bool verify,
                                  Workers& workers, std::vector<std::uint32_t>* lengths_out,
                                  Work* work) {
  const ParsedChunk& parsed = chunk.parsed;
  const std::uint64_t record_bytes = chunk.layout.record_bytes();
  if (out.size() != parsed.records * record_bytes)
    return Error{.code = Errc::output_too_small,
                 .message = "the output does not have the chunk's size",
                 .chunk = {},
                 .byte = chunk.byte};
  std::vector<std::uint32_t> own_lengths;
  std::vector<std::uint32_t>& lengths = lengths_out != nullptr ? *lengths_out : own_lengths;
  lengths.clear();
  std::optional<LengthsDecoder> segments;
  if (parsed.segments.lengths > 0) {
    segments.emplace(chunk, workers);
    if (auto error = segments->decode(lengths)) return error;
  }
  const bool apart = are_apart(parsed, chunk.layout);
  const auto column_room = std::make_unique_for_overwrite<unsigned char[]>(
      apart ? most_column_bytes(parsed, chunk.layout) : 0);
  auto* to = reinterpret_cast<unsigned char*>(out.data());
  std::optional<Error> differs;  // damage that the structure shows counts more
  for (std::size_t c = 0; c < num_columns(parsed, chunk.layout); ++c) {
    const Column& column = chunk.layout.columns[c];
    const auto bytes = static_cast<std::uint64_t>(column.bytes());
    WorkPart of_column(work, static_cast<double>(bytes) / static_cast<double>(record_bytes));
    const double checking = verify ? kShareOfChecks : 0, placing = apart ? kShareOfPlacing : 0;
    WorkPart of_decoding(&of_column, 1 - checking - placing), of_checking(&of_column, checking),
        of_placing(&of_column, placing);
    const SectionToDecode section{.block = chunk.block.first(parsed.frame.block_bytes()),
                                  .byte = chunk.byte,
                                  .chunk = &parsed,
                                  .head = &parsed.columns[c],
                                  .column = column,
                                  .out = apart ? column_room.get() : to,
                                  .workers = &workers,
                                  .lengths = lengths,
                                  .work = work};
    if (auto error = decode_column(section.told(of_decoding))) return error;
    if (verify && !differs) differs = verify_column(section.told(of_checking));
    if (apart) place_column(section.told(of_placing), to, record_bytes);
    to += bytes;
  }
  if (!verify) return std::nullopt;
  if (segments)
    if (auto error = segments->verify()) return error;
  return differs;
}

}  // namespace gdelta
