// The second look at pages of wide tuples, a warp a strip. What a strip has of its page are four pieces: states, descriptors,
// groups and exceptions, between those of other strips. They are put together in shared memory, one behind another, each as
// far from a vector of 16 bytes as its place is, and leave for their places in vectors.
#pragma once

#include <algorithm>

#include "kernels/bitpack/lane_strip.cuh"
#include "kernels/bitpack/unit_place.cuh"
#include "kernels/bitpack/write_pages_warp.cuh"

namespace gdelta::cuda {

/// Bytes of a strip that lie side by side, in the image and in memory.
struct StripPiece {
  unsigned char* to;
  std::uint32_t begin, end;  // in the image

  /// Bytes that go to `place`, the first that can lie at byte `from` of the image or behind it.
  __device__ StripPiece(unsigned char* place, std::uint32_t bytes, std::uint32_t from)
      : to(place),
        begin(from +
              ((static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(place)) - from) & 15)),
        end(begin + bytes) {}

  /// Stores what the window of `words` words from `first_word` on has of it.
  template <class Image>
  __device__ void store(const Image& image, std::uint32_t first_word, std::uint32_t words,
                        int thread) const {
    const std::uint32_t first = 4 * first_word;
    const std::uint32_t from = max(begin, first), behind = min(end, first + 4 * words);
    if (from < behind)
      store_image(image, from - first, behind - first,
                  to - static_cast<std::int64_t>(begin) + first, thread);
  }
};

template <class Shape>
__device__ void write_strip(const PackArgs& args, std::uint32_t task_number, std::uint64_t unit,
                            WritePageShared<Shape>& shared) {
  const PackTask& task = args.tasks[task_number];
  const int thread = threadIdx.x & 31;
  const std::uint64_t first_unit = args.unit_starts[task_number];
  const UnitView view = unit_view(task, static_cast<std::uint32_t>(unit - first_unit));
  const std::uint32_t tuples =
      device::warp_uniform(min(kGroupValues * task.page_groups, task.records - view.first));
  const LaneStrip strip(task, view);
  const PackFront<Shape> front(strip);
  const EarlierRuns<Shape> earlier(strip);
  const UnitPlace place = place_unit(args, task, view, first_unit, args.results[task_number]);
  const int first_state = states_before(task, kStripLanes * static_cast<int>(view.part));
  std::uint32_t states = 0;
#pragma unroll
  for (int lane = 0; lane < Shape::kTuple; ++lane) states += front.orders[lane];

  PageParts parts;
  parts.mine.bits =
      thread < static_cast<int>(view.count) ? args.descriptors[unit * kUnitGroups + thread] : 0u;
  const GroupPlaces own = GroupPlaces::of(parts.mine);
  const GroupPlaces ends{device::warp_prefix<std::uint32_t>(own.word)};
  const GroupPlaces all{__shfl_sync(device::kWholeWarp, ends.word, 31)};
  parts.places = {ends.word - own.word};

  const StripPiece state_piece(place.page + first_state * Shape::kValueBytes,
                               states * Shape::kValueBytes, 0);
  const StripPiece descriptors(place.page + task.state_bytes + 2 * view.begin, 2 * view.count,
                               state_piece.end);
  const StripPiece groups(place.groups, all.group(), descriptors.end);
  const StripPiece exceptions(place.exceptions, all.exceptions(), groups.end);
  parts.groups = groups.begin;
  parts.exceptions = exceptions.begin;
  const std::uint32_t words = (exceptions.end + 15) / 16 * 4;

  const auto write = [&](auto page, std::uint32_t count) {
    shared.image.clear(count, thread);
    shared.residuals.load(strip, front, view.first, thread);
    put_states(page, front, state_piece.begin, shared.residuals.lanes, thread);
    if (thread < static_cast<int>(view.count))
      page.join(descriptors.begin + 2 * thread, 0, parts.mine.bits);
    __syncwarp();  // states have been read before the history moves on
    put_groups(strip, front, earlier, view, tuples, parts, page, shared, thread);
    __syncwarp();  // all fields are there
    const auto store = [&](const StripPiece& piece) {
      piece.store(shared.image, page.first_word, count, thread);
    };
    store(state_piece);
    store(descriptors);
    store(groups);
    store(exceptions);
    __syncwarp();  // and have been read
  };
  constexpr std::uint32_t kWindow = PageImage<Shape::kValueBytes>::kWords;
  if (words <= kWindow) {
    write(PageWriter<Shape, true>{shared.image, 0, 0}, words);
    return;
  }
#pragma unroll 1
  for (std::uint32_t first = 0; first < words; first += kWindow)
    write(PageWriter<Shape, false>{shared.image, first, 0}, min(words - first, kWindow));
}

template <class Shape>
__global__ void __launch_bounds__(32 * kWriteWarps, kWriteBlocks<Shape>)
    write_pages_wide_kernel(PackArgs args, PackRange range) {
  __shared__ WritePageShared<Shape> shared[kWriteWarps];
  device::start_successor();
  for_each_unit<kWriteWarps>(args, range, [&](std::uint32_t task, std::uint64_t unit) {
    if (args.results[task].kind != SectionKind::pack) return;
    write_strip(args, task, unit, shared[threadIdx.x / 32]);
  });
  device::wait_for_predecessor();
}

}  // namespace gdelta::cuda
