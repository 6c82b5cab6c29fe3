// The CUDA backend copies what the caller has pinned (blocks, outputs, values to encode) from and to where it is.
#ifdef GDELTA_HAS_CUDA
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <span>
#include <vector>

#include "codec/backend/backend.h"
#include "codec/chunk/chunk_cases.h"
#include "codec/cuda/cuda_cases.h"

namespace gdelta::test {
namespace {

/// Memory that the bus reads and writes by itself.
class PinnedBytes {
 public:
  explicit PinnedBytes(std::size_t bytes) : bytes_(bytes) {
    if (cudaMallocHost(&data_, bytes) != cudaSuccess) std::abort();
  }
  ~PinnedBytes() { static_cast<void>(cudaFreeHost(data_)); }
  PinnedBytes(const PinnedBytes&) = delete;
  PinnedBytes& operator=(const PinnedBytes&) = delete;
  std::span<std::byte> span() const { return {static_cast<std::byte*>(data_), bytes_}; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_;
};

TEST(CudaPinnedSmall, DecodesFromAndToPinnedMemory) {
  GDELTA_NEEDS_GPU();
  auto gpu = make_cuda_backend({0}, 0);
  ASSERT_TRUE(gpu) << gpu.error().message;
  const Layout layout = parse_record("i32").value();
  const std::size_t bytes = 800'004;
  for (const bool pins_blocks : {false, true}) {
    for (const bool pins_outputs : {false, true}) {
      std::vector<Bytes> values;
      std::vector<EncodeJob> from(3);
      for (std::size_t i = 0; i < from.size(); ++i) {
        values.push_back(make_values(layout, bytes / 4, Pattern::smooth, i));
        from[i].values = values[i];
        from[i].layout = &layout;
      }
      ProgressMeter progress;
      ASSERT_TRUE(make_cpu_backend(0)->encode(from, {}, progress));
      const PinnedBytes outputs(3 * bytes), blocks(3 * bytes);
      std::vector<Bytes> plain(3, Bytes(bytes));
      std::fill(outputs.span().begin(), outputs.span().end(), std::byte{0xa5});
      std::vector<DecodeJob> jobs(from.size());
      for (std::size_t i = 0; i < jobs.size(); ++i) {
        jobs[i].block = from[i].block;
        if (pins_blocks) {
          std::copy(from[i].block.begin(), from[i].block.end(),
                    blocks.span().begin() + static_cast<std::ptrdiff_t>(i * bytes));
          jobs[i].block = blocks.span().subspan(i * bytes, from[i].block.size());
        }
        jobs[i].parsed = format::parse_chunk_block(jobs[i].block, 0, layout).value();
        jobs[i].layout = &layout;
        jobs[i].out = pins_outputs ? outputs.span().subspan(i * bytes, bytes) : std::span(plain[i]);
      }
      ASSERT_TRUE((*gpu)->decode(jobs, true, progress));
      for (std::size_t i = 0; i < jobs.size(); ++i) {
        ASSERT_GT(jobs[i].block.size(), 64u << 10);
        EXPECT_TRUE(std::equal(jobs[i].out.begin(), jobs[i].out.end(), values[i].begin()))
            << pins_blocks << pins_outputs << " chunk " << i;
      }
    }
  }
}

TEST(CudaPinnedSmall, EncodesValuesFromPinnedMemory) {
  GDELTA_NEEDS_GPU();
  auto gpu = make_cuda_backend({0}, 0);
  ASSERT_TRUE(gpu) << gpu.error().message;
  const Layout layout = parse_record("i32,f64").value();
  constexpr std::size_t kChunks = 3, kRecords = 20'001, kBytes = 12 * kRecords;
  const PinnedBytes memory(kChunks * kBytes);
  std::vector<Bytes> values;
  for (std::size_t i = 0; i < kChunks; ++i) {
    values.push_back(make_values(layout, kRecords, Pattern::smooth, i));
    std::copy(values[i].begin(), values[i].end(),
              memory.span().begin() + static_cast<std::ptrdiff_t>(i * kBytes));
  }
  const auto encoded_from = [&](Backend& backend, const auto& values_of) {
    std::vector<EncodeJob> jobs(kChunks);
    for (std::size_t i = 0; i < kChunks; ++i) {
      jobs[i].values = values_of(i);
      jobs[i].layout = &layout;
    }
    ProgressMeter progress;
    EXPECT_TRUE(backend.encode(jobs, {}, progress));
    std::vector<std::vector<std::byte>> blocks;
    blocks.reserve(jobs.size());
    for (EncodeJob& job : jobs) blocks.push_back(std::move(job.block));
    return blocks;
  };
  const auto plain = [&](std::size_t i) { return std::span<const std::byte>(values[i]); };
  const auto pinned = [&](std::size_t i) { return memory.span().subspan(i * kBytes, kBytes); };
  const auto wanted = encoded_from(*make_cpu_backend(0), plain);
  EXPECT_EQ(encoded_from(**gpu, pinned), wanted);
  EXPECT_EQ(encoded_from(**gpu,
                         [&](std::size_t i) {
                           return i == 1 ? plain(i) : std::span<const std::byte>(pinned(i));
                         }),
            wanted);
}

}  // namespace
}  // namespace gdelta::test
#endif
