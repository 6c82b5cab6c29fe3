#include "simulator/runners.h"

#include <condition_variable>
#include <latch>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "simulator/spare.h"

namespace simulator {
namespace {

/// What a thread is to do next.
struct Work {
  const std::function<void()>* run = nullptr;
  std::latch* done = nullptr;
  bool is_last = false;  ///< the thread ends
};

class Runner {
 public:
  Runner() : thread_([this] { serve(); }) {}
  ~Runner() {
    give({nullptr, nullptr, true});
    thread_.join();
  }
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  void give(Work work) {
    {
      const std::lock_guard lock(mutex_);
      work_ = work;
    }
    given_.notify_one();
  }

 private:
  Work take() {
    std::unique_lock lock(mutex_);
    given_.wait(lock, [this] { return work_.run != nullptr || work_.is_last; });
    return std::exchange(work_, {});
  }
  void serve() {
    for (Work work = take(); !work.is_last; work = take()) {
      (*work.run)();
      work.done->count_down();
    }
  }

  std::mutex mutex_;
  std::condition_variable given_;
  Work work_;
  std::thread thread_;
};

}  // namespace

void run_side_by_side(unsigned threads, const std::function<void()>& run) {
  static Spare<Runner> idle;
  std::vector<std::unique_ptr<Runner>> runners(threads);
  for (auto& runner : runners) runner = idle.take();
  std::latch done(threads);
  for (const auto& runner : runners) runner->give({&run, &done});
  done.wait();
  for (auto& runner : runners) idle.give_back(std::move(runner));
}

}  // namespace simulator
