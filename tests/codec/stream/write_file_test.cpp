// A Writer that reads a file itself writes what it would of the same bytes in any other way.
#include <mutex>
#include <set>

#include "codec/stream/stream_tools.h"
#include "mebibyte.h"

namespace gdelta::test {
namespace {

EncodeOptions quick(const char* record, std::uint64_t chunk_bytes, int threads) {
  EncodeOptions options = encode_on_cpu(record, threads);
  options.level = 1;
  options.chunk_bytes = chunk_bytes;
  return options;
}

TEST(WriteFile, IsWhatWritingIsForEveryLengthAndChunk) {
  const Bytes all = walk_bytes(280'000);
  for (const char* record : {"i32", "i32x3", "u8x7", static_cast<const char*>(nullptr)}) {
    for (const std::uint64_t chunk_bytes : {64, 1000, 4096, 100'000}) {
      for (const std::size_t bytes : {0, 1, 63, 64, 65, 4095, 4096, 4097, 99'999, 280'000}) {
        const auto values = std::span(all).first(bytes);
        const EncodeOptions options = quick(record, chunk_bytes, 2);
        const Bytes wanted = compress(values, options).value();
        ASSERT_EQ(write_file_stream(values, options).value(), wanted) << bytes;
        ASSERT_EQ(write_file_stream(values, options, 0, false).value(), wanted) << bytes;
      }
    }
  }
}

TEST(WriteFile, TakesSeveralBatches) {
  const Bytes values = walk_bytes(10 * kMiB + 1);
  for (const int threads : {1, 2}) {
    EncodeOptions options = quick("i32", 64 << 10, threads);
    const Bytes wanted = compress(values, options).value();
    EXPECT_EQ(write_file_stream(values, options).value(), wanted);
    options.memory_limit = 4 * kMiB;
    EXPECT_EQ(write_file_stream(values, options).value(), wanted);
  }
}

TEST(WriteFile, ManyShortChunksAreSeveralBatches) {
  const Bytes values = walk_bytes(8 * kMiB);
  const EncodeOptions options = quick("i32", 128, 4);  // 65536 chunks, of which 16384 go at once
  EXPECT_EQ(write_file_stream(values, options).value(), compress(values, options).value());
}

TEST(WriteFile, BeginsAnywhereBetweenOtherWrites) {
  const Bytes file = walk_bytes(50'000);
  const EncodeOptions options = quick("i32x3", 5000, 2);
  EXPECT_EQ(write_file_stream(file, options, 77).value(),
            compress(std::span(file).subspan(77), options).value());
  EXPECT_EQ(write_file_stream(file, options, file.size()).value(), compress({}, options).value());
  Bytes stream, all(file.begin(), file.begin() + 1001);
  Writer writer(append_to(stream), options);
  ASSERT_TRUE(writer.write(all));
  ASSERT_TRUE(writer.write_file(file_of(file), 1000));
  ASSERT_TRUE(writer.write(std::span(file).first(999)));
  ASSERT_TRUE(writer.finish());
  all.insert(all.end(), file.begin() + 1000, file.end());
  all.insert(all.end(), file.begin(), file.begin() + 999);
  EXPECT_EQ(writer.bytes_in(), all.size());
  EXPECT_EQ(stream, compress(all, options).value());
}

// It shrank, or grew, since its length was told.
TEST(WriteFile, TakesWhatIsThere) {
  const Bytes values = walk_bytes(12 * kMiB);
  const EncodeOptions options = quick("i32", 0, 3);
  for (const std::uint64_t told : {values.size() / 3, 2 * values.size(), values.size() + 1}) {
    Bytes stream;
    Writer writer(append_to(stream), options);
    writer.set_total_bytes(told);
    ASSERT_TRUE(writer.write_file(file_of(values)));
    ASSERT_TRUE(writer.finish());
    EXPECT_EQ(writer.bytes_in(), values.size());
    EXPECT_EQ(decompress(stream, decode_on_cpu()).value(), values);
  }
}

// What is behind a piece that was short for a moment is no neighbour of it.
TEST(WriteFile, GoesOnWhereAPieceWasShort) {
  const Bytes values = walk_bytes(24 * kMiB);
  std::mutex mutex;
  int short_ones = 0;
  const ReadAt read_at = [&](std::uint64_t offset,
                             std::span<std::byte> buffer) -> Result<std::size_t> {
    const std::lock_guard lock(mutex);
    if (offset > 5 * kMiB && short_ones++ == 0) buffer = buffer.first(buffer.size() / 2);
    return file_of(values)(offset, buffer);
  };
  Bytes stream;
  Writer writer(append_to(stream), quick("i32", 0, 4));
  writer.set_total_bytes(values.size());
  ASSERT_TRUE(writer.write_file(read_at));
  ASSERT_TRUE(writer.finish());
  EXPECT_GT(short_ones, 1);
  EXPECT_EQ(decompress(stream, decode_on_cpu()).value(), values);
}

TEST(WriteFile, ReadsEachByteOnceAndByPieces) {
  const Bytes values = walk_bytes(30 * kMiB);
  std::mutex mutex;
  std::set<std::uint64_t> begun;
  std::uint64_t bytes = 0;
  const ReadAt read_at = [&](std::uint64_t offset,
                             std::span<std::byte> buffer) -> Result<std::size_t> {
    const auto got = file_of(values)(offset, buffer);
    const std::lock_guard lock(mutex);
    if (*got > 0) {
      EXPECT_TRUE(begun.insert(offset).second) << offset;
    }
    EXPECT_LE(buffer.size(), 4 * kMiB);
    bytes += *got;
    return got;
  };
  Bytes stream;
  Writer writer(append_to(stream), quick("i32", 0, 4));
  writer.set_total_bytes(values.size());
  ASSERT_TRUE(writer.write_file(read_at));
  ASSERT_TRUE(writer.finish());
  EXPECT_EQ(bytes, values.size());
}

TEST(WriteFile, HandsOnWhatReadingSays) {
  const Bytes values = walk_bytes(24 * kMiB);
  for (const std::uint64_t bad :
       {std::uint64_t{0}, std::uint64_t{5 * kMiB}, std::uint64_t{13 * kMiB}}) {
    const ReadAt read_at = [&](std::uint64_t offset,
                               std::span<std::byte> buffer) -> Result<std::size_t> {
      if (offset <= bad && bad < offset + buffer.size())
        return fail(Errc::io_error, "a bad sector");
      return file_of(values)(offset, buffer);
    };
    Bytes stream;
    Writer writer(append_to(stream), quick("i32", 0, 2));
    writer.set_total_bytes(values.size());
    const auto written = writer.write_file(read_at);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().message, "a bad sector");
    EXPECT_EQ(writer.finish().error().message, "a bad sector");
  }
}

}  // namespace
}  // namespace gdelta::test
