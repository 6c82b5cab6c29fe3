// A backend that has been used is kept for the next call that wants its like: getting memory of a GPU, and memory that it
// copies from and to, takes longer than a batch of chunks does.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "codec/backend/backend.h"

namespace gdelta {

/// Keeps one at most. Any thread may call.
class KeptBackends {
 public:
  using Open = std::function<Result<std::unique_ptr<Backend>>()>;

  /// The one that is kept, if it was lent under this key, else one that `open` opens. It comes back when the caller is
  /// through with it, unless it has failed; it must not outlive this. Errors: those of `open`.
  Result<std::unique_ptr<Backend>> lend(const std::string& key, const Open& open);

  /// Closes the one that is kept.
  void release();

 private:
  class Lent;

  std::unique_ptr<Backend> take(const std::string& key);
  void give_back(std::string key, std::unique_ptr<Backend> backend);

  std::mutex mutex_;
  std::string key_;
  std::unique_ptr<Backend> kept_;
};

/// That of the process. It is never destroyed: at its end a driver may be gone before it.
KeptBackends& kept_backends();

}  // namespace gdelta
