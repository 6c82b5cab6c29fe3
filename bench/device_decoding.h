// For benches: a stream in device memory, and all that decoding it takes. A failure ends the program.
#pragma once

#include <cstdlib>
#include <span>
#include <utility>
#include <vector>

#include "bench/device_array.h"
#include "gdelta/device.h"

namespace gdelta::bench {

class DeviceDecoding {
 public:
  /// Copies a stream from host memory.
  DeviceDecoding(std::span<const std::byte> stream, const StreamInfo& info)
      : table_(make_chunk_table(info).value()) {
    constexpr std::uint64_t kReadBehind = 16;
    call_.device_table = copied(table_.bytes, 0);
    call_.stream = copied(stream, kReadBehind);
    call_.stream_bytes = stream.size();
    call_.out_bytes = info.decoded_bytes;
    take_room();
  }
  /// A stream that device_encode has written, which is decoded where it lies.
  DeviceDecoding(const DeviceEncode& encode, ChunkTable table, std::uint64_t stream_bytes)
      : table_(std::move(table)) {
    call_.device_table = encode.table;
    call_.stream = encode.stream;
    call_.stream_bytes = stream_bytes;
    call_.out_bytes = encode.values_bytes;
    take_room();
  }
  ~DeviceDecoding() {
    for (std::byte* memory : owned_) GDELTA_CHECK(cudaFree(memory));
  }
  DeviceDecoding(const DeviceDecoding&) = delete;
  DeviceDecoding& operator=(const DeviceDecoding&) = delete;

  /// Where values go, if not to room that the first run takes.
  void send_to(std::byte* out) { call_.out = out; }
  void want_offsets(std::uint64_t num_segments) {
    call_.num_offsets = num_segments + 1;
    call_.offsets = reinterpret_cast<std::uint64_t*>(own(8 * call_.num_offsets));
  }

  void run(bool verify) {
    if (call_.out == nullptr) {
      call_.out = own(call_.out_bytes);
      GDELTA_CHECK(cudaMemset(call_.out, 0xa5, call_.out_bytes));
    }
    call_.verify = verify;
    if (!device_decode(call_, nullptr)) std::exit(1);
  }

  const DeviceDecode& call() const { return call_; }
  const std::byte* out() const { return static_cast<const std::byte*>(call_.out); }
  const std::uint64_t* offsets() const { return call_.offsets; }

  /// Whether the last run has found no fault.
  bool is_whole() const {
    std::vector<ChunkStatus> status(call_.num_chunks);
    GDELTA_CHECK(cudaMemcpy(status.data(), call_.status, status.size() * sizeof(ChunkStatus),
                            cudaMemcpyDeviceToHost));
    for (const ChunkStatus& chunk : status)
      if (chunk.code != static_cast<int>(Errc::ok)) return false;
    return true;
  }

 private:
  std::byte* own(std::uint64_t bytes) {
    return owned_.emplace_back(device_array<std::byte>(bytes));
  }
  std::byte* copied(std::span<const std::byte> bytes, std::uint64_t more) {
    std::byte* const copy = own(bytes.size() + more);
    GDELTA_CHECK(cudaMemcpy(copy, bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
    return copy;
  }
  void take_room() {
    call_.table = &table_;
    call_.num_chunks = table_.num_chunks;
    call_.scratch_bytes = device_decode_scratch_bytes(table_, 0, table_.num_chunks).value();
    call_.scratch = own(call_.scratch_bytes);
    call_.status = reinterpret_cast<ChunkStatus*>(own(table_.num_chunks * sizeof(ChunkStatus)));
  }

  ChunkTable table_;
  DeviceDecode call_;
  std::vector<std::byte*> owned_;
};

}  // namespace gdelta::bench
