// Chunks that the device plans as well, from host memory to host memory: which ones it takes, and that their blocks are
// those of the CPU.
#ifdef GDELTA_HAS_CUDA
#include "codec/cuda/device_plan_pipeline.h"

#include <deque>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "codec/cuda/cuda_cases.h"
#include "mebibyte.h"

namespace gdelta::test {
namespace {

using cuda::DevicePlanPipeline;

constexpr std::uint64_t kFlightBytes = 32u << 20, kMuchMemory = 4ull << 30;

EncodeSettings settings_at(int level, std::optional<Coder> coder = std::nullopt) {
  EncodeSettings settings;
  settings.level = level;
  settings.coder = coder;
  return settings;
}

/// Jobs of chunks of a layout, `records` at most in each.
struct Chunks {
  Layout layout;
  std::vector<Bytes> values;
  std::vector<EncodeJob> jobs;

  Chunks(const Layout& of, std::uint64_t records, std::uint64_t last_records, std::size_t count,
         Pattern pattern)
      : layout(of) {
    for (std::size_t i = 0; i < count; ++i)
      values.push_back(
          make_values(layout, i + 1 < count ? records : last_records, pattern, 7 * i + 1));
    for (const Bytes& bytes : values)
      jobs.push_back({.values = bytes, .layout = &layout, .block = {}});
  }
  Chunks(const Chunks&) = delete;
  Chunks& operator=(const Chunks&) = delete;
};

void expect_blocks_of_cpu(Chunks& chunks, const EncodeSettings& settings,
                          std::uint64_t flight_bytes = kFlightBytes) {
  const std::string what = to_string(chunks.layout) + ", chunks of " +
                           std::to_string(chunks.values[0].size()) + " bytes, coder " +
                           (settings.coder ? std::string(coder_name(*settings.coder)) : "chosen");
  Workers workers(2);
  DevicePlanPipeline pipeline(0, flight_bytes, kMuchMemory, workers);
  std::uint64_t told = 0;
  ProgressMeter progress(
      [](std::uint64_t done, void* user) {
        *static_cast<std::uint64_t*>(user) = done;
        return true;
      },
      &told);
  const auto done = pipeline.run(chunks.jobs, settings, progress);
  ASSERT_TRUE(done) << what << ": " << done.error().to_string();
  std::vector<EncodeJob> by_cpu = chunks.jobs;
  ProgressMeter nobody;
  ASSERT_TRUE(make_cpu_backend(1)->encode(by_cpu, settings, nobody));
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < by_cpu.size(); ++i) {
    ASSERT_TRUE(chunks.jobs[i].block == by_cpu[i].block) << what << ", chunk " << i;
    bytes += by_cpu[i].values.size();
  }
  EXPECT_EQ(told, bytes) << what;
}

TEST(CudaDevicePlanSmall, WritesTheBlocksOfTheCpu) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"i32x3", "u16:be", "f64", "u8x7", "i24x2", "i32,u16x2,u8"}) {
    const Layout layout = parse_record(record).value();
    for (const Pattern pattern : {Pattern::smooth, Pattern::random, Pattern::equal}) {
      for (const std::optional<Coder> coder :
           {std::optional<Coder>(), std::optional(Coder::pack), std::optional(Coder::ans)}) {
        Chunks chunks(layout, 700, 131, 3, pattern);
        expect_blocks_of_cpu(chunks, settings_at(1, coder));
      }
    }
  }
}

TEST(CudaDevicePlanSmall, WritesTheBlocksOfTheCpuWhateverIsAsked) {
  GDELTA_NEEDS_GPU();
  const Layout layout = parse_record("f32x2").value();
  for (const bool maps : {false, true}) {
    for (const std::optional<int> order :
         {std::optional<int>(), std::optional(0), std::optional(5)}) {
      Chunks chunks(layout, 640, 640, 2, Pattern::smooth);
      EncodeSettings settings = settings_at(1);
      settings.maps = maps;
      settings.order = order;
      expect_blocks_of_cpu(chunks, settings);
      settings.stride = 5;
      expect_blocks_of_cpu(chunks, settings);
    }
  }
}

