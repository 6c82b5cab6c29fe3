#include "codec/faults/fault_table.h"

#include "codec/faults/fault_parts.h"

namespace gdelta::faults {

std::string report_of(const Error& error) {
  return std::string(errc_name(error.code)) +
         (error.chunk ? " chunk " + std::to_string(*error.chunk) : "") +
         (error.byte ? " byte " + std::to_string(*error.byte) : "");
}

std::string expected_report(const FaultCase& fault) {
  if (fault.code == Errc::ok) return "ok";
  return report_of({.code = fault.code, .message = "", .chunk = fault.chunk, .byte = fault.byte});
}

ChunkFields& chunk(StreamFields& stream) { return stream.chunks[1]; }

ModelFields& model(StreamFields& stream) { return stream.chunks[1].models[0]; }

Bytes bytes_of(std::initializer_list<int> values) {
  Bytes bytes;
  for (const int value : values) append_byte(bytes, value);
  return bytes;
}

Choose coded(Coder coder, std::vector<int> orders) {
  return [coder, orders = std::move(orders)](const Column& column) {
    return plain::linked(coder, column, orders);
  };
}

StreamFields wandering_stream(const char* record, std::size_t records, const Choose& choose) {
  const Layout layout = parse_record(record).value();
  std::vector<plain::Choice> choices;
  for (const Column& column : layout.columns) choices.push_back(choose(column));
  return stream_of(layout, plain::wandering_values(layout, records, 5, 7), choices);
}

StreamFields raw_stream(const char* record, std::size_t records) {
  return wandering_stream(record, records, [](const Column&) { return plain::raw(); });
}

StreamFields constant_stream(const Layout& layout, std::size_t records) {
  const Bytes record = plain::wandering_values(layout, 1, 90, 3);
  Bytes values;
  for (std::size_t i = 0; i < records; ++i) append(values, record);
  return stream_of(layout, values,
                   std::vector<plain::Choice>(layout.columns.size(), plain::constant()));
}

StreamFields pack_stream(int order, const char* record) {
  return wandering_stream(record, 140, coded(Coder::pack, {order}));
}

StreamFields zstd_stream(int order) {
  return wandering_stream("u32", 200, [order](const Column& column) {
    plain::Choice choice = plain::linked(Coder::zstd, column, {order});
    choice.model.section.part_groups = 1;
    return choice;
  });
}

StreamFields strided_stream(std::size_t records, const std::vector<StrideFields>& links) {
  return wandering_stream("u8", records, [&](const Column& column) {
    plain::Choice choice = plain::linked(Coder::pack, column, {1});
    for (const StrideFields& link : links)
      choice =
          plain::with_stride(choice, static_cast<std::uint32_t>(link.stride.value), link.order);
    return choice;
  });
}

StreamFields opaque_stream() {
  StreamFields fields = raw_stream("u8", 30);
  fields.chunks[1].opaque = true;
  return fields;
}

Bytes frame_residuals() {
  constexpr std::size_t kBytes = 128;
  return plain::wandering_values(byte_layout(), kBytes, 9, 4);
}

StreamFields two_frames(Coder coder, const std::array<Bytes, 2>& frames) {
  Bytes values;
  for (int piece = 0; piece < 2; ++piece)
    for (const std::byte residual : frame_residuals()) {
      const int z = std::to_integer<int>(residual);
      append_byte(values, (z >> 1) ^ -(z & 1));
    }
  plain::Choice choice = plain::linked(coder, byte_layout().columns[0], {0});
  choice.model.section.part_groups = 1;
  StreamFields fields = stream_of(byte_layout(), values, {choice});
  ChunkFields& chunk = fields.chunks[1];
  chunk.payload = joined({frames[0], frames[1]});
  chunk.models[0].column_bytes = chunk.payload.size();
  chunk.models[0].part_ends = {frames[0].size(), chunk.payload.size()};
  return fields;
}

Bytes joined(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const Bytes& part : parts) append(all, part);
  return all;
}

Bytes with_zeros(Bytes bytes, std::size_t zeros) {
  bytes.resize(bytes.size() + zeros);
  return bytes;
}

}  // namespace gdelta::faults
