// Flights: which jobs go together, and what becomes of errors.
#ifdef GDELTA_HAS_CUDA
#include "codec/cuda/flights.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <chrono>
#include <new>
#include <numeric>
#include <system_error>
#include <thread>
#include <vector>

#include "codec/cuda/cuda_cases.h"
#include "codec/cuda/device_memory.h"

namespace gdelta::cuda::test {
namespace {

struct FakeFlight {
  CudaStream stream;
  std::atomic<bool> busy = false;
};

std::vector<std::size_t> lengths_of(std::vector<int> jobs, std::uint64_t flight_bytes) {
  std::vector<std::size_t> lengths;
  for (const auto stretch : cut_into_flights(
           std::span(jobs), flight_bytes, [](int job) { return static_cast<std::uint64_t>(job); }))
    lengths.push_back(stretch.size());
  return lengths;
}

TEST(CudaFlightsSmall, HoldSoManyBytesOrASingleJob) {
  EXPECT_EQ(lengths_of({}, 8), (std::vector<std::size_t>{}));
  EXPECT_EQ(lengths_of({4, 4, 1, 9, 8, 1}, 8), (std::vector<std::size_t>{2, 1, 1, 1, 1}));
  EXPECT_EQ(lengths_of({1, 2, 3}, 8), (std::vector<std::size_t>{3}));
}

TEST(CudaFlightsSmall, TakeEveryJobOnceAndOneAtATime) {
  GDELTA_NEEDS_GPU();
  std::vector<std::atomic<int>> taken(100);
  const auto stretches =
      cut_into_flights(std::span(taken), 3, [](const auto&) { return std::uint64_t{1}; });
  std::array<FakeFlight, kFlights> flights;
  std::atomic<int> overlaps = 0;
  const auto done = run_flights<FakeFlight, std::atomic<int>>(
      0, flights, stretches,
      [&](FakeFlight& flight, std::span<std::atomic<int>> mine) -> Result<void> {
        overlaps += flight.busy.exchange(true);
        for (std::atomic<int>& job : mine) ++job;
        flight.busy = false;
        return {};
      });
  EXPECT_TRUE(done);
  EXPECT_EQ(overlaps, 0);
  for (const std::atomic<int>& job : taken) EXPECT_EQ(job, 1);
}

/// While it lives, threads ask for a stack that no machine has, and do not start.
class NoThreads {
 public:
  NoThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge;
    pthread_attr_init(&huge);
    pthread_attr_setstacksize(&huge, std::size_t{1} << 62);
    pthread_setattr_default_np(&huge);
    pthread_attr_destroy(&huge);
  }
  ~NoThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  pthread_attr_t before_;
};

TEST(CudaFlightsSmall, TakeEveryJobWhereNoThreadStarts) {
  GDELTA_NEEDS_GPU();
  std::vector<int> jobs(100);
  const auto stretches = cut_into_flights(std::span(jobs), 1, [](int) { return std::uint64_t{1}; });
  std::array<FakeFlight, kFlights> flights;
  const NoThreads none;
  EXPECT_THROW(std::jthread([] {}), std::system_error);
  const auto done = run_flights<FakeFlight, int>(
      0, flights, stretches, [&](FakeFlight&, std::span<int> mine) -> Result<void> {
        for (int& job : mine) ++job;
        return {};
      });
  EXPECT_TRUE(done);
  EXPECT_EQ(jobs, std::vector<int>(100, 1));
}

TEST(CudaFlightsSmall, BeginNoMoreBehindAnError) {
  GDELTA_NEEDS_GPU();
  for (const bool throws : {false, true}) {
    std::vector<int> jobs(1000);
    std::iota(jobs.begin(), jobs.end(), 0);
    const auto stretches =
        cut_into_flights(std::span(jobs), 1, [](int) { return std::uint64_t{1}; });
    std::array<FakeFlight, kFlights> flights;
    std::atomic<int> begun_behind = 0;
    std::atomic<bool> failed = false;
    const auto done = run_flights<FakeFlight, int>(
        0, flights, stretches, [&](FakeFlight&, std::span<int> mine) -> Result<void> {
          if (mine[0] != 5) {
            if (!failed) return {};
            ++begun_behind;
            // The error may take a while to be heard of on a loaded machine.
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            return {};
          }
          failed = true;
          if (throws) throw std::bad_alloc();
          return fail(Errc::device_error, "the sixth");
        });
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, throws ? Errc::out_of_memory : Errc::device_error);
    // The others may have begun some before they heard of the error, never the nearly thousand that are left.
    EXPECT_LT(begun_behind, 100);
  }
}

}  // namespace
}  // namespace gdelta::cuda::test
#endif
