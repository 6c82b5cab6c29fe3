// The task of a chunk before anything is planned.
#pragma once

#include "codec/cuda/container/plan_chunks_cuda.h"

namespace gdelta::cuda {

__device__ inline PackTask cut_task(const CutShape& shape, std::uint64_t chunk) {
  const std::uint32_t records = shape.records_of(chunk);
  PackTask task{};
  task.values = shape.values + chunk * shape.chunk_records * shape.tuple_bytes;
  task.records = records;
  task.record_bytes = shape.tuple_bytes;
  task.page_groups = shape.part_groups_of(chunk);
  task.num_pages = shape.parts_of(chunk);
  task.page_units = shape.page_units_of(chunk);
  task.first_page = static_cast<std::uint32_t>(chunk * shape.parts_of(0));
  task.first_value = chunk * shape.chunk_records * shape.tuple;
  task.value_bytes = shape.value_bytes;
  task.tuple = shape.tuple;
  task.big_endian = shape.big_endian;
  return task;
}

}  // namespace gdelta::cuda
