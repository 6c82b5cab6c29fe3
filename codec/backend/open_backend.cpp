#include <charconv>

#include "codec/backend/backend.h"

namespace gdelta {
namespace {

// Below this, starting a GPU (206 ms) takes longer than it saves: level 1 compresses 8.8 GB/s with 16
// threads and 22.8 GB/s with an H200 (bench/results/h200/codec_host.csv).
constexpr std::uint64_t kGpuCrossoverBytes = 3ull << 30;

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

}  // namespace

Result<std::unique_ptr<Backend>> open_backend(std::string_view device, int threads,
                                              std::optional<std::uint64_t> input_bytes) {
  if (device == "cpu") return make_cpu_backend(threads);
  if (device == "auto") {
    // An input of unknown length is seldom that long.
    const bool repays = input_bytes.value_or(0) >= kGpuCrossoverBytes;
    if (repays && !list_cuda_devices().empty()) {
      // A GPU that cannot be opened is no reason to fail where none was asked for.
      if (auto backend = make_cuda_backend({0}, threads)) return backend;
    }
    return make_cpu_backend(threads);
  }
  if (device == "cuda") return make_cuda_backend({0}, threads);
  constexpr std::string_view kPrefix = "cuda:";
  if (!device.starts_with(kPrefix)) return unknown_device(device);
  const auto numbers = parse_device_numbers(device.substr(kPrefix.size()), device);
  if (!numbers) return tl::unexpected(numbers.error());
  return make_cuda_backend(*numbers, threads);
}

}  // namespace gdelta
