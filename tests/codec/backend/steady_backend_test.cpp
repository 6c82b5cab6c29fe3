// A backend that fails is replaced by the CPU, once, with a warning and without a wrong byte.
#include "codec/backend/steady_backend.h"

#include "codec/stream/stream_tools.h"

namespace gdelta::test {
namespace {

/// A device that spoils its jobs and reports `code`.
class FailingBackend final : public Backend {
 public:
  explicit FailingBackend(Errc code) : code_(code) {}
  std::string name() const override { return "cuda:7"; }
  Result<void> encode(std::span<EncodeJob> jobs, const EncodeSettings&,
                      ProgressMeter& progress) override {
    for (EncodeJob& job : jobs) {
      job.block.assign(3, std::byte{1});
      progress.add(job.values.size());
    }
    return fail(code_, "the device is gone");
  }
  Result<void> decode(std::span<DecodeJob> jobs, bool, ProgressMeter&) override {
    for (DecodeJob& job : jobs)
      job.error = Error{.code = Errc::corrupt, .message = "nonsense", .chunk = {}, .byte = {}};
    return fail(code_, "the device is gone");
  }
  BatchSize batch_size() const override { return {.most_bytes = 1 << 20, .least_bytes = 1 << 20}; }

 private:
  Errc code_;
};

TEST(SteadyBackend, TheCpuGoesOnWhereADeviceFails) {
  const Bytes values = walk_bytes(4000);
  const Layout layout = parse_record("i32").value();
  ProgressMeter progress;
  EncodeJob expected{.values = values, .layout = &layout, .opaque = false, .block = {}};
  ASSERT_TRUE(make_cpu_backend(1)->encode({&expected, 1}, {}, progress));
  for (const Errc code : {Errc::device_error, Errc::out_of_memory}) {
    SteadyBackend backend(std::make_unique<FailingBackend>(code), 1);
    ASSERT_TRUE(backend.open(std::nullopt));
    EXPECT_EQ(backend.name(), "cuda:7");
    EncodeJob job{.values = values, .layout = &layout, .opaque = false, .block = {}};
    ASSERT_TRUE(backend.encode({&job, 1}, {}, progress));
    EXPECT_EQ(job.block, expected.block);
    EXPECT_EQ(backend.name(), "cpu");
    const auto warnings = backend.take_warnings();
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings[0].find("cuda:7"), std::string::npos);
    EXPECT_NE(warnings[0].find("the device is gone"), std::string::npos);
    EXPECT_TRUE(backend.take_warnings().empty());
  }
  SteadyBackend backend(std::make_unique<FailingBackend>(Errc::device_error), 1);
  Bytes out(values.size());
  DecodeJob job;
  job.block = expected.block;
  job.parsed = format::parse_chunk_block(job.block, 0, layout).value();
  job.layout = &layout;
  job.out = out;
  ASSERT_TRUE(backend.decode({&job, 1}, true, progress));
  EXPECT_FALSE(job.error);
  EXPECT_EQ(out, values);
}

TEST(SteadyBackend, WhatTheCpuDoesAgainIsNotToldTwice) {
  const Bytes values = walk_bytes(4000);
  const Layout layout = parse_record("i32").value();
  std::vector<std::uint64_t> told;
  const auto note = [](std::uint64_t done, void* user) {
    static_cast<std::vector<std::uint64_t>*>(user)->push_back(done);
    return true;
  };
  ProgressMeter progress(note, &told);
  progress.add(100);
  SteadyBackend backend(std::make_unique<FailingBackend>(Errc::device_error), 1);
  EncodeJob jobs[2];
  for (EncodeJob& job : jobs)
    job = {.values = values, .layout = &layout, .opaque = false, .block = {}};
  ASSERT_TRUE(backend.encode(jobs, {}, progress));
  EXPECT_EQ(told, (std::vector<std::uint64_t>{100, 4100, 8100, 8100, 8100}));
  EXPECT_EQ(progress.done(), 8100u);
}

TEST(SteadyBackend, OtherErrorsAreHandedOn) {
  ProgressMeter progress;
  SteadyBackend backend(std::make_unique<FailingBackend>(Errc::invalid_argument), 1);
  EXPECT_EQ(backend.encode({}, {}, progress).error().code, Errc::invalid_argument);
  EXPECT_TRUE(backend.take_warnings().empty());
}

}  // namespace
}  // namespace gdelta::test
