#include "codec/chunk/chunk_encode.h"

#include <algorithm>
#include <cstring>

#include "codec/coders/pack_section.h"
#include "codec/coders/part_checks.h"
#include "codec/plan/lane_orders.h"
#include "formats/gdelta/chunk_block.h"
#include "kernels/bitpack/order_cost.h"

namespace gdelta {
namespace {

bool all_tuples_equal(const ColumnBytes& column) {
  const std::size_t bytes = column.column.bytes();
  if (column.record_bytes == bytes)  // every tuple equals the one before
    return std::memcmp(column.first, column.first + bytes, (column.records - 1) * bytes) == 0;
  for (std::uint64_t i = 1; i < column.records; ++i) {
    if (std::memcmp(column.first + i * column.record_bytes, column.first, bytes) != 0) return false;
  }
  return true;
}

void append_bytes(std::vector<std::byte>& out, const unsigned char* bytes, std::size_t count) {
  const auto* from = reinterpret_cast<const std::byte*>(bytes);
  out.insert(out.end(), from, from + count);
}

void append_raw(const ColumnBytes& column, std::vector<std::byte>& payload) {
  if (column.is_whole_record()) {
    append_bytes(payload, column.first, column.bytes());
    return;
  }
  payload.reserve(payload.size() + column.bytes());
  for (std::uint64_t i = 0; i < column.records; ++i)
    append_bytes(payload, column.first + i * column.record_bytes, column.column.bytes());
}

struct Output {
  std::vector<std::byte> models;
  std::vector<std::byte> payload;
};

// Encodes columns by the plan of their chunk.
class ColumnEncoder {
 public:
  ColumnEncoder(const ChunkPlan& plan, Workers& workers) : plan_(plan), workers_(workers) {}

  void encode(const ColumnBytes& column, std::size_t number, Output& out) const {
    const format::ColumnModel& planned = plan_.columns[number];
    const std::size_t start = out.payload.size();
    format::ColumnModel model;
    if (planned.coder != Coder::raw && all_tuples_equal(column)) {
      model.coder = Coder::constant;
      append_bytes(out.payload, column.first, column.column.bytes());
    } else {
      if (format::codes_residuals(planned.coder) && try_coder(column, number, out)) return;
      model = raw_model(planned, column.column, column.records);
      append_raw(column, out.payload);
    }
    append_model(column, model, out.payload.size() - start, {}, out);
  }

 private:
  void append_model(const ColumnBytes& column, const format::ColumnModel& model,
                    std::uint64_t section_bytes, std::vector<std::uint32_t> part_ends,
                    Output& out) const {
    format::append_column_model(out.models, column.column, model, section_bytes,
                                {std::move(part_ends), checks_of_parts(column, model, workers_)});
  }

  // Encodes as planned; leaves `out` as it was if that is not worth keeping.
  bool try_coder(const ColumnBytes& column, std::size_t number, Output& out) const {
    format::ColumnModel model = plan_.columns[number];
    const bool one_part = std::uint64_t{model.part_groups} * format::kGroupValues >= column.records;
    if (one_part && model.coder == Coder::zstd) model.part_groups = 0;
    const std::size_t start = out.payload.size();
    std::vector<std::uint32_t> part_ends;
    append_section(column, number, model, out.payload, part_ends);
    const std::uint64_t section_bytes = out.payload.size() - start;
    if (!worth_keeping(section_bytes, 4 * part_ends.size(), column.bytes())) {
      out.payload.resize(start);
      return false;
    }
    append_model(column, model, section_bytes, std::move(part_ends), out);
    return true;
  }

  void append_section(const ColumnBytes& column, std::size_t number,
                      const format::ColumnModel& model, std::vector<std::byte>& payload,
                      std::vector<std::uint32_t>& part_ends) const {
    if (!plan_.made.empty() && !plan_.made[number].bytes.empty()) {
      const ColumnSection& made = plan_.made[number];
      payload.insert(payload.end(), made.bytes.begin(), made.bytes.end());
      part_ends = made.parts;
      return;
    }
    const ResidualSource source(column, model);
    if (model.coder == Coder::pack) {
      encode_pack_section(source, model, workers_, payload, part_ends);
    } else {
      encode_zstd_section(source, model, plan_.zstd_levels, workers_, payload, part_ends);
    }
  }

  const ChunkPlan& plan_;
  Workers& workers_;
};

}  // namespace

format::ColumnModel raw_model(const format::ColumnModel& planned, const Column& column,
                              std::uint64_t records) {
  format::ColumnModel model;
  const std::uint32_t groups =
      planned.coder == Coder::zstd ? default_page_groups(column.tuple) : planned.part_groups;
  if (std::uint64_t{groups} * format::kGroupValues < records) model.part_groups = groups;
  return model;
}

std::vector<std::byte> encode_chunk(std::span<const std::byte> values, const Layout& layout,
                                    bool opaque, const ChunkPlan& plan, Workers& workers) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(values.data());
  ColumnBytes column{bytes, layout.record_bytes(), values.size() / layout.record_bytes(), {}};
  const ColumnEncoder encoder(plan, workers);
  Output out;
  for (std::size_t c = 0; c < layout.columns.size(); ++c) {
    column.column = layout.columns[c];
    encoder.encode(column, c, out);
    column.first += column.column.bytes();
  }
  std::vector<std::byte> block;
  block.reserve(out.models.size() + out.payload.size() + 64);
  format::append_chunk_head(block, opaque, column.records, out.payload.size(), out.models);
  block.insert(block.end(), out.payload.begin(), out.payload.end());
  return block;
}

}  // namespace gdelta