// Rows are like those before them, and planes of seven rows, too.
TEST(CudaDevicePlanSmall, TakesTheStrideOfRowsAsTheCpuDoes) {
  GDELTA_NEEDS_GPU();
  constexpr std::uint64_t kRow = 40, kPlane = 7 * kRow;
  const Layout layout = parse_record("i32").value();
  for (const format::ArrayRows& rows :
       {format::ArrayRows{kRow, 0}, format::ArrayRows{kRow, kPlane},
        format::ArrayRows{kPlane, kRow}, format::ArrayRows{kRow, 1 << 23},
        format::ArrayRows{1 << 23, kRow}, format::ArrayRows{kRow + 1, kPlane},
        format::ArrayRows{kRow + 1, kRow + 2}}) {
    for (const std::uint64_t asked : {std::uint64_t{0}, std::uint64_t{80}, kFindStride}) {
      Chunks chunks(layout, 4096, 1500, 3, Pattern::random);
      std::mt19937_64 random(3);
      for (std::size_t i = 0; i < chunks.values.size(); ++i) {
        std::vector<std::uint32_t> plane(kPlane);
        for (std::size_t at = 0; at < kPlane; ++at)
          plane[at] = at < kRow ? static_cast<std::uint32_t>(random() % (1 << 20))
                                : plane[at - kRow] + static_cast<std::uint32_t>(random() % 1024);
        auto* const values = reinterpret_cast<std::uint32_t*>(chunks.values[i].data());
        for (std::size_t at = 0; at < chunks.values[i].size() / 4; ++at)
          values[at] = plane[at % kPlane] + static_cast<std::uint32_t>(random() % 64);
        chunks.jobs[i].rows = rows;
      }
      EncodeSettings settings = settings_at(1);
      settings.stride = asked;
      expect_blocks_of_cpu(chunks, settings);
    }
  }
}

// One alone has any length; records of long chunks are whole groups but in the last one.
TEST(CudaDevicePlanSmall, MakesOneChunkOfEachJob) {
  GDELTA_NEEDS_GPU();
  const Layout layout = parse_record("i16").value();
  for (const auto& [records, last, count] :
       {std::tuple{4097u, 4097u, 1u}, std::tuple{4224u, 4223u, 2u}, std::tuple{1u, 1u, 3u},
        std::tuple{5000u, 5000u, 1u}}) {
    Chunks chunks(layout, records, last, count, Pattern::smooth);
    expect_blocks_of_cpu(chunks, settings_at(1));
    expect_blocks_of_cpu(chunks, settings_at(1, Coder::ans), 1);
  }
}

TEST(CudaDevicePlanSmall, EndsWhenTheCallerStops) {
  GDELTA_NEEDS_GPU();
  Chunks chunks(parse_record("i32").value(), 500, 500, 4, Pattern::smooth);
  Workers workers(1);
  DevicePlanPipeline pipeline(0, 2000, kMuchMemory, workers);
  ProgressMeter progress([](std::uint64_t, void*) { return false; }, nullptr);
  const auto done = pipeline.run(chunks.jobs, settings_at(1), progress);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Errc::cancelled);
}

// ---- Which ones

/// Jobs without values of their own: whoever cuts them looks at lengths alone.
class Lengths {
 public:
  void add(const char* record, std::uint64_t bytes, std::size_t count = 1, bool opaque = false) {
    const Layout& layout = layouts_.emplace_back(parse_record(record).value());
    for (std::size_t i = 0; i < count; ++i)
      jobs_.push_back(
          {.values = {values_.data(), bytes}, .layout = &layout, .opaque = opaque, .block = {}});
  }
  EncodeJob& back() { return jobs_.back(); }

  /// Who plans how many, one after the other: "3 device, 1 host".
  std::string cut(const EncodeSettings& settings, std::uint64_t flight_memory = kMuchMemory) {
    Workers workers(1);
    const DevicePlanPipeline pipeline(0, kFlightBytes, flight_memory, workers);
    std::string text;
    const EncodeJob* next = jobs_.data();
    for (const auto& [jobs, by_device] : pipeline.cut(jobs_, settings)) {
      EXPECT_EQ(jobs.data(), next);
      next += jobs.size();
      if (!text.empty()) text += ", ";
      text += std::to_string(jobs.size());
      text += by_device ? " device" : " host";
    }
    EXPECT_EQ(next, jobs_.data() + jobs_.size());
    return text;
  }

 private:
  Bytes values_ = Bytes(4 << 20);
  std::deque<Layout> layouts_;
  std::vector<EncodeJob> jobs_;
};

std::string records_of(const std::string& type, int columns) {
  std::string record = type;
  for (int c = 1; c < columns; ++c) record += "," + type;
  return record;
}

