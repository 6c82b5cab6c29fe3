// What a GPU makes of streams drawn from numbers: the same values as a CPU, and the same bytes.
#ifdef GDELTA_HAS_CUDA
#include "codec/cuda/cuda_cases.h"
#include "codec/random_streams.h"
#include "codec/stream/stream_tools.h"

namespace gdelta::test {
namespace {

TEST(RandomStreamsCudaSmall, AreWhatTheyAreOnACpu) {
  GDELTA_NEEDS_GPU();
  DecodeOptions on_gpu;
  on_gpu.device = "cuda";
  for_random_seeds(60, [&](std::uint64_t seed) {
    RandomStream made = random_stream(seed, 1500, 8);
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

}  // namespace
}  // namespace gdelta::test
#endif
