// Where the groups of a unit lie in their page.
#pragma once

#include <cstdint>

#include "kernels/bitpack/pack_pages_cuda.h"
#include "kernels/deltas/lane_residuals.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/device/warp_uniform.cuh"

namespace gdelta::cuda {

/// Where the parts of a unit go.
struct UnitPlace {
  unsigned char* page;
  unsigned char* groups;
  unsigned char* exceptions;
};

/// How many states the lanes before this one have. The whole warp calls it.
__device__ inline int states_before(const PackTask& task, int lane) {
  std::uint32_t states = 0;
  for (int l = static_cast<int>(threadIdx.x & 31); l < lane; l += 32) states += task.orders[l];
  return device::warp_uniform(static_cast<int>(device::warp_sum(states)));
}

/// The whole warp calls it.
__device__ inline UnitPlace place_unit(const PackArgs& args, const PackTask& task,
                                       const UnitView& view, std::uint64_t first_unit,
                                       const PackResult& result) {
  const std::uint32_t page_begin =
      view.page == 0 ? 0 : args.page_ends[task.first_page + view.page - 1];
  std::uint32_t groups_before = 0, exceptions_before = 0, groups_all = 0;
  const UnitBytes* units = args.unit_bytes + first_unit + view.page * task.page_units;
  for (std::uint32_t part = threadIdx.x & 31; part < task.page_units; part += 32) {
    const UnitBytes bytes = units[part];
    groups_all += bytes.groups;
    if (part < view.part) {
      groups_before += bytes.groups;
      exceptions_before += bytes.exceptions;
    }
  }
  groups_before = device::warp_sum(groups_before);
  exceptions_before = device::warp_sum(exceptions_before);
  groups_all = device::warp_sum(groups_all);
  UnitPlace place;
  place.page = args.out + result.section_at + page_begin;
  unsigned char* const groups = place.page + task.state_bytes + 2 * view.all_groups;
  place.groups = groups + groups_before;
  place.exceptions = groups + groups_all + exceptions_before;
  return place;
}

}  // namespace gdelta::cuda
