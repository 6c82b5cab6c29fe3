// For samples that run on a GPU: arrays in device memory, and errors that end the program.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "gdelta/start_kernel.cuh"

namespace sample {

inline void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

/// Says so if there is none.
inline bool has_device() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0) return true;
  std::printf("no CUDA device on this machine\n");
  return false;
}

/// Ends the program if `right` is false.
inline void expect(bool right, const char* what) {
  std::printf("%-28s %s\n", what, right ? "right" : "WRONG");
  if (!right) std::exit(1);
}

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : count_(count) {
    void* data = nullptr;
    check(cudaMalloc(&data, std::max<std::size_t>(count * sizeof(T), 1)));
    data_ = static_cast<T*>(data);
  }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    check(cudaMemcpy(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  DeviceArray(DeviceArray&& other) noexcept
      : count_(std::exchange(other.count_, 0)), data_(std::exchange(other.data_, nullptr)) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(count_, other.count_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~DeviceArray() { cudaFree(data_); }
  T* data() const { return data_; }
  std::size_t count() const { return count_; }
  void fill_bytes(int byte) { check(cudaMemset(data_, byte, count_ * sizeof(T))); }
  T at(std::size_t i) const {
    T value;
    check(cudaMemcpy(&value, data_ + i, sizeof(T), cudaMemcpyDeviceToHost));
    return value;
  }
  std::vector<T> values() const {
    std::vector<T> values(count_);
    check(cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  std::size_t count_;
  T* data_ = nullptr;
};

/// Enqueues a kernel on the default stream.
template <class Kernel, class... Arguments>
void launch(Kernel kernel, std::uint64_t blocks, int threads, const Arguments&... arguments) {
  check(gdelta::device::start_kernel(kernel, blocks, threads, nullptr, arguments...));
}

}  // namespace sample
