#include "codec/coders/workers.h"

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>

#include "codec/coders/zstd_section.h"

namespace gdelta {

namespace {

// Threads seldom begin together; a few stretches for each even that out.
constexpr std::uint64_t kRangesPerThread = 4;

}  // namespace

struct Workers::Threads {
  explicit Threads(int threads) : arena(threads) {}
  tbb::task_arena arena;
  tbb::enumerable_thread_specific<FrameEncoder> frame_encoders;
};

Workers::Workers(int threads)
    : threads_(threads), of_library_(std::make_unique<Threads>(threads)) {}

Workers::~Workers() = default;

FrameEncoder& Workers::frame_encoder() { return of_library_->frame_encoders.local(); }

void Workers::run(std::size_t count, Call call, const void* function) {
  of_library_->arena.execute([&] {
    tbb::this_task_arena::isolate([&] {
      tbb::parallel_for(
          std::size_t{0}, count, [&](std::size_t i) { call(function, i); },
          tbb::simple_partitioner());
    });
  });
}

Workers& Workers::alone() {
  thread_local Workers workers(1);
  return workers;
}

std::uint64_t Workers::num_ranges(std::uint64_t count, std::uint64_t grain) const {
  if (threads_ == 1) return 1;
  const std::uint64_t most = kRangesPerThread * static_cast<std::uint64_t>(threads_);
  return std::clamp<std::uint64_t>(count / grain, 1, most);
}

}  // namespace gdelta
