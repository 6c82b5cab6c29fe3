#include "codec/cuda/ready_tasks.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "codec/cuda/column_kinds.h"
#include "codec/cuda/container/make_tasks.h"
#include "codec/cuda/container/place_tasks_cuda.h"
#include "codec/cuda/device_layout.h"

namespace gdelta::cuda {
namespace {

using format::ColumnHead;

// Of more slots the kernel would have too many counts to add up. More tasks, those of 128 GiB in chunks of 1 MiB, would take
// the host more memory than they are worth.
constexpr std::uint64_t kMostSlots = 8;
constexpr std::uint64_t kMostTasks = 1ull << 18;

static_assert(std::is_trivially_copyable_v<ColumnTask> && std::is_trivially_copyable_v<MapTask> &&
              std::is_trivially_copyable_v<LaneMaps>);

template <class Byte>
Byte* made_for(std::uint64_t at) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): nobody reads there
  return reinterpret_cast<Byte*>(static_cast<std::uintptr_t>(kMadeFor + at));
}

// Where tables are decoded to is found by kernels.
bool may_be_ready(const ChunkKinds& kinds) { return !kinds.dictionaries; }

bool has_segments(const KnownHead& head) { return head.parsed.segments.lengths > 0; }

// Records, and what is added to each word of theirs.
template <class Record>
class MadeRecords {
 public:
  explicit MadeRecords(std::size_t count) : records_(count), bases_(count * kWords) {}

  Record& operator[](std::size_t at) { return records_[at]; }
  // The word of record `at` that this member lies in, or begins with.
  template <class Member>
  void add(std::size_t at, const Member& member, Base base) {
    const auto* const begin = reinterpret_cast<const std::byte*>(&records_[at]);
    bases_[at * kWords +
           static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&member) - begin) / 8] =
        base;
  }
  void put(std::byte* table, const ReadyRecords& places) const {
    std::memcpy(table + places.words_at, records_.data(), records_.size() * sizeof(Record));
    std::memcpy(table + places.bases_at, bases_.data(), bases_.size());
  }

 private:
  static constexpr std::size_t kWords = sizeof(Record) / 8;
  static_assert(sizeof(Record) % 8 == 0);
  std::vector<Record> records_;  // those of no column are empty
  std::vector<Base> bases_;
};

class ReadyTable {
 public:
  ReadyTable(const Layout& layout, std::size_t chunks, bool in_segments)
      : layout_(layout),
        device_layout_(make_device_layout(layout, in_segments)),
        num_chunks_(chunks),
        tasks_(device_layout_.num_slots * chunks),
        map_tasks_(device_layout_.num_slots * chunks),
        lane_maps_(device_layout_.num_slots * chunks),
        segments_(in_segments ? chunks : 0),
        counts_(kNumTaskCounts * device_layout_.num_slots * (chunks + 1)) {
    ready_.kinds.segments = in_segments;
  }

