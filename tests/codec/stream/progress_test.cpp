// What a progress function is told: bytes of chunks that are done, chunk by chunk, to the last one;
// what becomes of the work when it says stop; and how many threads it is called from.
#include <time.h>

#include <algorithm>
#include <set>
#include <thread>

#include "codec/stream/stream_tools.h"

namespace gdelta::test {
namespace {

constexpr std::size_t kChunkBytes = 4096;
constexpr std::size_t kReportedChunks = 50;
constexpr std::size_t kTailBytes = 6;  // a chunk of a record and one of half a record
constexpr std::size_t kLongChunk = 8 << 20;
constexpr std::size_t kTotalBytes = kReportedChunks * kChunkBytes + kTailBytes;

/// Keeps what it is told, and says stop at a number of calls.
struct Listener {
  std::vector<std::uint64_t> told;
  std::set<std::thread::id> threads;
  std::size_t stop_after = ~std::size_t{0};

  static bool listen(std::uint64_t done, void* user) {
    auto& self = *static_cast<Listener*>(user);
    self.told.push_back(done);
    self.threads.insert(std::this_thread::get_id());
    return self.told.size() < self.stop_after;
  }
  template <class Options>
  Options heard(Options options) {
    told.clear();
    threads.clear();
    options.progress = listen;
    options.progress_user = this;
    return options;
  }
};

EncodeOptions fifty_chunks(int threads) {
  EncodeOptions options = encode_on_cpu("i32", threads);
  options.chunk_bytes = kChunkBytes;
  options.level = 1;
  return options;
}

void expect_every_chunk(const Listener& listener, const std::string& what) {
  SCOPED_TRACE(what);
  ASSERT_EQ(listener.told.size(), kReportedChunks + 2);
  for (std::size_t i = 1; i < listener.told.size(); ++i)
    EXPECT_GT(listener.told[i], listener.told[i - 1]);
  EXPECT_LE(listener.told.front(), kChunkBytes);
  EXPECT_EQ(listener.told.back(), kTotalBytes);
}

class Progress : public ::testing::Test {
 protected:
  Result<Bytes> range(std::uint64_t begin, std::uint64_t end, const DecodeOptions& options) const {
    return decompress_range(stream_, begin, end, options);
  }
  const Bytes values_ = walk_bytes(kTotalBytes);
  const Bytes stream_ = compress(values_, fifty_chunks(1)).value();
};

TEST_F(Progress, EveryChunkIsToldOnceAndTheLastNumberIsTheTotal) {
  Listener listener;
  for (const int threads : {1, 2}) {
    ASSERT_TRUE(compress(values_, listener.heard(fifty_chunks(threads))));
    expect_every_chunk(listener, "compress");
    ASSERT_TRUE(write_stream(values_, listener.heard(fifty_chunks(threads)), {1000}));
    expect_every_chunk(listener, "Writer");
    ASSERT_TRUE(decompress(stream_, listener.heard(decode_on_cpu(threads))));
    expect_every_chunk(listener, "decompress");
    Bytes out(kTotalBytes);
    ASSERT_TRUE(decompress_into(stream_, out, listener.heard(decode_on_cpu(threads))));
    expect_every_chunk(listener, "decompress_into");
    ASSERT_TRUE(read_stream(source_of(stream_), listener.heard(decode_on_cpu(threads))));
    expect_every_chunk(listener, "Reader");
    ASSERT_TRUE(range(0, kTotalBytes, listener.heard(decode_on_cpu(threads))));
    expect_every_chunk(listener, "range");
  }
}

TEST_F(Progress, NumbersAreThoseOfWholeChunksInTheirOrderOnOneThread) {
  Listener listener;
  ASSERT_TRUE(compress(values_, listener.heard(fifty_chunks(1))));
  for (std::size_t i = 0; i < kReportedChunks; ++i)
    EXPECT_EQ(listener.told[i], (i + 1) * kChunkBytes);
  EXPECT_EQ(listener.told[kReportedChunks], kTotalBytes - 2);
}

TEST_F(Progress, ARangeCountsTheChunksThatItTouches) {
  Listener listener;
  ASSERT_TRUE(range(2 * kChunkBytes - 1, 3 * kChunkBytes + 1, listener.heard(decode_on_cpu())));
  EXPECT_EQ(listener.told,
            (std::vector<std::uint64_t>{kChunkBytes, 2 * kChunkBytes, 3 * kChunkBytes}));
}

TEST_F(Progress, EveryFlushIsToldToItsEnd) {
  Listener listener;
  Bytes stream;
  Writer writer(append_to(stream), listener.heard(fifty_chunks(2)));
  for (std::size_t part = 1; part <= 3; ++part) {
    ASSERT_TRUE(writer.write(std::span(values_).first(5 * kChunkBytes)));
    ASSERT_TRUE(writer.flush());
    ASSERT_FALSE(listener.told.empty());
    EXPECT_EQ(listener.told.back(), part * 5 * kChunkBytes);
  }
  ASSERT_TRUE(writer.finish());
  EXPECT_EQ(listener.told.back(), writer.bytes_in());
}

TEST_F(Progress, NothingIsToldOfAnEmptyInput) {
  Listener listener;
  const auto stream = compress({}, listener.heard(fifty_chunks(1)));
  ASSERT_TRUE(stream);
  ASSERT_TRUE(decompress(*stream, listener.heard(decode_on_cpu())));
  EXPECT_TRUE(listener.told.empty());
}

TEST_F(Progress, ADamagedChunkDoesNotCount) {
  Bytes damaged = stream_;
  damaged[inspect(stream_).value().chunks[1].byte - 1] ^= std::byte{1};
  Listener listener;
  ASSERT_FALSE(read_stream(source_of(damaged), listener.heard(decode_on_cpu())));
  EXPECT_EQ(listener.told.back(), kTotalBytes - kChunkBytes);
}

TEST_F(Progress, SayingStopEndsTheWorkSoon) {
  Listener listener;
  listener.stop_after = 7;
  const auto expect_stopped = [&](Errc code, const char* what) {
    EXPECT_EQ(code, Errc::cancelled) << what;
    EXPECT_EQ(listener.told.size(), 7u) << what;
  };
  for (const int threads : {1, 2}) {
    expect_stopped(compress(values_, listener.heard(fifty_chunks(threads))).error().code,
                   "compress");
    expect_stopped(
        write_stream(values_, listener.heard(fifty_chunks(threads)), {1000}).error().code,
        "Writer");
    expect_stopped(decompress(stream_, listener.heard(decode_on_cpu(threads))).error().code,
                   "decompress");
    expect_stopped(
        read_stream(source_of(stream_), listener.heard(decode_on_cpu(threads))).error().code,
        "Reader");
    expect_stopped(range(0, kTotalBytes, listener.heard(decode_on_cpu(threads))).error().code,
                   "range");
    Bytes out;
    Reader reader(source_of(stream_), listener.heard(decode_on_cpu(threads)));
    expect_stopped(reader.salvage(append_to(out)).error().code, "salvage");
  }
}

TEST_F(Progress, ALongChunkIsToldPieceByPieceAtEveryLevelThatTriesMuch) {
  const Bytes values = walk_bytes(2 << 20);
  for (const int level : {3, 5, 7, 9})
    for (const int threads : {1, 2}) {
      SCOPED_TRACE(std::to_string(level) + ", " + std::to_string(threads));
      EncodeOptions options = encode_on_cpu("i32", threads);
      options.level = level;
      options.chunk_bytes = values.size();
      Listener listener;
      ASSERT_TRUE(compress(values, listener.heard(options)));
      EXPECT_GE(listener.told.size(), 16u);
      EXPECT_TRUE(std::is_sorted(listener.told.begin(), listener.told.end()));
      EXPECT_EQ(listener.told.back(), values.size());
    }
}

/// The processor time of this thread, and the longest stretch of it in which nothing was told.
struct Silence {
  static double now() {
    timespec time = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }
  static bool listen(std::uint64_t, void* user) {
    auto& self = *static_cast<Silence*>(user);
    self.longest = std::max(self.longest, now() - self.last);
    self.last = now();
    return true;
  }
  double begin = now(), last = begin, longest = 0;
};

TEST_F(Progress, NoStageOfTheWorkOnALongChunkIsSilent) {
  const Bytes noise = random_bytes(kLongChunk), walk = walk_bytes(kLongChunk);
  Bytes rough = walk;  // two lanes, noise in the lowest bits, a row that comes again
  for (std::size_t i = 0; i < rough.size(); i += 2)
    rough[i] = walk[i % 100000] ^ (noise[i] & std::byte{7});
  EncodeOptions options = encode_on_cpu("i16x2", 1);
  options.level = 9;
  options.chunk_bytes = kLongChunk;
  Silence silence;
  options.progress = Silence::listen;
  options.progress_user = &silence;
  ASSERT_TRUE(compress(rough, options));
  EXPECT_LT(silence.longest, (Silence::now() - silence.begin) / 10);
}

TEST_F(Progress, ALongChunkIsToldPieceByPieceWhileItIsDecoded) {
  const Bytes values = walk_bytes(kLongChunk);
  for (const Coder coder : {Coder::pack, Coder::ans, Coder::zstd})
    for (const int threads : {1, 2})
      for (const char* record : {"i32", "i16:bex2", "u8,i16,u8"}) {
        SCOPED_TRACE(std::string(record) + ", coder " + std::to_string(static_cast<int>(coder)));
        EncodeOptions options = encode_on_cpu(record, threads);
        options.level = 1;
        options.coder = coder;
        options.chunk_bytes = kLongChunk;
        const Bytes stream = compress(values, options).value();
        Listener listener;
        ASSERT_TRUE(decompress(stream, listener.heard(decode_on_cpu(threads))));
        std::uint64_t before = 0, longest = 0;
        for (const std::uint64_t told : listener.told) {
          ASSERT_GE(told, before);
          longest = std::max(longest, told - before);
          before = told;
        }
        EXPECT_LE(longest, kLongChunk / 4);
        EXPECT_EQ(before, kLongChunk);
      }
}

TEST_F(Progress, AChunkThatIsDamagedCountsForNothing) {
  const Bytes values = walk_bytes(kLongChunk);
  EncodeOptions options = encode_on_cpu("i32", 1);
  options.level = 1;
  options.coder = Coder::pack;
  options.chunk_bytes = kLongChunk;
  Bytes stream = compress(values, options).value();
  const std::size_t first = stream.size();
  const Bytes second = stream;
  stream.insert(stream.end(), second.begin(), second.end());
  stream[first / 2] ^= std::byte{1};
  Listener listener;
  Bytes out;
  Reader reader(source_of(stream), listener.heard(decode_on_cpu(1)));
  ASSERT_TRUE(reader.salvage(append_to(out)));
  ASSERT_EQ(out.size(), kLongChunk);
  EXPECT_TRUE(std::is_sorted(listener.told.begin(), listener.told.end()));
  EXPECT_EQ(listener.told.back(), kLongChunk);
}

TEST_F(Progress, WorkIsDoneOnNoMoreThreadsThanAskedFor) {
  // Long enough that idle threads would join in.
  const Bytes values = walk_bytes(2 << 20);
  Listener listener;
  const Bytes stream = compress(values, listener.heard(fifty_chunks(1))).value();
  EXPECT_EQ(listener.threads.size(), 1u);
  ASSERT_TRUE(decompress(stream, listener.heard(decode_on_cpu(1))));
  EXPECT_EQ(listener.threads.size(), 1u);
  ASSERT_TRUE(compress(values, listener.heard(fifty_chunks(2))));
  EXPECT_LE(listener.threads.size(), 2u);
}

}  // namespace
}  // namespace gdelta::test
