// The coders of original bytes: raw and constant. Spec: coders/raw.md, coders/constant.md.
#include <algorithm>
#include <cstring>

#include "codec/coders/coder.h"
#include "kernels/words/copy_tuples.h"

namespace gdelta {
namespace {

void append_bytes(std::vector<std::byte>& out, const unsigned char* bytes, std::size_t count) {
  const auto* from = reinterpret_cast<const std::byte*>(bytes);
  out.insert(out.end(), from, from + count);
}

void encode_raw(const ColumnToEncode& encode, std::vector<std::byte>& section,
                format::SectionTable&) {
  const ColumnBytes& column = encode.column;
  if (column.is_whole_record()) return append_bytes(section, column.first, column.bytes());
  const std::size_t bytes = column.column.bytes(), begin = section.size();
  section.resize(begin + column.bytes());
  copy_tuples(column.first, column.record_bytes,
              reinterpret_cast<unsigned char*>(section.data()) + begin, bytes, bytes,
              column.records);
}

void encode_constant(const ColumnToEncode& encode, std::vector<std::byte>& section,
                     format::SectionTable&) {
  append_bytes(section, encode.column.first, encode.column.column.bytes());
}

std::optional<Error> decode_raw(const SectionToDecode& section) {
  std::memcpy(section.out, section.at(section.section_at()), section.bytes());
  return std::nullopt;
}

std::optional<Error> decode_constant(const SectionToDecode& section) {
  std::memcpy(section.out, section.at(section.section_at()), section.tuple_bytes());
  // What is there is doubled until all is there.
  for (std::uint64_t done = section.tuple_bytes(); done < section.bytes(); done *= 2)
    std::memcpy(section.out + done, section.out, std::min(done, section.bytes() - done));
  return std::nullopt;
}

DecodeScratch no_scratch(const Column&, const format::ColumnHead&, std::uint64_t) { return {}; }

}  // namespace

const ColumnCoder raw_coder{.encode = encode_raw, .decode = decode_raw, .scratch = no_scratch};
const ColumnCoder constant_coder{
    .encode = encode_constant, .decode = decode_constant, .scratch = no_scratch};

}  // namespace gdelta