  /// Takes the next chunk, whose place this is; false if its tasks cannot be made.
  bool add(const KnownHead& head, const KnownChunk& known, const TableChunk& from) {
    const format::ParsedChunk& parsed = head.parsed;
    const format::SegmentsHead& segments = parsed.segments;
    if (head.decoded_at != ready_.decoded_bytes || segments.lengths != from.lengths ||
        segments.joins != from.joins || from.lengths_at != ready_.lengths ||
        from.segments_at != ready_.segments || from.records_at != records_in_segments_)
      return false;
    const bool opaque = parsed.opaque();
    const Layout& layout = opaque ? byte_layout() : layout_;
    ready_.kinds.opaque |= opaque;
    const auto chunk = static_cast<std::uint32_t>(before_.size());
    before_.push_back({.lengths = lengths_place(from.lengths_at, chunk),
                       .segments = from.segments_at,
                       .records = from.records_at});
    const ChunkPlace place{.head = made_for<const format::Byte>(known.head_at + known.fields_at),
                           .section_at = head.block_at + parsed.frame.payload_at(),
                           .records = static_cast<std::uint32_t>(parsed.records),
                           .record_bytes = static_cast<std::uint32_t>(layout.record_bytes()),
                           .out = made_for<unsigned char>(head.decoded_at),
                           .out_at = head.decoded_at,
                           .chunk = chunk,
                           .in_segments = segments.lengths > 0,
                           .apart = device_layout_.apart && !opaque};
    const auto* const fields =
        reinterpret_cast<const format::Byte*>(head.bytes.data()) + known.fields_at;
    if (has_segments(head) && !add_segments(place, segments, parsed.lengths, fields)) return false;
    for (std::size_t c = 0; c < parsed.columns.size(); ++c) {
      if (!add_column(place, column_place(layout, opaque, c), parsed.columns[c], fields,
                      place.apart ? Base::columns : Base::out))
        return false;
    }
    const std::uint64_t decoded_bytes = parsed.records * layout.record_bytes();
    ready_.decoded_bytes += decoded_bytes;
    ready_.largest_chunk = std::max(ready_.largest_chunk, decoded_bytes);
    ready_.stream_bytes = std::max(ready_.stream_bytes, head.block_at + parsed.frame.block_bytes());
    return true;
  }

  /// Writes all of them behind the table; false if they have too many pages.
  bool append_to(std::vector<std::byte>& table) {
    if (!sum_counts()) return false;
    ready_.at = (table.size() + 15) / 16 * 16;
    const ReadyPlaces places = ready_places(ready_.at, device_layout_.num_slots, num_chunks_,
                                            ready_.kinds.maps, ready_.kinds.segments);
    table.resize(places.end);
    tasks_.put(table.data(), places.tasks);
    if (ready_.kinds.maps) {
      map_tasks_.put(table.data(), places.map_tasks);
      lane_maps_.put(table.data(), places.lane_maps);
    }
    if (ready_.kinds.segments) {
      segments_.put(table.data(), places.segments);
      std::memcpy(table.data() + places.before_at, before_.data(),
                  before_.size() * sizeof(ReadyBefore));
    }
    std::memcpy(table.data() + places.counts_at, counts_.data(),
                counts_.size() * sizeof(std::uint32_t));
    return true;
  }

  const ReadyTasks& ready() const { return ready_; }

 private:
  ColumnPlace column_place(const Layout& layout, bool opaque, std::size_t c) const {
    const auto number = static_cast<std::uint32_t>(c);
    if (opaque) return {layout.columns[c], number, device_layout_.opaque_slot, 0};
    const TableColumn& column = device_layout_.columns[c];
    return {layout.columns[c], number, column.slot, column.offset};
  }

  // What a chunk says of its segments, whose lengths are a column of their own.
  bool add_segments(const ChunkPlace& place, const format::SegmentsHead& said,
                    const ColumnHead& lengths, const format::Byte* fields) {
    const ReadyBefore& before = before_.back();
    ChunkPlace of_lengths = place;
    of_lengths.records = static_cast<std::uint32_t>(said.lengths);
    of_lengths.record_bytes =
        static_cast<std::uint32_t>(format::tuple_bytes(format::kLengthColumn));
    of_lengths.out = made_for<unsigned char>(before.lengths * sizeof(std::uint32_t));
    of_lengths.in_segments = false;
    of_lengths.apart = false;
    const ColumnPlace column{format::kLengthColumn, 0, device_layout_.num_slots - 1, 0};
    if (!add_column(of_lengths, column, lengths, fields, Base::lengths)) return false;
    SegmentedChunk& chunk = segments_[place.chunk];
    chunk = {.lengths = made_for<const std::uint32_t>(before.lengths * sizeof(std::uint32_t)),
             .starts = made_for<std::uint32_t>(before.lengths * sizeof(std::uint32_t)),
             .offsets = made_for<std::uint64_t>(before.segments * sizeof(std::uint64_t)),
             .first_record = before.records,
             .section_at = place.section_at,
             .section_end = place.section_at + lengths.column_bytes(),
             .num_lengths = of_lengths.records,
             .records = place.records,
             .heads = 0,
             .continues = said.continues(),
             .says_end = !said.goes_on(),
             .right = false};
    segments_.add(place.chunk, chunk.lengths, Base::lengths);
    segments_.add(place.chunk, chunk.starts, Base::starts);
    segments_.add(place.chunk, chunk.offsets, Base::offsets);
    segments_.add(place.chunk, chunk.first_record, Base::first_record);
    ready_.lengths += said.lengths;
    ready_.most_lengths = std::max(ready_.most_lengths, said.lengths);
    ready_.segments += said.begun();
    records_in_segments_ += place.records;
    return true;
  }

