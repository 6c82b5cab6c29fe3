#include "codec/cuda/encode_pipeline.h"

#include <algorithm>
#include <cstring>

#include "codec/cuda/container/section_coder.h"
#include "codec/cuda/encode_block.h"
#include "codec/cuda/host_copy.h"

namespace gdelta::cuda {
namespace {

// Layouts of very many columns in chunks of very few records would be more tasks than values.
constexpr std::size_t kManyColumns = 64;
constexpr std::size_t kShortColumnBytes = 512;

bool has_maps(const ChunkPlan& plan, std::size_t column) {
  return !plan.maps.empty() && !plan.maps[column].empty();
}

/// A column behind its maps, of which the device packs the words; null if it has none.
const MappedColumn* mapped_column(const ChunkPlan& plan, std::size_t number) {
  return has_maps(plan, number) ? plan.mapped[number].get() : nullptr;
}

/// Whether the words of a column are there, equal ones stand for equal values, and nothing follows its section.
bool is_mapped_one_to_one(const ChunkPlan& plan, std::size_t column) {
  if (plan.mapped.empty() || plan.mapped[column] == nullptr) return false;
  const MappedColumn& mapped = *plan.mapped[column];
  return mapped.has_column() && mapped.exceptions() == 0 && mapped.tables() == 0;
}

/// Records in which words stand for the values of columns behind maps. Those of a single column are there already.
const std::byte* records_of(const EncodeJob& job, const ChunkPlan& plan) {
  const MappedColumn* const only = plan.columns.size() == 1 ? mapped_column(plan, 0) : nullptr;
  return only != nullptr ? reinterpret_cast<const std::byte*>(only->column().first)
                         : job.values.data();
}

/// Of other columns they take the places of values in a copy of the records.
void place_words(const EncodeJob& job, const ChunkPlan& plan, unsigned char* records) {
  const std::uint64_t record_bytes = job.layout->record_bytes();
  const std::uint64_t count = job.values.size() / record_bytes;
  for (std::size_t c = 0; plan.columns.size() > 1 && c < plan.columns.size(); ++c) {
    const auto bytes = static_cast<std::size_t>(job.layout->columns[c].bytes());
    if (const MappedColumn* const mapped = mapped_column(plan, c))
      for (std::uint64_t i = 0; i < count; ++i)
        std::memcpy(records + i * record_bytes, mapped->column().at(i, 0), bytes);
    records += bytes;
  }
}

/// What the head says of maps.
std::uint32_t map_bytes_of(const MappedColumn& mapped) {
  format::Front front;
  format::SectionTable table;
  mapped.describe(front, table);
  return static_cast<std::uint32_t>(table.size());
}

PackTask make_task(const Column& column, const format::ColumnModel& model, std::uint64_t records,
                   std::uint64_t record_bytes, const MappedColumn* mapped) {
  PackTask task{};
  task.records = static_cast<std::uint32_t>(records);
  task.record_bytes = static_cast<std::uint32_t>(record_bytes);
  task.page_groups = model.section.part_groups;
  task.num_pages = static_cast<std::uint32_t>(format::num_parts(model.section, records));
  const auto groups =
      static_cast<std::uint32_t>((records + format::kGroupValues - 1) / format::kGroupValues);
  task.page_units = PackTask::units(model.section.part_groups, groups, column.tuple);
  task.num_strides = model.front.num_strides;
  for (int link = 0; link < model.front.num_strides; ++link)
    task.strides[link] = {model.front.strides[link].stride, model.front.strides[link].order};
  task.value_bytes = static_cast<std::uint8_t>(value_bytes(column.type));
  task.tuple = column.tuple;
  task.map = static_cast<std::uint8_t>(model.front.map);
  task.big_endian = mapped == nullptr && column.big_endian;
  if (mapped != nullptr) task.map_bytes = map_bytes_of(*mapped);
  for (int lane = 0; lane < column.tuple; ++lane) {
    task.orders[lane] = model.front.orders[lane];
    task.state_bytes += static_cast<std::uint32_t>(model.front.orders[lane]) * task.value_bytes;
  }
  return task;
}

}  // namespace

bool EncodePipeline::is_for_device(const EncodeJob& job, const ChunkPlan& plan, bool is_copied) {
  const std::size_t columns = plan.columns.size();
  if (columns > kManyColumns && job.values.size() / columns < kShortColumnBytes) return false;
  bool packs = false;
  for (std::size_t c = 0; c < columns; ++c) {
    const format::ColumnModel& model = plan.columns[c];
    const format::CoderTraits traits = format::coder_traits(model.section.coder);
    if (!traits.device_encodes_plans ||
        !format::predictor_traits(model.front.predictor).device_encodes_plans)
      return false;
    // Words of several columns want a copy of their records.
    if (has_maps(plan, c) && (!is_mapped_one_to_one(plan, c) || (columns > 1 && !is_copied)))
      return false;
    packs |= traits.codes_residuals;
  }
  return packs;
}

EncodePipeline::FlightInput EncodePipeline::input_arrays(unsigned char* base,
                                                         const FlightSizes& sizes,
                                                         std::uint64_t& bytes) {
  ScratchLayout layout(base);
  FlightInput input;
  input.tasks = layout.take<PackTask>(sizes.num_tasks);
  input.unit_starts = layout.take<std::uint64_t>(sizes.num_tasks + 1);
  bytes = layout.bytes();
  return input;
}

EncodePipeline::FlightSummary EncodePipeline::summary_arrays(unsigned char* base,
                                                             const FlightSizes& sizes,
                                                             std::uint64_t& bytes) {
  ScratchLayout layout(base);
  FlightSummary summary;
  summary.results = layout.take<PackResult>(sizes.num_tasks);
  summary.total_bytes = layout.take<std::uint64_t>(1);
  summary.page_ends = layout.take<std::uint32_t>(sizes.num_pages);
  summary.part_checks = layout.take<std::uint32_t>(sizes.num_pages);
  bytes = layout.bytes();
  return summary;
}

// Plans every chunk, encodes at once those that stay on the host, and takes the values of others along for the device
// while they are in a cache, unless the caller's memory is pinned.
Result<void> EncodePipeline::plan_flight(Flight& flight, std::span<EncodeJob> jobs,
                                         const PlanFunction& plan, ProgressMeter& progress) {
  flight.plans.assign(jobs.size(), {});
  flight.done.clear();
  NeighbourPlaces places;
  std::vector<std::uint64_t> values_at;
  for (const EncodeJob& job : jobs) {
    flight.done.emplace_back(progress, job.values.size());
    values_at.push_back(places.place(job.values));
  }
  flight.value_bytes = places.bytes();
  flight.values_are_pinned = std::all_of(jobs.begin(), jobs.end(), [](const EncodeJob& job) {
    return is_pinned(job.values.data(), job.values.size());
  });
  if (auto reserved = flight.values.reserve(flight.values_are_pinned ? 0 : flight.value_bytes);
      !reserved)
    return reserved;
  std::vector<char> on_device(jobs.size());
  workers_->for_each(jobs.size(), [&](std::size_t i) {
    EncodeJob& job = jobs[i];
    if (progress.stopped()) return;
    flight.plans[i] = plan(job, &flight.done[i]);
    ChunkPlan& own = flight.plans[i];
    on_device[i] = is_for_device(job, own, !flight.values_are_pinned);
    if (on_device[i]) {
      if (flight.values_are_pinned) return;
      const HostCopy copy{flight.values.data() + values_at[i], records_of(job, own),
                          job.values.size()};
      run_host_copies(*workers_, {&copy, 1});
      place_words(job, own, flight.values.data() + values_at[i]);
      return;
    }
    job.block =
        encode_chunk(job.values, *job.layout, job.opaque, flight.plans[i], *workers_, job.segments);
    flight.plans[i].made.clear();
    flight.plans[i].mapped.clear();
    flight.plans[i].apart.reset();
    flight.done[i].finish();
  });
  flight.chunks.clear();
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (!on_device[i]) continue;
    flight.chunks.push_back({.job = &jobs[i],
                             .plan = &flight.plans[i],
                             .done = &flight.done[i],
                             .values_at = values_at[i],
                             .tasks = {}});
  }
  flight.sizes = {};
  return {};
}

