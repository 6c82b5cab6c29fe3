#include "bench/walk_stream.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "bench/cuda_check.h"
#include "bench/random_walks.h"
#include "codec/chunk/chunk_encode.h"
#include "codec/chunk/chunk_sizes.h"
#include "codec/coders/coder.h"
#include "formats/gdelta/block_frame.h"
#include "formats/gdelta/end_block.h"
#include "formats/gdelta/layout_block.h"
#include "formats/gdelta/stream_header.h"
#include "gdelta/device.h"

namespace gdelta::bench {
namespace {

constexpr double kBinaryStep = 0x1p-13;
constexpr std::int64_t kStep = 200;

bool has_steps(const WalkShape& shape) {
  return shape.map == "decimal" || shape.map == "scaled" || shape.map == "multiple";
}

ColumnMaps maps_of(const WalkShape& shape, int tuple) {
  ColumnMaps maps;
  const auto map_all = [&](ValueMap map, std::uint64_t step) {
    maps.lanes.assign(static_cast<std::size_t>(tuple),
                      {.map = static_cast<std::uint8_t>(map), .step = step});
  };
  if (shape.map == "decimal") map_all(ValueMap::decimal, 2);
  if (shape.map == "scaled") map_all(ValueMap::scaled, std::bit_cast<std::uint64_t>(kBinaryStep));
  if (shape.map == "multiple") map_all(ValueMap::multiple, kStep);
  for (int lane = tuple; shape.map == "differences" && lane-- > 1;)
    maps.steps.push_back({static_cast<std::uint8_t>(lane), 0, LaneStepKind::minus});
  return maps;
}

format::ColumnModel model_of(const WalkShape& shape, Column column, std::uint64_t records) {
  format::ColumnModel model;
  model.section.coder = shape.coder;
  std::fill_n(model.front.orders, kMaxTuple, static_cast<std::uint8_t>(shape.order));
  model.section.part_groups = column.tuple <= 4 ? 32 / column.tuple : 8;
  if (const auto groups = column_coder(shape.coder).page_groups)
    model.section.part_groups = groups(column, records, AnsEffort{});
  if (shape.stride > 0) {
    model.front.num_strides = 1;
    model.front.strides[0] = {.stride = shape.stride, .order = 1};
  }
  return model;
}

/// Makes of walks, whole numbers, the values that the shape's map is for.
void step_walks(std::span<std::byte> values, const WalkShape& shape, ValueType type) {
  if (!has_steps(shape)) return;
  const auto each = [&](auto number, auto value) {
    for (std::size_t at = 0; at < values.size(); at += sizeof number) {
      std::memcpy(&number, values.data() + at, sizeof number);
      const auto exact = static_cast<double>(number);
      value = static_cast<decltype(value)>(shape.map == "decimal"  ? exact / 100
                                           : shape.map == "scaled" ? exact * kBinaryStep
                                                                   : exact * kStep);
      std::memcpy(values.data() + at, &value, sizeof value);
    }
  };
  if (type == ValueType::f64) each(std::int64_t{}, double{});
  if (type == ValueType::f32) each(std::int32_t{}, float{});
  if (type == ValueType::i64) each(std::int64_t{}, std::int64_t{});
  if (type == ValueType::i32) each(std::int32_t{}, std::int32_t{});
}

}  // namespace

void fill_walks(std::span<std::byte> records, const WalkShape& shape, const Layout& layout,
                std::uint64_t seed) {
  if (layout.columns.size() > 1)
    return fill_record_walks(records, layout, shape.order, shape.exceptions, seed);
  const Column column = layout.columns[0];
  fill_random_walks(records, column, shape.order, shape.exceptions, seed, shape.stride);
  step_walks(records, shape, column.type);
}

WalkStream make_walk_stream(const WalkShape& shape, std::uint64_t total,
                            std::uint64_t chunk_bytes) {
  const Layout layout = parse_record(shape.record).value();
  const std::uint64_t records = records_per_chunk(chunk_bytes, layout.record_bytes());
  const std::uint64_t chunks = (total + chunk_bytes - 1) / chunk_bytes;
  ChunkPlan plan;
  for (const Column& column : layout.columns) {
    plan.columns.push_back(model_of(shape, column, records));
    plan.maps.push_back(maps_of(shape, column.tuple));
  }
  WalkStream walks;
  walks.values.resize(chunks);
  std::vector<std::vector<std::byte>> blocks(chunks);
  tbb::parallel_for(std::uint64_t{0}, chunks, [&](std::uint64_t i) {
    walks.values[i].resize(records * layout.record_bytes());
    fill_walks(walks.values[i], shape, layout, i + 1);
    blocks[i] = encode_chunk(walks.values[i], layout, false, plan);
  });
  walks.stream.assign(format::kStreamHeader.begin(), format::kStreamHeader.end());
  std::vector<std::byte> layout_head;
  format::append_layout_head(layout_head, {layout, {1, LayoutOrigin::given}});
  format::append_block(walks.stream, format::BlockTag::layout, layout_head);
  for (const std::vector<std::byte>& block : blocks)
    walks.stream.insert(walks.stream.end(), block.begin(), block.end());
  format::append_end_block(walks.stream, 0, {});
  walks.info = inspect(walks.stream).value();
  return walks;
}

bool holds_the_values(const WalkStream& walks, const std::byte* out) {
  std::vector<std::byte> values(walks.info.decoded_bytes);
  GDELTA_CHECK(cudaMemcpy(values.data(), out, values.size(), cudaMemcpyDeviceToHost));
  for (std::size_t i = 0; i < walks.values.size(); ++i) {
    const ChunkInfo& chunk = walks.info.chunks[i];
    if (std::memcmp(values.data() + chunk.decoded_at, walks.values[i].data(),
                    chunk.decoded_bytes) != 0)
      return false;
  }
  return true;
}

}  // namespace gdelta::bench
