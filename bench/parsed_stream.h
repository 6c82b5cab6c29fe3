// For benches: a stream in device memory whose heads have been parsed, so that the kernels that decode
// its pages can be launched alone, again and again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "bench/cuda_check.h"
#include "bench/device_array.h"
#include "codec/cuda/container/chunk_decode_cuda.h"
#include "codec/cuda/device_layout.h"
#include "gdelta/device.h"
#include "kernels/bitpack/unpack_pages_cuda.h"

namespace gdelta::bench {

/// The first column of all chunks of a table.
class ParsedStream {
 public:
  /// `decode` names table, stream and output; the rest of it is not looked at.
  ParsedStream(const DeviceDecode& decode, cudaStream_t stream) {
    const ChunkTable& table = *decode.table;
    const cuda::DeviceLayout device_layout = cuda::make_device_layout(table.layout);
    const auto chunks = static_cast<std::uint32_t>(table.num_chunks);
    const std::uint32_t num_tasks = device_layout.num_slots * chunks;
    first_task_ = device_layout.columns[0].slot * chunks;
    device_tasks_ = device_array<cuda::ColumnTask>(num_tasks);
    damaged_at_ = device_array<unsigned long long>(chunks);
    for (auto& starts : starts_)
      starts = device_array<std::uint64_t>(std::max(num_tasks, chunks) + 1);
    tickets_ = device_array<unsigned long long>(1);
    auto* const verdicts = device_array<cuda::ChunkVerdict>(chunks);
    auto* const differs_at = device_array<unsigned long long>(chunks);
    const cuda::DecodeCounts counts{
        device_array<std::uint32_t>(num_tasks), device_array<std::uint32_t>(num_tasks),
        device_array<std::uint32_t>(num_tasks), device_array<std::uint32_t>(num_tasks)};
    const cuda::CountArgs count{.counts = counts,
                                .num_tasks = num_tasks,
                                .warp_starts = starts_[0],
                                .map_starts = starts_[1],
                                .block_starts = starts_[2],
                                .part_starts = starts_[3],
                                .tickets = tickets_,
                                .num_tickets = 1};
    const cuda::ParseArgs parse{.stream = static_cast<const unsigned char*>(decode.stream),
                                .stream_bytes = decode.stream_bytes,
                                .table = static_cast<const unsigned char*>(decode.device_table),
                                .first_chunk = 0,
                                .num_chunks = chunks,
                                .num_slots = device_layout.num_slots,
                                .out = static_cast<unsigned char*>(decode.out),
                                .out_bytes = decode.out_bytes,
                                .tasks = device_tasks_,
                                .map_tasks = nullptr,
                                .dictionaries = nullptr,
                                .table_values = nullptr,
                                .table_room = 0,
                                .lane_maps = nullptr,
                                .verdicts = verdicts,
                                .damaged_at = damaged_at_,
                                .differs_at = differs_at,
                                .count = count,
                                .kinds = {.maps = false, .dictionaries = false},
                                .verify = false,
                                .stride_pages = 0};
    GDELTA_CHECK(cuda::launch_parse_chunks(parse, stream));
    tasks_.resize(chunks);
    GDELTA_CHECK(cudaMemcpyAsync(tasks_.data(), device_tasks_ + first_task_,
                                 chunks * sizeof(cuda::ColumnTask), cudaMemcpyDeviceToHost,
                                 stream));
    GDELTA_CHECK(cudaStreamSynchronize(stream));
    for (void* memory :
         {static_cast<void*>(verdicts), static_cast<void*>(differs_at),
          static_cast<void*>(counts.warp_pages), static_cast<void*>(counts.map_pages),
          static_cast<void*>(counts.block_pages), static_cast<void*>(counts.parts)})
      GDELTA_CHECK(cudaFree(memory));
  }
  ~ParsedStream() {
    for (void* memory : {static_cast<void*>(device_tasks_), static_cast<void*>(damaged_at_),
                         static_cast<void*>(tickets_), static_cast<void*>(starts_[0]),
                         static_cast<void*>(starts_[1]), static_cast<void*>(starts_[2]),
                         static_cast<void*>(starts_[3])})
      GDELTA_CHECK(cudaFree(memory));
  }
  ParsedStream(const ParsedStream&) = delete;
  ParsedStream& operator=(const ParsedStream&) = delete;

  /// [chunks], in host memory.
  const std::vector<cuda::ColumnTask>& tasks() const { return tasks_; }
  bool is_warp_path() const { return tasks_[0].path == cuda::ColumnPath::page_warp; }
  bool all_packed() const {
    return std::all_of(tasks_.begin(), tasks_.end(), [](const cuda::ColumnTask& task) {
      return task.path == cuda::ColumnPath::page_warp || task.path == cuda::ColumnPath::page_block;
    });
  }

  /// Launches the kernel that decodes the pages of `count` chunks from `first` on, all of one path.
  void launch_pages(std::uint32_t first, std::uint32_t count, cudaStream_t stream) const {
    const cuda::ColumnTask& task = tasks_[0];
    const bool warp = is_warp_path();
    const cuda::UnpackArgs args{.tasks = device_tasks_,
                                .starts = starts_[warp ? 0 : 2],
                                .damaged_at = damaged_at_,
                                .first_task = first_task_ + first,
                                .end_task = first_task_ + first + count,
                                .tickets = tickets_,
                                .differs_at = nullptr};
    const std::uint64_t most = std::uint64_t{task.num_pages} * count;
    GDELTA_CHECK(
        warp ? cuda::launch_unpack_pages_warp(task.value_bytes, task.tuple, args, most, stream)
             : cuda::launch_pack_pages_block({task.value_bytes, task.tuple}, args, most, stream));
  }

 private:
  std::uint32_t first_task_ = 0;
  cuda::ColumnTask* device_tasks_ = nullptr;
  unsigned long long* damaged_at_ = nullptr;
  std::uint64_t* starts_[4] = {};
  unsigned long long* tickets_ = nullptr;
  std::vector<cuda::ColumnTask> tasks_;
};

}  // namespace gdelta::bench
