// Salvage of files whose indexes are whole: wherever bytes came in or went missing, every chunk that is
// whole stands at its place, and all that is missing is counted.
#include "codec/faults/repair_checks.h"
#include "codec/random_streams.h"
#include "codec/stream/stream_tools.h"

namespace gdelta::test {
namespace {

/// A chunk of a file that was whole.
struct ChunkOfFile {
  std::uint64_t byte;
  std::uint64_t block_bytes;
  std::uint64_t decoded_at;
  std::uint64_t decoded_bytes;
  bool is_touched = false;  // by damage
};

/// A file of several streams that is damaged step by step, and what should be left of it.
class DamagedFile {
 public:
  DamagedFile() = default;

  void add_stream(const Bytes& stream, const Bytes& values) {
    const StreamInfo info = inspect(stream).value();
    for (const ChunkInfo& chunk : info.chunks)
      chunks_.push_back({.byte = file_.size() + chunk.byte,
                         .block_bytes = chunk.block_bytes,
                         .decoded_at = values_.size() + chunk.decoded_at,
                         .decoded_bytes = chunk.decoded_bytes});
    const auto blocks = find_blocks(stream);
    ends_.push_back({file_.size() + blocks.back().tag_at, file_.size() + stream.size()});
    file_.insert(file_.end(), stream.begin(), stream.end());
    values_.insert(values_.end(), values.begin(), values.end());
  }

  /// Ones after the other, from the back to the front of the file: places are those of the whole file.
  void put_in(std::uint64_t at, const Bytes& bytes) {
    for (ChunkOfFile& chunk : chunks_)
      if (at > chunk.byte && at < chunk.byte + chunk.block_bytes) chunk.is_touched = true;
    file_.insert(file_.begin() + static_cast<std::ptrdiff_t>(at), bytes.begin(), bytes.end());
  }
  void cut_out(std::uint64_t at, std::uint64_t bytes) {
    for (ChunkOfFile& chunk : chunks_)
      if (at < chunk.byte + chunk.block_bytes && at + bytes > chunk.byte) chunk.is_touched = true;
    const auto begin = file_.begin() + static_cast<std::ptrdiff_t>(at);
    file_.erase(begin, begin + static_cast<std::ptrdiff_t>(bytes));
  }
  void swap_chunks(std::size_t first, std::size_t second) {
    const ChunkOfFile a = chunks_[first], b = chunks_[second];
    const auto block = [&](const ChunkOfFile& chunk) {
      const auto begin = file_.begin() + static_cast<std::ptrdiff_t>(chunk.byte);
      return Bytes(begin, begin + static_cast<std::ptrdiff_t>(chunk.block_bytes));
    };
    const Bytes block_a = block(a), block_b = block(b);
    cut_out(b.byte, b.block_bytes);
    put_in(b.byte, block_a);
    cut_out(a.byte, a.block_bytes);
    put_in(a.byte, block_b);
  }

  /// Whether bytes from `at` to before `end` touch no end block, which has the index.
  bool indexes_stay(std::uint64_t at, std::uint64_t end) const {
    return end <= ends_.back().second &&
           std::none_of(ends_.begin(), ends_.end(),
                        [&](const auto& e) { return at < e.second && end > e.first; });
  }

  /// That salvage gives what should be left, with zeros for the rest, and counts right.
  void expect_all_at_their_places() const {
    Bytes filled;
    const SalvageReport report = salvage(true, filled);
    ASSERT_EQ(filled.size(), values_.size());
    const Bytes nothing(values_.size());
    for (const ChunkOfFile& chunk : chunks_) {
      const auto is_there = [&](const Bytes& bytes) {
        const auto at = static_cast<std::ptrdiff_t>(chunk.decoded_at);
        return std::equal(bytes.begin() + at,
                          bytes.begin() + at + static_cast<std::ptrdiff_t>(chunk.decoded_bytes),
                          filled.begin() + at);
      };
      ASSERT_TRUE(is_there(values_) || (chunk.is_touched && is_there(nothing))) << chunk.byte;
    }
    EXPECT_EQ(report.chunks + report.lost_chunks, chunks_.size());
    EXPECT_EQ(report.bytes + report.filled_bytes, values_.size());
    EXPECT_TRUE(report.error);
    Bytes kept;
    const SalvageReport without = salvage(false, kept);
    EXPECT_EQ(without.bytes, kept.size());
    EXPECT_EQ(without.chunks, report.chunks);
    EXPECT_EQ(without.lost_chunks, report.lost_chunks);
  }