// One task for each pack column, those of 8-byte values last. `values` is an offset until the place
// of the flight in device memory is known.
void EncodePipeline::make_tasks(Flight& flight) {
  FlightSizes& sizes = flight.sizes;
  flight.tasks.clear();
  flight.task_values_at.clear();
  for (const bool wide : {false, true}) {
    for (DeviceChunk& chunk : flight.chunks) {
      const Layout& layout = *chunk.job->layout;
      const std::uint64_t record_bytes = layout.record_bytes();
      const std::uint64_t records = chunk.job->values.size() / record_bytes;
      chunk.tasks.resize(layout.columns.size(), kNoTask);
      std::uint64_t offset = 0;
      for (std::size_t c = 0; c < layout.columns.size(); ++c) {
        const Column& column = layout.columns[c];
        const format::ColumnModel& model = chunk.plan->columns[c];
        if (format::codes_residuals(model.section.coder) &&
            (value_bytes(column.type) == 8) == wide) {
          chunk.tasks[c] = static_cast<std::uint32_t>(flight.tasks.size());
          PackTask task =
              make_task(column, model, records, record_bytes, mapped_column(*chunk.plan, c));
          flight.task_values_at.push_back(chunk.values_at + offset);
          task.first_page = static_cast<std::uint32_t>(sizes.num_pages);
          sizes.num_pages += task.num_pages;
          sizes.num_units += static_cast<std::uint64_t>(task.num_pages) * task.page_units;
          sizes.packed_bytes += task.raw_bytes();
          flight.tasks.push_back(task);
        }
        offset += static_cast<std::uint64_t>(column.bytes());
      }
    }
    if (!wide) {
      sizes.narrow_tasks = static_cast<std::uint32_t>(flight.tasks.size());
      sizes.narrow_units = sizes.num_units;
    }
  }
  sizes.num_tasks = static_cast<std::uint32_t>(flight.tasks.size());
}

