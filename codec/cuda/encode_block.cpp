#include "codec/cuda/encode_block.h"

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
                                      std::span<const PackedColumn> columns,
                                      std::uint64_t content) {
  const Layout& layout = *job.layout;
  const std::size_t record_bytes = layout.record_bytes();
  format::ChunkHead head;
  head.records = job.values.size() / record_bytes;
  head.content = content;
  std::vector<std::byte> models;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const auto column_bytes = static_cast<std::uint64_t>(layout.columns[c].bytes());
    format::ColumnModel model = plan.columns[c];
    switch (columns[c].kind) {
      case SectionKind::pack:
        head.payload_bytes += columns[c].section.size();
        break;
      case SectionKind::constant:
        model.coder = Coder::constant;
        head.payload_bytes += column_bytes;
        break;
      case SectionKind::raw:
        model.coder = Coder::raw;
        head.payload_bytes += column_bytes * head.records;
        break;
    }
    format::append_column_model(models, layout.columns[c], model, columns[c].page_ends);
  }
  std::vector<std::byte> block;
  block.reserve(models.size() + head.payload_bytes + 64);
  format::append_chunk_head(block, job.opaque, head, models);
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
