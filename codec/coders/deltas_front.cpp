// Deltas of a column: those along the lanes are undone by its coder, page by page, and those over strides
// here. Spec: predictors/deltas.md.
#include "codec/coders/predictor.h"
#include "kernels/deltas/stride_delta.h"

namespace gdelta {
namespace {

void undo_strides(const SectionToDecode& section, unsigned char* words) {
  const format::Front& front = section.head->model.front;
  for (int link = front.num_strides; link-- > 0;) {
    sum_stride(words, section.records() * section.column.tuple, value_bytes(section.column.type),
               std::size_t{front.strides[link].stride} * section.column.tuple,
               front.strides[link].order);
  }
}

DecodeScratch no_scratch(const Column&, std::uint64_t) { return {}; }

void describe_deltas(std::span<const std::byte>, const format::ColumnHead& head, int lanes,
                     ColumnInfo& info) {
  const format::Front& front = head.model.front;
  info.orders.assign(front.orders, front.orders + lanes);
  for (int link = 0; link < front.num_strides; ++link)
    info.strides.emplace_back(front.strides[link].stride, front.strides[link].order);
}

}  // namespace

const ColumnPredictor deltas_predictor{
    .undo = undo_strides, .scratch = no_scratch, .describe = describe_deltas};

}  // namespace gdelta
