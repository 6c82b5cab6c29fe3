// Input that is not what a writer wrote: every truncation, every bit flip, random bytes, fields at
// their extremes behind checks that hold, and sizes that promise more than there is.
#include "golden/golden_cases.h"
#include "repair_checks.h"
#include "stream_tools.h"

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
  const Salvaged salvaged = salvage_stream(damaged, tight());
  ASSERT_EQ(salvaged.report.error.has_value(), !whole);
  if (!whole) {
    ASSERT_EQ(salvaged.report.error->to_string(), whole.error().to_string());
  }
  ASSERT_TRUE(starts_with(values, salvaged.values));
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
      const Salvaged salvaged = salvage_stream(cut, tight());
      ASSERT_TRUE(starts_with(golden.values, salvaged.values)) << length;
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
Bytes stream_of(format::BlockTag tag, const Bytes& head, const Bytes& payload = {}) {
  Bytes stream(format::kStreamHeader.begin(), format::kStreamHeader.end());
  if (tag == format::BlockTag::chunk) {
    format::append_block(stream, format::BlockTag::layout,
                         join({varint(1), number(1, 6), number(1, 2)}));  // i32x2
  }
  format::append_block(stream, tag, head);
  stream.insert(stream.end(), payload.begin(), payload.end());
  format::append_end_block(stream, 0, {});
  return stream;
}

Errc error_of(const Bytes& stream) {
  const auto whole = decompress(stream, tight());
  return whole ? Errc::ok : whole.error().code;
}

TEST(Hostile, LayoutsOutOfRangeAreRefused) {
  const auto layout = [](const Bytes& head) {
    return error_of(stream_of(format::BlockTag::layout, head));
  };
  EXPECT_EQ(layout(join({varint(1), number(1, 0x86), number(1, 64)})), Errc::ok);
  EXPECT_EQ(layout({}), Errc::corrupt);
  EXPECT_EQ(layout(varint(0)), Errc::corrupt);
  EXPECT_EQ(layout(varint(1)), Errc::corrupt);
  EXPECT_EQ(layout(varint(4097)), Errc::corrupt);
  EXPECT_EQ(layout(varint(~0ull)), Errc::corrupt);
  EXPECT_EQ(layout(join({varint(1), number(1, 14), number(1, 1)})), Errc::unsupported_feature);
  EXPECT_EQ(layout(join({varint(1), number(1, 0xff), number(1, 1)})), Errc::unsupported_feature);
  EXPECT_EQ(layout(join({varint(1), number(1, 6), number(1, 0)})), Errc::corrupt);
  EXPECT_EQ(layout(join({varint(1), number(1, 6), number(1, 65)})), Errc::corrupt);
  EXPECT_EQ(layout(join({varint(1), number(1, 6), number(1, 1), number(1, 0)})), Errc::corrupt);
  Bytes widest = varint(128);
  for (int i = 0; i < 128; ++i) widest = join({widest, number(1, 13), number(1, 64)});
  EXPECT_EQ(layout(widest), Errc::ok);
  Bytes too_wide = join({varint(129), Bytes(widest.begin() + 2, widest.end()), number(2, 0x0101)});
  EXPECT_EQ(layout(too_wide), Errc::corrupt);
}

