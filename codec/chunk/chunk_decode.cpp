#include "codec/chunk/chunk_decode.h"

#include "codec/coders/coder.h"
#include "codec/coders/column_maps.h"
#include "codec/coders/linear_front.h"
#include "codec/coders/part_checks.h"

namespace gdelta {
namespace {

using format::ColumnHead;
using format::ParsedChunk;

// Fewer are not worth another thread.
constexpr std::uint64_t kFewestParts = 16;

/// The first part of the column whose content differs, as an error.
std::optional<Error> verify_column(const SectionToDecode& section) {
  const ColumnBytes values{.first = section.out,
                           .record_bytes = section.record_bytes,
                           .records = section.records(),
                           .column = section.column};
  const unsigned char* const head = section.at(section.chunk->frame.head_at);
  FirstDamage damage;
  section.workers->for_ranges(section.head->num_parts, kFewestParts,
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

DecodeScratch scratch_of(const Column& column, const ColumnHead& head, std::uint64_t records) {
  DecodeScratch scratch = column_coder(head.model.section.coder).scratch(column, head, records);
  if (head.is_finished_later()) scratch.bytes += records * format::tuple_bytes(column);
  if (head.linear_at > 0) scratch.add(linear_scratch(column, records));
  if (format::maps_in_a_pass(head.model.front)) scratch.add(maps_scratch(column));
  return scratch;
}

}  // namespace

DecodeScratch decode_scratch(const Layout& layout, const ParsedChunk& chunk) {
  DecodeScratch most;
  for (std::size_t c = 0; c < layout.columns.size(); ++c)
    most.cover(scratch_of(layout.columns[c], chunk.columns[c], chunk.records));
  return most;
}

std::uint64_t parsed_chunk_bytes(const Layout& layout) {
  return layout.columns.size() * sizeof(ColumnHead);
}

std::optional<Error> decode_chunk(const ChunkToDecode& chunk, std::span<std::byte> out, bool verify,
                                  Workers& workers) {
  const ParsedChunk& parsed = chunk.parsed;
  const std::uint64_t record_bytes = chunk.layout.record_bytes();
  if (out.size() != parsed.records * record_bytes)
    return Error{
        Errc::output_too_small, "the output does not have the chunk's size", {}, chunk.byte};
  const auto each_column = [&](auto step) -> std::optional<Error> {
    SectionToDecode section{.block = chunk.block.first(parsed.frame.block_bytes()),
                            .byte = chunk.byte,
                            .chunk = &parsed,
                            .head = nullptr,
                            .column = {},
                            .out = reinterpret_cast<unsigned char*>(out.data()),
                            .record_bytes = record_bytes,
                            .workers = &workers};
    for (std::size_t c = 0; c < chunk.layout.columns.size(); ++c) {
      section.head = &parsed.columns[c];
      section.column = chunk.layout.columns[c];
      if (auto error = step(section)) return error;
      section.out += section.column.bytes();
    }
    return std::nullopt;
  };
  if (auto error = each_column(decode_column)) return error;
  return verify ? each_column(verify_column) : std::nullopt;
}

}  // namespace gdelta
