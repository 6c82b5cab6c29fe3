// The device API's encoding half.
#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "codec/chunk/chunk_sizes.h"
#include "codec/coders/default_pages.h"
#include "codec/cuda/ans_encode.h"
#include "codec/cuda/column_kinds.h"
#include "codec/cuda/container/make_dictionaries_cuda.h"
#include "codec/cuda/container/map_chunks_cuda.h"
#include "codec/cuda/container/plan_chunks_cuda.h"
#include "codec/cuda/container/plan_steps_cuda.h"
#include "codec/cuda/container/plan_strides_cuda.h"
#include "codec/cuda/container/section_coder.h"
#include "codec/cuda/container/split_records_cuda.h"
#include "codec/cuda/container/symbol_orders_cuda.h"
#include "codec/cuda/container/write_stream_cuda.h"
#include "codec/cuda/cuda_error.h"
#include "codec/cuda/device_layout.h"
#include "codec/cuda/scratch_layout.h"
#include "codec/plan/exact_maps.h"
#include "codec/plan/lane_orders.h"
#include "codec/plan/levels.h"
#include "codec/plan/quick_dictionaries.h"
#include "codec/plan/quick_steps.h"
#include "formats/gdelta/block_frame.h"
#include "formats/gdelta/coder_traits.h"
#include "formats/gdelta/end_block.h"
#include "formats/gdelta/layout_block.h"
#include "formats/gdelta/map_traits.h"
#include "formats/gdelta/stream_header.h"
#include "gdelta/device.h"
#include "kernels/checksum/check_parts_cuda.h"

