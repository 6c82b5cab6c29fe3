// Streams of LZMA2 and golden cases of them. Spec: coders/lzma.md.
#include <lzma.h>

#include <cstring>
#include <new>
#include <string>

#include "../golden_parts.h"
#include "residual_frames.h"

namespace gdelta::plain::detail {

Bytes lzma2_stream(std::span<const std::byte> bytes) {
  lzma_options_lzma options;
  lzma_lzma_preset(&options, 3);
  options.dict_size = LZMA_DICT_SIZE_MIN;
  const lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, nullptr}};
  Bytes stream(2 * bytes.size() + 64);
  std::size_t written = 0;
  if (lzma_raw_buffer_encode(filters, nullptr, reinterpret_cast<const std::uint8_t*>(bytes.data()),
                             bytes.size(), reinterpret_cast<std::uint8_t*>(stream.data()), &written,
                             stream.size()) != LZMA_OK)
    throw std::bad_alloc();
  stream.resize(written);
  return stream;
}

void append_lzma_part(Bytes& section, const std::vector<Lane>& lanes, std::vector<Lane>& states,
                      std::size_t begin, std::size_t end, const Choice& choice,
                      const Column& column) {
  append_frames(section, lanes, states, begin, end, choice, column, lzma2_stream);
}

void add_lzma_cases(std::vector<GoldenCase>& cases) {
  for (const char* record : {"u8", "i16x2", "i24", "u32x3", "f64:be"})
    one_chunk(cases, std::string("lzma_") + std::string(record, std::strcspn(record, ":")), record,
              300, 6, [](const Column& column) {
                Choice choice = linked(Coder::lzma, column, {1});
                choice.model.section.part_groups = 2;
                return choice;
              });
  one_chunk(cases, "lzma_strides", "i32x2", 120, 6, [](const Column& column) {
    return with_stride(linked(Coder::lzma, column, {0, 3}), 30, 1);
  });
}

}  // namespace gdelta::plain::detail