TEST(Hostile, ChunkFieldsOutOfRangeAreRefused) {
  const Bytes sixteen = walk_bytes(16);
  const Bytes content = number(8, plain::content_checksum(sixteen));
  const auto chunk = [&](const Bytes& models, std::uint64_t records = 2,
                         std::uint64_t payload_bytes = 16, const Bytes& more = {}) {
    return error_of(stream_of(format::BlockTag::chunk,
                              join({varint(records), varint(payload_bytes), content, models, more}),
                              sixteen));
  };
  const Bytes raw_model = number(1, 0);
  EXPECT_EQ(chunk(raw_model), Errc::ok);
  EXPECT_EQ(chunk(raw_model, 0, 0), Errc::corrupt);
  EXPECT_EQ(chunk(raw_model, 3), Errc::corrupt);
  EXPECT_EQ(chunk(raw_model, 4, 32), Errc::truncated);
  EXPECT_EQ(chunk(raw_model, 2, 15), Errc::corrupt);
  EXPECT_EQ(chunk(raw_model, 2, 17), Errc::corrupt);
  EXPECT_EQ(chunk(raw_model, 2, ~0ull), Errc::corrupt);
  EXPECT_EQ(chunk(raw_model, (1ull << 25) + 1), Errc::corrupt);
  EXPECT_EQ(chunk(raw_model, 1ull << 61), Errc::corrupt);  // times 8 bytes it wraps to nothing
  EXPECT_EQ(chunk(raw_model, ~0ull), Errc::corrupt);
  EXPECT_EQ(chunk(raw_model, 2, 16, number(1, 0)), Errc::corrupt);
  EXPECT_EQ(chunk({}), Errc::corrupt);
  EXPECT_EQ(chunk(number(1, 4)), Errc::unsupported_feature);
  EXPECT_EQ(chunk(number(1, 255)), Errc::unsupported_feature);

  const auto linked = [&](int coder, int map, const Bytes& orders, const Bytes& strides,
                          const Bytes& rest) {
    return chunk(join({number(1, static_cast<std::uint64_t>(coder)),
                       number(1, static_cast<std::uint64_t>(map)), orders, strides, rest}));
  };
  const Bytes no_strides = number(1, 0), order_1 = number(1, 1);
  const Bytes page = join({varint(1), number(4, 16)});
  const Bytes frame = join({number(1, 0), varint(16), varint(16)});
  EXPECT_EQ(linked(2, 1, order_1, no_strides, page), Errc::corrupt);  // ordered integers
  EXPECT_EQ(linked(2, 2, order_1, no_strides, page), Errc::unsupported_feature);
  EXPECT_EQ(linked(2, 0, number(1, 9), no_strides, page), Errc::corrupt);
  EXPECT_EQ(linked(2, 0, number(1, 254), no_strides, page), Errc::corrupt);
  EXPECT_EQ(linked(2, 0, join({number(1, 255), number(1, 8), number(1, 9)}), no_strides, page),
            Errc::corrupt);
  EXPECT_EQ(linked(2, 0, order_1, number(1, 3), page), Errc::corrupt);
  for (const std::uint64_t stride : {0ull, 1ull, 2ull, (1ull << 22) + 1, 1ull << 62, ~0ull})
    EXPECT_EQ(linked(2, 0, order_1, join({number(1, 1), varint(stride), number(1, 1)}), page),
              Errc::corrupt)
        << stride;
  for (const std::uint64_t groups : {0ull, 1025ull, 2049ull, 1ull << 32, 1ull << 63, ~0ull})
    EXPECT_EQ(linked(2, 0, order_1, no_strides, join({varint(groups), number(4, 16)})),
              Errc::corrupt)
        << groups;
  EXPECT_EQ(linked(2, 0, order_1, no_strides, join({varint(1), number(4, 15)})), Errc::corrupt);
  EXPECT_EQ(linked(2, 0, order_1, no_strides, join({varint(1), number(4, 0xffffffff)})),
            Errc::corrupt);
  EXPECT_EQ(linked(3, 0, order_1, no_strides, join({number(1, 2), varint(16), varint(16)})),
            Errc::unsupported_feature);
  for (const std::uint64_t bytes : {0ull, (1ull << 28) + 1, 1ull << 32, ~0ull})
    EXPECT_EQ(linked(3, 0, order_1, no_strides, join({number(1, 0), varint(bytes), varint(16)})),
              Errc::corrupt);
  for (const std::uint64_t bytes : {0ull, 15ull, 17ull, ~0ull})
    EXPECT_EQ(linked(3, 0, order_1, no_strides, join({number(1, 0), varint(16), varint(bytes)})),
              Errc::corrupt);
  EXPECT_EQ(linked(3, 0, order_1, no_strides, frame), Errc::corrupt);  // no zstd frame
}

