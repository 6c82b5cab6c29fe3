// How much of something long is done, told while it goes on: shares of shares, down to what takes moments.
#pragma once

#include <algorithm>
#include <atomic>

namespace gdelta {

/// Threads     any, at any time
class Work {
 public:
  /// So much of it is done, 0 to 1, besides what was told before.
  virtual void add(double share) = 0;

 protected:
  ~Work() = default;
};

/// A share of other work. When it ends all of it counts as done, with what was spared.
class WorkPart final : public Work {
 public:
  /// `whole`: nullptr if nobody wants to know.
  WorkPart(Work* whole, double share) : whole_(whole), share_(share) {}
  WorkPart(const WorkPart&) = delete;
  WorkPart& operator=(const WorkPart&) = delete;
  ~WorkPart() { add(1); }

  void add(double share) override {
    if (whole_ == nullptr) return;
    double before = done_, after = 0;
    do {
      after = std::min(before + share, 1.0);
    } while (!done_.compare_exchange_weak(before, after));
    whole_->add((after - before) * share_);
  }

 private:
  Work* whole_;
  double share_;
  std::atomic<double> done_ = 0;
};

}  // namespace gdelta
