// Pages decoded into registers: a kernel of the caller's walks over a column and gets its values, which are
// never stored. A warp takes a page at a time, as the kernels of device_decode do (docs/pages.md), and each thread
// gets runs of 8 or 16 consecutive tuples.
//
//   using Reader = gdelta::PageReader<float, 3>;
//   __global__ void __launch_bounds__(Reader::kThreads, Reader::kBlocks)
//   count_high(gdelta::DevicePages pages, unsigned long long* count) {
//     Reader::for_each_run(pages, [&](const Reader::Run& run) {
//       run.for_each([&](std::uint64_t record, const float (&point)[3]) { … });
//     });
//   }
//   …
//   device_open_pages(decode, 0, stream);
//   gdelta::launch_reader<Reader, count_high>(pages, stream, pages, count);
//   device_close_pages(pages, stream);
//
// Compiled by nvcc as C++20 with --expt-relaxed-constexpr, and found as gdelta.pc and find_package(gdelta) say.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "gdelta/pages/device_pages.h"
#include "gdelta/start_kernel.cuh"
#include "kernels/bitpack/decode_packed_page.cuh"
#include "kernels/bitpack/warp_pages.cuh"
#include "kernels/checksum/compare_page.cuh"
#include "kernels/checksum/page_check.cuh"
#include "kernels/device/kernel_facts.cuh"

namespace gdelta {

/// Value: any trivially copyable type of 1, 2, 4 or 8 bytes, as which the column's values are given, in the byte order
/// of the device. Tuple: of the column, 1 to 4. kVerify: as DevicePages::verify.
template <class Value, int Tuple, bool kVerify = true>
class PageReader {
  static_assert(std::is_trivially_copyable_v<Value> && Tuple >= 1 && Tuple <= cuda::kWarpPathTuple);
  static constexpr int kBytes = sizeof(Value);
  static_assert(kBytes == 1 || kBytes == 2 || kBytes == 4 || kBytes == 8);
  using Word = cuda::WordOf<kBytes>;
  using Shape = cuda::UnpackWarpShape<kBytes, Tuple>;
  static constexpr int kRun = Shape::kRunTuples;

 public:
  static constexpr int kThreads = 32 * Shape::kPolicy.warps_per_block;  ///< of a block, always
  /// Blocks a multiprocessor that device_decode's kernels are tuned to: the second number of __launch_bounds__.
  static constexpr int kBlocks = Shape::kPolicy.blocks_per_sm;
  static constexpr int kValueBytes = kBytes;
  static constexpr int kTuple = Tuple;
  static constexpr bool kIsVerified = kVerify;

  /// Consecutive tuples of a thread.
  class Run {
   public:
    /// Its first record, counted from the first chunk that was opened.
    __device__ std::uint64_t first() const { return first_; }
    __device__ int count() const { return count_; }  ///< 0 … 16

    /// Calls visit(record, tuple) with each; `tuple` is a `const Value (&)[Tuple]`.
    template <class Visit>
    __device__ void for_each(const Visit& visit) const {
#pragma unroll
      for (int i = 0; i < kRun; ++i) {
        if (i < count_) {
          Value tuple[Tuple];
#pragma unroll
          for (int lane = 0; lane < Tuple; ++lane) tuple[lane] = value(lane, i);
          visit(first_ + i, tuple);
        }
      }
    }

   private:
    friend PageReader;
    __device__ Run(const Word (&words)[Tuple][kRun], std::uint64_t first, int count)
        : words_(words), first_(first), count_(count) {}
    __device__ Value value(int lane, int i) const {
      Value value;
      memcpy(&value, &words_[lane][i], kBytes);  // the low bytes
      return value;
    }

    const Word (&words_)[Tuple][kRun];
    std::uint64_t first_;
    int count_;
  };