PackArgs EncodePipeline::take_scratch(ScratchLayout& layout, const FlightSizes& sizes) {
  PackArgs args{};
  args.descriptors = layout.take<std::uint16_t>(sizes.num_units * kUnitGroups);
  args.unit_bytes = layout.take<UnitBytes>(sizes.num_units);
  args.differs = layout.take<std::uint32_t>(sizes.num_tasks);
  return args;
}

Result<void> EncodePipeline::reserve(Flight& flight) {
  input_arrays(nullptr, flight.sizes, flight.in_bytes);
  summary_arrays(nullptr, flight.sizes, flight.summary_bytes);
  ScratchLayout measured;
  take_scratch(measured, flight.sizes);
  for (auto reserved :
       {flight.in.reserve(flight.in_bytes), flight.device_in.reserve(flight.in_bytes),
        flight.device_values.reserve(flight.value_bytes),
        flight.summary.reserve(flight.summary_bytes),
        flight.device_summary.reserve(flight.summary_bytes),
        flight.scratch.reserve(measured.bytes()),
        flight.device_sections.reserve(flight.sizes.packed_bytes)}) {
    if (!reserved) return reserved;
  }
  return {};
}

// Enqueues the copies of what goes to the device.
Result<void> EncodePipeline::copy_in(Flight& flight) {
  const FlightSizes& sizes = flight.sizes;
  const FlightInput host = input_arrays(flight.in.data(), sizes, flight.in_bytes);
  unsigned char* const values = flight.device_values.data();
  std::uint64_t unit = 0;
  for (std::uint32_t t = 0; t < sizes.num_tasks; ++t) {
    PackTask& task = host.tasks[t];
    task = flight.tasks[t];
    task.values = values + flight.task_values_at[t];
    host.unit_starts[t] = unit;
    unit += static_cast<std::uint64_t>(task.num_pages) * task.page_units;
  }
  host.unit_starts[sizes.num_tasks] = unit;
  std::vector<HostCopy> copies{{flight.device_in.data(), flight.in.data(), flight.in_bytes}};
  for (const DeviceChunk& chunk : flight.chunks) {
    const void* const staged = flight.values.data() + chunk.values_at;
    copies.push_back({values + chunk.values_at,
                      flight.values_are_pinned ? records_of(*chunk.job, *chunk.plan) : staged,
                      chunk.job->values.size()});
  }
  GDELTA_CUDA_TRY(enqueue_copies(copies, cudaMemcpyHostToDevice, flight.stream.get()));
  return {};
}

Result<void> EncodePipeline::launch(Flight& flight) {
  if (auto reserved = reserve(flight); !reserved) return reserved;
  const FlightSizes& sizes = flight.sizes;
  const FlightInput device = input_arrays(flight.device_in.data(), sizes, flight.in_bytes);
  if (auto copied = copy_in(flight); !copied) return copied;

  const cudaStream_t stream = flight.stream.get();
  const FlightSummary summary =
      summary_arrays(flight.device_summary.data(), sizes, flight.summary_bytes);
  ScratchLayout scratch(flight.scratch.data());
  PackArgs args = take_scratch(scratch, sizes);
  args.tasks = device.tasks;
  args.num_tasks = sizes.num_tasks;
  args.unit_starts = device.unit_starts;
  args.page_ends = summary.page_ends;
  args.part_checks = summary.part_checks;
  args.results = summary.results;
  args.out = flight.device_sections.data();
  PackRange narrow{.first_task = 0,
                   .end_task = sizes.narrow_tasks,
                   .num_units = sizes.narrow_units,
                   .wide = false};
  PackRange wide{.first_task = sizes.narrow_tasks,
                 .end_task = sizes.num_tasks,
                 .num_units = sizes.num_units - sizes.narrow_units,
                 .wide = true};
  set_by_pages(narrow, flight.tasks.data());
  set_by_pages(wide, flight.tasks.data());
  const MakeChecksArgs checks{.tasks = device.tasks,
                              .num_tasks = sizes.num_tasks,
                              .max_parts = sizes.num_pages,
                              .part_checks = summary.part_checks};
  GDELTA_CUDA_TRY(
      cudaMemsetAsync(args.differs, 0, sizes.num_tasks * sizeof(std::uint32_t), stream));
  const bool makes_checks = (sizes.narrow_tasks > 0 && !narrow.makes_checks()) ||
                            (sizes.narrow_tasks < sizes.num_tasks && !wide.makes_checks());
  if (makes_checks) GDELTA_CUDA_TRY(launch_make_checks(checks, stream));
  GDELTA_CUDA_TRY(launch_size_units(args, narrow, stream));
  GDELTA_CUDA_TRY(launch_size_units(args, wide, stream));
  GDELTA_CUDA_TRY(launch_choose_sections(args, stream));
  GDELTA_CUDA_TRY(launch_place_sections(args, summary.total_bytes, stream));
  GDELTA_CUDA_TRY(cudaMemcpyAsync(flight.summary.data(), flight.device_summary.data(),
                                  flight.summary_bytes, cudaMemcpyDeviceToHost, stream));
  GDELTA_CUDA_TRY(launch_write_pages(args, narrow, stream));
  GDELTA_CUDA_TRY(launch_write_pages(args, wide, stream));
  return {};
}