namespace gdelta {
namespace {

constexpr std::uint64_t kDefaultChunkBytes = 1ull << 20;
static_assert(cuda::fits_on_device(level_policy(kDeviceLevel).ans));
constexpr std::uint64_t kMostChunks = 1ull << 28;
constexpr std::uint64_t kMostPages = 1ull << 32;

bool is_aligned(const void* p, std::uintptr_t to) {
  return reinterpret_cast<std::uintptr_t>(p) % to == 0;
}

bool is_asked(const DeviceEncode& encode, cuda::SectionKind kind) {
  return encode.coder == cuda::coder_of(kind);
}
bool encodes_ans(const DeviceEncode& encode) { return is_asked(encode, cuda::SectionKind::ans); }

/// A column of the records, and how it is cut into chunks where it lies by itself.
struct CutColumn {
  Column column;
  cuda::CutShape shape{};
};

/// The maps without exceptions that lanes may get.
std::uint32_t maps_to_find(const DeviceEncode& encode, const Column& column) {
  const bool asked = encode.maps && level_policy(kDeviceLevel).quick_maps;
  return asked ? exact_maps_of(column.type) : 0;
}

/// Whether lanes less others are looked for.
bool finds_steps(const DeviceEncode& encode, int tuple) {
  return encode.maps && level_policy(kDeviceLevel).quick_maps && may_have_quick_steps(tuple);
}

/// Groups of a lane in the pages of a chunk.
std::uint32_t part_groups_of(const DeviceEncode& encode, const cuda::CutShape& shape,
                             std::uint64_t chunk) {
  if (!encodes_ans(encode) || shape.num_chunks == 0) return shape.page_groups;
  return ans_page_groups(shape.value_bytes, shape.tuple, shape.records_of(chunk));
}

Result<void> check_call(const DeviceEncode& encode) {
  if (auto checked = check_layout(encode.layout); !checked) return checked;
  if (encode.layout.columns.size() > cuda::kMostSplitColumns)
    return fail(Errc::invalid_argument, "the device encodes records of at most " +
                                            std::to_string(cuda::kMostSplitColumns) + " columns");
  if (encode.chunk_bytes > kMaxChunkBytes)
    return fail(Errc::invalid_argument, "the chunks asked for are too long");
  if (encode.order && (*encode.order < 0 || *encode.order > kMaxOrder))
    return fail(Errc::invalid_argument, "there is no such order: orders are 0 to 8");
  if (encode.stride != 0 && encode.stride != kFindStride && !is_stride(encode.stride))
    return fail(Errc::invalid_argument, "there is no such stride: strides are 2 to 2^22");
  if (encode.other_stride != 0 && !(is_stride(encode.stride) && is_stride(encode.other_stride)))
    return fail(Errc::invalid_argument, "another stride stands beside one: both are 2 to 2^22");
  if (encode.coder && !is_asked(encode, cuda::SectionKind::pack) && !encodes_ans(encode))
    return fail(Errc::invalid_argument, "the device encodes with pack or ans");
  if (encode.values_bytes % encode.layout.record_bytes() != 0)
    return fail(Errc::invalid_argument, "the values are no whole records");
  return {};
}

/// How a column is cut. Where it is, `values`, is said later.
cuda::CutShape cut_shape(const DeviceEncode& encode, const Column& column) {
  const std::uint64_t record_bytes = encode.layout.record_bytes();
  const std::uint64_t chunk_bytes =
      encode.chunk_bytes == 0 ? kDefaultChunkBytes : encode.chunk_bytes;
  cuda::CutShape shape{};
  shape.records = encode.values_bytes / record_bytes;
  shape.chunk_records = records_per_chunk(chunk_bytes, record_bytes);
  static_assert(level_policy(kDeviceLevel).orders.groups * (kMaxChunkBytes / kGroupValues) >> 32 ==
                0);
  shape.column_groups = static_cast<std::uint32_t>(level_policy(kDeviceLevel).orders.groups);
  shape.tuple_bytes = static_cast<std::uint32_t>(column.bytes());
  shape.page_groups = default_page_groups(column.tuple);
  shape.asked_coder = encode.coder.has_value();
  shape.value_bytes = static_cast<std::uint8_t>(value_bytes(column.type));
  shape.tuple = column.tuple;
  shape.big_endian = column.big_endian;
  for (const ValueMap map : plain_maps(column.type, kDeviceLevel))
    shape.maps[shape.num_maps++] = static_cast<std::uint8_t>(map);
  shape.exact_maps = maps_to_find(encode, column);
  shape.asked_stride = encode.stride == kFindStride ? cuda::kFoundStrides
                                                    : static_cast<std::uint32_t>(encode.stride);
  shape.asked_order = static_cast<std::int8_t>(encode.order.value_or(-1));
  shape.max_order = static_cast<std::int8_t>(level_policy(kDeviceLevel).orders.highest);
  return shape;
}

/// One at least.
Result<std::vector<CutColumn>> cut_columns(const DeviceEncode& encode) {
  if (auto checked = check_call(encode); !checked) return tl::unexpected(checked.error());
  std::vector<CutColumn> columns;
  for (const Column& column : encode.layout.columns) {
    cuda::CutShape shape = cut_shape(encode, column);
    const std::uint64_t chunks = (shape.records + shape.chunk_records - 1) / shape.chunk_records;
    if (chunks > kMostChunks) return fail(Errc::invalid_argument, "too many chunks for one call");
    shape.num_chunks = static_cast<std::uint32_t>(chunks);
    shape.part_groups = part_groups_of(encode, shape, 0);
    shape.last_part_groups = part_groups_of(encode, shape, chunks - 1);
    if (chunks * shape.parts_of(0) >= kMostPages)
      return fail(Errc::invalid_argument, "too many chunks for one call");
    columns.push_back({column, shape});
  }
  return columns;
}

/// What is encoded: all chunks, and trials.
struct TaskSums {
  std::uint32_t tasks = 0;
  std::uint64_t units = 0, pages = 0, values = 0;

