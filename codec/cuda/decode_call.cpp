#include "codec/cuda/decode_call.h"

namespace gdelta::cuda {

namespace {

SegmentPlaces take_segments(ScratchLayout& layout, const DeviceLayout& device_layout,
                            const DecodeCall& call) {
  if (!device_layout.in_segments) return {};
  SegmentPlaces segments;
  segments.room = lengths_place(call.lengths, call.num_chunks + 1);
  segments.chunks = layout.take<SegmentedChunk>(call.num_chunks);
  segments.lengths = layout.take<std::uint32_t>(segments.room);
  segments.starts = layout.take<std::uint32_t>(segments.room);
  segments.residual_bytes = call.decoded_bytes;
  segments.residuals = layout.take<unsigned char>(
      call.decoded_bytes + kApartRoom * call.num_chunks * device_layout.num_slots);
  segments.offsets = call.offsets;
  segments.num_offsets = call.num_offsets;
  segments.slot = device_layout.num_slots - 1;
  return segments;
}

ApartColumns take_apart(ScratchLayout& layout, const DeviceLayout& device_layout,
                        const DecodeCall& call) {
  if (!device_layout.apart) return {};
  return {.columns = layout.take<unsigned char>(call.decoded_bytes + kApartRoom * call.num_chunks *
                                                                         device_layout.num_slots),
          .bytes = call.decoded_bytes};
}

}  // namespace

DecodeScratch take_scratch(ScratchLayout& layout, const DeviceLayout& device_layout,
                           const DecodeCall& call) {
  const std::uint64_t num_chunks = call.num_chunks;
  const std::uint64_t tasks = num_chunks * device_layout.num_slots;
  DecodeScratch scratch;
  scratch.tasks = layout.take<ColumnTask>(tasks);
  scratch.map_tasks = layout.take<MapTask>(tasks);
  scratch.dictionaries = layout.take<DictionaryTask>(call.kinds.dictionaries ? tasks : 0);
  scratch.table_room = call.kinds.dictionaries
                           ? table_room(call.decoded_bytes, num_chunks, device_layout.num_slots)
                           : 0;
  scratch.table_values = layout.take<unsigned char>(scratch.table_room);
  scratch.lane_maps = layout.take<LaneMaps>(tasks);
  scratch.counts.warp_pages = layout.take<std::uint32_t>(tasks);
  scratch.counts.map_pages = layout.take<std::uint32_t>(tasks);
  scratch.counts.block_pages = layout.take<std::uint32_t>(tasks);
  scratch.counts.parts = layout.take<std::uint32_t>(tasks);
  const std::uint64_t segmented = device_layout.in_segments ? tasks : 0;
  if (segmented > 0) scratch.counts.segment_pages = layout.take<std::uint32_t>(segmented);
  scratch.warp_starts = layout.take<std::uint64_t>(tasks + 1);
  scratch.map_starts = layout.take<std::uint64_t>(tasks + 1);
  scratch.block_starts = layout.take<std::uint64_t>(tasks + 1);
  scratch.part_starts = layout.take<std::uint64_t>(tasks + 1);
  scratch.segment_starts = segmented > 0 ? layout.take<std::uint64_t>(segmented + 1) : nullptr;
  scratch.damaged_at = layout.take<unsigned long long>(num_chunks);
  scratch.differs_at = layout.take<unsigned long long>(num_chunks);
  scratch.tickets = layout.take<unsigned long long>(device_layout.classes.size());
  scratch.verdict_cells =
      layout.take<unsigned long long>(call.prepared_pages.empty() ? 0 : num_chunks);
  scratch.segments = take_segments(layout, device_layout, call);
  scratch.apart = take_apart(layout, device_layout, call);
  return scratch;
}

std::uint64_t decode_scratch_bytes(const DeviceLayout& device_layout, const DecodeCall& call) {
  ScratchLayout layout;
  take_scratch(layout, device_layout, call);
  return layout.bytes();
}

const std::uint32_t* decoded_lengths(const DeviceLayout& device_layout, const DecodeCall& call) {
  ScratchLayout layout(call.scratch);
  return take_scratch(layout, device_layout, call).segments.lengths;
}

}  // namespace gdelta::cuda
