// Input that is not what a writer wrote: every truncation, every bit flip, random bytes, bytes of
// heads at their extremes behind checks that hold, and sizes that promise more than there is. What
// is wrong with single fields stands in fault_cases.h.
#include "codec/faults/repair_checks.h"
#include "codec/stream/stream_tools.h"
#include "golden/golden_cases.h"
#include "golden/plain_encoder.h"
#include "held_memory.h"

namespace gdelta::test {
namespace {

constexpr std::uint64_t kTightLimit = 16 << 20;

DecodeOptions tight() {
  DecodeOptions options = decode_on_cpu();
  options.memory_limit = kTightLimit;
  return options;
}

/// Small streams of every coder, from the golden cases.
std::vector<plain::GoldenCase> small_cases(std::size_t most_bytes) {
  std::vector<plain::GoldenCase> small;
  for (plain::GoldenCase& golden : plain::golden_cases())
    if (golden.stream.size() <= most_bytes) small.push_back(std::move(golden));
  return small;
}

void expect_a_prefix(const Bytes& damaged, const Bytes& values) {
  const auto whole = decompress(damaged, tight());
  if (whole) {
    ASSERT_EQ(*whole, values);
  }
  Bytes read;
  Reader reader(source_of(damaged), tight());
  const auto done = reader.run(append_to(read));
  ASSERT_EQ(done.has_value(), whole.has_value());
  if (!whole) {
    ASSERT_EQ(done.error().to_string(), whole.error().to_string());
  }
  ASSERT_TRUE(starts_with(values, read));
  const Salvaged salvaged = salvage_stream(damaged, tight());
  ASSERT_EQ(salvaged.report.error.has_value(), !whole);
  if (!whole) {
    ASSERT_EQ(salvaged.report.error->to_string(), whole.error().to_string());
  }
  ASSERT_TRUE(starts_with(salvaged.values, read));
}

TEST(Hostile, EveryTruncationIsAnErrorWithAWholePrefix) {
  for (const plain::GoldenCase& golden : plain::golden_cases()) {
    SCOPED_TRACE(golden.name);
    const bool many = golden.name == "concatenated" || golden.name == "skippable_frames";
    for (std::size_t length = 0; length < golden.stream.size(); ++length) {
      const Bytes cut(golden.stream.begin(),
                      golden.stream.begin() + static_cast<std::ptrdiff_t>(length));
      // Cut after one of several streams, a file is whole.
      if (!many) {
        ASSERT_FALSE(decompress(cut, tight())) << length;
      }
      Bytes read;
      (void)Reader(source_of(cut), tight()).run(append_to(read));
      ASSERT_TRUE(starts_with(golden.values, read)) << length;
      const Salvaged salvaged = salvage_stream(cut, tight());
      ASSERT_TRUE(starts_with(salvaged.values, read)) << length;
    }
  }
}

TEST(Hostile, EverySingleBitFlipIsAnErrorWithAWholePrefix) {
  for (const plain::GoldenCase& golden : small_cases(400)) {
    SCOPED_TRACE(golden.name);
    for (std::size_t bit = 0; bit < 8 * golden.stream.size(); ++bit) {
      SCOPED_TRACE(bit);
      Bytes damaged = golden.stream;
      damaged[bit / 8] ^= std::byte{1} << (bit % 8);
      ASSERT_NO_FATAL_FAILURE(expect_a_prefix(damaged, golden.values));
    }
  }
}

TEST(Hostile, EveryByteOfEveryHeadAtItsExtremesIsSurvived) {
  for (const plain::GoldenCase& golden : small_cases(700)) {
    SCOPED_TRACE(golden.name);
    for (const BlockPlace& block : find_blocks(golden.stream))
      for (std::size_t at = block.head_at; at < block.check_at(); ++at)
        for (const int value : {0x00, 0x01, 0x09, 0x40, 0x7f, 0x80, 0xff}) {
          Bytes damaged = golden.stream;
          damaged[at] = static_cast<std::byte>(value);
          repair_check(damaged, block);
          const auto whole = decompress(damaged, tight());
          // Only what never had a meaning may differ without notice.
          if (whole) {
            ASSERT_EQ(*whole, golden.values) << at << ' ' << value;
          }
          DecodeOptions unverified = tight();
          unverified.verify = false;
          (void)decompress(damaged, unverified);
          (void)inspect(damaged);
        }
  }
}

TEST(Hostile, RandomBytesBehindAHeaderAreSurvived) {
  std::mt19937 random(5);
  for (int round = 0; round < 20000; ++round) {
    Bytes bytes = random_bytes(random() % 200, random());
    const Bytes start(format::kStreamHeader.begin(), format::kStreamHeader.end());
    if (round % 8 != 0) bytes = join({start, bytes});
    if (round % 2 != 0 && bytes.size() > 8) {
      bytes[6] = static_cast<std::byte>(1 + random() % 4);
      bytes[7] = static_cast<std::byte>(random() % bytes.size());
      repair_checks(bytes);
    }
    ASSERT_FALSE(decompress(bytes, tight()));
    ASSERT_FALSE(inspect(bytes));
    (void)salvage_stream(bytes, tight());
  }
}

TEST(Hostile, SplicedStreamsAreSurvived) {
  std::mt19937 random(6);
  const auto cases = small_cases(700);
  for (int round = 0; round < 5000; ++round) {
    const Bytes& a = cases[random() % cases.size()].stream;
    const Bytes& b = cases[random() % cases.size()].stream;
    Bytes spliced(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(random() % a.size()));
    spliced.insert(spliced.end(), b.begin() + static_cast<std::ptrdiff_t>(random() % b.size()),
                   b.end());
    for (int i = random() % 3; i > 0 && !spliced.empty(); --i)
      spliced[random() % spliced.size()] = static_cast<std::byte>(random());
    if (round % 2 != 0) repair_checks(spliced);
    DecodeOptions options = tight();
    options.verify = round % 4 < 2;
    (void)decompress(spliced, options);
    (void)inspect(spliced);
    (void)salvage_stream(spliced, options);
  }
}

// ---- Fields at their extremes, in streams that are otherwise as they should be

Bytes number(int bytes, std::uint64_t value) {
  Bytes out;
  format::append_le(out, bytes, value);
  return out;
}

Bytes varint(std::uint64_t value) {
  Bytes out;
  format::append_varint(out, value);
  return out;
}

/// A stream of one block with this head and payload.
Bytes stream_of(format::BlockTag tag, const Bytes& head, const Bytes& payload = {},
                std::optional<std::uint64_t> payload_bytes = {}) {
  Bytes stream(format::kStreamHeader.begin(), format::kStreamHeader.end());
  if (tag == format::BlockTag::chunk) {
    format::append_block(stream, format::BlockTag::layout,
                         join({varint(1), number(1, 6), number(1, 2), number(1, 0)}));  // i32x2
  }
  format::append_block(stream, tag, head, payload_bytes.value_or(payload.size()));
  stream.insert(stream.end(), payload.begin(), payload.end());
  format::append_end_block(stream, 0, {});
  return stream;
}

Errc error_of(const Bytes& stream) {
  const auto whole = decompress(stream, tight());
  return whole ? Errc::ok : whole.error().code;
}

TEST(Hostile, TheLayoutOfOneStreamIsNotThatOfTheNext) {
  const Bytes first = compress(walk_bytes(100), encode_on_cpu("i32")).value();
  const auto blocks = find_blocks(first);
  Bytes second = first;
  second.erase(second.begin() + static_cast<std::ptrdiff_t>(blocks[0].tag_at),
               second.begin() + static_cast<std::ptrdiff_t>(blocks[1].tag_at));
  EXPECT_EQ(error_of(join({first, second})), Errc::corrupt);
}

TEST(Hostile, AnIndexThatContradictsTheBlocksIsRefused) {
  EncodeOptions options = encode_on_cpu("u8");
  options.chunk_bytes = 50;
  const Bytes stream = compress(random_bytes(100), options).value();
  const BlockPlace end = find_blocks(stream).back();
  EXPECT_EQ(error_of(stream), Errc::ok);
  for (std::size_t at = end.head_at; at < end.check_at(); ++at)
    for (const int difference : {1, -1, 0x40}) {
      Bytes damaged = stream;
      damaged[at] = static_cast<std::byte>(std::to_integer<int>(damaged[at]) + difference);
      repair_check(damaged, end);
      EXPECT_EQ(error_of(damaged), Errc::corrupt);
      (void)inspect(damaged);
      (void)decompress_range(damaged, 10, 60, tight());
    }
  Bytes footer = stream;
  footer[footer.size() - 4] ^= std::byte{1};
  EXPECT_EQ(error_of(footer), Errc::corrupt);
}

// ---- Sizes that promise more than there is

TEST(Hostile, APayloadThatIsNotThereIsNotAllocated) {
  GDELTA_NEEDS_COUNTED_MEMORY();
  constexpr std::uint64_t kRecords = kMaxChunkBytes / 8;
  const Bytes model = join({varint(kMaxChunkBytes), number(1, 0), varint(0), number(4, 0)});
  const Bytes head = join({varint(kRecords), number(1, 0), varint(model.size()), model});
  Bytes stream = stream_of(format::BlockTag::chunk, head, {}, kMaxChunkBytes);
  DecodeOptions generous = decode_on_cpu();
  generous.memory_limit = ~0ull;
  const HeldMemory held;
  EXPECT_EQ(decompress(stream, generous).error().code, Errc::truncated);
  EXPECT_EQ(read_stream(source_of(stream), generous).error().code, Errc::truncated);
  // Of a chunk that the limit forbids, nothing is read.
  EXPECT_EQ(read_stream(source_of(stream), tight()).error().code, Errc::memory_limit);
  EXPECT_LE(held.peak(), 4u << 20);
}

TEST(Hostile, AHeadThatIsNotThereIsNotAllocated) {
  GDELTA_NEEDS_COUNTED_MEMORY();
  for (const auto tag : {format::BlockTag::chunk, format::BlockTag::layout}) {
    const Bytes stream = join({Bytes(format::kStreamHeader.begin(), format::kStreamHeader.end()),
                               number(1, static_cast<std::uint64_t>(tag)),
                               varint(format::max_head_bytes(tag)), varint(0)});
    const HeldMemory held;
    EXPECT_EQ(decompress(stream, decode_on_cpu()).error().code, Errc::truncated);
    EXPECT_EQ(read_stream(source_of(stream)).error().code, Errc::truncated);
    EXPECT_LE(held.peak(), 4u << 20);
  }
}

TEST(Hostile, ABombIsRefusedByTheMemoryLimit) {
  GDELTA_NEEDS_COUNTED_MEMORY();
  constexpr std::size_t kChunk = 1 << 20;
  plain::StreamBuilder builder;
  builder.layout(byte_layout());
  for (int i = 0; i < 20; ++i) builder.chunk(Bytes(kChunk), {plain::constant()});
  const Bytes bomb = builder.finish();
  EXPECT_LT(bomb.size(), 1000u);
  DecodeOptions options = tight();
  EXPECT_EQ(decompress(bomb, options).error().code, Errc::memory_limit);
  options.memory_limit = 20 * kChunk + 4096;
  EXPECT_EQ(decompress(bomb, options).value().size(), 20 * kChunk);
  // A reader holds one chunk at a time if the limit asks for it.
  options.memory_limit = kChunk + 4096;
  const HeldMemory held;
  std::uint64_t decoded = 0;
  ASSERT_TRUE(Reader(source_of(bomb), options).run([&](auto values) -> Result<void> {
    decoded += values.size();
    return {};
  }));
  EXPECT_EQ(decoded, 20 * kChunk);
  EXPECT_LE(held.peak(), 2 * kChunk - (kChunk >> 2));
  options.memory_limit = kChunk;
  const auto refused = read_stream(source_of(bomb), options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::memory_limit);
  EXPECT_EQ(refused.error().chunk, 0u);
  EXPECT_NE(refused.error().message.find("raise the limit"), std::string::npos);
}

TEST(Hostile, TheLargestChunkThatTheFormatAllowsIsRefusedByALowLimit) {
  const Bytes model = join({varint(8), number(1, 1), varint(0), number(4, 0)});
  const Bytes head = join({varint(kMaxChunkBytes / 8), number(1, 0), varint(model.size()), model});
  const Bytes bomb = stream_of(format::BlockTag::chunk, head, Bytes(8));
  EXPECT_EQ(decompress(bomb, tight()).error().code, Errc::memory_limit);
  EXPECT_EQ(read_stream(source_of(bomb), tight()).error().code, Errc::memory_limit);
  EXPECT_EQ(decompress_range(bomb, 0, 1, tight()).error().code, Errc::memory_limit);
}

}  // namespace
}  // namespace gdelta::test
