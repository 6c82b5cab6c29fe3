// A scan on the simulated device.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/scan/scan_cuda.h"
#include "kernels/scan_reference.h"

namespace gdelta::scan {

inline const char* name_of(Path path) {
  constexpr const char* kNames[] = {"automatic", "single",  "group",
                                    "stream",    "cluster", "resident"};
  return kNames[int(path)];
}

/// Scratch of exactly so many bytes, 256-byte aligned, full of rubbish.
class ScanScratch {
 public:
  explicit ScanScratch(std::size_t bytes) : bytes_(bytes), room_(bytes + 512, kRubbish) {
    void* data = room_.data();
    std::size_t room = room_.size();
    data_ = static_cast<unsigned char*>(std::align(256, bytes, data, room));
  }
  unsigned char* data() const { return data_; }
  std::size_t size() const { return bytes_; }
  bool is_whole() const {
    const unsigned char* const end = data_ + bytes_;
    return end == room_.data() + room_.size() || *end == kRubbish;
  }

 private:
  static constexpr unsigned char kRubbish = 0xee;
  std::size_t bytes_;
  std::vector<unsigned char> room_;
  unsigned char* data_;
};

inline cudaError_t launch_in_place(const Shape& shape, Path path, void* values) {
  const ScanScratch scratch(scratch_bytes(shape, path, 0));
  const cudaError_t error =
      launch_scan(shape, path, values, values, scratch.data(), scratch.size(), nullptr);
  return error == cudaSuccess && !scratch.is_whole() ? cudaErrorInvalidValue : error;
}

}  // namespace gdelta::scan
