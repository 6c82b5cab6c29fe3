// The CPU backend: batches, threads, errors with their chunk; and opening backends by name.
#include <gtest/gtest.h>

#include "codec/backend/backend.h"
#include "codec/chunk/chunk_cases.h"

namespace gdelta::test {
namespace {

struct Batch {
  Layout layout = parse_record("i32x3").value();
  std::vector<Bytes> values;
  std::vector<EncodeJob> jobs;

  explicit Batch(int chunks) {
    for (int c = 0; c < chunks; ++c)
      values.push_back(make_values(layout, 1000 + 37 * c, kPatterns[c % 7], c));
    for (const Bytes& chunk : values) {
      EncodeJob job;
      job.values = chunk;
      job.layout = &layout;
      jobs.push_back(std::move(job));
    }
  }
};

TEST(ChunkBackend, WritesTheSameBytesOnAnyNumberOfThreads) {
  Batch one(13), many(13);
  ProgressMeter progress;
  ASSERT_TRUE(make_cpu_backend(1)->encode(one.jobs, {}, progress));
  ASSERT_TRUE(make_cpu_backend(3)->encode(many.jobs, {}, progress));
  for (std::size_t c = 0; c < 13; ++c) EXPECT_TRUE(one.jobs[c].block == many.jobs[c].block) << c;
}

TEST(ChunkBackend, DecodesABatchAndNamesTheChunkThatFails) {
  Batch batch(9);
  ProgressMeter progress;
  const auto backend = make_cpu_backend(0);
  ASSERT_TRUE(backend->encode(batch.jobs, {}, progress));
  batch.jobs[4].block.back() ^= std::byte{1};
  std::vector<Bytes> out;
  std::vector<DecodeJob> jobs(9);
  for (const Bytes& values : batch.values) out.emplace_back(values.size());
  for (std::size_t c = 0; c < 9; ++c) {
    jobs[c].block = batch.jobs[c].block;
    jobs[c].parsed = format::parse_chunk_block(jobs[c].block, 0, batch.layout).value();
    jobs[c].byte = 100 * c;
    jobs[c].number = 20 + c;
    jobs[c].layout = &batch.layout;
    jobs[c].out = out[c];
  }
  ASSERT_TRUE(backend->decode(jobs, true, progress));
  for (std::size_t c = 0; c < 9; ++c) {
    if (c == 4) {
      ASSERT_TRUE(jobs[c].error);
      EXPECT_EQ(jobs[c].error->chunk, 24u);
      EXPECT_GE(jobs[c].error->byte, 400u);
    } else {
      EXPECT_FALSE(jobs[c].error) << c;
      EXPECT_TRUE(out[c] == batch.values[c]) << c;
    }
  }
}

TEST(ChunkBackend, OpensDevicesByName) {
  EXPECT_EQ(open_backend("cpu", 1, {}).value()->name(), "cpu");
  EXPECT_EQ(open_backend("auto", 1, 1000).value()->name(), "cpu");
  EXPECT_EQ(open_backend("auto", 1, {}).value()->name(), "cpu");
  for (const char* name :
       {"", "gpu", "cuda:", "cuda:x", "cuda:0,", "cuda:-1", "cuda:0,0", "cuda0"}) {
    const auto backend = open_backend(name, 1, {});
    ASSERT_FALSE(backend) << name;
    EXPECT_EQ(backend.error().code, Errc::invalid_argument) << name;
  }
  if (list_cuda_devices().empty()) {
    const auto backend = open_backend("cuda", 1, {});
    ASSERT_FALSE(backend);
    EXPECT_EQ(backend.error().code, Errc::unsupported_backend);
  }
}

}  // namespace
}  // namespace gdelta::test
