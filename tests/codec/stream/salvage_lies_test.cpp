// Salvage of files whose indexes hold and lie: what blocks say themselves is never called another chunk's, and
// neither time nor zeros go beyond what files and limits allow.
#include "codec/faults/repair_checks.h"
#include "codec/random_streams.h"
#include "codec/stream/stream_tools.h"
#include "golden/plain_encoder.h"

namespace gdelta::test {
namespace {

using format::BlockTag;
using format::IndexEntry;

/// Opaque chunks, and entries that may say other things about them.
struct LyingFile {
  std::vector<Bytes> chunks;
  std::vector<Bytes> values;
  std::vector<IndexEntry> entries;

  void add(const Bytes& chunk_values) {
    values.push_back(chunk_values);
    chunks.push_back(plain::encode_chunk(chunk_values, byte_layout(), {plain::raw()}, true));
    entries.push_back(format::chunk_entry(chunks.back()));
  }
  Bytes bytes() const {
    Bytes file(format::kStreamHeader.begin(), format::kStreamHeader.end());
    for (const Bytes& chunk : chunks) file.insert(file.end(), chunk.begin(), chunk.end());
    Bytes index;
    for (const IndexEntry& entry : entries) format::append_index_entry(index, entry);
    format::append_end_block(file, entries.size(), index);
    return file;
  }
};

LyingFile eight_chunks() {
  LyingFile file;
  for (unsigned i = 0; i < 8; ++i) file.add(random_bytes(500 + 10 * i, i));
  return file;
}

Result<SalvageReport> salvage_filled(const Bytes& file, Bytes& out,
                                     const DecodeOptions& options = decode_on_cpu()) {
  SalvageOptions filling;
  filling.fill = true;
  return salvage_file(file_of(file), file.size(), append_to(out), options, filling);
}

/// Counts the bytes that are read of it.
struct CountedReads {
  ReadAt read;
  std::uint64_t bytes = 0;

  ReadAt counted() {
    return [this](std::uint64_t offset, std::span<std::byte> buffer) {
      auto got = read(offset, buffer);
      if (got) bytes += *got;
      return got;
    };
  }
};

Bytes joined(const std::vector<Bytes>& parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

TEST(SalvageLies, AChunkThatTheIndexCallsOtherwiseIsLost) {
  const LyingFile right = eight_chunks();
  for (int lie = 0; lie < 3; ++lie) {
    SCOPED_TRACE(lie);
    LyingFile file = right;
    IndexEntry& entry = file.entries[5];
    if (lie == 0) entry.check ^= 1;
    if (lie == 1) ++entry.block_bytes;
    if (lie == 2) entry.tag = BlockTag::chunk;
    Bytes out;
    const auto report = salvage_filled(file.bytes(), out);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->chunks, 7u);
    EXPECT_EQ(report->lost_chunks, 1u);
    std::vector<Bytes> values = right.values;
    values[5] = Bytes(lie == 2 ? 0 : values[5].size());  // of no layout
    EXPECT_TRUE(out == joined(values));
  }
}

TEST(SalvageLies, AnIndexThatKnowsNoChunkIsWorthNothing) {
  LyingFile file = eight_chunks();
  for (IndexEntry& entry : file.entries) entry.check ^= 1;
  Bytes out;
  const auto report = salvage_filled(file.bytes(), out);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->chunks, 8u);
  EXPECT_EQ(report->gaps, 1u);  // the end block
  EXPECT_TRUE(out == joined(file.values));
}

TEST(SalvageLies, ZerosForChunksThatNeverWereCountForTheOutputLimit) {
  LyingFile file = eight_chunks();
  const std::size_t whole = joined(file.values).size();
  for (int i = 0; i < 1000; ++i) {
    IndexEntry entry = file.entries[3];
    entry.check = static_cast<std::uint32_t>(i);
    entry.records = 1 << 28;
    file.entries.push_back(entry);
  }
  DecodeOptions options = decode_on_cpu();
  options.output_limit = whole + 1000;
  Bytes out;
  const auto report = salvage_filled(file.bytes(), out, options);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, Errc::output_limit);
  EXPECT_LE(out.size(), options.output_limit);
  EXPECT_TRUE(starts_with(out, joined(file.values)));
}

