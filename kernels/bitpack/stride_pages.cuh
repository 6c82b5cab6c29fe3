// A block decodes a column: some of its warps decode its pages, each into a slot in shared memory, and others take these
// pages in order, sum them along their strides where they are, and store them. So memory sees values once.
#pragma once

#include <cuda_pipeline_primitives.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/bitpack/stride_pages_cuda.h"
#include "kernels/bitpack/stride_slots.cuh"
#include "kernels/bitpack/stride_summer.cuh"
#include "kernels/bitpack/unpack_pages_warp.cuh"
#include "kernels/device/shared_limit.h"

namespace gdelta::cuda {

/// A page that a warp takes.
struct StridePage {
  std::uint32_t task;
  std::uint32_t number;  // in its column
  StrideTurn turn;
  bool is_there = false;
};

/// Pages that a warp of a block takes: every so many, counted over all columns that the block sums.
template <class Block>
class PagesInTurn {
 public:
  __device__ PagesInTurn(const Block& block, const UnpackArgs& args, std::uint32_t first,
                         std::uint32_t every)
      : here{0, first, {first}}, block_(block), args_(args), columns_(args), every_(every) {
    find_pages();
    settle();
  }

  __device__ void advance() {
    here.number += every_;
    here.turn.advance(every_, block_.ring.slots);
    settle();
  }

  StridePage here;  // if there is none, none is behind it, either

 private:
  __device__ void find_pages() {
    here.task = columns_.in_round(round_);
    const bool is_there = here.task < columns_.end && block_.takes(args_.tasks[here.task]);
    pages_ = device::warp_uniform(is_there ? args_.tasks[here.task].num_pages : 0);
  }
  __device__ void settle() {
    while (here.number >= pages_ && round_ < columns_.rounds) {
      here.number -= pages_;
      ++round_;
      find_pages();
    }
    here.is_there = round_ < columns_.rounds;
  }

  const Block& block_;
  const UnpackArgs& args_;
  BlockColumns columns_;
  std::uint32_t every_;
  std::uint32_t round_ = 0;
  std::uint32_t pages_ = 0;  // of the task
};

// ---- Decoding

/// Puts the tiles of a page into a slot.
template <int ValueBytes, int Tuple>
struct SlotSink {
  using Slot = StrideSlot<ValueBytes, Tuple>;

  __device__ std::uint32_t* groups() const { return reinterpret_cast<std::uint32_t*>(slot); }
  __device__ void open(const ColumnTask&, const PageView&) {}
  __device__ void take(const WordOf<ValueBytes> (&values)[Tuple][Slot::OfPage::kRunTuples],
                       std::uint32_t, int) {
    pack_run<Slot::kValueBytes, Tuple>(values, words);
  }
  __device__ void take_words(std::uint32_t, int) {}
  __device__ void store(unsigned char*, std::uint32_t, const ColumnTask&, int thread) {
    put_run<typename Slot::Shape>(slot, words, thread);
    slot += Slot::kTileBytes;
  }
  __device__ void close(const ColumnTask&, const PageView&, unsigned, int) const {}

  unsigned char* slot;
  std::uint32_t words[Slot::Shape::kRunBytes / 4];
};

/// A warp that decodes pages. What the column of the next page but one says, where that lies, and the head of the next one
/// are on their way.
template <int ValueBytes, int Tuple, bool kTogether>
class StrideDecoder {
 public:
  using Block = StrideBlock<ValueBytes, Tuple, kTogether>;

  __device__ StrideDecoder(const Block& block, const UnpackArgs& args, std::uint32_t number)
      : block_(block),
        args_(args),
        mine_(block.warps[number]),
        fetched_(block, args, number, block.ring.decoders) {
    open_warp_shared(mine_);
  }

  __device__ void run() {
    StridePage page = fetched_.here;
    if (!page.is_there) return;
    fetch(0);
    fetched_.advance();
    StridePage next = fetched_.here;
    if (next.is_there) fetch(1);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();  // both have come
    fetch_head(mine_.head[0], task_in(0), view_of(0, page.number));
    __pipeline_commit();
#pragma unroll 1
    for (int place = 0; page.is_there; place = behind(place)) {
      __pipeline_wait_prior(0);
      __syncwarp();  // this page's head has come, and the next one's task and where it lies
      if (next.is_there) {
        fetch_head(mine_.head[behind(place)], task_in(behind(place)),
                   view_of(behind(place), next.number));
        fetched_.advance();
        if (fetched_.here.is_there) fetch(behind(behind(place)));
      }
      decode(place, page);
      page = next;
      next = fetched_.here;
    }
  }

