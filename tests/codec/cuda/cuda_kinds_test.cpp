// Tables that say what their chunks do not have: kernels left out never cost right bytes.
#ifdef GDELTA_HAS_CUDA
#include "codec/chunk/dictionary_cases.h"
#include "codec/cuda/cuda_cases.h"
#include "formats/gdelta/chunk_block.h"
#include "golden/golden_cases.h"
#include "golden/plain_encoder.h"

namespace gdelta::test {
namespace {

constexpr std::uint32_t kPackBit = 1u << static_cast<int>(Coder::pack);
constexpr std::uint32_t kAnsBit = 1u << static_cast<int>(Coder::ans);

/// Nothing but what `set` says, and pages of plain chunks.
template <class Set>
ChunkKinds needs(const Set& set) {
  ChunkKinds kinds = kNoChunkKinds;
  kinds.warp_pages = true;
  set(kinds);
  return kinds;
}

const ChunkKinds kPlain = needs([](ChunkKinds&) {});

struct KindCase {
  const char* what;
  ChunkKinds needed;
  TestChunk chunk;
};

const Layout kLayout{{{ValueType::i32, 3, false}}};

TestChunk plain_chunk() {
  return make_chunk(kLayout, make_values(kLayout, 700, Pattern::smooth), pack_model(2, 10));
}

TestChunk linear_chunk() {
  Bytes values = plain::wandering_values(kLayout, 300, 9, 3);
  const Column& column = kLayout.columns[0];
  Bytes block = plain::encode_chunk(
      values, kLayout,
      {plain::predicted(Coder::pack, column, plain::linear_model(column.tuple, 3, 2, 9, 4))});
  return {std::move(block), std::move(values)};
}

TestChunk segmented_chunk(bool says_states) {
  const std::vector<std::uint64_t> lengths{0, 5, 700, 1, 0, 94};
  Bytes values = plain::wandering_values(kLayout, 800, 9, 3);
  Bytes block = plain::encode_chunk(
      values, kLayout,
      {plain::inside(Coder::pack, kLayout.columns[0], {lengths, {1}, 1, says_states})}, false,
      {.lengths = lengths, .continues = false, .goes_on = false, .choice = plain::raw()});
  return {.block = std::move(block),
          .values = std::move(values),
          .opaque = false,
          .lengths = lengths.size()};
}

/// Of steps of three, but for one value in a hundred if there are exceptions.
TestChunk multiples_chunk(std::uint32_t page_groups, bool has_exceptions) {
  Bytes values;
  for (std::uint64_t i = 0; i < 3 * 3000; ++i)
    put_value(values, 3 * (i * i % 1000) + (has_exceptions && i % 100 == 7 ? 1 : 0), 4, false);
  const LaneMapping multiple{.map = static_cast<std::uint8_t>(ValueMap::multiple), .step = 3};
  return mapped_chunk(kLayout, std::move(values), pack_model(1, page_groups),
                      {.lanes = {multiple, multiple, multiple}});
}

/// Chunks of kLayout, each of which needs something that a plain one does not.
std::vector<KindCase> kind_cases() {
  const Layout& bytes = byte_layout();
  auto raw = pack_model(0), strided = pack_model(1, 4), with_ans = pack_model(1, 11);
  with_ans.section.coder = Coder::ans;
  raw.section.coder = Coder::raw;
  strided.front.num_strides = 1;
  strided.front.strides[0] = {9, 2};
  auto strided_twice = strided;
  strided_twice.front.num_strides = 2;
  strided_twice.front.strides[1] = {2, 1};
  std::vector<KindCase> cases;
  const auto add = [&](const char* what, const ChunkKinds& needed, TestChunk chunk) {
    cases.push_back({what, needed, std::move(chunk)});
  };
  add("raw", needs([](ChunkKinds& kinds) { kinds.placed = true; }),
      make_chunk(kLayout, make_values(kLayout, 300, Pattern::random), raw));
  add("constant", needs([](ChunkKinds& kinds) { kinds.placed = true; }),
      make_chunk(kLayout, make_values(kLayout, 300, Pattern::equal), pack_model(1)));
  add("long pages", needs([](ChunkKinds& kinds) { kinds.page_coders = kPackBit; }),
      make_chunk(kLayout, make_values(kLayout, 3000, Pattern::smooth), pack_model(1, 11)));
  add("pages of ans", needs([](ChunkKinds& kinds) { kinds.page_coders = kAnsBit; }),
      make_chunk(kLayout, make_values(kLayout, 3000, Pattern::smooth), with_ans));
  add("strides", needs([](ChunkKinds& kinds) { kinds.strides = true; }),
      make_chunk(kLayout, make_values(kLayout, 300, Pattern::repeated), strided));
  add("two strides", needs([](ChunkKinds& kinds) { kinds.strides = kinds.stride_pairs = true; }),
      make_chunk(kLayout, make_values(kLayout, 300, Pattern::repeated), strided_twice));
  add("linear", needs([](ChunkKinds& kinds) { kinds.linear = true; }), linear_chunk());
  add("segments joined in pages",
      needs([](ChunkKinds& kinds) { kinds.placed = kinds.segments = kinds.segment_pages = true; }),
      segmented_chunk(true));
  add("segments joined behind pages",
      needs([](ChunkKinds& kinds) { kinds.placed = kinds.segments = kinds.segment_passes = true; }),
      segmented_chunk(false));
  const LookedUpChunk looked_up = looked_up_chunk(
      kLayout, 900, 40, std::vector<bool>(kLayout.columns[0].tuple, true), Coder::pack);
  add("dictionaries",
      needs([](ChunkKinds& kinds) { kinds.maps = kinds.map_passes = kinds.dictionaries = true; }),
      {looked_up.block, looked_up.values});
  add("exceptions", needs([](ChunkKinds& kinds) { kinds.maps = kinds.exceptions = true; }),
      multiples_chunk(2, true));
  add("maps behind long pages", needs([](ChunkKinds& kinds) {
        kinds.page_coders = kPackBit;
        kinds.maps = kinds.map_passes = true;
      }),
      multiples_chunk(11, false));
  add("opaque", needs([](ChunkKinds& kinds) { kinds.opaque = true; }),
      make_chunk(bytes, make_values(bytes, 3000, Pattern::smooth), pack_model(2, 32), true));
  return cases;
}

KindCase case_of(const std::string& what) {
  for (KindCase& candidate : kind_cases())
    if (candidate.what == what) return candidate;
  return {};
}

/// Every chunk is right, or all but the second are and that one is refused.
void expect_outcome(const KindCase& what, const ChunkKinds& kinds, bool refused) {
  const std::vector<TestChunk> chunks = {plain_chunk(), what.chunk, plain_chunk()};
  const DeviceOutcome outcome = decode_on_device(chunks, kLayout, 0, 3, 6, 0, kinds);
  ASSERT_EQ(outcome.status.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    if (i == 1 && refused) {
      EXPECT_EQ(outcome.status[i].code, static_cast<int>(Errc::corrupt)) << what.what;
      EXPECT_EQ(outcome.status[i].byte, outcome.block_at[i]) << what.what;
    } else {
      EXPECT_EQ(outcome.status[i].code, static_cast<int>(Errc::ok)) << what.what << ' ' << i;
      EXPECT_TRUE(outcome.contents[i] == chunks[i].values) << what.what << ' ' << i;
    }
  }
}

TEST(CudaKindsSmall, DecodesWithNoMoreThanIsNeeded) {
  GDELTA_NEEDS_GPU();
  for (const KindCase& what : kind_cases()) expect_outcome(what, what.needed, false);
  expect_outcome({"plain", kPlain, plain_chunk()}, kPlain, false);
}

TEST(CudaKindsSmall, TheHostMakesTasksUnlessThereAreDictionaries) {
  for (const KindCase& what : kind_cases()) {
    const std::vector<TestChunk> chunks = {plain_chunk(), what.chunk};
    Bytes stream;
    const StreamInfo info = with_heads(info_of(chunks, kLayout, stream, 3), chunks);
    const ReadyTasks ready = make_chunk_table(info).value().ready;
    EXPECT_EQ(ready.at > 0, !what.needed.dictionaries) << what.what;
  }
}

TEST(CudaKindsSmall, RefusesChunksOfKindsThatTheTableLeavesOut) {
  GDELTA_NEEDS_GPU();
  for (const KindCase& what : kind_cases()) {
    expect_outcome(what, kPlain, true);
    ChunkKinds others = {};
    others.placed = !what.needed.placed;
    others.page_coders = ~what.needed.page_coders;
    others.strides = !what.needed.strides;
    others.stride_pairs = !what.needed.stride_pairs;
    others.linear = !what.needed.linear;
    others.segment_pages = !what.needed.segment_pages;
    others.segment_passes = !what.needed.segment_passes;
    others.map_passes = !what.needed.map_passes;
    others.exceptions = !what.needed.exceptions;
    others.dictionaries = !what.needed.dictionaries;
    others.opaque = !what.needed.opaque;
    expect_outcome(what, others, true);
  }
}

TEST(CudaKindsSmall, RefusesPagesOfWarpsThatTheTableLeavesOut) {
  GDELTA_NEEDS_GPU();
  const std::vector<TestChunk> chunks = {case_of("pages of ans").chunk, plain_chunk()};
  ChunkKinds kinds;
  for (const bool warp_pages : {true, false}) {
    kinds.warp_pages = warp_pages;
    const DeviceOutcome outcome = decode_on_device(chunks, kLayout, 0, 2, 6, 0, kinds);
    EXPECT_EQ(outcome.status.at(0).code, static_cast<int>(Errc::ok));
    EXPECT_TRUE(outcome.contents[0] == chunks[0].values);
    EXPECT_EQ(outcome.status.at(1).code, static_cast<int>(warp_pages ? Errc::ok : Errc::corrupt));
  }
}

TEST(CudaKindsSmall, RefusesASecondStrideThatTheTableLeavesOut) {
  GDELTA_NEEDS_GPU();
  expect_outcome(case_of("two strides"), needs([](ChunkKinds& kinds) { kinds.strides = true; }),
                 true);
}

TEST(CudaKindsSmall, RefusesLongPagesThatTheTableLeavesOut) {
  GDELTA_NEEDS_GPU();
  const Layout layout{{{ValueType::u16, 5, false}, {ValueType::f64, 1, false}}};
  const std::vector<TestChunk> chunks = {
      make_chunk(layout, make_values(layout, 500, Pattern::smooth), pack_model(1, 9))};
  const auto status = [&](const ChunkKinds& kinds) {
    return decode_on_device(chunks, layout, 0, 1, 6, 0, kinds).status.at(0).code;
  };
  EXPECT_EQ(status(needs([](ChunkKinds& kinds) { kinds.page_coders = kPackBit; })),
            static_cast<int>(Errc::ok));
  ChunkKinds others;
  others.page_coders = ~kPackBit;
  EXPECT_EQ(status(others), static_cast<int>(Errc::corrupt));
}

// Blocks of every size, and pieces of columns that they leave for each other.
TEST(CudaKindsSmall, DecodeWhateverIsGuessedOfPages) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"i32", "i16x2", "f64"}) {
    const Layout layout = parse_record(record).value();
    auto model = pack_model(1, 2);
    model.section.coder = Coder::ans;
    const std::vector<TestChunk> chunks = {
        make_chunk(layout, make_values(layout, 9000, Pattern::smooth), model),
        make_chunk(layout, make_values(layout, 300, Pattern::smooth), model)};
    for (const std::uint64_t page_groups : {0, 1, 2, 5, 9, 18, 36, 1 << 20}) {
      const ChunkKinds kinds = needs([&](ChunkKinds& of) {
        of.page_coders = kAnsBit;
        of.page_groups = page_groups;
      });
      const DeviceOutcome outcome = decode_on_device(chunks, layout, 0, 2, 6, 0, kinds);
      ASSERT_EQ(outcome.status.size(), chunks.size());
      for (std::size_t i = 0; i < chunks.size(); ++i) {
        EXPECT_EQ(outcome.status[i].code, static_cast<int>(Errc::ok)) << record << page_groups;
        EXPECT_TRUE(outcome.contents[i] == chunks[i].values) << record << page_groups;
      }
    }
  }
}

TEST(CudaKindsSmall, LeavesZstdToTheHostWhateverElseTheChunkHas) {
  GDELTA_NEEDS_GPU();
  const Layout layout{{{ValueType::u16, 2, false}, {ValueType::i32, 1, false}}};
  const Bytes values = make_values(layout, 900, Pattern::repeated);
  ChunkPlan plan;
  plan.columns.assign(2, pack_model(1));
  plan.columns[0].section.coder = Coder::raw;
  plan.columns[1].section.coder = Coder::zstd;
  const std::vector<TestChunk> chunks = {{encode_chunk(values, layout, false, plan), values}};
  const auto parsed = format::parse_chunk_block(chunks[0].block, 0, layout);
  ASSERT_TRUE(parsed);
  ASSERT_EQ(parsed->columns[1].model.section.coder, Coder::zstd);
  const DeviceOutcome outcome = decode_on_device(chunks, layout, 0, 1, 6, 0, kNoChunkKinds);
  EXPECT_EQ(outcome.status.at(0).code, static_cast<int>(Errc::needs_host));
}

}  // namespace
}  // namespace gdelta::test
#endif
