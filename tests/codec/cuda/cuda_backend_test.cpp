// The CUDA backend against the CPU backend: the same bytes, the same errors.
#include <gtest/gtest.h>

#include "codec/backend/backend.h"
#include "codec/chunk/chunk_cases.h"
#include "codec/chunk/chunk_encode.h"
#include "stages/registry.h"

namespace gdelta::test {
namespace {

#define GDELTA_OPEN_GPU(backend)                                                      \
  if (list_cuda_devices().empty()) GTEST_SKIP() << "this machine has no CUDA device"; \
  auto opened_##backend = make_cuda_backend({0}, 0);                                  \
  ASSERT_TRUE(opened_##backend) << opened_##backend.error().message;                  \
  Backend& backend = **opened_##backend

struct EncodedBatch {
  std::vector<Bytes> values;
  std::vector<Layout> layouts;
  std::vector<EncodeJob> jobs;
};

EncodedBatch make_encoded_batch(std::uint64_t records) {
  EncodedBatch batch;
  const char* const kRecords[] = {"i32x3", "u16", "f32x2", "i24:be", "f64", "u8x7", "i16x2,f32"};
  for (const char* record : kRecords) {
    for (const Pattern pattern : kPatterns) {
      batch.layouts.push_back(parse_record(record).value());
      batch.values.push_back(make_values(batch.layouts.back(), records, pattern));
    }
  }
  batch.layouts.push_back(byte_layout());
  batch.values.push_back(make_values(byte_layout(), 44, Pattern::random));
  for (std::size_t i = 0; i < batch.values.size(); ++i) {
    EncodeJob job;
    job.values = batch.values[i];
    job.layout = &batch.layouts[i];
    job.opaque = i + 1 == batch.values.size();
    batch.jobs.push_back(std::move(job));
  }
  return batch;
}

std::vector<DecodeJob> decode_jobs(const EncodedBatch& batch, std::vector<Bytes>& out) {
  std::vector<DecodeJob> jobs;
  std::uint64_t byte = 100;
  out.clear();
  for (const EncodeJob& from : batch.jobs) out.emplace_back(from.values.size());
  for (std::size_t i = 0; i < batch.jobs.size(); ++i) {
    DecodeJob job;
    job.block = batch.jobs[i].block;
    job.parsed = format::parse_chunk_block(job.block, byte, *batch.jobs[i].layout).value();
    job.byte = byte;
    job.number = 10 + i;
    job.layout = batch.jobs[i].layout;
    job.out = out[i];
    byte += job.block.size();
    jobs.push_back(std::move(job));
  }
  return jobs;
}

TEST(CudaBackendSmall, MemoryThatIsShortInADevicesThreadIsAnError) {
  GDELTA_OPEN_GPU(gpu);
  EncodedBatch batch = make_encoded_batch(130);
  ProgressMeter progress;
  ASSERT_TRUE(make_cpu_backend(0)->encode(batch.jobs, {}, progress));
  // What is told about a chunk is told in the thread of its device, and may need memory.
  ProgressMeter hungry([](std::uint64_t, void*) -> bool { throw std::bad_alloc(); }, nullptr);
  std::vector<Bytes> out;
  std::vector<DecodeJob> jobs = decode_jobs(batch, out);
  std::erase_if(jobs, [&](const DecodeJob& job) { return job.block.empty(); });
  const Result<void> result = gpu.decode(jobs, true, hungry);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Errc::out_of_memory);
}

TEST(CudaBackendSmall, ALongChunkIsToldPieceByPieceWhileItIsPlanned) {
  GDELTA_OPEN_GPU(gpu);
  const Layout layout = parse_record("i32").value();
  const Bytes values = make_values(layout, 1 << 17, Pattern::smooth);
  for (const std::optional<Coder> coder : {std::optional<Coder>(), std::optional(Coder::pack)}) {
    EncodeJob job;
    job.values = values;
    job.layout = &layout;
    EncodeSettings settings;
    settings.level = 9;
    settings.coder = coder;
    std::vector<std::uint64_t> told;
    ProgressMeter progress(
        [](std::uint64_t done, void* user) {
          static_cast<std::vector<std::uint64_t>*>(user)->push_back(done);
          return true;
        },
        &told);
    ASSERT_TRUE(gpu.encode({&job, 1}, settings, progress));
    EXPECT_GE(told.size(), 8u) << (coder ? "pack" : "any coder");
    EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
    EXPECT_EQ(told.back(), values.size());
  }
}

TEST(CudaBackend, WritesTheBytesOfTheCpuAndReadsThem) {
  GDELTA_OPEN_GPU(gpu);
  ProgressMeter progress;
  const auto cpu = make_cpu_backend(0);
  for (const std::uint64_t records : {1, 130, 3000, 40000}) {
    for (const int level : {1, 5}) {
      for (const std::optional<Coder> coder : coder_choices()) {
        EncodeSettings settings;
        settings.level = level;
        settings.coder = coder;
        EncodedBatch by_gpu = make_encoded_batch(records), by_cpu = make_encoded_batch(records);
        ASSERT_TRUE(gpu.encode(by_gpu.jobs, settings, progress));
        ASSERT_TRUE(cpu->encode(by_cpu.jobs, settings, progress));
        for (std::size_t i = 0; i < by_gpu.jobs.size(); ++i)
          ASSERT_TRUE(by_gpu.jobs[i].block == by_cpu.jobs[i].block)
              << to_string(by_gpu.layouts[i]) << " job " << i << " records " << records;
        std::vector<Bytes> out;
        std::vector<DecodeJob> jobs = decode_jobs(by_cpu, out);
        ASSERT_TRUE(gpu.decode(jobs, true, progress));
        for (std::size_t i = 0; i < jobs.size(); ++i) {
          ASSERT_FALSE(jobs[i].error) << jobs[i].error->to_string();
          ASSERT_TRUE(out[i] == by_cpu.values[i]) << to_string(by_cpu.layouts[i]);
        }
      }
    }
  }
}

TEST(CudaBackend, ReportsTheErrorsOfTheCpu) {
  GDELTA_OPEN_GPU(gpu);
  ProgressMeter progress;
  const auto cpu = make_cpu_backend(0);
  EncodedBatch batch = make_encoded_batch(500);
  EncodeSettings settings;
  ASSERT_TRUE(cpu->encode(batch.jobs, settings, progress));
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 20; ++trial) {
    EncodedBatch damaged = make_encoded_batch(500);
    for (std::size_t i = 0; i < damaged.jobs.size(); ++i) {
      damaged.jobs[i].block = batch.jobs[i].block;
      // Heads are checked before a backend sees them.
      Bytes& block = damaged.jobs[i].block;
      const auto parsed = format::parse_chunk_block(block, 0, *damaged.jobs[i].layout).value();
      if (random() % 3 == 0)
        block[parsed.frame.payload_at() + random() % parsed.frame.payload_bytes] ^= std::byte{0x10};
    }
    std::vector<Bytes> by_gpu, by_cpu;
    std::vector<DecodeJob> gpu_jobs = decode_jobs(damaged, by_gpu);
    std::vector<DecodeJob> cpu_jobs = decode_jobs(damaged, by_cpu);
    ASSERT_TRUE(gpu.decode(gpu_jobs, true, progress));
    ASSERT_TRUE(cpu->decode(cpu_jobs, true, progress));
    for (std::size_t i = 0; i < gpu_jobs.size(); ++i) {
      ASSERT_EQ(gpu_jobs[i].error.has_value(), cpu_jobs[i].error.has_value());
      if (gpu_jobs[i].error) {
        EXPECT_EQ(gpu_jobs[i].error->to_string(), cpu_jobs[i].error->to_string());
        EXPECT_EQ(gpu_jobs[i].error->code, cpu_jobs[i].error->code);
      } else {
        EXPECT_TRUE(by_gpu[i] == by_cpu[i]);
      }
    }
  }
}

TEST(CudaBackend, SpreadsABatchOverTwoDevices) {
  if (list_cuda_devices().size() < 2)
    GTEST_SKIP() << "this machine has fewer than two CUDA devices";
  auto opened = make_cuda_backend({0, 1}, 0);
  ASSERT_TRUE(opened) << opened.error().message;
  Backend& gpus = **opened;
  ProgressMeter progress;
  EXPECT_EQ(gpus.name(), "cuda:0,1");
  const auto cpu = make_cpu_backend(0);
  EncodeSettings settings;
  EncodedBatch by_gpus = make_encoded_batch(40000), by_cpu = make_encoded_batch(40000);
  ASSERT_TRUE(gpus.encode(by_gpus.jobs, settings, progress));
  ASSERT_TRUE(cpu->encode(by_cpu.jobs, settings, progress));
  for (std::size_t i = 0; i < by_gpus.jobs.size(); ++i)
    ASSERT_TRUE(by_gpus.jobs[i].block == by_cpu.jobs[i].block) << i;
  std::vector<Bytes> out;
  std::vector<DecodeJob> jobs = decode_jobs(by_cpu, out);
  ASSERT_TRUE(gpus.decode(jobs, true, progress));
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    ASSERT_FALSE(jobs[i].error) << jobs[i].error->to_string();
    ASSERT_TRUE(out[i] == by_cpu.values[i]);
  }
}

TEST(CudaBackend, RefusesDevicesThatAreNotThere) {
  const auto opened = make_cuda_backend({1000}, 0);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Errc::unsupported_backend);
}

}  // namespace
}  // namespace gdelta::test
