#include "codec/cuda/encode_block.h"

#include "codec/coders/part_checks.h"
#include "formats/gdelta/chunk_block.h"
#include "kernels/words/copy_tuples.h"

namespace gdelta::cuda {
namespace {

/// The model of a column that the device coded as planned, or otherwise.
format::ColumnModel model_of(Coder coder, const format::ColumnModel& planned, const Column& column,
                             std::uint64_t records) {
  if (coder == planned.section.coder && format::codes_residuals(coder)) return planned;
  if (format::coder_traits(coder).parts == format::PartRule::any)
    return raw_model(planned, column, records);
  format::ColumnModel model;
  model.section.coder = coder;
  return model;
}

/// How many a section without residuals holds.
std::uint64_t tuples_of(Coder coder, std::uint64_t records) {
  return format::coder_traits(coder).bound == format::SectionBound::one_tuple ? 1 : records;
}

void append_tuples(std::span<const std::byte> values, std::size_t offset, std::size_t column_bytes,
                   std::size_t record_bytes, std::vector<std::byte>& out) {
  if (column_bytes == record_bytes) {
    out.insert(out.end(), values.begin(), values.end());
    return;
  }
  const std::size_t records = values.size() / record_bytes, begin = out.size();
  out.resize(begin + records * column_bytes);
  copy_tuples(reinterpret_cast<const unsigned char*>(values.data()) + offset, record_bytes,
              reinterpret_cast<unsigned char*>(out.data()) + begin, column_bytes, column_bytes,
              records);
}

}  // namespace

std::vector<std::byte> assemble_block(const EncodeJob& job, const ChunkPlan& plan,
                                      std::span<const PackedColumn> columns) {
  const Layout& layout = *job.layout;
  const std::size_t record_bytes = layout.record_bytes();
  const auto* const bytes = reinterpret_cast<const unsigned char*>(job.values.data());
  ColumnBytes values{.first = bytes,
                     .record_bytes = record_bytes,
                     .records = job.values.size() / record_bytes,
                     .column = {}};
  const EncodedLengths lengths = encode_lengths(job.segments, plan, Workers::alone());
  std::uint64_t payload_bytes = lengths.section.size();
  std::vector<std::byte> models = lengths.model;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    values.column = layout.columns[c];
    format::ColumnModel model =
        model_of(columns[c].coder, plan.columns[c], values.column, values.records);
    const std::uint64_t section_bytes =
        format::codes_residuals(columns[c].coder)
            ? columns[c].section.size()
            : tuples_of(columns[c].coder, values.records) * values.column.bytes();
    payload_bytes += section_bytes;
    const std::span<const std::uint32_t> checks = columns[c].part_checks;
    format::SectionTable table;
    table.ends.assign(columns[c].page_ends.begin(), columns[c].page_ends.end());
    table.checks = checks.empty() ? checks_of_parts(values, model.section, Workers::alone())
                                  : std::vector<std::uint32_t>(checks.begin(), checks.end());
    if (columns[c].mapped != nullptr && format::codes_residuals(columns[c].coder))
      columns[c].mapped->describe(model.front, table);
    format::append_column_model(models, values.column, model, section_bytes, table);
    values.first += values.column.bytes();
  }
  std::vector<std::byte> block;
  block.reserve(models.size() + payload_bytes + 64);
  format::append_chunk_head(block, job.opaque, values.records, payload_bytes, models,
                            job.segments.head());
  block.insert(block.end(), lengths.section.begin(), lengths.section.end());
  std::size_t offset = 0;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const auto column_bytes = static_cast<std::size_t>(layout.columns[c].bytes());
    if (format::codes_residuals(columns[c].coder)) {
      block.insert(block.end(), columns[c].section.begin(), columns[c].section.end());
    } else {
      const std::uint64_t tuples = tuples_of(columns[c].coder, values.records);
      append_tuples(job.values.first(tuples * record_bytes), offset, column_bytes, record_bytes,
                    block);
    }
    offset += column_bytes;
  }
  return block;
}

}  // namespace gdelta::cuda