  void add(const cuda::CutShape& shape, std::uint64_t chunk, std::uint64_t count) {
    tasks += static_cast<std::uint32_t>(count);
    units += count * shape.units_of(chunk);
    pages += count * shape.parts_of(chunk);
    values += count * shape.records_of(chunk) * shape.tuple;
  }
};

/// `trials`: of those whose coder wants them.
TaskSums sums_of(const cuda::CutShape& shape, bool trials) {
  TaskSums sums;
  if (shape.num_chunks == 0) return sums;
  const std::uint64_t last = shape.num_chunks - 1;
  sums.add(shape, 0, last);
  sums.add(shape, last, 1);
  if (!trials) return sums;
  const cuda::OrderTrials orders(shape);
  // All of them are as long as the first: the last one may be shorter.
  sums.add(shape, orders.first_chunk, orders.count);
  return sums;
}

using AnsArgs =
    std::variant<cuda::AnsEncodeArgs<std::uint32_t>, cuda::AnsEncodeArgs<std::uint64_t>>;

/// What kernels are given, for a column.
struct ColumnArgs {
  cuda::PlanArgs plan;  // its shape is all others
  cuda::MapChunksArgs maps;
  cuda::MakeDictionariesArgs dictionaries;
  cuda::PlanStepsArgs steps;
  cuda::PlanStridesArgs strides;
  cuda::PackArgs pack;
  cuda::MakeChecksArgs checks;
  std::optional<AnsArgs> ans;  // if that is asked for
};

/// And for all of them.
struct EncodeArgs {
  std::vector<ColumnArgs> columns;
  cuda::SplitArgs split;
  cuda::WrittenColumn* others;
  std::uint64_t* entries;
  cuda::StreamPlaces* places;
};

cuda::LaneTables take_tables(cuda::ScratchLayout& layout, const cuda::CutShape& shape) {
  cuda::LaneTables tables{};
  if (shape.num_chunks > 0 && may_have_quick_dictionaries(shape.tuple))
    tables.entries = std::min(kMostQuickEntries, shape.records_of(0) / kTuplesOfQuickEntry);
  tables.value_bytes = shape.value_bytes;
  if (tables.entries > 0)
    tables.blocks = std::min(cuda::LaneTables::most_blocks(shape.value_bytes), shape.num_chunks);
  const std::uint64_t lanes = std::uint64_t{shape.num_chunks} * shape.tuple;
  const std::uint64_t places = std::uint64_t{tables.blocks} * tables.num_places();
  const std::uint64_t ranks = std::uint64_t{tables.blocks} * tables.num_ranks();
  tables.lanes = layout.take<cuda::LaneTable>(lanes);
  tables.coded = layout.take<std::uint32_t>(tables.entries > 0 ? lanes * tables.coded_words() : 0);
  tables.places = layout.take<unsigned char>(places * shape.value_bytes);
  tables.indices = layout.take<std::uint16_t>(places);
  tables.ranks = layout.take<unsigned char>(ranks * shape.value_bytes);
  return tables;
}

template <class Word>
cuda::AnsEncodeArgs<Word> take_ans(cuda::ScratchLayout& layout, const DeviceEncode& encode,
                                   const cuda::CutShape& shape, const cuda::PackArgs& pack) {
  const TaskSums sums = sums_of(shape, true);
  cuda::AnsEncodeSizes sizes{.tasks = sums.tasks,
                             .value_bytes = shape.value_bytes,
                             .tuple = shape.tuple,
                             .has_strides = shape.asked_stride > 0,
                             .pages = sums.pages,
                             .units = sums.units,
                             .values = sums.values};
  if (shape.num_chunks > 0)
    sizes.most_pages = std::max(shape.parts_of(0), shape.parts_of(shape.num_chunks - 1));
  const int highest = encode.order.value_or(level_policy(kDeviceLevel).orders.highest);
  sizes.state_room = static_cast<std::uint32_t>(highest) * shape.tuple_bytes;
  return cuda::take_ans_scratch<Word>(layout, sizes, level_policy(kDeviceLevel).ans, pack);
}

ColumnArgs take_column(cuda::ScratchLayout& layout, const DeviceEncode& encode,
                       const CutColumn& cut) {
  const cuda::CutShape& shape = cut.shape;
  const TaskSums sums = sums_of(shape, encodes_ans(encode));
  const std::uint64_t chunks = shape.num_chunks, units = encodes_ans(encode) ? 0 : sums.units;
  ColumnArgs args{};
  cuda::PackArgs& pack = args.pack;
  pack.num_tasks = shape.num_chunks;
  pack.tasks = layout.take<cuda::PackTask>(sums.tasks);
  pack.unit_starts = layout.take<std::uint64_t>(sums.tasks + 1);
  pack.descriptors = layout.take<std::uint16_t>(units * cuda::kUnitGroups);
  pack.unit_bytes = layout.take<cuda::UnitBytes>(units);
  pack.differs = layout.take<std::uint32_t>(sums.tasks);
  pack.page_ends = layout.take<std::uint32_t>(sums.pages);
  pack.results = layout.take<cuda::PackResult>(sums.tasks);
  pack.part_checks = layout.take<std::uint32_t>(sums.pages);
  pack.out = static_cast<unsigned char*>(encode.stream);
  args.maps = {.shape = shape,
               .tasks = pack.tasks,
               .part_checks = nullptr,
               .maps = {},
               .words = nullptr,
               .words_pitch = cuda::words_pitch_of(shape.chunk_records * shape.tuple_bytes)};
  if (shape.exact_maps != 0) {
    cuda::ExactMaps& maps = args.maps.maps;
    maps.tuple = shape.tuple;
    maps.chunks = layout.take<cuda::ExactChunk>(chunks);
    maps.lanes = layout.take<cuda::ExactLane>(chunks * shape.tuple);
    maps.fields = layout.take<unsigned char>(chunks * cuda::ExactMaps::field_bytes(shape.tuple));
    args.maps.part_checks = layout.take<std::uint32_t>(sums_of(shape, false).pages);
    args.maps.words = layout.take<unsigned char>(chunks * args.maps.words_pitch);
    maps.tables = take_tables(layout, shape);
  }
  args.dictionaries = {.shape = shape,
                       .type = cut.column.type,
                       .maps = args.maps.maps,
                       .words = args.maps.words,
                       .words_pitch = args.maps.words_pitch};
  args.plan = {.shape = shape,
               .tasks = pack.tasks,
               .unit_starts = pack.unit_starts,
               .differs = pack.differs,
               .maps = args.maps.maps,
               .num_stepped = nullptr};
  args.steps = {.shape = shape, .tasks = pack.tasks, .steps = {}, .stepped = {}};
  if (finds_steps(encode, shape.tuple)) {
    args.steps.steps = {
        .bytes = layout.take<unsigned char>(chunks * cuda::StepFields::room(shape.tuple)),
        .tuple = shape.tuple};
    pack.stepped = {.count = layout.take<std::uint32_t>(1),
                    .numbers = layout.take<std::uint32_t>(chunks)};
    args.steps.stepped = pack.stepped;
    args.plan.num_stepped = pack.stepped.count;
  }
  args.strides = {.shape = shape,
                  .tasks = pack.tasks,
                  .found = nullptr,
                  .other_stride = static_cast<std::uint32_t>(encode.other_stride)};
  if (shape.asked_stride == cuda::kFoundStrides)
    args.strides.found = layout.take<std::uint32_t>(chunks);
  args.checks = {.tasks = pack.tasks,
                 .num_tasks = sums.tasks,
                 .max_parts = sums.pages,
                 .part_checks = pack.part_checks};
  if (encodes_ans(encode)) {
    if (shape.value_bytes == 8) {
      args.ans = take_ans<std::uint64_t>(layout, encode, shape, pack);
    } else {
      args.ans = take_ans<std::uint32_t>(layout, encode, shape, pack);
    }
  }
  return args;
}

/// Columns of one are read where the caller has them, others are split.
EncodeArgs take_scratch(cuda::ScratchLayout& layout, const DeviceEncode& encode,
                        std::vector<CutColumn> columns) {
  EncodeArgs args{};
  const auto* const values = static_cast<const unsigned char*>(encode.values);
  args.split = {.values = values,
                .records = columns.front().shape.records,
                .record_bytes = static_cast<std::uint32_t>(encode.layout.record_bytes()),
                .num_columns = static_cast<std::uint32_t>(columns.size()),
                .columns = {}};
  if (columns.size() == 1) {
    columns.front().shape.values = values;
  } else {
    std::uint32_t offset = 0;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const std::uint32_t tuple_bytes = columns[c].shape.tuple_bytes;
      auto* const out = layout.take<unsigned char>(args.split.records * tuple_bytes);
      args.split.columns[c] = {.out = out, .offset = offset, .tuple_bytes = tuple_bytes};
      columns[c].shape.values = out;
      offset += tuple_bytes;
    }
  }
  for (const CutColumn& column : columns)
    args.columns.push_back(take_column(layout, encode, column));
  args.others = layout.take<cuda::WrittenColumn>(columns.size() - 1);
  args.entries = layout.take<std::uint64_t>(columns.front().shape.num_chunks);
  args.places = layout.take<cuda::StreamPlaces>(1);
  return args;
}

std::uint64_t scratch_bytes_of(const DeviceEncode& encode, const std::vector<CutColumn>& columns) {
  cuda::ScratchLayout layout;
  take_scratch(layout, encode, columns);
  return layout.bytes();
}

std::uint64_t bound_of(const std::vector<CutColumn>& columns) {
  // Fields at their longest, in each chunk: tag, head_bytes, payload_bytes, records, kinds, check, and the entry in the index.
  const std::uint64_t frame = 1 + 4 + 5 + 5 + 1 + 4 + (1 + 5 + 4 + 5);
  std::uint64_t bound =
      cuda::kPrefixBytes + cuda::kLayoutEntryBytes + 2 * cuda::kMostMoreBytes + 64;
  bound += columns.front().shape.num_chunks * frame;
  for (const auto& [column, shape] : columns) {
    // The model up to its ends of parts. A packed section with its ends and what the head says of maps is smaller than the
    // values; checks come to that.
    const std::uint64_t stride = shape.asked_stride > 0 ? 4 + 1 : 0;
    const std::uint64_t model = 4 + 5 + 1 + 3 + 1 + shape.tuple + 1 + stride + 4;
    bound += shape.records * shape.tuple_bytes + shape.num_chunks * model +
             4 * sums_of(shape, false).pages;
  }
  return bound;
}

/// What the host knows of a column of the stream.
cuda::WrittenColumn written_column(const ColumnArgs& column, const cuda::TableColumn& in_table) {
  cuda::WrittenColumn written{};
  written.in_table = in_table;
  written.pack = column.pack;
  written.maps = column.maps.maps;
  written.steps = column.steps.steps;
  written.mapped_checks = column.maps.part_checks;
  const cuda::CutShape& shape = column.plan.shape;
  if (shape.num_chunks > 0) written.mapped_parts = shape.parts_of(0);
  if (column.ans)
    std::visit(
        [&](const auto& ans) {
          written.fields = {.bytes = ans.tables->fields,
                            .counts = &ans.tables->field_bytes,
                            .stride = sizeof *ans.tables};
        },
        *column.ans);
  return written;
}

/// And of all else.
cuda::WriteArgs write_args(const DeviceEncode& encode, const EncodeArgs& call,
                           const std::vector<cuda::WrittenColumn>& columns,
                           const cuda::DeviceLayout& device_layout) {
  cuda::WriteArgs args{};
  const cuda::CutShape& shape = call.columns.front().plan.shape;
  std::vector<std::byte> prefix(format::kStreamHeader.begin(), format::kStreamHeader.end());
  std::vector<std::byte> entry;
  if (shape.num_chunks > 0) {
    std::vector<std::byte> head;
    format::append_layout_head(head, {encode.layout, {kDeviceLevel, LayoutOrigin::given}});
    const std::uint32_t check = format::append_block(prefix, format::BlockTag::layout, head);
    format::append_index_entry(entry, {.tag = format::BlockTag::layout,
                                       .block_bytes = prefix.size() - format::kStreamHeaderBytes,
                                       .check = check,
                                       .records = 0,
                                       .head = head});
    std::memcpy(args.layout_entry, entry.data(), entry.size());
  }
  std::memcpy(args.prefix, prefix.data(), prefix.size());
  args.prefix_bytes = static_cast<std::uint32_t>(prefix.size());
  args.layout_entry_bytes = static_cast<std::uint32_t>(entry.size());
  const std::vector<std::byte> table = cuda::make_table_bytes(device_layout, {});
  std::memcpy(&args.table_header, table.data(), sizeof args.table_header);
  args.table_header.num_chunks = shape.num_chunks;
  args.chunk_bytes = shape.chunk_records * encode.layout.record_bytes();
  args.first = columns.front();
  args.others = call.others;
  args.entries = call.entries;
  args.places = call.places;
  args.table = static_cast<unsigned char*>(encode.table);
  args.stream_bytes = encode.stream_bytes;
  return args;
}

cuda::PackRange all_units(const cuda::CutShape& shape) {
  cuda::PackRange range{.first_task = 0,
                        .end_task = shape.num_chunks,
                        .num_units = sums_of(shape, false).units,
                        .wide = shape.value_bytes == 8,
                        .even_units = static_cast<std::uint32_t>(shape.units_of(0))};
  if (cuda::is_page_of_a_warp(shape.page_groups, shape.tuple) ||
      (cuda::PackTask::has_strips(shape.page_groups, shape.tuple) && shape.asked_stride == 0)) {
    range.value_bytes = shape.value_bytes;
    range.tuple = shape.tuple;
    range.has_strides = shape.asked_stride > 0;
  }
  return range;
}

/// The models of a column in all chunks, and words in the place of values where they have maps.
cudaError_t launch_plan(const ColumnArgs& column, cudaStream_t stream) {
  if (auto error = cuda::launch_plan_chunks(column.plan, stream)) return error;
  if (column.maps.maps.chunks != nullptr) {
    if (auto error = cuda::launch_make_dictionaries(column.dictionaries, stream)) return error;
    if (auto error = cuda::launch_map_chunks(column.maps, stream)) return error;
  }
  if (column.steps.steps.bytes != nullptr) {
    if (auto error = cuda::launch_plan_steps(column.steps, stream)) return error;
  }
  if (auto error = cuda::launch_find_strides(column.strides, stream)) return error;
  return cuda::launch_plan_strides(column.strides, stream);
}

/// How long sections by ans are, behind a plan.
template <class Word>
cudaError_t launch_size_by_ans(const ColumnArgs& column, const cuda::AnsEncodeArgs<Word>& ans,
                               cudaStream_t stream) {
  const cuda::SymbolOrdersArgs orders{.shape = column.plan.shape,
                                      .trials = cuda::OrderTrials(column.plan.shape),
                                      .tasks = ans.tasks,
                                      .unit_starts = ans.unit_starts,
                                      .differs = ans.differs};
  if (auto error = cuda::launch_symbol_orders(orders, stream)) return error;
  if (!ans.makes_residuals())
    if (auto error = cuda::launch_make_checks(column.checks, stream)) return error;
  if (auto error = cuda::launch_size_ans(ans, stream)) return error;
  return cuda::launch_pick_trials(orders, ans, stream);
}

cudaError_t launch_size_by_pack(const ColumnArgs& column, cudaStream_t stream) {
  const cuda::PackRange range = all_units(column.plan.shape);
  if (!range.makes_checks())
    if (auto error = cuda::launch_make_checks(column.checks, stream)) return error;
  if (auto error = cuda::launch_size_units(column.pack, range, stream)) return error;
  return cuda::launch_choose_sections(column.pack, stream);
}

/// All of a column that comes before its sections have a place.
cudaError_t launch_size(const ColumnArgs& column, cudaStream_t stream) {
  if (auto error = launch_plan(column, stream)) return error;
  if (!column.ans) return launch_size_by_pack(column, stream);
  return std::visit([&](const auto& ans) { return launch_size_by_ans(column, ans, stream); },
                    *column.ans);
}

/// The sections of a column that hold residuals.
cudaError_t launch_write(const ColumnArgs& column, cudaStream_t stream) {
  if (!column.ans)
    return cuda::launch_write_pages(column.pack, all_units(column.plan.shape), stream);
  return std::visit(
      [&](auto ans) {
        ans.num_tasks = column.plan.shape.num_chunks;  // not the trials
        return cuda::launch_write_ans(ans, stream);
      },
      *column.ans);
}

cudaError_t launch_encode(const DeviceEncode& encode, std::vector<CutColumn> columns,
                          cudaStream_t stream) {
  cuda::ScratchLayout layout(static_cast<unsigned char*>(encode.scratch));
  const EncodeArgs args = take_scratch(layout, encode, std::move(columns));
  const cuda::DeviceLayout device_layout = cuda::make_device_layout(encode.layout);
  std::vector<cuda::WrittenColumn> written;
  for (std::size_t c = 0; c < args.columns.size(); ++c)
    written.push_back(written_column(args.columns[c], device_layout.columns[c]));
  const cuda::WriteArgs write = write_args(encode, args, written, device_layout);
  if (args.columns.size() > 1) {
    if (auto error = cuda::launch_keep_columns(write, written.data() + 1, stream)) return error;
    if (auto error = cuda::launch_split_records(args.split, stream)) return error;
  }
  for (const ColumnArgs& column : args.columns)
    if (auto error = launch_size(column, stream)) return error;
  if (auto error = cuda::launch_place_blocks(write, stream)) return error;
  // Heads and index are hashed by few threads, beside the pages.
  if (auto error = cuda::launch_write_frames(write, stream)) return error;
  for (const ColumnArgs& column : args.columns)
    if (auto error = launch_write(column, stream)) return error;
  return cuda::launch_copy_rest(write, stream);
}

}  // namespace

