// More than 2^32 values through the Writer and the Reader, in bounded memory. The whole length takes
// some ten seconds and is run if GDELTA_LARGE_TESTS=1 asks for it; a shorter one always is.
#include <sys/resource.h>

#include <cstdlib>
#include <random>

#include "codec/stream/stream_tools.h"

namespace gdelta::test {
namespace {

constexpr std::size_t kPortion = 1 << 20;

/// What stands at a place of the endless input: a ramp that differs in every stretch of 2^26, so
/// that a lost or repeated stretch is noticed, and that packs well but is not constant.
void fill(std::span<std::byte> portion, std::uint64_t at) {
  const auto stretch = static_cast<unsigned char>(at >> 26);
  for (std::size_t i = 0; i < portion.size(); ++i)
    portion[i] = static_cast<std::byte>(stretch + (i >> 10) * 3);
}

std::uint64_t peak_memory_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) << 10;
}

/// Writes `bytes` values of u8, reads them back, compares.
void round_trip(std::uint64_t bytes, const char* device = "cpu") {
  Bytes stream;
  EncodeOptions encode = encode_on_cpu("u8", 2);
  encode.level = 1;
  encode.device = device;
  DecodeOptions decode = decode_on_cpu(2);
  decode.device = device;
  Writer writer(append_to(stream), encode);
  Bytes portion(kPortion);
  for (std::uint64_t at = 0; at < bytes; at += portion.size()) {
    portion.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kPortion, bytes - at)));
    fill(portion, at);
    ASSERT_TRUE(writer.write(portion));
  }
  ASSERT_TRUE(writer.finish());
  EXPECT_EQ(writer.bytes_in(), bytes);

  std::uint64_t at = 0;
  Bytes expected(kPortion);
  const Sink compare = [&](std::span<const std::byte> values) -> Result<void> {
    while (!values.empty()) {
      const std::size_t into = at % kPortion;
      if (into == 0) fill(expected, at);
      const std::size_t count = std::min(values.size(), kPortion - into);
      if (std::memcmp(values.data(), expected.data() + into, count) != 0)
        return fail(Errc::corrupt, "values differ");
      at += count;
      values = values.subspan(count);
    }
    return {};
  };
  Reader reader(source_of(stream), decode);
  const auto read = reader.run(compare);
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(at, bytes);
  if (std::string_view(device) != "cpu") {
    EXPECT_EQ(writer.take_warnings(), std::vector<std::string>{});
    EXPECT_EQ(reader.take_warnings(), std::vector<std::string>{});
  }

  const auto end = decompress_range(stream, bytes - 5, bytes, decode_on_cpu());
  ASSERT_TRUE(end) << end.error().to_string();
  fill(expected, (bytes - 1) / kPortion * kPortion);
  EXPECT_EQ(end->back(), expected[(bytes - 1) % kPortion]);
}

TEST(Large, ManyBatchesTakeNoMoreMemoryThanAFew) {
  round_trip((1 << 26) + 12345);
  const std::uint64_t after_few = peak_memory_bytes();
  round_trip((3 << 26) + 12345);
  EXPECT_LT(peak_memory_bytes(), after_few + (64 << 20));
}

TEST(Large, ManyCallsTakeNoMoreMemoryThanAFew) {
  Bytes values(1 << 20);
  std::mt19937 random(3);
  for (std::byte& value : values) value = static_cast<std::byte>(random() % 64);
  EncodeOptions encode = encode_on_cpu("u8", 2);
  encode.level = 1;
  encode.chunk_bytes = 1 << 16;
  const auto stream = compress(values, encode);
  ASSERT_TRUE(stream);
  const auto decode_often = [&](int times) {
    for (int i = 0; i < times; ++i) ASSERT_TRUE(decompress_into(*stream, values, decode_on_cpu(2)));
  };
  decode_often(50);
  const std::uint64_t after_few = peak_memory_bytes();
  decode_often(3000);
  EXPECT_LT(peak_memory_bytes(), after_few + (4 << 20));
}

constexpr std::uint64_t kMoreThan2To32 = (1ull << 32) + (1 << 26) + 4321;

bool large_tests_are_asked_for() {
  const char* asked = std::getenv("GDELTA_LARGE_TESTS");
  return asked != nullptr && std::string_view(asked) == "1";
}

TEST(Large, MoreThan2To32ValuesComeBack) {
  if (!large_tests_are_asked_for())
    GTEST_SKIP() << "takes some ten seconds; set GDELTA_LARGE_TESTS=1 to run it";
  round_trip(kMoreThan2To32);
  EXPECT_LT(peak_memory_bytes(), 2ull << 30);
}

TEST(Large, MoreThan2To32ValuesComeBackFromTheGpu) {
  if (list_devices().size() < 2) GTEST_SKIP() << "this machine has no CUDA device";
  if (!large_tests_are_asked_for())
    GTEST_SKIP() << "takes some ten seconds; set GDELTA_LARGE_TESTS=1 to run it";
  round_trip(kMoreThan2To32, "cuda");
}

}  // namespace
}  // namespace gdelta::test
