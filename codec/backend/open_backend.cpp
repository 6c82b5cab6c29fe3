#include <charconv>

#include "codec/backend/backend.h"
#include "codec/backend/kept_backends.h"

namespace gdelta {
namespace {

// Below this, starting a GPU (.2 to .4 s) takes longer than it saves: level 1 compresses 12.9 GB/s with 16
// threads and 27.6 GB/s with an H200 (bench/results/h200/codec_host.csv).
constexpr std::uint64_t kGpuCrossoverBytes = 6ull << 30;

/// A kind of device and what opens one.
struct DeviceKind {
  std::string_view name;
  bool numbered;  // NAME:N and NAME:N,M name one or more of them; NAME alone the first
  bool kept;      // for the next call
  Result<std::unique_ptr<Backend>> (*open)(const std::vector<int>& numbers, int threads);
};

Result<std::unique_ptr<Backend>> open_cpu(const std::vector<int>& /*numbers*/, int threads) {
  return make_cpu_backend(threads);
}

constexpr DeviceKind kDeviceKinds[] = {
    {.name = "cpu", .numbered = false, .kept = false, .open = open_cpu},
    {.name = "cuda", .numbered = true, .kept = true, .open = make_cuda_backend},
};

tl::unexpected<Error> unknown_device(std::string_view device) {
  return fail(Errc::invalid_argument, "unknown device '" + std::string(device) +
                                          "': use auto, cpu, cuda, cuda:N or cuda:N,M");
}

// "0,2" as numbers.
Result<std::vector<int>> parse_device_numbers(std::string_view text, std::string_view device) {
  std::vector<int> numbers;
  for (;;) {
    int number = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || number < 0) return unknown_device(device);
    for (const int seen : numbers) {
      if (seen == number)
        return fail(Errc::invalid_argument, "a device is named twice: " + std::string(device));
    }
    numbers.push_back(number);
    text.remove_prefix(end - text.data());
    if (text.empty()) return numbers;
    if (text.front() != ',') return unknown_device(device);
    text.remove_prefix(1);
  }
}

Result<std::unique_ptr<Backend>> open_numbers(const DeviceKind& kind,
                                              const std::vector<int>& numbers, int threads) {
  if (!kind.kept) return kind.open(numbers, threads);
  std::string key = std::string(kind.name) + " with threads " + std::to_string(threads);
  for (const int number : numbers) key += ", " + std::to_string(number);
  return kept_backends().lend(key, [&] { return kind.open(numbers, threads); });
}

Result<std::unique_ptr<Backend>> open_by_name(std::string_view device, int threads) {
  const std::size_t colon = device.find(':');
  const std::string_view name = device.substr(0, colon);
  for (const DeviceKind& kind : kDeviceKinds) {
    if (kind.name != name || (colon != device.npos && !kind.numbered)) continue;
    if (colon == device.npos) return open_numbers(kind, {0}, threads);
    const auto numbers = parse_device_numbers(device.substr(colon + 1), device);
    if (!numbers) return tl::unexpected(numbers.error());
    return open_numbers(kind, *numbers, threads);
  }
  return unknown_device(device);
}

}  // namespace

Result<std::unique_ptr<Backend>> open_backend(std::string_view device, int threads,
                                              std::optional<std::uint64_t> input_bytes) {
  if (device != "auto") return open_by_name(device, threads);
  // An input of unknown length is seldom that long.
  const bool repays = input_bytes.value_or(0) >= kGpuCrossoverBytes;
  if (repays && !list_cuda_devices().empty()) {
    // A GPU that cannot be opened is no reason to fail if none was asked for.
    if (auto backend = open_by_name("cuda", threads)) return backend;
  }
  return open_by_name("cpu", threads);
}

}  // namespace gdelta