TEST(CudaDevicePlanSmall, TakesChunksOfOneLengthAndLayout) {
  Lengths lengths;
  lengths.add("u8", 128, 1, true);
  lengths.add("i32", kMiB, 5);
  lengths.add("i32", kMiB / 2);
  lengths.add("i32", kMiB, 2);         // behind a shorter one
  lengths.add("i32x2", kMiB, 2);       // another layout
  lengths.add("i32,u16", 6 << 17, 3);  // two columns
  lengths.add("i32", kMiB / 4, 3);     // too few bytes
  lengths.add(records_of("u8", 65).c_str(), 65 << 14);
  lengths.add("u8", 128, 1, true);
  lengths.add("f64", 2 * kMiB);
  const std::string wanted = "1 host, 6 device, 2 device, 2 device, 3 device, 5 host, 1 device";
  EXPECT_EQ(lengths.cut(settings_at(1)), wanted);
  EXPECT_EQ(lengths.cut(settings_at(1, Coder::ans)), wanted);
  EXPECT_EQ(lengths.cut(settings_at(1), 0), "20 host");
  EXPECT_EQ(lengths.cut(settings_at(1), 6 * kMiB), "1 host, 6 device, 2 device, 2 device, 9 host");
}

TEST(CudaDevicePlanSmall, TakesChunksOfArraysWithTheSameRows) {
  Lengths lengths;
  lengths.add("i32", kMiB, 2);
  lengths.back().rows = {.row_records = 50};
  lengths.add("i32", kMiB, 2);
  lengths.back().rows = {.row_records = 50};
  EXPECT_EQ(lengths.cut(settings_at(1)), "1 device, 1 device, 1 device, 1 device");
}

// Of more than 32 groups, device_encode makes whole ones.
TEST(CudaDevicePlanSmall, TakesLongChunksThatAreNoWholeGroupsAlone) {
  Lengths lengths;
  lengths.add("i32", (1 << 20) + 4, 2);
  EXPECT_EQ(lengths.cut(settings_at(1)), "1 device, 1 device");
}

TEST(CudaDevicePlanSmall, LeavesWhatItPlansOtherwiseToTheHost) {
  Lengths lengths;
  lengths.add("i32", 1 << 20, 4);
  EXPECT_EQ(lengths.cut(settings_at(1)), "4 device");
  EXPECT_EQ(lengths.cut(settings_at(2)), "4 host");
  EXPECT_EQ(lengths.cut(settings_at(5, Coder::ans)), "4 host");
  EXPECT_EQ(lengths.cut(settings_at(1, Coder::zstd)), "4 host");
  EXPECT_EQ(lengths.cut(settings_at(1, Coder::raw)), "4 host");
  EncodeSettings settings = settings_at(1);
  settings.plain_bytes = true;
  EXPECT_EQ(lengths.cut(settings), "4 host");
  settings = settings_at(1);
  settings.residuals = true;
  EXPECT_EQ(lengths.cut(settings), "4 host");
  const std::vector<std::uint32_t> of_chunk{1 << 18};
  lengths.back().segments.lengths = of_chunk;
  EXPECT_EQ(lengths.cut(settings_at(1)), "3 device, 1 host");
}

TEST(CudaDevicePlan, TheBackendWritesTheBlocksOfTheCpu) {
  GDELTA_NEEDS_GPU();
  auto gpu = make_cuda_backend({0}, 0);
  ASSERT_TRUE(gpu) << gpu.error().message;
  const auto cpu = make_cpu_backend(0);
  const Layout bytes = byte_layout();
  for (const char* record : {"i32x3", "f64", "i16x2", "f32x3,u16,u8x2"}) {
    const Layout layout = parse_record(record).value();
    const std::uint64_t records = (1 << 20) / layout.record_bytes() / 128 * 128;
    Chunks chunks(layout, records, records / 3, 70, Pattern::smooth);
    const Bytes head(128, std::byte{3});
    for (const EncodeSettings& settings : {settings_at(1), settings_at(1, Coder::ans)}) {
      std::vector<EncodeJob> jobs = chunks.jobs;
      jobs.insert(jobs.begin(), {.values = head, .layout = &bytes, .opaque = true, .block = {}});
      std::vector<EncodeJob> wanted = jobs;
      ProgressMeter progress, nobody;
      ASSERT_TRUE((*gpu)->encode(jobs, settings, progress));
      ASSERT_TRUE(cpu->encode(wanted, settings, nobody));
      for (std::size_t i = 0; i < jobs.size(); ++i)
        ASSERT_TRUE(jobs[i].block == wanted[i].block) << record << " chunk " << i;
      EXPECT_EQ(progress.done(), nobody.done());
    }
  }
}

}  // namespace
}  // namespace gdelta::test
#endif
