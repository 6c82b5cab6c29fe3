#include "codec/planner.h"

#include <algorithm>

namespace gdelta {

std::uint32_t default_page_groups(int tuple) {
  return tuple <= 4 ? static_cast<std::uint32_t>(32 / tuple) : 8u;
}

ChunkPlan plan_chunk(std::span<const std::byte> /*values*/, const Layout& layout, bool /*opaque*/,
                     const EncodeSettings& settings) {
  ChunkPlan plan;
  for (const Column& column : layout.columns) {
    format::ColumnModel model;
    model.coder = settings.coder.value_or(Coder::pack);
    std::fill_n(model.orders, column.tuple, static_cast<std::uint8_t>(settings.order.value_or(1)));
    model.page_groups = default_page_groups(column.tuple);
    plan.columns.push_back(model);
  }
  return plan;
}

}  // namespace gdelta