TEST(Hostile, BlocksThatDoNotFitAreRefused) {
  const auto after_header = [](const Bytes& rest) {
    return error_of(
        join({Bytes(format::kStreamHeader.begin(), format::kStreamHeader.end()), rest}));
  };
  EXPECT_EQ(after_header(number(1, 0)), Errc::corrupt);
  EXPECT_EQ(after_header(number(1, 5)), Errc::corrupt);
  EXPECT_EQ(after_header(number(1, 1)), Errc::truncated);
  EXPECT_EQ(after_header(join({number(1, 1), varint((1 << 24) + 1)})), Errc::corrupt);
  EXPECT_EQ(after_header(join({number(1, 2), varint(~0ull)})), Errc::corrupt);
  EXPECT_EQ(after_header(join({number(1, 4), varint((1ull << 32) - 63)})), Errc::corrupt);
  EXPECT_EQ(after_header(join({number(1, 4), varint((1ull << 32) - 64)})), Errc::truncated);
  EXPECT_EQ(after_header(join({number(1, 1), number(2, 0x0080)})), Errc::corrupt);  // not shortest
  EXPECT_EQ(after_header(join({number(1, 1), Bytes(10, std::byte{0x80})})), Errc::corrupt);
  // A chunk before any layout.
  Bytes chunk;
  format::append_block(chunk, format::BlockTag::chunk,
                       join({varint(1), varint(1), number(8, 0), number(1, 0)}));
  EXPECT_EQ(after_header(join({chunk, number(1, 0)})), Errc::corrupt);
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

TEST(Hostile, WhatFollowsAStreamMustBeAStreamOrAFrame) {
  const Bytes stream = compress(walk_bytes(100), encode_on_cpu("i32")).value();
  EXPECT_EQ(error_of(join({stream, number(1, 0)})), Errc::corrupt);
  EXPECT_EQ(error_of(join({stream, number(4, 0)})), Errc::corrupt);
  EXPECT_EQ(error_of(join({stream, number(1, 0x89)})), Errc::truncated);
  EXPECT_EQ(error_of(join({stream, number(4, 0x184D2A50)})), Errc::truncated);
  EXPECT_EQ(error_of(join({stream, number(4, 0x184D2A50), number(4, 0xffffffff)})),
            Errc::truncated);
  EXPECT_EQ(error_of(join({number(4, 0x184D2A50), number(4, 0)})), Errc::not_gdelta);
  EXPECT_EQ(error_of({}), Errc::not_gdelta);
  EXPECT_EQ(error_of(walk_bytes(100)), Errc::not_gdelta);
  Bytes later = stream;
  later[4] = std::byte{1};
  EXPECT_EQ(error_of(later), Errc::unsupported_version);
  Bytes flagged = stream;
  flagged[5] = std::byte{0x80};
  EXPECT_EQ(error_of(flagged), Errc::unsupported_feature);
}

// ---- Sizes that promise more than there is

TEST(Hostile, APayloadThatIsNotThereIsNotAllocated) {
  constexpr std::uint64_t kRecords = kMaxChunkBytes / 8;
  const Bytes head = join({varint(kRecords), varint(kMaxChunkBytes), number(8, 0), number(1, 0)});
  Bytes stream = stream_of(format::BlockTag::chunk, head);
  DecodeOptions generous = decode_on_cpu();
  generous.memory_limit = ~0ull;
  EXPECT_EQ(decompress(stream, generous).error().code, Errc::truncated);
  EXPECT_EQ(read_stream(source_of(stream), generous).error().code, Errc::truncated);
  // Of a chunk that the limit forbids, nothing is read.
  EXPECT_EQ(read_stream(source_of(stream), tight()).error().code, Errc::memory_limit);
}

TEST(Hostile, ABombIsRefusedByTheMemoryLimit) {
  constexpr std::size_t kChunk = 1 << 20;
  plain::StreamBuilder builder;
  builder.layout(byte_layout());
  for (int i = 0; i < 20; ++i) builder.chunk(Bytes(kChunk), {plain::constant()});
  const Bytes bomb = builder.finish();
  EXPECT_LT(bomb.size(), 1000u);
  DecodeOptions options = tight();
  EXPECT_EQ(decompress(bomb, options).error().code, Errc::memory_limit);
  options.memory_limit = 20 * kChunk;
  EXPECT_EQ(decompress(bomb, options).value().size(), 20 * kChunk);
  // A reader holds one chunk at a time where the limit asks for it.
  options.memory_limit = kChunk + 100;
  EXPECT_EQ(read_stream(source_of(bomb), options).value().size(), 20 * kChunk);
  options.memory_limit = kChunk;
  const auto refused = read_stream(source_of(bomb), options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::memory_limit);
  EXPECT_EQ(refused.error().chunk, 0u);
  EXPECT_NE(refused.error().message.find("raise the limit"), std::string::npos);
}

TEST(Hostile, TheLargestChunkThatTheFormatAllowsIsRefusedByALowLimit) {
  const Bytes head = join({varint(kMaxChunkBytes / 8), varint(8), number(8, 0), number(1, 1)});
  const Bytes bomb = stream_of(format::BlockTag::chunk, head, Bytes(8));
  EXPECT_EQ(decompress(bomb, tight()).error().code, Errc::memory_limit);
  EXPECT_EQ(read_stream(source_of(bomb), tight()).error().code, Errc::memory_limit);
  EXPECT_EQ(decompress_range(bomb, 0, 1, tight()).error().code, Errc::memory_limit);
}

}  // namespace
}  // namespace gdelta::test
