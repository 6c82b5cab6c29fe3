// A strip, up to four neighbouring lanes of a wide tuple, as if it were a column of narrow tuples that do not follow each
// other: what page_runs.cuh needs to know of it. The lanes that it lacks have order 0 and are zero.
#pragma once

#include <cstdint>

#include "kernels/bitpack/page_runs.cuh"
#include "kernels/deltas/lane_residuals.cuh"
#include "kernels/device/warp_uniform.cuh"
#include "kernels/pages/pack_task.h"

namespace gdelta::cuda {

/// The strip of a unit; the whole warp makes it.
struct LaneStrip {
  const unsigned char* values;  // its first value in the first record
  std::uint32_t records;
  std::uint32_t record_bytes;
  int lanes;
  const std::uint8_t* orders;  // [lanes]
  std::uint8_t map;
  bool big_endian;

  __device__ LaneStrip(const PackTask& task, const UnitView& view)
      : LaneStrip(task, kStripLanes * static_cast<int>(view.part)) {}
  __device__ LaneStrip(const PackTask& task, int first_lane)
      : values(task.values + first_lane * task.value_bytes),
        records(device::warp_uniform(task.records)),
        record_bytes(device::warp_uniform(task.record_bytes)),
        lanes(device::warp_uniform(min(task.tuple - first_lane, kStripLanes))),
        orders(task.orders + first_lane),
        map(task.map),
        big_endian(task.big_endian) {}

  template <class Lane>
  __device__ int order_of(Lane lane) const {
    return static_cast<int>(lane) < lanes ? orders[lane] : 0;
  }
};

template <int ValueBytes>
struct StripShape : PackShape<ValueBytes, kStripLanes> {
  using Task = LaneStrip;
  static constexpr bool kStrip = true;
  template <class View>
  __device__ static LaneStrip task_of(const PackTask& column, const View& view) {
    return {column, view};
  }
  __device__ static bool has_lane(const LaneStrip& strip, int lane) { return lane < strip.lanes; }
};

/// Loads runs of a strip, whose tuples are `record_bytes` apart, by the widest loads that its place and its lanes allow.
template <class Shape>
requires(Shape::kStrip) struct RunLoader<Shape> {
  static constexpr std::uint32_t kTupleBytes = Shape::kTupleBytes;
  static constexpr int kTupleWords = Shape::kTupleBytes / 4, kWords = Shape::kRunWords;
  static_assert(kTupleBytes % 4 == 0);

  const unsigned char* first;
  std::uint32_t record_bytes;
  std::uint32_t column_bytes;  // up to the end of the last record: at most 2^28
  std::uint32_t bytes;         // that each tuple has
  std::uint32_t bits;          // the lowest one that is set says how wide loads may be

  __device__ explicit RunLoader(const LaneStrip& strip)
      : first(strip.values),
        record_bytes(strip.record_bytes),
        column_bytes(strip.records * strip.record_bytes),
        bytes(strip.lanes * Shape::kValueBytes),
        bits(device::warp_uniform(
            static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(strip.values)) |
            strip.record_bytes | bytes)) {}

  __device__ std::uint32_t tuple_bytes() const { return record_bytes; }

  /// The words of this thread's run in the tile that begins `tile` bytes behind the first tuple; zero behind the last one.
  __device__ void load(std::uint32_t tile, int thread, std::uint32_t (&words)[kWords]) const {
    const std::uint32_t run = tile + Shape::kRun * record_bytes * thread;
    if (tile + Shape::kTile * record_bytes <= column_bytes) {
      load_run(
          run, [](std::uint32_t) { return true; }, words);
    } else {
      load_run(
          run, [this](std::uint32_t at) { return at < column_bytes; }, words);
    }
  }

 private:
  template <class IsThere>
  __device__ void load_run(std::uint32_t run, const IsThere& is_there,
                           std::uint32_t (&words)[kWords]) const {
    if (kTupleBytes % 16 == 0 && bits % 16 == 0 && bytes == kTupleBytes) {
      if constexpr (kTupleBytes % 16 == 0) load_vectors<uint4>(run, is_there, words);
    } else if (kTupleBytes % 8 == 0 && bits % 8 == 0 && bytes == kTupleBytes) {
      if constexpr (kTupleBytes % 8 == 0) load_vectors<uint2>(run, is_there, words);
    } else if (bits % 4 == 0) {
      load_units<std::uint32_t>(run, is_there, words);
    } else if (bits % 2 == 0) {
      load_units<std::uint16_t>(run, is_there, words);
    } else {
      load_units<std::uint8_t>(run, is_there, words);
    }
  }

  /// All lanes are there.
  template <class Vector, class IsThere>
  __device__ void load_vectors(std::uint32_t run, const IsThere& is_there,
                               std::uint32_t (&words)[kWords]) const {
    constexpr int kVectorWords = sizeof(Vector) / 4, kVectors = kTupleWords / kVectorWords;
#pragma unroll
    for (int i = 0; i < Shape::kRun; ++i) {
      const std::uint32_t at = run + i * record_bytes;
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        Vector vector{};
        if (is_there(at)) vector = reinterpret_cast<const Vector*>(first + at)[v];
        std::uint32_t* const to = words + kTupleWords * i + kVectorWords * v;
        to[0] = vector.x, to[1] = vector.y;
        if constexpr (kVectorWords == 4) to[2] = vector.z, to[3] = vector.w;
      }
    }
  }

  template <class Unit, class IsThere>
  __device__ void load_units(std::uint32_t run, const IsThere& is_there,
                             std::uint32_t (&words)[kWords]) const {
    constexpr int kUnits = 4 / sizeof(Unit);  // of a word
#pragma unroll
    for (int i = 0; i < Shape::kRun; ++i) {
      const std::uint32_t at = run + i * record_bytes;
      const auto* const from = reinterpret_cast<const Unit*>(first + at);
      const bool there = is_there(at);
#pragma unroll
      for (int w = 0; w < kTupleWords; ++w) {
        std::uint32_t word = 0;
#pragma unroll
        for (int u = 0; u < kUnits; ++u) {
          if (there && 4 * w + sizeof(Unit) * u < bytes)
            word |= static_cast<std::uint32_t>(from[kUnits * w + u]) << (8 * sizeof(Unit) * u);
        }
        words[kTupleWords * i + w] = word;
      }
    }
  }
};

}  // namespace gdelta::cuda