  // `out`: what the place of its values is added to.
  bool add_column(const ChunkPlace& place, const ColumnPlace& of_column, const ColumnHead& head,
                  const format::Byte* fields, Base out) {
    const Column& column = of_column.column;
    if (!cuda::add_column(ready_.kinds, head, column) || !may_be_ready(ready_.kinds)) return false;
    ParseArgs args{};
    args.stream = made_for<const unsigned char>(0);
    args.num_slots = device_layout_.num_slots;
    args.segments.residuals = made_for<unsigned char>(0);
    args.apart.columns = made_for<unsigned char>(0);
    const std::size_t at = of_column.slot * num_chunks_ + place.chunk;
    ColumnTask& task = tasks_[at];
    MapTask& maps = map_tasks_[at];
    LaneMaps& lane_maps = lane_maps_[at];
    task = make_task(args, place, head, path_of_task(head, column), of_column);
    maps = make_map_task(task, place, head, column);
    take_lane_maps(nullptr, fields, head, column, task, maps, lane_maps);
    if (is_final(task, head, column)) task.path = verified_path(task);
    add_bases(at, out);
    const TaskParts parts = parts_of(task, static_cast<std::uint32_t>(head.num_parts));
    const std::size_t behind = of_column.slot * (num_chunks_ + 1) + place.chunk + 1;
    count(TaskCount::warp_pages)[behind] = parts.warp_pages;
    count(TaskCount::map_pages)[behind] = parts.map_pages;
    count(TaskCount::block_pages)[behind] = parts.block_pages;
    count(TaskCount::parts)[behind] = parts.unverified;
    count(TaskCount::segment_pages)[behind] = parts.segment_pages;
    return true;
  }

  // To the words of a task and of what it has beside it.
  void add_bases(std::size_t at, Base out) {
    ColumnTask& task = tasks_[at];
    tasks_.add(at, task.section, Base::stream);
    tasks_.add(at, task.directory, Base::table);
    tasks_.add(at, task.fields, Base::table);
    if (task.orders != nullptr) tasks_.add(at, task.orders, Base::table);
    tasks_.add(at, task.chunk, Base::chunk);
    if (task.is_linear()) tasks_.add(at, task.linear, Base::table);
    if (task.is_segmented()) {
      const bool in_pages = task.path == ColumnPath::page_segments;
      tasks_.add(at, task.segments.orders, Base::table);
      tasks_.add(at, task.segments.residuals, in_pages ? Base::residuals : out);
      if (!in_pages) out = Base::residuals;
    }
    tasks_.add(at, task.out, out);
    if (lane_maps_of(task) != nullptr) {
      task.linear = made_for<const unsigned char>(at * sizeof(LaneMaps));
      tasks_.add(at, task.linear, Base::lane_maps);
    }
    if (task.path == ColumnPath::page_warp_verified) tasks_.add(at, task.path, Base::warp_path);
    if (task.path == ColumnPath::page_block_verified) tasks_.add(at, task.path, Base::block_path);
    if (map_tasks_[at].value_maps == nullptr) return;
    map_tasks_.add(at, map_tasks_[at].value_maps, Base::table);
    map_tasks_.add(at, map_tasks_[at].lane_map, Base::table);
    map_tasks_.add(at, map_tasks_[at].exceptions, Base::stream);
    lane_maps_[at].damaged_at = made_for<unsigned long long>(task.chunk * sizeof(std::uint64_t));
    lane_maps_.add(at, lane_maps_[at].damaged_at, Base::damaged_at);
  }