Result<std::uint64_t> device_encode_bound(const DeviceEncode& encode) {
  const auto columns = cut_columns(encode);
  if (!columns) return tl::unexpected(columns.error());
  return bound_of(*columns);
}

Result<std::uint64_t> device_encode_scratch_bytes(const DeviceEncode& encode) {
  const auto columns = cut_columns(encode);
  if (!columns) return tl::unexpected(columns.error());
  return scratch_bytes_of(encode, *columns);
}

Result<ChunkTable> device_encode_table(const DeviceEncode& encode) {
  const auto columns = cut_columns(encode);
  if (!columns) return tl::unexpected(columns.error());
  const cuda::CutShape& first = columns->front().shape;
  ChunkTable table;
  table.layout = encode.layout;
  table.num_chunks = first.num_chunks;
  table.decoded_bytes = encode.values_bytes;
  table.largest_chunk =
      first.num_chunks == 0 ? 0 : std::uint64_t{first.records_of(0)} * encode.layout.record_bytes();
  // A chunk that does not shrink is raw, one of equal values constant.
  table.kinds = kNoChunkKinds;
  table.kinds.placed = true;
  const Coder coder = encode.coder.value_or(format::coder_chosen_by(format::ChosenBy::widths));
  for (const auto& [column, shape] : *columns) {
    // Maps have no exceptions. They are undone where values are stored but for wide tuples and behind strides, and looked up there
    // in lanes alone.
    const bool may_stride = shape.asked_stride > 0;
    cuda::FrontPasses passes{
        .strides = may_stride ? 1 : 0,
        .maps = shape.exact_maps != 0 || finds_steps(encode, shape.tuple),
        .dictionaries = shape.exact_maps != 0 && may_have_quick_dictionaries(shape.tuple)};
    passes.map_passes = passes.maps && (may_stride || cuda::is_wide(shape.tuple) ||
                                        (passes.dictionaries && shape.tuple > 1));
    for (const std::uint32_t groups : {shape.part_groups, shape.last_part_groups})
      cuda::add_column(table.kinds, coder, shape.tuple, groups, passes);
  }
  // One that is told is likely to serve.
  if (encode.stride != 0 && encode.stride != kFindStride)
    table.kinds.stride_columns = std::uint64_t{first.num_chunks} * columns->size();
  return table;
}

Result<void> device_encode(const DeviceEncode& encode, DeviceStream cuda_stream) {
  auto columns = cut_columns(encode);
  if (!columns) return tl::unexpected(columns.error());
  if ((encode.values == nullptr && encode.values_bytes > 0) || encode.stream == nullptr ||
      encode.stream_bytes == nullptr || encode.table == nullptr || encode.scratch == nullptr)
    return fail(Errc::invalid_argument, "a pointer to device memory is null");
  if (!is_aligned(encode.stream, 16) || !is_aligned(encode.table, 16) ||
      !is_aligned(encode.scratch, 256) || !is_aligned(encode.stream_bytes, alignof(std::uint64_t)))
    return fail(Errc::invalid_argument,
                "stream and table must be aligned to 16 bytes, scratch to 256");
  if (encode.stream_room < bound_of(*columns))
    return fail(Errc::output_too_small,
                "the room for the stream is smaller than device_encode_bound says");
  if (encode.scratch_bytes < scratch_bytes_of(encode, *columns))
    return fail(Errc::output_too_small,
                "the scratch memory is smaller than device_encode_scratch_bytes says");
  GDELTA_CUDA_TRY(launch_encode(encode, std::move(*columns), cuda_stream));
  return {};
}

}  // namespace gdelta
