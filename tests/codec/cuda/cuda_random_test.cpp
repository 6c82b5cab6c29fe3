// What a GPU makes of streams drawn from numbers: the same values as a CPU, and the same bytes.
#ifdef GDELTA_HAS_CUDA
#include "codec/cuda/device_encode_cases.h"
#include "codec/random_streams.h"
#include "codec/stream/stream_tools.h"

namespace gdelta::test {
namespace {

TEST(RandomStreamsCudaSmall, AreWhatTheyAreOnACpu) {
  GDELTA_NEEDS_GPU();
  DecodeOptions on_gpu;
  on_gpu.device = "cuda";
  for_random_seeds(40, [&](std::uint64_t seed) {
    RandomStream made = random_stream(seed, 800, 8);
    made.options.device_decodable = seed % 2 == 0 && !made.options.coder;
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + made.what());
    const auto stream = compress_stream(made);
    ASSERT_TRUE(stream.has_value()) << stream.error().to_string();
    const auto back = decompress(*stream, on_gpu);
    ASSERT_TRUE(back.has_value()) << back.error().to_string();
    EXPECT_TRUE(*back == made.values);
    made.options.device = "cuda";
    const auto by_gpu = compress_stream(made);
    ASSERT_TRUE(by_gpu.has_value()) << by_gpu.error().to_string();
    EXPECT_TRUE(*by_gpu == *stream);
  });
}

TEST(RandomStreamsCudaSmall, OfOneColumnADeviceWritesAsACpuDoes) {
  GDELTA_NEEDS_GPU();
  for_random_seeds(60, [](std::uint64_t seed) {
    RandomDraws draws(seed);
    Layout layout = random_layout(draws);
    layout.columns.resize(1);
    const Column column = layout.columns[0];
    const std::uint64_t records = 1 + draws.below(1 + draws.below(4000));
    const Bytes values = random_values(draws, layout, records);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + to_string(layout));
    const std::uint64_t chunk_records = 1 + draws.below(2 * records);
    std::optional<int> order;
    if (draws.one_in(2)) order = static_cast<int>(draws.below(kMaxOrder + 1));
    std::optional<Coder> coder;
    if (draws.one_in(2)) coder = draws.one_in(3) ? Coder::pack : Coder::ans;
    expect_stream_of_cpu(values, column, chunk_records * column.bytes(), order, draws.below(16),
                         coder);
  });
}

}  // namespace
}  // namespace gdelta::test
#endif
