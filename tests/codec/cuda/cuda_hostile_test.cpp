// Damaged chunks: the device reports what the CPU reports.
#ifdef GDELTA_HAS_CUDA
#include "codec/chunk/decode_block.h"
#include "codec/cuda/cuda_cases.h"
#include "formats/gdelta/block_frame.h"
#include "formats/gdelta/bytes.h"

namespace gdelta::test {
namespace {

/// Decodes all chunks on both; `what` says what was done to them.
void expect_same_errors(const std::vector<TestChunk>& chunks, const Layout& layout,
                        const char* what) {
  const DeviceOutcome outcome = decode_on_device(chunks, layout, 0, chunks.size());
  ASSERT_EQ(outcome.status.size(), chunks.size());
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    Bytes out(chunks[i].values.size());
    const auto error = decode_block(chunks[i].block, outcome.block_at[i], layout, out, true);
    const ChunkStatus& status = outcome.status[i];
    // The device knows a chunk's size from the table and calls another one corrupt.
    if (error && error->code == Errc::output_too_small) {
      ASSERT_NE(status.code, static_cast<int>(Errc::ok)) << what << ' ' << i;
      continue;
    }
    if (status.code == static_cast<int>(Errc::needs_host)) continue;
    ASSERT_EQ(status.code, static_cast<int>(error ? error->code : Errc::ok))
        << what << ' ' << i << ' ' << to_string(layout);
    if (error) {
      ASSERT_EQ(status.byte, error->byte) << what << ' ' << i << ' ' << to_string(layout);
    } else {
      ASSERT_TRUE(outcome.contents[i] == out) << what << ' ' << i << ' ' << to_string(layout);
    }
  }
}

/// A head of the same length with another check, so that its fields are looked at.
void repair_check(Bytes& block) {
  format::Cursor cursor{reinterpret_cast<const unsigned char*>(block.data()), block.size()};
  format::BlockFrame frame;
  if (format::parse_block_frame(cursor, frame) != format::HeadError::none) return;
  const std::uint64_t check_at = frame.check_at();
  if (check_at > block.size() || block.size() - check_at < 4) return;
  const std::uint32_t check = format::block_check(std::span(block).first(check_at));
  format::store_le(reinterpret_cast<unsigned char*>(block.data()) + check_at, 4, check);
}

std::vector<std::pair<Layout, TestChunk>> small_chunks() {
  std::vector<std::pair<Layout, TestChunk>> cases;
  const auto add = [&](const char* record, std::uint64_t records, Pattern pattern,
                       const format::ColumnModel& model) {
    const Layout layout = parse_record(record).value();
    cases.emplace_back(layout, make_chunk(layout, make_values(layout, records, pattern), model));
  };
  add("i32x3", 140, Pattern::smooth, pack_model(2));
  add("i16", 300, Pattern::smooth, pack_model(1, 2));
  add("f64", 150, Pattern::smooth, pack_model(0));
  add("u8x5", 130, Pattern::smooth, pack_model(1));
  add("i32x9", 130, Pattern::smooth, pack_model(1, 2));
  add("u16x2,i32", 140, Pattern::smooth, pack_model(3));
  auto strided = pack_model(1);
  strided.front.num_strides = 1;
  strided.front.strides[0] = {9, 2};
  add("i32", 140, Pattern::repeated, strided);
  auto lanes = pack_model(1);
  lanes.front.orders[1] = 4;
  add("i32x2", 140, Pattern::smooth, lanes);
  add("i32x2", 20, Pattern::random, pack_model(1));
  add("i32x2", 20, Pattern::equal, pack_model(1));
  const Layout pairs = parse_record("i16x2").value();
  ColumnMaps sides;
  sides.steps = {{1, 0, LaneStepKind::minus}, {0, 1, LaneStepKind::plus_half}};
  cases.emplace_back(
      pairs, mapped_chunk(pairs, make_values(pairs, 140, Pattern::smooth), pack_model(1), sides));
  const Layout twos = parse_record("i32").value();
  ColumnMaps multiples;
  multiples.lanes = {{.map = static_cast<std::uint8_t>(ValueMap::multiple), .step = 2}};
  cases.emplace_back(
      twos, mapped_chunk(twos, make_values(twos, 140, Pattern::smooth), pack_model(1), multiples));
  // Outliers, so that there are exceptions of all widths.
  const Layout wide = parse_record("u64").value();
  Bytes values = make_values(wide, 200, Pattern::smooth);
  for (const int i : {3, 40, 77, 130, 131, 199}) values[8 * i + i % 8] = std::byte{0x41};
  cases.emplace_back(wide, make_chunk(wide, values, pack_model(0)));
  const Layout word = parse_record("u32").value();
  values = make_values(word, 200, Pattern::smooth);
  for (const int i : {3, 40, 77, 130, 131, 199}) values[4 * i + i % 4] = std::byte{0x41};
  cases.emplace_back(word, make_chunk(word, values, pack_model(0)));
  return cases;
}

TEST(CudaHostileSmall, AgreesWithTheCpuOnEveryBitFlip) {
  GDELTA_NEEDS_GPU();
  for (const auto& [layout, good] : small_chunks()) {
    std::vector<TestChunk> chunks;
    for (std::size_t bit = 0; bit < 8 * good.block.size(); ++bit) {
      chunks.push_back(good);
      chunks.back().block[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
    }
    expect_same_errors(chunks, layout, "bit");
  }
}

TEST(CudaHostileSmall, AgreesWithTheCpuOnEveryTruncation) {
  GDELTA_NEEDS_GPU();
  for (const auto& [layout, good] : small_chunks()) {
    std::vector<TestChunk> chunks;
    for (std::size_t size = 1; size < good.block.size(); ++size) {
      chunks.push_back(good);
      chunks.back().block.resize(size);
    }
    expect_same_errors(chunks, layout, "length");
  }
}

TEST(CudaHostileSmall, AgreesWithTheCpuOnHeadsWithARightCheck) {
  GDELTA_NEEDS_GPU();
  for (const auto& [layout, good] : small_chunks()) {
    std::vector<TestChunk> chunks;
    for (std::size_t byte = 1; byte < std::min<std::size_t>(good.block.size(), 80); ++byte) {
      for (const int value : {0, 1, 2, 3, 7, 8, 9, 64, 127, 128, 254, 255}) {
        chunks.push_back(good);
        chunks.back().block[byte] = static_cast<std::byte>(value);
        repair_check(chunks.back().block);
      }
    }
    expect_same_errors(chunks, layout, "head");
  }
}

TEST(CudaHostileSmall, AgreesWithTheCpuOnRandomBytesBehindTheHead) {
  GDELTA_NEEDS_GPU();
  std::mt19937_64 random(7);
  for (const auto& [layout, good] : small_chunks()) {
    format::Cursor cursor{reinterpret_cast<const unsigned char*>(good.block.data()),
                          good.block.size()};
    format::BlockFrame frame;
    ASSERT_EQ(format::parse_block_frame(cursor, frame), format::HeadError::none);
    const std::size_t payload_at = frame.payload_at();
    std::vector<TestChunk> chunks;
    for (int trial = 0; trial < 500; ++trial) {
      chunks.push_back(good);
      Bytes& block = chunks.back().block;
      for (int i = 0; i < 1 + trial % 40; ++i)
        block[payload_at + random() % (block.size() - payload_at)] =
            static_cast<std::byte>(random());
    }
    expect_same_errors(chunks, layout, "random");
  }
}

/// Chunks of two pages of ans: tiles that are whole and that are not, and few states behind many.
std::vector<std::pair<Layout, TestChunk>> chunks_of_ans() {
  std::vector<std::pair<Layout, TestChunk>> cases;
  const auto model_of = [](const Layout& layout) {
    const std::uint32_t groups = 32 / layout.columns[0].tuple + 1;
    format::ColumnModel model = pack_model(1, groups);
    model.section.coder = Coder::ans;
    return std::pair{model, std::uint64_t{kGroupValues} * groups + 300};
  };
  for (const char* record : {"u8", "i16", "i24", "i32", "f64", "u8x3", "i16x2", "i24x2", "i32x2",
                             "i32x3", "i32x4", "u64x2", "i16x5", "i32x2,u16"}) {
    const Layout layout = parse_record(record).value();
    const auto [model, records] = model_of(layout);
    cases.emplace_back(layout,
                       make_chunk(layout, make_values(layout, records, Pattern::smooth), model));
  }
  const Layout pairs = parse_record("i32x2").value();
  ColumnMaps sides;
  sides.steps = {{1, 0, LaneStepKind::minus}, {0, 1, LaneStepKind::plus_half}};
  const auto [model, records] = model_of(pairs);
  cases.emplace_back(
      pairs, mapped_chunk(pairs, make_values(pairs, records, Pattern::smooth), model, sides));
  return cases;
}

// Pages that can be read to their end have other values, most of them; heads have other checks of parts.
TEST(CudaHostileSmall, AgreesWithTheCpuOnContentsThatAreNotThoseOfTheChecks) {
  GDELTA_NEEDS_GPU();
  std::mt19937_64 random(11);
  for (const auto& [layout, good] : chunks_of_ans()) {
    format::Cursor cursor{reinterpret_cast<const unsigned char*>(good.block.data()),
                          good.block.size()};
    format::BlockFrame frame;
    ASSERT_EQ(format::parse_block_frame(cursor, frame), format::HeadError::none);
    std::vector<TestChunk> chunks{good};
    const auto flip = [&](std::size_t first, std::size_t end) {
      chunks.push_back(good);
      chunks.back().block[first + random() % (end - first)] ^=
          static_cast<std::byte>(1 << random() % 8);
    };
    for (int trial = 0; trial < 20; ++trial) flip(frame.payload_at(), good.block.size());
    for (int trial = 0; trial < 6; ++trial) {
      flip(frame.check_at() - 8, frame.check_at());
      repair_check(chunks.back().block);
    }
    expect_same_errors(chunks, layout, "contents");
  }
}

}  // namespace
}  // namespace gdelta::test
#endif
