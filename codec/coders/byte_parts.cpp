#include "codec/coders/byte_parts.h"

#include <algorithm>

#include "codec/coders/residual_bytes.h"

namespace gdelta {
namespace {

// About what making bytes takes of the time of both.
constexpr double kShareOfBytes = 0.05;

}  // namespace

void encode_byte_parts(const ColumnToEncode& encode, std::vector<std::byte>& section,
                       format::SectionTable& table, const EncodePart& encode_part) {
  const ResidualSource source(encode.column, encode.model.front);
  format::ColumnModel model = encode.model;
  model.section.arrangement = format::Arrangement::values;  // the only one there is
  const std::uint64_t part_tuples = format::part_tuples(model.section, source.records());
  const std::uint64_t parts = (source.records() + part_tuples - 1) / part_tuples;
  std::vector<std::vector<std::byte>> coded(parts);
  encode.workers.for_each(parts, [&](std::size_t part) {
    const std::uint64_t first = part * part_tuples;
    const TupleRange range{first, std::min(part_tuples, source.records() - first)};
    WorkPart of_part(encode.work, 1 / static_cast<double>(parts));
    WorkPart of_bytes(&of_part, kShareOfBytes), of_coding(&of_part, 1 - kShareOfBytes);
    encode_part(residual_bytes(source, std::span(&range, 1), model, encode.workers, &of_bytes),
                coded[part], &of_coding);
  });
  const std::size_t start = section.size();
  for (const std::vector<std::byte>& bytes : coded) {
    section.insert(section.end(), bytes.begin(), bytes.end());
    table.ends.push_back(static_cast<std::uint32_t>(section.size() - start));
  }
}

std::optional<Error> decode_byte_parts(const SectionToDecode& section, std::span<unsigned char> out,
                                       const char* damage, const DecodePart& decode_part) {
  FirstDamage first_damage;
  const std::uint64_t part_bytes =
      format::part_tuples(section.head->model.section, section.records()) * section.column.bytes();
  const std::uint64_t parts = section.head->num_parts;
  section.workers->for_each(parts, [&](std::size_t part) {
    const std::uint64_t part_at = section.part_at(part), at = part * part_bytes;
    if (first_damage.lies_before(part_at)) return;
    WorkPart of_part(section.work, 1 / static_cast<double>(parts));
    const std::span coded(section.at(part_at), section.part_end(part) - part_at);
    if (!decode_part(coded, out.subspan(at, std::min(part_bytes, out.size() - at)), &of_part))
      first_damage.note(part_at);
  });
  return first_damage.error(section.byte, damage);
}

}  // namespace gdelta