// Sizes are known: only what there is comes back.
Result<void> EncodePipeline::fetch(Flight& flight) {
  const cudaStream_t stream = flight.stream.get();
  GDELTA_CUDA_TRY(cudaStreamSynchronize(stream));
  std::uint64_t bytes = 0;
  const FlightSummary summary = summary_arrays(flight.summary.data(), flight.sizes, bytes);
  const std::uint64_t total = *summary.total_bytes;
  if (auto reserved = flight.sections.reserve(total); !reserved) return reserved;
  if (total > 0)
    GDELTA_CUDA_TRY(cudaMemcpyAsync(flight.sections.data(), flight.device_sections.data(), total,
                                    cudaMemcpyDeviceToHost, stream));
  GDELTA_CUDA_TRY(cudaStreamSynchronize(stream));
  return {};
}

void EncodePipeline::assemble(Flight& flight) {
  std::uint64_t bytes = 0;
  const FlightSummary summary = summary_arrays(flight.summary.data(), flight.sizes, bytes);
  const auto* const sections = reinterpret_cast<const std::byte*>(flight.sections.data());
  workers_->for_each(flight.chunks.size(), [&](std::size_t i) {
    const DeviceChunk& chunk = flight.chunks[i];
    std::vector<PackedColumn> columns(chunk.tasks.size());
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const std::uint32_t t = chunk.tasks[c];
      if (t == kNoTask) continue;
      const PackResult& result = summary.results[t];
      const Coder coder = coder_of(result.kind);
      columns[c].coder = coder;
      const bool one_part = format::coder_traits(coder).parts == format::PartRule::one;
      const std::uint32_t parts = one_part ? 1 : flight.tasks[t].num_pages;
      columns[c].mapped = mapped_column(*chunk.plan, c);
      if (columns[c].mapped == nullptr)  // else these are checks of words
        columns[c].part_checks = {summary.part_checks + flight.tasks[t].first_page, parts};
      if (!format::codes_residuals(coder)) continue;
      columns[c].section = {sections + result.section_at, result.section_bytes};
      columns[c].page_ends = {summary.page_ends + flight.tasks[t].first_page,
                              flight.tasks[t].num_pages};
    }
    chunk.job->block = assemble_block(*chunk.job, *chunk.plan, columns);
    chunk.done->finish();
  });
}

Result<void> EncodePipeline::run_flight(Flight& flight, std::span<EncodeJob> jobs,
                                        const PlanFunction& plan, ProgressMeter& progress) {
  if (auto opened = flight.stream.open(); !opened) return opened;
  {
    const auto alone = only_thread(host_work_, *workers_);
    if (auto planned = plan_flight(flight, jobs, plan, progress); !planned) return planned;
  }
  if (progress.stopped()) return compression_cancelled();
  if (flight.chunks.empty()) return {};
  make_tasks(flight);
  if (auto launched = launch(flight); !launched) return launched;
  if (auto fetched = fetch(flight); !fetched) return fetched;
  const auto alone = only_thread(host_work_, *workers_);
  assemble(flight);
  if (progress.stopped()) return compression_cancelled();
  return {};
}

Result<void> EncodePipeline::run(std::span<EncodeJob> jobs, const PlanFunction& plan,
                                 ProgressMeter& progress) {
  const auto stretches =
      cut_into_flights(jobs, flight_bytes_, [](const EncodeJob& job) { return job.values.size(); });
  return run_flights<Flight, EncodeJob>(device_, flights_, stretches,
                                        [&](Flight& flight, std::span<EncodeJob> mine) {
                                          return run_flight(flight, mine, plan, progress);
                                        });
}

}  // namespace gdelta::cuda
