// For samples: work run by any schedule, and by some of each kind.
#pragma once

#include "gdelta/schedules/cta_warp_scan.cuh"
#include "gdelta/schedules/merge_path.cuh"
#include "gdelta/schedules/multi_phase_mapping.cuh"
#include "gdelta/schedules/thread_mapped.cuh"
#include "gdelta/schedules/virtual_warps.cuh"
#include "sample_device.h"

namespace sample {

/// Enqueues `work` for all atoms, behind the plan if the schedule has one; `scratch` grows as that needs.
template <class Schedule, class Tiles, class Work>
void run_schedule(Schedule schedule, const Tiles& tiles, const Work& work,
                  DeviceArray<char>& scratch) {
  if constexpr (requires { schedule.scratch_bytes(tiles); }) {
    const std::size_t bytes = schedule.scratch_bytes(tiles);
    if (scratch.count() < bytes) scratch = DeviceArray<char>(bytes);
    check(schedule.plan(tiles, scratch.data(), nullptr));
  }
  check(gdelta::launch_schedule(schedule, tiles, work, nullptr));
}

/// Calls f(schedule, name).
template <class F>
void for_some_schedules(F f) {
  f(gdelta::ThreadMapped{}, "thread mapped");
  f(gdelta::VirtualWarps<8>{}, "virtual warps of 8");
  f(gdelta::CtaWarpScan{}, "CTA, warp, scan");
  f(gdelta::MergePath{}, "merge path");
  f(gdelta::MultiPhaseMapping<>{}, "multi-phase mapping");
}

}  // namespace sample
