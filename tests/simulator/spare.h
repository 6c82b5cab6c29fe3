// Things that are dear to make, kept while nobody has them.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace simulator {

template <class Thing>
class Spare {
 public:
  /// Gives one that was given back, as it was left, or else a new one.
  std::unique_ptr<Thing> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!things_.empty()) {
        std::unique_ptr<Thing> taken = std::move(things_.back());
        things_.pop_back();
        return taken;
      }
    }
    return std::make_unique<Thing>();
  }
  void give_back(std::unique_ptr<Thing> thing) {
    const std::lock_guard lock(mutex_);
    things_.push_back(std::move(thing));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Thing>> things_;
};

}  // namespace simulator
