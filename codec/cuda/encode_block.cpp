#include "codec/cuda/encode_block.h"

#include "codec/coders/part_checks.h"
#include "formats/gdelta/chunk_block.h"

namespace gdelta::cuda {
namespace {

void append_raw(std::span<const std::byte> values, std::size_t offset, std::size_t column_bytes,
                std::size_t record_bytes, std::vector<std::byte>& out) {
  if (column_bytes == record_bytes) {
    out.insert(out.end(), values.begin(), values.end());
    return;
  }
  for (std::size_t at = offset; at < values.size(); at += record_bytes)
    out.insert(out.end(), values.begin() + at, values.begin() + at + column_bytes);
}

}  // namespace

std::vector<std::byte> assemble_block(const EncodeJob& job, const ChunkPlan& plan,
                                      std::span<const PackedColumn> columns) {
  const Layout& layout = *job.layout;
  const std::size_t record_bytes = layout.record_bytes();
  const auto* const bytes = reinterpret_cast<const unsigned char*>(job.values.data());
  ColumnBytes values{bytes, record_bytes, job.values.size() / record_bytes, {}};
  std::uint64_t payload_bytes = 0;
  std::vector<std::byte> models;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    values.column = layout.columns[c];
    format::ColumnModel model = plan.columns[c];
    std::uint64_t section_bytes = 0;
    switch (columns[c].kind) {
      case SectionKind::pack:
        section_bytes = columns[c].section.size();
        break;
      case SectionKind::constant:
        model = {};
        model.section.coder = Coder::constant;
        section_bytes = format::tuple_bytes(values.column);
        break;
      case SectionKind::raw:
        model = raw_model(model, values.column, values.records);
        section_bytes = values.bytes();
        break;
    }
    payload_bytes += section_bytes;
    const std::span<const std::uint32_t> checks = columns[c].part_checks;
    format::append_column_model(
        models, values.column, model, section_bytes,
        {{columns[c].page_ends.begin(), columns[c].page_ends.end()},
         checks.empty() ? checks_of_parts(values, model.section, Workers::alone())
                        : std::vector<std::uint32_t>(checks.begin(), checks.end())});
    values.first += values.column.bytes();
  }
  std::vector<std::byte> block;
  block.reserve(models.size() + payload_bytes + 64);
  format::append_chunk_head(block, job.opaque, values.records, payload_bytes, models);
  std::size_t offset = 0;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const auto column_bytes = static_cast<std::size_t>(layout.columns[c].bytes());
    switch (columns[c].kind) {
      case SectionKind::pack:
        block.insert(block.end(), columns[c].section.begin(), columns[c].section.end());
        break;
      case SectionKind::constant:
        append_raw(job.values.first(record_bytes), offset, column_bytes, record_bytes, block);
        break;
      case SectionKind::raw:
        append_raw(job.values, offset, column_bytes, record_bytes, block);
        break;
    }
    offset += column_bytes;
  }
  return block;
}

}  // namespace gdelta::cuda
