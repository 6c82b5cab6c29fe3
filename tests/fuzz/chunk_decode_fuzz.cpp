// Chunk blocks: any bytes as a block; any bytes as a head behind a valid check, followed by any
// payload; and any bytes as values, which have to survive.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "codec/chunk/decode_block.h"
#include "codec/plan/planner.h"
#include "formats/gdelta/block_frame.h"
#include "formats/gdelta/chunk_block.h"

namespace {

using Bytes = std::vector<std::byte>;

constexpr std::uint64_t kMaxDecodedBytes = 4 << 20;

void try_block(const Bytes& block, const gdelta::Layout& layout) {
  const auto chunk = gdelta::format::parse_chunk_block(block, 0, layout);
  if (!chunk) return;
  const std::uint64_t bytes = chunk->records * layout.record_bytes();
  if (bytes > kMaxDecodedBytes) return;
  Bytes out(bytes);
  gdelta::test::decode_block(block, 0, layout, out, false);
}

void try_values(const Bytes& values, const gdelta::Layout& layout, int level) {
  if (values.empty()) return;
  gdelta::EncodeSettings settings;
  settings.level = level;
  const auto plan = gdelta::plan_chunk(values, layout, false, settings);
  const Bytes block = gdelta::encode_chunk(values, layout, false, plan);
  Bytes out(values.size());
  if (gdelta::test::decode_block(block, 0, layout, out, true) || out != values) std::abort();
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

  const std::size_t whole = size / layout.record_bytes() * layout.record_bytes();
  try_values(Bytes(bytes, bytes + whole), layout, 1 + data[3] % 6);
  return 0;
}
