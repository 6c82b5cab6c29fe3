// A backend is kept for the next call that wants its like, unless it has failed.
#include "codec/backend/kept_backends.h"

#include <gtest/gtest.h>

#include "codec/backend/progress_meter.h"

namespace gdelta::test {
namespace {

/// How many of them there are, and how many there have been.
struct Count {
  int open = 0;
  int opened = 0;
};

class CountedBackend final : public Backend {
 public:
  CountedBackend(Count& count, Errc outcome)
      : count_(count), outcome_(outcome), number_(++count.opened) {
    ++count_.open;
  }
  ~CountedBackend() override { --count_.open; }

  std::string name() const override { return "counted " + std::to_string(number_); }
  Result<void> encode(std::span<EncodeJob> /*jobs*/, const EncodeSettings& /*settings*/,
                      ProgressMeter& /*progress*/) override {
    return outcome();
  }
  Result<void> decode(std::span<DecodeJob> /*jobs*/, bool /*verify*/,
                      ProgressMeter& /*progress*/) override {
    return outcome();
  }
  BatchSize batch_size() const override { return {.most_bytes = 77}; }

 private:
  Result<void> outcome() const {
    if (outcome_ == Errc::ok) return {};
    return fail(outcome_, "as it should");
  }

  Count& count_;
  Errc outcome_;
  int number_;
};

class KeptBackendsTest : public ::testing::Test {
 protected:
  std::unique_ptr<Backend> lend(const std::string& key, Errc outcome = Errc::ok) {
    auto backend = kept_.lend(key, [this, outcome]() -> Result<std::unique_ptr<Backend>> {
      return std::make_unique<CountedBackend>(count_, outcome);
    });
    return backend ? std::move(*backend) : nullptr;
  }

  Count count_;
  KeptBackends kept_;
};

TEST_F(KeptBackendsTest, LendsTheSameAgain) {
  EXPECT_EQ(lend("a")->name(), "counted 1");
  EXPECT_EQ(count_.open, 1);
  const auto again = lend("a");
  EXPECT_EQ(again->name(), "counted 1");
  EXPECT_EQ(again->batch_size().most_bytes, 77u);
  EXPECT_EQ(count_.opened, 1);
}

TEST_F(KeptBackendsTest, TwoCallsAtOnceHaveOneEach) {
  auto first = lend("a"), second = lend("a");
  EXPECT_EQ(first->name(), "counted 1");
  EXPECT_EQ(second->name(), "counted 2");
  first.reset();
  EXPECT_EQ(count_.open, 2);
  second.reset();  // the latest is kept
  EXPECT_EQ(count_.open, 1);
  EXPECT_EQ(lend("a")->name(), "counted 2");
}

TEST_F(KeptBackendsTest, KeepsOneForOneKey) {
  EXPECT_EQ(lend("a")->name(), "counted 1");
  EXPECT_EQ(lend("b")->name(), "counted 2");
  EXPECT_EQ(count_.open, 1);
  EXPECT_EQ(lend("a")->name(), "counted 3");
  EXPECT_EQ(count_.open, 1);
}

TEST_F(KeptBackendsTest, KeepsNoneThatFailed) {
  ProgressMeter progress;
  for (const Errc outcome : {Errc::device_error, Errc::out_of_memory}) {
    EXPECT_FALSE(lend("a", outcome)->encode({}, {}, progress));
    EXPECT_EQ(count_.open, 0);
    EXPECT_FALSE(lend("a", outcome)->decode({}, true, progress));
    EXPECT_EQ(count_.open, 0);
  }
  EXPECT_FALSE(lend("a", Errc::cancelled)->encode({}, {}, progress));
  EXPECT_EQ(count_.open, 1);  // it was stopped by the caller
}

TEST_F(KeptBackendsTest, ReleasesTheOneItKeeps) {
  lend("a").reset();
  kept_.release();
  EXPECT_EQ(count_.open, 0);
  kept_.release();
  auto lent = lend("a");
  EXPECT_EQ(lent->name(), "counted 2");
  kept_.release();  // what is lent stays
  EXPECT_EQ(count_.open, 1);
  lent.reset();
  EXPECT_EQ(count_.open, 1);
}

TEST_F(KeptBackendsTest, HandsOnWhyNoneCanBeOpened) {
  const auto backend = kept_.lend("a", []() -> Result<std::unique_ptr<Backend>> {
    return fail(Errc::unsupported_backend, "none");
  });
  ASSERT_FALSE(backend);
  EXPECT_EQ(backend.error().code, Errc::unsupported_backend);
  EXPECT_EQ(lend("a")->name(), "counted 1");
}

}  // namespace
}  // namespace gdelta::test