TEST(SalvageLies, ChunksThatOverlapTakeTimeInProportion) {
  // Each head says that the payload holds all that follows, and the index says so, too.
  for (const bool beyond_end : {false, true}) {
    LyingFile file;
    const Bytes long_chunk =
        plain::encode_chunk(Bytes(1 << 17), byte_layout(), {plain::raw()}, true);
    const std::size_t head_bytes = long_chunk.size() - (1 << 17);
    Bytes heads;
    for (int i = 0; i < 40000; ++i) {
      file.entries.push_back(format::chunk_entry(long_chunk));
      heads.insert(heads.end(), long_chunk.begin(),
                   long_chunk.begin() + static_cast<std::ptrdiff_t>(head_bytes));
      // Now and then bytes that are no head.
      heads.resize(heads.size() + static_cast<std::size_t>(i % 3));
    }
    file.chunks.push_back(heads);
    if (!beyond_end) file.chunks.push_back(Bytes(1 << 18));
    const Bytes bytes = file.bytes();
    CountedReads reads{file_of(bytes)};
    const auto report = salvage_file(
        reads.counted(), bytes.size(),
        [](std::span<const std::byte>) -> Result<void> { return {}; }, decode_on_cpu());
    ASSERT_TRUE(report);
    EXPECT_EQ(report->chunks, 0u);
    EXPECT_LT(reads.bytes, std::uint64_t{1} << 28);  // all of them would be five
  }
}

TEST(SalvageLies, ChunksThatTheIndexNamesElsewhereTakeTimeInProportion) {
  // In the file from the last to the first.
  LyingFile file;
  for (unsigned i = 0; i < 30000; ++i) file.add(random_bytes(20, i));
  std::reverse(file.chunks.begin(), file.chunks.end());
  const Bytes bytes = file.bytes();
  CountedReads reads{file_of(bytes)};
  Bytes out;
  const auto report = salvage_file(reads.counted(), bytes.size(), append_to(out), decode_on_cpu());
  ASSERT_TRUE(report);
  EXPECT_LT(reads.bytes, std::uint64_t{1} << 28);
}

TEST(SalvageLies, SplicedFilesWhoseIndexesAreRepairedAreSurvived) {
  const Bytes right = eight_chunks().bytes();
  LyingFile few;
  for (unsigned i = 0; i < 3; ++i) few.add(random_bytes(300, i));
  const Bytes other = few.bytes();
  for_random_seeds(2000, [&](std::uint64_t seed) {
    RandomDraws draws(seed);
    Bytes file = join({right, draws.one_in(2) ? other : right, other});
    const BlockPlace end = find_blocks(other).back();
    const std::size_t last = file.size() - other.size();
    // What the last index says, and then anything before it.
    for (std::uint64_t i = draws.below(3); i > 0; --i)
      file[last + end.head_at + draws.below(end.head_bytes)] = static_cast<std::byte>(draws.bits());
    repair_check(file, {last + end.tag_at, last + end.head_at, end.head_bytes});
    const Bytes copied = file;
    for (std::uint64_t i = draws.below(4); i > 0; --i) {
      const auto at = static_cast<std::ptrdiff_t>(draws.below(last));
      const auto from = static_cast<std::ptrdiff_t>(draws.below(last));
      const auto count = static_cast<std::ptrdiff_t>(
          draws.below(last - static_cast<std::size_t>(std::max(at, from))));
      if (draws.one_in(2))
        std::copy_n(copied.begin() + from, count, file.begin() + at);
      else
        file[static_cast<std::size_t>(at)] = static_cast<std::byte>(draws.bits());
    }
    DecodeOptions options = decode_on_cpu();
    options.output_limit = 1 << 20;
    Bytes out;
    const auto report = salvage_filled(file, out, options);
    if (!report) {
      ASSERT_EQ(report.error().code, Errc::output_limit) << seed;
    } else {
      ASSERT_EQ(report->bytes + report->filled_bytes, out.size()) << seed;
    }
  });
}

}  // namespace
}  // namespace gdelta::test