  std::uint32_t* count(TaskCount of) {
    return counts_.data() +
           static_cast<std::size_t>(of) * device_layout_.num_slots * (num_chunks_ + 1);
  }

  // Counts of each chunk become those of all before.
  bool sum_counts() {
    const std::size_t row = num_chunks_ + 1;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      if (i % row == 0) sum = 0;
      sum += counts_[i];
      if (sum > std::numeric_limits<std::uint32_t>::max()) return false;
      counts_[i] = static_cast<std::uint32_t>(sum);
    }
    return true;
  }

  const Layout& layout_;
  DeviceLayout device_layout_;
  std::size_t num_chunks_;
  MadeRecords<ColumnTask> tasks_;
  MadeRecords<MapTask> map_tasks_;
  MadeRecords<LaneMaps> lane_maps_;
  MadeRecords<SegmentedChunk> segments_;
  std::vector<ReadyBefore> before_;
  std::uint64_t records_in_segments_ = 0;
  std::vector<std::uint32_t> counts_;
  ReadyTasks ready_{.kinds = kNoChunkKinds};
};

}  // namespace

std::optional<ReadyTasks> append_ready_tasks(std::span<const KnownHead> heads, const Layout& layout,
                                             std::uint64_t heads_at,
                                             std::vector<std::byte>& table) {
  const bool in_segments = std::ranges::any_of(heads, has_segments);
  const std::size_t columns = layout.columns.size(), slots = columns + (in_segments ? 2 : 1);
  if (slots > kMostSlots || slots * heads.size() >= kMostTasks) return std::nullopt;
  ReadyTable ready(layout, heads.size(), in_segments);
  for (std::size_t i = 0; i < heads.size(); ++i) {
    KnownChunk known;
    std::memcpy(&known, table.data() + heads_at + i * sizeof known, sizeof known);
    TableChunk from;
    const std::uint64_t chunks_at = table_chunks_at(static_cast<std::uint32_t>(columns));
    std::memcpy(&from, table.data() + chunks_at + i * sizeof from, sizeof from);
    if (!ready.add(heads[i], known, from)) return std::nullopt;
  }
  if (!ready.append_to(table)) return std::nullopt;
  return ready.ready();
}

bool allows(const ChunkKinds& kinds, const ChunkKinds& needed) {
  // All members are named, so that this does not compile with one more until somebody has thought of it here.
  const auto& [placed, strides, stride_pairs, stride_columns, linear, maps, map_passes, exceptions,
               dictionaries, segments, segment_pages, segment_passes, opaque, warp_pages,
               page_coders, page_groups] = needed;
  const auto all = [](bool has, bool needs) { return has || !needs; };
  return all(kinds.placed, placed) && all(kinds.strides, strides) &&
         all(kinds.stride_pairs, stride_pairs) && all(kinds.linear, linear) &&
         all(kinds.maps, maps) && all(kinds.map_passes, map_passes) &&
         all(kinds.exceptions, exceptions) && all(kinds.dictionaries, dictionaries) &&
         all(kinds.segments, segments) && all(kinds.segment_pages, segment_pages) &&
         all(kinds.segment_passes, segment_passes) && all(kinds.opaque, opaque) &&
         all(kinds.warp_pages, warp_pages) && (page_coders & ~kinds.page_coders) == 0;
}

}  // namespace gdelta::cuda
