#include "codec/chunk/chunk_encode.h"

#include <cstring>

#include "codec/chunk/chunk_checksum.h"
#include "codec/coders/pack_section.h"
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
    format::ColumnModel model = plan_.columns[number];
    if (model.coder != Coder::raw && all_tuples_equal(column)) {
      model.coder = Coder::constant;
      append_bytes(out.payload, column.first, column.column.bytes());
    } else {
      if ((model.coder == Coder::pack || model.coder == Coder::zstd) &&
          try_coder(column, number, out))
        return;
      model.coder = Coder::raw;
      append_raw(column, out.payload);
    }
    format::append_column_model(out.models, column.column, model, {});
  }

 private:
  // Encodes as planned; leaves `out` as it was if that is not worth keeping.
  bool try_coder(const ColumnBytes& column, std::size_t number, Output& out) const {
    const format::ColumnModel& model = plan_.columns[number];
    const std::size_t start = out.payload.size();
    std::vector<std::uint32_t> parts;
    append_section(column, number, out.payload, parts);
    std::uint64_t part_bytes = 4 * parts.size();
    if (model.coder == Coder::zstd) {
      part_bytes = 0;
      for (const std::uint32_t size : parts) part_bytes += format::varint_bytes(size);
    }
    if (!worth_keeping(out.payload.size() - start, part_bytes, column.bytes())) {
      out.payload.resize(start);
      return false;
    }
    format::append_column_model(out.models, column.column, model, parts);
    return true;
  }

  void append_section(const ColumnBytes& column, std::size_t number,
                      std::vector<std::byte>& payload, std::vector<std::uint32_t>& parts) const {
    if (!plan_.made.empty() && !plan_.made[number].bytes.empty()) {
      const ColumnSection& made = plan_.made[number];
      payload.insert(payload.end(), made.bytes.begin(), made.bytes.end());
      parts = made.parts;
      return;
    }
    const format::ColumnModel& model = plan_.columns[number];
    const ResidualSource source(column, model);
    if (model.coder == Coder::pack) {
      encode_pack_section(source, model, workers_, payload, parts);
    } else {
      const TupleRange all{0, column.records};
      encode_frames(residual_bytes(source, std::span(&all, 1), model, workers_), model.frame_bytes,
                    plan_.zstd_levels, workers_, payload, parts);
    }
  }

  const ChunkPlan& plan_;
  Workers& workers_;
};

}  // namespace

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
  format::ChunkHead head;
  head.records = column.records;
  head.payload_bytes = out.payload.size();
  head.content = chunk_checksum(values, workers);
  std::vector<std::byte> block;
  block.reserve(out.models.size() + out.payload.size() + 64);
  format::append_chunk_head(block, opaque, head, out.models);
  block.insert(block.end(), out.payload.begin(), out.payload.end());
  return block;
}

}  // namespace gdelta