 private:
  __device__ static int behind(int place) {
    return place == StrideStages<ValueBytes, Tuple>::kPages - 1 ? 0 : place + 1;
  }
  __device__ const ColumnTask& task_in(int place) const {
    return *reinterpret_cast<const ColumnTask*>(mine_.tasks[place]);
  }
  __device__ PageView view_of(int place, std::uint32_t page) const {
    return uniform_view(fetched_view(mine_.ends[place], task_in(place), page));
  }
  __device__ void fetch(int place) {
    fetch_task(mine_, args_.tasks[fetched_.here.task], fetched_.here.number, place);
  }
  __device__ void decode(int place, const StridePage& page) {
    const StrideTurn& turn = page.turn;
    // Pages are not stored in order. That the one before has been decoded says that parity is that of its turn.
    device::barrier_wait(block_.joined.decoded + turn.slot, turn.parity ^ 1);
    device::barrier_wait(block_.joined.stored + turn.slot, turn.parity ^ 1);
    decode_page<ValueBytes, Tuple>(mine_, task_in(place), view_of(place, page.number),
                                   mine_.head[place], args_.damaged_at,
                                   SlotSink<ValueBytes, Tuple>{.slot = block_.slot(turn)});
    device::barrier_arrive(block_.joined.decoded + turn.slot);
    __pipeline_commit();
  }

  const Block& block_;
  const UnpackArgs& args_;
  typename Block::OfWarp& mine_;
  PagesInTurn<Block> fetched_;  // the page that something has been fetched of last
};

// ---- Kernel and launcher

template <int ValueBytes, int Tuple, bool kTogether>
__global__ void __launch_bounds__(most_stride_threads(ValueBytes), 1)
    stride_pages_kernel(const __grid_constant__ UnpackArgs args, const LaneMaps* lane_maps,
                        StrideRing ring) {
  device::start_successor();
  const StrideBlock<ValueBytes, Tuple, kTogether> block(device::dynamic_shared(), ring);
  if (threadIdx.x == 0) block.joined.open(ring);
  __syncthreads();  // barriers are set up
  device::wait_for_predecessor();
  const auto warp = static_cast<std::uint32_t>(device::warp_number());
  if (device::warp_uniform<int>(BlockColumns(args).has_any(block, args)) == 0) return;
  if (warp < ring.decoders) {
    StrideDecoder<ValueBytes, Tuple, kTogether>(block, args, warp).run();
  } else {
    StrideSummer<ValueBytes, Tuple, kTogether>(block, args, warp - ring.decoders).run(lane_maps);
  }
}

/// What a block of this device has.
template <int ValueBytes, int Tuple>
cudaError_t stride_ring_of(StrideRing& ring) {
  int room = 0;
  if (auto error = device::device_attribute<cudaDevAttrMaxSharedMemoryPerBlockOptin>(room))
    return error;
  ring = StrideBlock<ValueBytes, Tuple, false>::ring_in(static_cast<std::size_t>(room));
  return cudaSuccess;
}

template <int ValueBytes, int Tuple, bool kTogether>
cudaError_t launch_stride_pages_of(const UnpackArgs& args, const LaneMaps* lane_maps,
                                   cudaStream_t stream) {
  constexpr auto kKernel = stride_pages_kernel<ValueBytes, Tuple, kTogether>;
  if (auto error = device::raise_shared_limit(kKernel)) return error;
  int processors = 0;
  if (auto error = device::device_attribute<cudaDevAttrMultiProcessorCount>(processors))
    return error;
  StrideRing ring{};
  if (auto error = stride_ring_of<ValueBytes, Tuple>(ring)) return error;
  const std::uint32_t blocks =
      std::min(args.end_task - args.first_task, static_cast<std::uint32_t>(processors));
  if (blocks == 0) return cudaSuccess;
  return device::launch_after_with<kKernel>(
      blocks, 32 * static_cast<int>(ring.decoders + ring.summers),
      StrideBlock<ValueBytes, Tuple, kTogether>::bytes(ring), stream, args, lane_maps, ring);
}

/// Warps of a block that decode; 0: it has no room.
template <int ValueBytes>
cudaError_t stride_decoders(int tuple, std::uint32_t& decoders) {
  return for_narrow_tuple(tuple, [&](auto lanes) {
    StrideRing ring{};
    const cudaError_t error = stride_ring_of<ValueBytes, decltype(lanes)::value>(ring);
    decoders = ring.decoders;
    return error;
  });
}

template <int ValueBytes>
cudaError_t launch_stride_pages_width(int tuple, const UnpackArgs& args, const LaneMaps* lane_maps,
                                      cudaStream_t stream) {
  return for_narrow_tuple(tuple, [&](auto lanes) {
    constexpr int kTuple = decltype(lanes)::value;
    if (auto error = launch_stride_pages_of<ValueBytes, kTuple, false>(args, lane_maps, stream))
      return error;
    return launch_stride_pages_of<ValueBytes, kTuple, true>(args, lane_maps, stream);
  });
}

}  // namespace gdelta::cuda