  SalvageReport salvage(bool fill, Bytes& out) const {
    SalvageOptions salvaging;
    salvaging.fill = fill;
    return salvage_file(file_of(file_), file_.size(), append_to(out), decode_on_cpu(), salvaging)
        .value();
  }

  std::uint64_t size() const { return file_.size(); }
  const std::vector<ChunkOfFile>& chunks() const { return chunks_; }
  const Bytes& bytes() const { return file_; }
  const Bytes& values() const { return values_; }

 private:
  Bytes file_;
  Bytes values_;
  std::vector<ChunkOfFile> chunks_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ends_;
};

constexpr std::size_t kIndexedChunkBytes = 4096;

void add_walk(DamagedFile& file, std::size_t chunks, unsigned seed, Coder coder = Coder::pack) {
  const Bytes values = walk_bytes(chunks * kIndexedChunkBytes - 100, seed);
  EncodeOptions options = encode_on_cpu("i32");
  options.level = 1;
  options.coder = coder;
  options.chunk_bytes = kIndexedChunkBytes;
  file.add_stream(compress(values, options).value(), values);
}

DamagedFile walks(std::size_t streams, unsigned seed, bool equal = false) {
  DamagedFile file;
  for (std::size_t i = 0; i < streams; ++i)
    add_walk(file, 15, equal ? seed : seed + static_cast<unsigned>(i),
             i % 2 == 1 && !equal ? Coder::raw : Coder::pack);
  return file;
}

/// So many places where bytes come in or go, the last first.
void damage(DamagedFile& file, RandomDraws& draws, int places) {
  std::vector<std::uint64_t> at;
  for (int i = 0; i < places; ++i) at.push_back(1 + draws.below(file.size() - 1));
  std::sort(at.rbegin(), at.rend());
  std::uint64_t before = ~std::uint64_t{0};
  for (const std::uint64_t place : at) {
    const std::uint64_t bytes = 1 + draws.below(std::uint64_t{1} << (1 + draws.below(14))) % 20000;
    const bool cuts = draws.one_in(2);
    const std::uint64_t end = cuts ? place + bytes : place;
    if (end > before || !file.indexes_stay(place, end)) continue;
    before = place;
    if (cuts)
      file.cut_out(place, bytes);
    else
      file.put_in(place, random_bytes(bytes, static_cast<unsigned>(draws.bits())));
  }
}

void expect_places_after_damage(std::size_t streams, bool equal, int places, std::uint64_t seeds) {
  const DamagedFile whole = walks(streams, 7, equal);
  for_random_seeds(seeds, [&](std::uint64_t seed) {
    SCOPED_TRACE(seed);
    DamagedFile file = whole;
    RandomDraws draws(seed);
    damage(file, draws, places);
    if (file.bytes() == whole.bytes()) return;
    file.expect_all_at_their_places();
  });
}

TEST(SalvageIndex, OneByteInAPayloadCostsItsChunk) {
  DamagedFile file = walks(1, 1);
  const ChunkOfFile chunk = file.chunks()[3];
  file.put_in(chunk.byte + chunk.block_bytes / 2, {std::byte{0x0d}});
  file.expect_all_at_their_places();
  Bytes out;
  const SalvageReport report = file.salvage(true, out);
  EXPECT_EQ(report.chunks, 14u);
  EXPECT_EQ(report.lost_chunks, 1u);
}

TEST(SalvageIndex, BytesPutInOrCutOutOfAStreamMoveNothing) {
  expect_places_after_damage(1, false, 1, 300);
}

TEST(SalvageIndex, BytesPutInOrCutOutOfJoinedStreamsMoveNothing) {
  expect_places_after_damage(3, false, 1, 300);
}

TEST(SalvageIndex, BytesPutInOrCutOutOfEqualStreamsMoveNothing) {
  expect_places_after_damage(3, true, 1, 200);
}

TEST(SalvageIndex, SeveralPlacesOfAStreamMoveNothing) {
  expect_places_after_damage(1, false, 3, 300);
}

TEST(SalvageIndex, SeveralPlacesOfJoinedStreamsMoveNothing) {
  expect_places_after_damage(3, false, 5, 300);
}

TEST(SalvageIndex, SeveralPlacesOfEqualStreamsMoveNothing) {
  expect_places_after_damage(3, true, 4, 200);
}

TEST(SalvageIndex, ChunksThatWereCutOutAreFilled) {
  const DamagedFile whole = walks(3, 3);
  for (std::size_t first = 0; first < whole.chunks().size(); ++first)
    for (const std::size_t count : {1, 2, 5}) {
      SCOPED_TRACE(std::to_string(first) + " " + std::to_string(count));
      DamagedFile file = whole;
      if (first / 15 != (first + count - 1) / 15) continue;
      for (std::size_t i = first + count; i-- > first;)
        file.cut_out(whole.chunks()[i].byte, whole.chunks()[i].block_bytes);
      file.expect_all_at_their_places();
    }
}

TEST(SalvageIndex, ChunksThatWereCutOutOfSeveralStreamsAreFilled) {
  for (const bool equal : {false, true}) {
    DamagedFile file = walks(3, 3, equal);
    const std::vector<ChunkOfFile> chunks = file.chunks();
    for (const std::size_t number : {33, 20, 4})
      file.cut_out(chunks[number].byte, chunks[number].block_bytes);
    file.expect_all_at_their_places();
  }
}

TEST(SalvageIndex, SwappedChunksMoveNoOthers) {
  for (const Coder coder : {Coder::pack, Coder::raw})
    for (const auto& [first, second] : {std::pair(3, 4), std::pair(3, 5), std::pair(0, 13)}) {
      SCOPED_TRACE(std::to_string(first) + " " + std::to_string(second));
      DamagedFile file;
      add_walk(file, 15, 2, coder);
      file.swap_chunks(static_cast<std::size_t>(first), static_cast<std::size_t>(second));
      file.expect_all_at_their_places();
    }
}

TEST(SalvageIndex, AChunkThatStandsThereTwiceIsGivenOnce) {
  for (const std::size_t copied : {0, 3, 7, 14})
    for (const std::size_t before : {1, 5, 14}) {
      SCOPED_TRACE(std::to_string(copied) + " " + std::to_string(before));
      DamagedFile file = walks(1, 4);
      const ChunkOfFile chunk = file.chunks()[copied];
      const auto begin = file.bytes().begin() + static_cast<std::ptrdiff_t>(chunk.byte);
      file.put_in(file.chunks()[before].byte,
                  Bytes(begin, begin + static_cast<std::ptrdiff_t>(chunk.block_bytes)));
      file.expect_all_at_their_places();
    }
}

TEST(SalvageIndex, OfEqualChunksAsManyComeOutAsThereWere) {
  // Nobody can tell which of them are missing.
  EncodeOptions options = encode_on_cpu("i32");
  options.chunk_bytes = kIndexedChunkBytes;
  const Bytes values(20 * kIndexedChunkBytes, std::byte{7});
  DamagedFile whole;
  whole.add_stream(compress(values, options).value(), values);
  ASSERT_EQ(whole.chunks()[3].block_bytes, whole.chunks()[9].block_bytes);
  for_random_seeds(200, [&](std::uint64_t seed) {
    SCOPED_TRACE(seed);
    DamagedFile file = whole;
    RandomDraws draws(seed);
    damage(file, draws, 2);
    Bytes out;
    const SalvageReport report = file.salvage(true, out);
    ASSERT_EQ(out.size(), values.size());
    EXPECT_EQ(report.chunks + report.lost_chunks, 20u);
    EXPECT_EQ(static_cast<std::uint64_t>(std::count(out.begin(), out.end(), std::byte{7})),
              report.bytes);
  });
}

TEST(SalvageIndex, AnIndexWhoseStreamIsAnotherOneSaysNothingOfAChunk) {
  // The first stream ends in the midst of a chunk; behind it is one that is whole.
  const DamagedFile first = walks(1, 1);
  const DamagedFile second = walks(1, 2);
  const ChunkOfFile& cut = first.chunks()[8];
  Bytes file(first.bytes().begin(), first.bytes().begin() + static_cast<std::ptrdiff_t>(cut.byte));
  file.resize(file.size() + cut.block_bytes / 2);
  file.insert(file.end(), second.bytes().begin(), second.bytes().end());
  Bytes out;
  const auto report = salvage_file(file_of(file), file.size(), append_to(out), decode_on_cpu());
  ASSERT_TRUE(report);
  const Bytes whole(first.values().begin(),
                    first.values().begin() + static_cast<std::ptrdiff_t>(cut.decoded_at));
  EXPECT_TRUE(out == join({whole, second.values()}));
}

}  // namespace
}  // namespace gdelta::test
