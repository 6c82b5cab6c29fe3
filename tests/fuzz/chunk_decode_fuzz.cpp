// Chunk blocks: any bytes as a block; any bytes as a head behind a valid check, followed by any
// payload; and any bytes as values, which have to survive, also behind any maps.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

#include "codec/chunk/decode_block.h"
#include "codec/plan/planner.h"
#include "formats/gdelta/block_frame.h"
#include "formats/gdelta/chunk_block.h"
#include "stages/any_maps.h"

namespace {

using Bytes = std::vector<std::byte>;

constexpr std::uint64_t kMaxDecodedBytes = 4 << 20;

void try_block(const Bytes& block, const gdelta::Layout& layout) {
  const auto chunk = gdelta::format::parse_chunk_block(block, 0, layout);
  if (!chunk) return;
  const std::uint64_t bytes = chunk->records * layout.record_bytes();
  if (bytes > kMaxDecodedBytes || gdelta::lengths_bytes(*chunk) > kMaxDecodedBytes) return;
  Bytes out(bytes);
  gdelta::test::decode_block(block, 0, layout, out, false);
}

void try_plan(const Bytes& values, const gdelta::Layout& layout, const gdelta::ChunkPlan& plan) {
  const Bytes block = gdelta::encode_chunk(values, layout, false, plan);
  Bytes out(values.size());
  if (gdelta::test::decode_block(block, 0, layout, out, true) || out != values) std::abort();
}

void try_values(const Bytes& values, const gdelta::Layout& layout, int level) {
  gdelta::EncodeSettings settings;
  settings.level = level;
  try_plan(values, layout, gdelta::plan_chunk(values, layout, false, settings));
}

/// Segments of any lengths that add up to the records.
void try_segments(const Bytes& values, const gdelta::Layout& layout, int level, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint32_t> lengths(random() % 3, 0);
  for (std::uint64_t left = values.size() / layout.record_bytes(); left > 0;) {
    const std::uint64_t length = std::min<std::uint64_t>(left, random() % (1ull << random() % 8));
    lengths.push_back(static_cast<std::uint32_t>(length));
    left -= length;
  }
  if (lengths.empty()) return;
  const gdelta::ChunkSegments segments{lengths, (seed & 1) != 0, (seed & 2) != 0};
  gdelta::EncodeSettings settings;
  settings.level = level;
  auto& workers = gdelta::Workers::alone();
  const auto plan = gdelta::plan_chunk(values, layout, false, settings, workers, segments);
  const Bytes block = gdelta::encode_chunk(values, layout, false, plan, workers, segments);
  const auto chunk = gdelta::format::parse_chunk_block(block, 0, layout);
  Bytes out(values.size());
  std::vector<std::uint32_t> got;
  if (!chunk || gdelta::decode_chunk({*chunk, block, 0, layout}, out, true, workers, &got) ||
      out != values || got != lengths)
    std::abort();
}

void try_maps(const Bytes& values, const gdelta::Layout& layout, unsigned seed) {
  std::mt19937_64 random(seed);
  gdelta::ChunkPlan plan;
  const auto* first = reinterpret_cast<const unsigned char*>(values.data());
  for (const gdelta::Column& column : layout.columns) {
    plan.columns.emplace_back().section = {.coder = gdelta::Coder::pack, .part_groups = 1};
    const gdelta::ColumnBytes bytes{first, layout.record_bytes(),
                                    values.size() / layout.record_bytes(), column};
    plan.maps.push_back(gdelta::test::any_maps(random, bytes));
    first += column.bytes();
  }
  try_plan(values, layout, plan);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const char* const kRecords[] = {"u8",     "i16x2", "i24:bex3",       "i32", "f32x4",
                                         "f64:be", "u64x2", "i32x2,u8,f16x3", "bf16"};
  if (size < 4) return 0;
  const auto layout = gdelta::parse_record(kRecords[data[0] % std::size(kRecords)]).value();
  const auto* bytes = reinterpret_cast<const std::byte*>(data) + 4;
  size -= 4;
  try_block(Bytes(bytes, bytes + size), layout);

  const std::size_t head_bytes = std::min<std::size_t>(size, data[1] | (data[2] & 1) << 8);
  Bytes block;
  gdelta::format::append_block(block, gdelta::format::BlockTag::chunk, {bytes, head_bytes},
                               size - head_bytes);
  block.insert(block.end(), bytes + head_bytes, bytes + size);
  try_block(block, layout);

  const Bytes values(bytes, bytes + size / layout.record_bytes() * layout.record_bytes());
  if (values.empty()) return 0;
  try_values(values, layout, 1 + data[3] % 6);
  try_segments(values, layout, 1 + data[3] % 6, data[1] | data[2] << 8);
  try_maps(values, layout, data[1] | data[3] << 8);
  return 0;
}