  /// Calls visit(run) with the runs of all pages. All threads of all blocks call it, blocks of kThreads. Runs come in
  /// no order; the threads of a warp call `visit` together, some perhaps with runs of no tuple, so that it may vote
  /// and shuffle. The runs of a page that is damaged may hold anything, and their number is right: device_close_pages
  /// says which chunks are whole.
  template <class Visit>
  __device__ static void for_each_run(const DevicePages& pages, const Visit& visit) {
    __shared__ cuda::UnpackWarpShared<kBytes, Tuple> shared[Shape::kPolicy.warps_per_block];
    auto& mine = shared[threadIdx.x / 32];
    const cuda::UnpackArgs args{.tasks = pages.tasks,
                                .starts = pages.starts,
                                .damaged_at = pages.damaged_at,
                                .first_task = pages.first_task,
                                .end_task = pages.end_task,
                                .tickets = pages.tickets,
                                .differs_at = pages.differs_at};
    cuda::for_each_page<kBytes, Tuple>(
        mine, args, Shape::kPolicy.warps_per_block,
        [&](const cuda::ColumnTask& task, const cuda::PageView& page, const unsigned char* head) {
          cuda::decode_page<kBytes, Tuple>(mine, task, page, head, args.damaged_at,
                                           Visitor<Visit>{visit, args.differs_at});
        });
  }

 private:
  /// The sink of decode_page that hands runs on.
  template <class Visit>
  struct Visitor {
    __device__ void open(const cuda::ColumnTask& task, const cuda::PageView& page) {
      // Chunks were opened for an output that begins at 0.
      first = reinterpret_cast<std::uintptr_t>(task.out) / task.record_bytes + page.first;
      swaps = task.big_endian;
    }
    __device__ void take(Word (&values)[Tuple][kRun], std::uint32_t left, int thread) {
      const int own = kRun * thread;
      if constexpr (kVerify) {
        std::uint32_t words[Shape::kRunBytes / 4];
        cuda::pack_run<kBytes, Tuple>(values, words);
        if (left < Shape::kTileTuples)
          cuda::keep_bytes(words, (static_cast<int>(left) - own) * Shape::kTupleBytes);
        check.add(words);
      }
      if (swaps) swap(values);
      const int count = max(0, min(kRun, static_cast<int>(left) - own));
      visit(Run(values, first + own, count));
    }
    __device__ void store(unsigned char*, std::uint32_t, const cuda::ColumnTask&, int) {
      first += Shape::kTileTuples;
    }
    __device__ void close(const cuda::ColumnTask& task, const cuda::PageView& page, unsigned tiles,
                          int thread) const {
      if constexpr (kVerify) cuda::compare_page(check, task, page, tiles, differs_at, thread);
    }
    /// From the byte order of the column to that of the device.
    __device__ static void swap(Word (&values)[Tuple][kRun]) {
#pragma unroll
      for (auto& lane : values)
#pragma unroll
        for (Word& value : lane) value = cuda::swap_value(value, kBytes);
    }

    const Visit& visit;
    unsigned long long* differs_at;
    std::uint64_t first = 0;
    bool swaps = false;
    cuda::PageCheck<Shape::kRunBytes / 4> check{};
  };
};

/// Launches a kernel that calls Reader::for_each_run once, with as many blocks as the device holds, or as there are
/// pages. Does nothing if there are none.
/// Errors      cudaErrorInvalidValue if the reader is not for such a column, or verifies what was opened without
///             it or the other way round; what a launch answers
template <class Reader, auto kKernel, class... Arguments>
cudaError_t launch_reader(const DevicePages& pages, cudaStream_t stream,
                          const Arguments&... arguments) {
  if (pages.value_bytes != Reader::kValueBytes || pages.tuple != Reader::kTuple ||
      pages.verify != Reader::kIsVerified)
    return cudaErrorInvalidValue;
  int resident = 0;
  if (const cudaError_t error = device::resident_blocks<kKernel>(Reader::kThreads, resident))
    return error;
  const std::uint64_t blocks = std::min<std::uint64_t>(pages.most_pages, resident);
  if (blocks == 0) return cudaSuccess;
  return device::start_kernel(kKernel, blocks, Reader::kThreads, stream, arguments...);
}

}  // namespace gdelta
