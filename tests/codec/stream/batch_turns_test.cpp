// Batches that take turns: what is encoded is handed on in order, and what fails is told before more is.
#include "codec/stream/batch_turns.h"

#include "codec/stream/stream_tools.h"

namespace gdelta::test {
namespace {

/// A CPU that fails in one of its calls.
class CountingBackend final : public Backend {
 public:
  explicit CountingBackend(int failing_call) : failing_call_(failing_call) {}
  std::string name() const override { return "counting"; }
  BatchSize batch_size() const override { return {}; }
  Result<void> encode(std::span<EncodeJob> jobs, const EncodeSettings& settings,
                      ProgressMeter& /*progress*/) override {
    if (++calls_ == failing_call_) return fail(Errc::cancelled, "as it should");
    ProgressMeter nobody;
    return cpu_->encode(jobs, settings, nobody);
  }
  Result<void> decode(std::span<DecodeJob> /*jobs*/, bool /*verify*/,
                      ProgressMeter& /*progress*/) override {
    return {};
  }

 private:
  std::unique_ptr<Backend> cpu_ = make_cpu_backend(1);
  int failing_call_;
  int calls_ = 0;
};

struct OneJob {
  std::vector<EncodeJob> jobs;
  void clear() { jobs.clear(); }
};

class BatchTurnsTest : public ::testing::Test {
 protected:
  /// Sends values batch by batch; the first error, and how many batches had been sent then.
  std::pair<Result<void>, std::size_t> send_all(int failing_call) {
    SteadyBackend backend(std::make_unique<CountingBackend>(failing_call), 1);
    ProgressMeter progress;
    const Sink append = append_to(stream_);
    FunctionSink sink(append);
    StreamEmitter emitter(sink);
    BatchTurns<OneJob> turns(backend, progress, emitter);
    const EncodeSettings settings{.level = 1};
    for (std::size_t i = 0; i < kBatches; ++i) {
      turns.collecting().jobs.push_back(
          {.values = std::span(values_).subspan(i * 400, 400), .layout = &layout_, .block = {}});
      const bool last = i + 1 == kBatches;
      if (auto sent = last ? turns.flush(settings) : turns.send(settings); !sent)
        return {sent, i + 1};
      EXPECT_TRUE(turns.collecting().jobs.empty()) << i;
    }
    EXPECT_TRUE(emitter.finish());
    return {{}, kBatches};
  }

  static constexpr std::size_t kBatches = 5;
  Bytes values_ = walk_bytes(kBatches * 400);
  Layout layout_ = parse_record("i32").value();
  Bytes stream_;
};

TEST_F(BatchTurnsTest, HandsOnEveryBatchInOrder) {
  EXPECT_TRUE(send_all(0).first);
  EXPECT_EQ(decompress(stream_, decode_on_cpu()).value(), values_);
}

TEST_F(BatchTurnsTest, TellsOfAFailureWhenTheNextBatchIsSent) {
  for (int failing = 1; failing <= static_cast<int>(kBatches); ++failing) {
    stream_.clear();
    const auto [sent, batches] = send_all(failing);
    ASSERT_FALSE(sent) << failing;
    EXPECT_EQ(sent.error().code, Errc::cancelled);
    EXPECT_EQ(batches, std::min<std::size_t>(kBatches, static_cast<std::size_t>(failing) + 1));
    EXPECT_EQ(salvage_stream(stream_).report.bytes, 400u * static_cast<unsigned>(failing - 1));
  }
}

}  // namespace
}  // namespace gdelta::test
