// Salvage goes on behind damage: from indexes, and by looking for the next block; it says what is
// missing, fills it if asked, and never gives a value that no checksum confirms.
#include <set>

#include "codec/faults/repair_checks.h"
#include "codec/stream/stream_tools.h"
#include "codec/stream/walk/byte_input.h"
#include "held_memory.h"
#include "mebibyte.h"

namespace gdelta::test {
namespace {

constexpr std::size_t kDamagedChunkBytes = 12 * 150;

/// What salvage gave and told.
struct Outcome {
  Bytes values;
  SalvageReport report;
  std::vector<SalvageGap> gaps;
};

enum class SalvageWay { pipe, file };

Outcome salvage(const Bytes& stream, SalvageWay way, bool fill = false,
                const DecodeOptions& options = decode_on_cpu()) {
  Outcome outcome;
  SalvageOptions salvaging;
  salvaging.fill = fill;
  salvaging.on_gap = [&outcome](const SalvageGap& gap) { outcome.gaps.push_back(gap); };
  const Sink sink = append_to(outcome.values);
  if (way == SalvageWay::file) {
    outcome.report =
        salvage_file(read_from(stream), stream.size(), sink, options, salvaging).value();
  } else {
    Reader reader(source_of(stream, {1, 7, 4096}), options);
    outcome.report = reader.salvage(sink, salvaging).value();
  }
  return outcome;
}

class SalvageBehindDamage : public ::testing::TestWithParam<SalvageWay> {
 protected:
  SalvageBehindDamage() {
    values_ = random_bytes(10 * kDamagedChunkBytes);
    EncodeOptions options = encode_on_cpu("i32x3");
    options.chunk_bytes = kDamagedChunkBytes;
    options.coder = Coder::raw;
    stream_ = compress(values_, options).value();
    info_ = inspect(stream_).value();
  }
  Outcome salvaged(const Bytes& stream, bool fill = false) const {
    return salvage(stream, GetParam(), fill);
  }
  /// The values without some chunks, or with zeros in their place.
  Bytes without(const std::set<std::uint64_t>& lost, bool fill = false) const {
    Bytes rest;
    for (const ChunkInfo& chunk : info_.chunks) {
      const auto begin = values_.begin() + static_cast<std::ptrdiff_t>(chunk.decoded_at);
      if (!lost.contains(chunk.number))
        rest.insert(rest.end(), begin, begin + static_cast<std::ptrdiff_t>(chunk.decoded_bytes));
      else if (fill)
        rest.resize(rest.size() + chunk.decoded_bytes);
    }
    return rest;
  }
  bool is_file() const { return GetParam() == SalvageWay::file; }

