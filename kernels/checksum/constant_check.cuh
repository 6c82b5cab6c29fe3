// The check of a column that is its first tuple over and over: one part has all.
#pragma once

#include <cstdint>

#include "kernels/checksum/part_check.h"
#include "kernels/pages/pack_task.h"

namespace gdelta::cuda {

__device__ inline std::uint32_t check_of_constant(const PackTask& task) {
  const std::uint32_t tuple_bytes = static_cast<std::uint32_t>(task.value_bytes) * task.tuple;
  std::uint64_t polynomial = 0, power = 1;
  for (std::uint32_t at = 0; at < tuple_bytes; at += 4, power *= kCheckBase) {
    std::uint32_t word = 0;
    for (std::uint32_t b = 0; b < 4 && at + b < tuple_bytes; ++b)
      word |= static_cast<std::uint32_t>(task.decoded()[at + b]) << (8 * b);
    polynomial += word * power;
  }
  return finish_check(task.records, polynomial);
}

}  // namespace gdelta::cuda
