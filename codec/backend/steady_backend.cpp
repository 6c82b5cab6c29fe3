#include "codec/backend/steady_backend.h"

#include <fmt/core.h>

#include <utility>

namespace gdelta {

namespace {

constexpr std::string_view kCpuName = "cpu";

bool cpu_may_do_better(const Error& error) {
  return error.code == Errc::device_error || error.code == Errc::out_of_memory;
}

}  // namespace

SteadyBackend::SteadyBackend(std::string device, int threads)
    : device_(std::move(device)), threads_(threads), name_(device_) {}

SteadyBackend::SteadyBackend(std::unique_ptr<Backend> backend, int threads)
    : device_(backend->name()),
      threads_(threads),
      backend_(std::move(backend)),
      batch_size_(backend_->batch_size()),
      name_(device_) {}

Result<void> SteadyBackend::open(std::optional<std::uint64_t> input_bytes) {
  if (backend_) return {};
  auto opened = open_backend(device_, threads_, input_bytes);
  if (!opened) return tl::unexpected(std::move(opened.error()));
  backend_ = std::move(*opened);
  batch_size_ = backend_->batch_size();
  const std::lock_guard lock(mutex_);
  name_ = backend_->name();
  return {};
}

/// Hands on the error if there is nothing to fall back to.
Result<void> SteadyBackend::fall_back(const Error& error) {
  if (!cpu_may_do_better(error) || backend_->name() == kCpuName) return tl::unexpected(error);
  const std::lock_guard lock(mutex_);
  warnings_.push_back(
      fmt::format("{} failed ({}); the CPU goes on with the work", name_, error.message));
  backend_ = make_cpu_backend(threads_);
  name_ = backend_->name();
  return {};
}

Result<void> SteadyBackend::encode(std::span<EncodeJob> jobs, const EncodeSettings& settings,
                                   ProgressMeter& progress) {
  const std::uint64_t before = progress.done();
  const auto done = backend_->encode(jobs, settings, progress);
  if (done) return {};
  if (auto fallen = fall_back(done.error()); !fallen) return fallen;
  for (EncodeJob& job : jobs) job.block.clear();
  progress.rewind(before);
  return backend_->encode(jobs, settings, progress);
}

Result<void> SteadyBackend::decode(std::span<DecodeJob> jobs, bool verify,
                                   ProgressMeter& progress) {
  const std::uint64_t before = progress.done();
  const auto done = backend_->decode(jobs, verify, progress);
  if (done) return {};
  if (auto fallen = fall_back(done.error()); !fallen) return fallen;
  for (DecodeJob& job : jobs) job.error.reset();
  progress.rewind(before);
  return backend_->decode(jobs, verify, progress);
}

std::string SteadyBackend::name() const {
  const std::lock_guard lock(mutex_);
  return name_;
}

std::vector<std::string> SteadyBackend::take_warnings() {
  const std::lock_guard lock(mutex_);
  return std::exchange(warnings_, {});
}

}  // namespace gdelta