  Bytes values_;
  Bytes stream_;
  StreamInfo info_;
};

INSTANTIATE_TEST_SUITE_P(Ways, SalvageBehindDamage,
                         ::testing::Values(SalvageWay::pipe, SalvageWay::file),
                         [](const auto& way) {
                           return way.param == SalvageWay::pipe ? "pipe" : "file";
                         });

TEST_P(SalvageBehindDamage, EveryFlippedByteCostsAtMostItsChunk) {
  for (std::size_t at = 0; at < stream_.size(); at += at % 100 < 40 ? 1 : 7) {
    SCOPED_TRACE(at);
    Bytes damaged = stream_;
    damaged[at] ^= std::byte{0x5a};
    const Outcome outcome = salvaged(damaged);
    ASSERT_TRUE(outcome.report.error);
    std::set<std::uint64_t> lost;
    for (const ChunkInfo& chunk : info_.chunks)
      if (at >= chunk.byte && at < chunk.byte + chunk.block_bytes) lost.insert(chunk.number);
    const bool no_layout = at >= 6 && at < info_.chunks[0].byte && !is_file();
    if (no_layout) {
      ASSERT_TRUE(outcome.values.empty());
    } else {
      ASSERT_TRUE(outcome.values == without(lost));
      ASSERT_EQ(outcome.report.chunks, info_.chunks.size() - lost.size());
      ASSERT_EQ(outcome.report.lost_chunks, lost.size());
      ASSERT_EQ(outcome.report.gaps, 1u);
    }
  }
}

TEST_P(SalvageBehindDamage, GapsAreToldWithChunkPlaceAndLengthAndFilled) {
  Bytes damaged = stream_;
  const std::set<std::uint64_t> lost = {2, 5, 6};
  for (const std::uint64_t number : lost)
    damaged[info_.chunks[number].byte + info_.chunks[number].block_bytes - 3] ^= std::byte{1};
  for (const bool fill : {false, true}) {
    const Outcome outcome = salvaged(damaged, fill);
    EXPECT_TRUE(outcome.values == without(lost, fill));
    EXPECT_EQ(outcome.report.chunks, 7u);
    EXPECT_EQ(outcome.report.bytes, 7 * kDamagedChunkBytes);
    EXPECT_EQ(outcome.report.lost_chunks, 3u);
    EXPECT_EQ(outcome.report.filled_bytes, fill ? 3 * kDamagedChunkBytes : 0u);
    ASSERT_EQ(outcome.gaps.size(), 3u);
    std::size_t i = 0;
    for (const std::uint64_t number : lost) {
      const SalvageGap& gap = outcome.gaps[i++];
      EXPECT_EQ(gap.reason.chunk, number);
      EXPECT_GT(gap.reason.byte, info_.chunks[number].byte);  // the part
      EXPECT_LT(gap.reason.byte, info_.chunks[number].byte + info_.chunks[number].block_bytes);
      EXPECT_EQ(gap.reason.code, Errc::corrupt);
      EXPECT_EQ(gap.decoded_bytes, kDamagedChunkBytes);
      EXPECT_EQ(gap.decoded_at,
                fill ? number * kDamagedChunkBytes : (number - i + 1) * kDamagedChunkBytes);
    }
  }
}

TEST_P(SalvageBehindDamage, AnIndexTellsTheLengthOfChunksWithoutHeads) {
  Bytes damaged = stream_;
  for (const std::size_t number : {3, 4}) damaged[info_.chunks[number].byte + 1] ^= std::byte{2};
  const Outcome outcome = salvaged(damaged, true);
  EXPECT_TRUE(outcome.values == without({3, 4}, is_file()));
  ASSERT_EQ(outcome.gaps.size(), 1u);
  const SalvageGap& gap = outcome.gaps[0];
  EXPECT_EQ(gap.reason.chunk, 3u);
  EXPECT_EQ(gap.reason.byte, info_.chunks[3].byte);
  EXPECT_EQ(gap.decoded_at, 3 * kDamagedChunkBytes);
  if (is_file()) {
    EXPECT_EQ(gap.chunks, 2u);
    EXPECT_EQ(gap.decoded_bytes, 2 * kDamagedChunkBytes);
  } else {
    EXPECT_EQ(gap.chunks, 1u);  // at least
    EXPECT_FALSE(gap.decoded_bytes);
  }
}

TEST_P(SalvageBehindDamage, AnIndexThatNamesMoreThanCouldBeReadIsNotDamage) {
  // Of the blocks before the end block all but a few are gone, so that its index is longer than any
  // that they would have.
  for (const std::size_t lost_chunks : {1, 2, 9}) {
    SCOPED_TRACE(lost_chunks);
    Bytes damaged = join({stream_, stream_});
    std::set<std::uint64_t> lost;
    for (std::size_t number = 0; number < lost_chunks; ++number) {
      damaged[info_.chunks[number].byte + 1] ^= std::byte{2};
      lost.insert(number);
    }
    const Outcome outcome = salvaged(damaged);
    EXPECT_TRUE(outcome.values == join({without(lost), values_}));
    EXPECT_EQ(outcome.report.gaps, 1u);
    EXPECT_EQ(outcome.report.error->chunk, 0u);
  }
}

TEST_P(SalvageBehindDamage, TheIndexOfTheStreamBehindTheDamagedOneIsComparedAgain) {
  Bytes second = stream_;
  const BlockPlace end = find_blocks(second).back();
  ASSERT_EQ(second[end.head_at], std::byte{11});  // a layout and ten chunks
  second[end.head_at] = std::byte{10};
  repair_check(second, end);
  Bytes damaged = join({stream_, second});
  damaged[info_.chunks[3].byte + 1] ^= std::byte{2};
  const Outcome outcome = salvaged(damaged);
  EXPECT_TRUE(outcome.values == join({without({3}), values_}));
  ASSERT_EQ(outcome.gaps.size(), 2u);
  EXPECT_EQ(outcome.gaps[1].reason.byte, stream_.size() + end.tag_at);
  EXPECT_EQ(outcome.gaps[1].chunks, 0u);
}

TEST_P(SalvageBehindDamage, TheMemoryLimitHoldsForBatchesAndForEveryChunk) {
  GDELTA_NEEDS_COUNTED_MEMORY();
  EncodeOptions encode = encode_on_cpu("u8");
  encode.level = 1;
  encode.coder = Coder::raw;
  encode.chunk_bytes = 12 * kMiB;
  const Bytes long_chunk = compress(random_bytes(12 * kMiB), encode).value();
  encode.chunk_bytes = kMiB / 2;
  const Bytes short_chunks = compress(random_bytes(16 * kMiB), encode).value();
  const Bytes stream = join({long_chunk, short_chunks});
  DecodeOptions options = decode_on_cpu();
  options.memory_limit = 4 * kMiB;
  std::vector<SalvageGap> gaps;
  SalvageOptions salvaging;
  salvaging.on_gap = [&gaps](const SalvageGap& gap) { gaps.push_back(gap); };
  std::uint64_t kept = 0;
  const Sink count = [&kept](std::span<const std::byte> values) -> Result<void> {
    kept += values.size();
    return {};
  };
  const HeldMemory held;
  if (is_file()) {
    ASSERT_TRUE(salvage_file(read_from(stream), stream.size(), count, options, salvaging));
  } else {
    ASSERT_TRUE(Reader(source_of(stream), options).salvage(count, salvaging));
  }
  EXPECT_LE(held.peak(), options.memory_limit + 6 * kMiB);
  EXPECT_EQ(kept, 16 * kMiB);
  ASSERT_EQ(gaps.size(), 1u);
  EXPECT_EQ(gaps[0].reason.code, Errc::memory_limit);
  EXPECT_EQ(gaps[0].reason.chunk, 0u);
  EXPECT_EQ(gaps[0].decoded_bytes, 12 * kMiB);
}

TEST_P(SalvageBehindDamage, BytesCutOutOrPutInCostWhatTheyTouch) {
  const std::uint64_t inside = info_.chunks[4].byte + info_.chunks[4].block_bytes / 2;
  Bytes cut = stream_;
  cut.erase(cut.begin() + static_cast<std::ptrdiff_t>(inside),
            cut.begin() + static_cast<std::ptrdiff_t>(inside + 100));
  // Through a pipe the block behind the cut has passed before the damage shows.
  EXPECT_TRUE(salvaged(cut).values == (is_file() ? without({4}) : without({4, 5})));
  Bytes longer = stream_;
  longer.insert(longer.begin() + static_cast<std::ptrdiff_t>(inside), 100, std::byte{1});
  EXPECT_TRUE(salvaged(longer).values == without({4}));
}

TEST_P(SalvageBehindDamage, ATruncatedFileThatIsDamagedTooGivesItsWholeChunks) {
  Bytes damaged = stream_;
  damaged.resize(info_.chunks[8].byte + 100);
  damaged[info_.chunks[1].byte] ^= std::byte{0x40};
  damaged[info_.chunks[6].byte + 5] ^= std::byte{0x40};
  const Outcome outcome = salvaged(damaged);
  EXPECT_TRUE(outcome.values == without({1, 6, 8, 9}));
  EXPECT_EQ(outcome.report.chunks, 6u);
  EXPECT_EQ(outcome.report.lost_chunks, 3u);
}

TEST_P(SalvageBehindDamage, LaterStreamsSurviveTheDamageOfEarlierOnes) {
  const Bytes two = join({stream_, stream_});
  for (const std::size_t at :
       {std::size_t{0}, stream_.size() - 2, stream_.size() - 20, stream_.size() + 1}) {
    SCOPED_TRACE(at);
    Bytes damaged = two;
    damaged[at] ^= std::byte{0x11};
    const Outcome outcome = salvaged(damaged);
    EXPECT_TRUE(outcome.values == join({values_, values_}));
    EXPECT_TRUE(outcome.report.error);
    EXPECT_EQ(outcome.report.lost_chunks, 0u);
    EXPECT_EQ(outcome.report.gaps, 1u);
  }
}

TEST_P(SalvageBehindDamage, AStreamStoredInADamagedChunkIsNotTakenForTheFile) {
  // An archive with a compressed file in it, stored as it is: whole blocks lie inside a chunk.
  const Bytes archive = join({random_bytes(1000), stream_, random_bytes(20000 - stream_.size())});
  EncodeOptions options = encode_on_cpu("u8");
  options.coder = Coder::raw;
  options.chunk_bytes = 40000;
  Bytes outer = compress(join({archive, archive, archive}), options).value();
  const StreamInfo info = inspect(outer).value();
  for (const bool with_index : {true, false}) {
    Bytes damaged = outer;
    damaged[info.chunks[0].byte + 3] ^= std::byte{1};
    if (!with_index) damaged.resize(damaged.size() - 1);
    const Outcome outcome = salvaged(damaged);
    const Bytes all = join({archive, archive, archive});
    const Bytes second(all.begin() + static_cast<std::ptrdiff_t>(info.chunks[1].decoded_at),
                       all.end());
    if (is_file() && with_index) {
      EXPECT_TRUE(outcome.values == second);
    } else {
      EXPECT_TRUE(outcome.values.empty());
    }
  }
}

TEST_P(SalvageBehindDamage, ContentIsVerifiedWhateverTheOptionsSay) {
  Bytes damaged = stream_;
  damaged[info_.chunks[3].byte + 100] ^= std::byte{1};
  DecodeOptions options = decode_on_cpu();
  options.verify = false;
  EXPECT_TRUE(salvage(damaged, GetParam(), false, options).values == without({3}));
}

TEST_P(SalvageBehindDamage, ZerosCountForTheOutputLimit) {
  Bytes damaged = stream_;
  damaged[info_.chunks[3].byte + 100] ^= std::byte{1};
  DecodeOptions options = decode_on_cpu();
  options.output_limit = values_.size() - 1;
  SalvageOptions filling;
  filling.fill = true;
  Bytes out;
  Reader reader(source_of(damaged), options);
  EXPECT_EQ(reader.salvage(append_to(out), filling).error().code, Errc::output_limit);
}

TEST_P(SalvageBehindDamage, HostileBytesTakeTimeAndMemoryInProportion) {
  GDELTA_NEEDS_COUNTED_MEMORY();
  // Every byte may begin an end block, or a layout, whose head goes far.
  Bytes hostile(stream_.begin(), stream_.begin() + 15);
  for (int i = 0; i < 300000; ++i) {
    hostile.push_back(std::byte{4});
    hostile.push_back(std::byte{0xff});
    hostile.push_back(std::byte{0xff});
    hostile.push_back(std::byte{0x3f});
  }
  DecodeOptions options = decode_on_cpu();
  options.memory_limit = 1 << 20;
  const HeldMemory held;
  const Outcome outcome = salvage(hostile, GetParam(), false, options);
  EXPECT_TRUE(outcome.values.empty());
  EXPECT_LE(held.peak(), 32u << 20);
}

}  // namespace
}  // namespace gdelta::test
