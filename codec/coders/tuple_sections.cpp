// The coders of original bytes: raw and constant. Spec: coders/raw.md, coders/constant.md.
#include <algorithm>
#include <cstring>

#include "codec/coders/coder.h"

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
  for (std::uint64_t i = 0; i < column.records; ++i)
    append_bytes(section, column.at(i, 0), column.column.bytes());
}

void encode_constant(const ColumnToEncode& encode, std::vector<std::byte>& section,
                     format::SectionTable&) {
  append_bytes(section, encode.column.first, encode.column.column.bytes());
}

std::optional<Error> decode_raw(const SectionToDecode& section) {
  const std::size_t bytes = section.column.bytes();
  const unsigned char* from = section.at(section.section_at());
  if (section.record_bytes == bytes) {
    std::memcpy(section.out, from, section.bytes());
    return std::nullopt;
  }
  for (std::uint64_t i = 0; i < section.records(); ++i)
    std::memcpy(section.out + i * section.record_bytes, from + i * bytes, bytes);
  return std::nullopt;
}

std::optional<Error> decode_constant(const SectionToDecode& section) {
  const std::size_t bytes = section.column.bytes();
  const unsigned char* from = section.at(section.section_at());
  if (section.record_bytes == bytes) {  // what is there is doubled until all is there
    std::memcpy(section.out, from, bytes);
    for (std::uint64_t done = bytes; done < section.bytes(); done *= 2)
      std::memcpy(section.out + done, section.out, std::min(done, section.bytes() - done));
    return std::nullopt;
  }
  for (std::uint64_t i = 0; i < section.records(); ++i)
    std::memcpy(section.out + i * section.record_bytes, from, bytes);
  return std::nullopt;
}

DecodeScratch no_scratch(const Column&, const format::ColumnHead&, std::uint64_t) { return {}; }

}  // namespace

const ColumnCoder raw_coder{.encode = encode_raw, .decode = decode_raw, .scratch = no_scratch};
const ColumnCoder constant_coder{
    .encode = encode_constant, .decode = decode_constant, .scratch = no_scratch};

}  // namespace gdelta
