#include "codec/backend/kept_backends.h"

#include <utility>

#include "gdelta/codec.h"

namespace gdelta {

class KeptBackends::Lent final : public Backend {
 public:
  Lent(KeptBackends& owner, std::string key, std::unique_ptr<Backend> backend)
      : owner_(owner), key_(std::move(key)), backend_(std::move(backend)) {}
  ~Lent() override {
    if (!failed_) owner_.give_back(std::move(key_), std::move(backend_));
  }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;

  std::string name() const override { return backend_->name(); }
  BatchSize batch_size() const override { return backend_->batch_size(); }
  Result<void> encode(std::span<EncodeJob> jobs, const EncodeSettings& settings,
                      ProgressMeter& progress) override {
    return noted(backend_->encode(jobs, settings, progress));
  }
  Result<void> decode(std::span<DecodeJob> jobs, bool verify, ProgressMeter& progress) override {
    return noted(backend_->decode(jobs, verify, progress));
  }

 private:
  // Nobody knows what state a device is in after an error of its own.
  Result<void> noted(Result<void> done) {
    failed_ |= !done && done.error().code != Errc::cancelled;
    return done;
  }

  KeptBackends& owner_;
  std::string key_;
  std::unique_ptr<Backend> backend_;
  bool failed_ = false;
};

Result<std::unique_ptr<Backend>> KeptBackends::lend(const std::string& key, const Open& open) {
  std::unique_ptr<Backend> backend = take(key);
  if (backend == nullptr) {
    auto opened = open();
    if (!opened) return tl::unexpected(std::move(opened.error()));
    backend = std::move(*opened);
  }
  return std::make_unique<Lent>(*this, key, std::move(backend));
}

void KeptBackends::release() { give_back({}, nullptr); }

std::unique_ptr<Backend> KeptBackends::take(const std::string& key) {
  const std::lock_guard lock(mutex_);
  return key_ == key ? std::move(kept_) : nullptr;
}

// The latest is kept, and the one before closed, without the lock.
void KeptBackends::give_back(std::string key, std::unique_ptr<Backend> backend) {
  const std::lock_guard lock(mutex_);
  std::swap(key_, key);
  std::swap(kept_, backend);
}

KeptBackends& kept_backends() {
  static KeptBackends& kept = *new KeptBackends;
  return kept;
}

void release_devices() { kept_backends().release(); }

}  // namespace gdelta
