#include "codec/chunk/chunk_encode.h"

#include <algorithm>
#include <cstring>

#include "codec/coders/coder.h"
#include "codec/coders/default_pages.h"
#include "codec/coders/part_checks.h"
#include "formats/gdelta/chunk_block.h"
#include "kernels/bitpack/order_cost.h"
#include "kernels/words/packed_value.h"

namespace gdelta {
namespace {

constexpr Coder kPlainCoder = format::coder_chosen_by(format::ChosenBy::no_gain);

struct Output {
  std::vector<std::byte> models;
  std::vector<std::byte> payload;
};

// Encodes columns by the plan of their chunk.
class ColumnEncoder {
 public:
  ColumnEncoder(const ChunkPlan& plan, Workers& workers, Work* work, std::uint64_t record_bytes)
      : plan_(plan), workers_(workers), work_(work), record_bytes_(record_bytes) {}

  void encode(const ColumnBytes& column, std::size_t number, Output& out) const {
    WorkPart of_column(
        work_, static_cast<double>(column.column.bytes()) / static_cast<double>(record_bytes_));
    const format::ColumnModel& planned = plan_.columns[number];
    format::ColumnModel model;
    if (planned.section.coder != kPlainCoder && column.has_equal_tuples()) {
      model.section.coder = format::coder_chosen_by(format::ChosenBy::equal_tuples);
    } else {
      if (format::codes_residuals(planned.section.coder) &&
          try_coder(column, number, out, &of_column))
        return;
      model = raw_model(planned, column.column, column.records);
    }
    const std::size_t start = out.payload.size();
    format::SectionTable table;
    append_coded(column, model, out.payload, table, &of_column);
    append_model(column, model, out.payload.size() - start, std::move(table), out);
  }

 private:
  void append_model(const ColumnBytes& column, const format::ColumnModel& model,
                    std::uint64_t column_bytes, format::SectionTable table, Output& out) const {
    table.checks = checks_of_parts(column, model.section, workers_);
    format::append_column_model(out.models, column.column, model, column_bytes, table);
  }

  // Encodes as planned; leaves `out` as it was if that is not worth keeping.
  bool try_coder(const ColumnBytes& column, std::size_t number, Output& out, Work* work) const {
    format::ColumnModel model = plan_.columns[number];
    const std::shared_ptr<const MappedColumn> mapped = mapped_column(column, number);
    const bool one_part =
        std::uint64_t{model.section.part_groups} * format::kGroupValues >= column.records;
    if (one_part && format::coder_traits(model.section.coder).parts == format::PartRule::any)
      model.section.part_groups = 0;
    const std::size_t start = out.payload.size();
    format::SectionTable table;
    append_section(mapped ? mapped->column() : column, number, model, out.payload, table, work);
    if (mapped) {
      mapped->append_behind(out.payload);
      mapped->describe(model.front, table);
    }
    const std::uint64_t column_bytes = out.payload.size() - start;
    if (!worth_keeping(column_bytes, table.size(), column.bytes())) {
      out.payload.resize(start);
      return false;
    }
    append_model(column, model, column_bytes, std::move(table), out);
    return true;
  }

  bool is_made(std::size_t number) const {
    return !plan_.made.empty() && !plan_.made[number].bytes.empty();
  }

  // None if it has no maps.
  std::shared_ptr<const MappedColumn> mapped_column(const ColumnBytes& column,
                                                    std::size_t number) const {
    if (plan_.maps.empty() || plan_.maps[number].empty()) return nullptr;
    auto planned = plan_.mapped.empty() ? nullptr : plan_.mapped[number];
    if (planned && (is_made(number) || planned->has_column())) return planned;
    return std::make_shared<MappedColumn>(column, plan_.maps[number], workers_);
  }

  void append_coded(const ColumnBytes& column, const format::ColumnModel& model,
                    std::vector<std::byte>& payload, format::SectionTable& table,
                    Work* work) const {
    column_coder(model.section.coder)
        .encode({.column = column,
                 .model = model,
                 .zstd_levels = plan_.zstd_levels,
                 .ans_effort = plan_.ans_effort,
                 .workers = workers_,
                 .work = work},
                payload, table);
  }

  // The section that the planner has made, or else a new one.
  void append_section(const ColumnBytes& column, std::size_t number,
                      const format::ColumnModel& model, std::vector<std::byte>& payload,
                      format::SectionTable& table, Work* work) const {
    if (is_made(number)) {
      const ColumnSection& made = plan_.made[number];
      payload.insert(payload.end(), made.bytes.begin(), made.bytes.end());
      table = made.table;
      return;
    }
    append_coded(column, model, payload, table, work);
  }

  const ChunkPlan& plan_;
  Workers& workers_;
  Work* work_;
  std::uint64_t record_bytes_;
};

}  // namespace

format::ColumnModel raw_model(const format::ColumnModel& planned, const Column& column,
                              std::uint64_t records) {
  format::ColumnModel model;
  const bool has_pages =
      format::coder_traits(planned.section.coder).parts == format::PartRule::pages ||
      planned.section.coder == kPlainCoder;
  const std::uint32_t groups =
      has_pages ? planned.section.part_groups : default_page_groups(column.tuple);
  if (std::uint64_t{groups} * format::kGroupValues < records) model.section.part_groups = groups;
  return model;
}

namespace {

void encode_columns(std::span<const std::byte> values, const Layout& layout, const ChunkPlan& plan,
                    Workers& workers, Work* work, Output& out) {
  const ColumnEncoder encoder(plan, workers, work, layout.record_bytes());
  ColumnBytes column{.first = reinterpret_cast<const unsigned char*>(values.data()),
                     .record_bytes = layout.record_bytes(),
                     .records = values.size() / layout.record_bytes(),
                     .column = {}};
  for (std::size_t c = 0; c < layout.columns.size(); ++c) {
    column.column = layout.columns[c];
    encoder.encode(plan.apart ? (*plan.apart)[c] : column, c, out);
    column.first += column.column.bytes();
  }
}

}  // namespace

std::vector<std::byte> length_bytes(std::span<const std::uint32_t> lengths) {
  std::vector<std::byte> bytes(lengths.size_bytes());
  auto* to = reinterpret_cast<unsigned char*>(bytes.data());
  for (const std::uint32_t length : lengths) {
    PackedValue<sizeof length>::store(to, length);
    to += sizeof length;
  }
  return bytes;
}

EncodedLengths encode_lengths(const ChunkSegments& segments, const ChunkPlan& plan,
                              Workers& workers) {
  Output out;
  if (!segments.empty())
    encode_columns(length_bytes(segments.lengths), {{format::kLengthColumn}}, *plan.lengths,
                   workers, nullptr, out);
  return {std::move(out.models), std::move(out.payload)};
}

std::vector<std::byte> encode_chunk(std::span<const std::byte> values, const Layout& layout,
                                    bool opaque, const ChunkPlan& plan, Workers& workers,
                                    const ChunkSegments& segments, Work* work) {
  EncodedLengths lengths = encode_lengths(segments, plan, workers);
  Output out{std::move(lengths.model), std::move(lengths.section)};
  if (!values.empty()) encode_columns(values, layout, plan, workers, work, out);
  std::vector<std::byte> block;
  block.reserve(out.models.size() + out.payload.size() + 64);
  format::append_chunk_head(block, opaque, values.size() / layout.record_bytes(),
                            out.payload.size(), out.models, segments.head());
  block.insert(block.end(), out.payload.begin(), out.payload.end());
  return block;
}

}  // namespace gdelta
