#include "codec/coders/workers.h"

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <mutex>
#include <vector>

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

/// Those that nobody works with. The library keeps an arena until one of its threads has seen that there is nothing
/// left to do: if each call made one, they would pile up, and each call would take longer than the one before.
class Workers::IdleThreads {
 public:
  /// Of the whole process, until it ends: threads of others may still return some.
  static IdleThreads& all() {
    static IdleThreads& all = *new IdleThreads;
    return all;
  }

  std::unique_ptr<Threads> take(int threads) {
    {
      const std::lock_guard lock(mutex_);
      const auto found = std::find_if(idle_.begin(), idle_.end(), [&](const auto& idle) {
        return idle->arena.max_concurrency() == threads;
      });
      if (found != idle_.end()) {
        std::unique_ptr<Threads> taken = std::move(*found);
        idle_.erase(found);
        return taken;
      }
    }
    return std::make_unique<Threads>(threads);
  }

  void give_back(std::unique_ptr<Threads> threads) {
    threads->frame_encoders.clear();  // they may hold much
    const std::lock_guard lock(mutex_);
    if (idle_.size() < idle_.capacity()) idle_.push_back(std::move(threads));
  }

 private:
  static constexpr std::size_t kMost = 16;
  IdleThreads() { idle_.reserve(kMost); }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Threads>> idle_;
};

Workers::Workers(int threads)
    : threads_(threads),
      of_library_(threads == 1 ? std::make_unique<Threads>(1) : IdleThreads::all().take(threads)) {}

Workers::~Workers() {
  if (threads_ > 1) IdleThreads::all().give_back(std::move(of_library_));
}

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
