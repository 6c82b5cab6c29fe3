// Linear prediction as predictors/linear.md has it, for plain_encoder.h: slow, and with any coefficients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace gdelta::plain {

struct LinearTapModel {
  int base = 0;  // u16
  int width = 0;
};

struct LinearLaneModel {
  int own = 0;
  int shift = 0;
  std::vector<std::pair<int, int>> sources;  // lane, taps
  std::vector<LinearTapModel> taps;          // as many as the numbers before say
};

struct LinearPlainModel {
  int run_bits = 8;
  int reading = 0;
  std::vector<LinearLaneModel> lanes;
  /// The number of a tap, counted through all lanes, in a run: the lowest bits of it are taken.
  std::function<std::uint32_t(std::size_t run, std::size_t tap)> number;

  bool empty() const { return lanes.empty(); }
};

/// Every lane predicted by some of its own values and of those before, with coefficients that differ.
inline LinearPlainModel linear_model(int tuple, int own, int source_taps, int shift, int width,
                                     int reading = 0) {
  LinearPlainModel model{.run_bits = 8, .reading = reading, .lanes = {}, .number = {}};
  for (int lane = 0; lane < tuple; ++lane) {
    LinearLaneModel& made = model.lanes.emplace_back();
    made.own = own;
    made.shift = shift;
    if (source_taps > 0 && lane > 2) made.sources.emplace_back(lane - 3, source_taps);
    if (source_taps > 0 && lane > 0) made.sources.emplace_back(lane - 1, source_taps);
    const int taps = own + static_cast<int>(made.sources.size()) * source_taps;
    for (int tap = 0; tap < taps; ++tap) {
      // The first difference, more or less, so that residuals are small.
      const int base = tap == 0 && own > 0 ? 1 << shift : 0;
      made.taps.push_back({(base - (1 << width) / 2) & 0xffff, width});
    }
  }
  model.number = [width](std::size_t run, std::size_t tap) {
    const auto half = (1u << width) / 2;
    return half + static_cast<std::uint32_t>((run * 7 + tap * 13) % 5) % (half + 1) / 2;
  };
  return model;
}

namespace detail {

inline std::uint32_t linear_number(const LinearPlainModel& model, std::size_t run, std::size_t tap,
                                   int width) {
  return model.number(run, tap) & ((1u << width) - 1);
}

inline std::vector<std::byte> linear_fields(const LinearPlainModel& model, std::size_t tuples) {
  std::vector<std::byte> bytes;
  const auto append = [&](int value) { bytes.push_back(static_cast<std::byte>(value)); };
  append(model.run_bits);
  append(model.reading);
  std::vector<int> widths;
  for (const LinearLaneModel& lane : model.lanes) {
    append(lane.own);
    append(static_cast<int>(lane.sources.size()));
    append(lane.shift);
    for (const auto& [source, taps] : lane.sources) {
      append(source);
      append(taps);
    }
    for (const LinearTapModel& tap : lane.taps) {
      append(tap.base & 255);
      append(tap.base >> 8);
      append(tap.width);
      widths.push_back(tap.width);
    }
  }
  std::vector<bool> bits;
  const std::size_t run_tuples = std::size_t{1} << model.run_bits;
  for (std::size_t run = 0; run * run_tuples < tuples; ++run)
    for (std::size_t tap = 0; tap < widths.size(); ++tap)
      for (int bit = 0; bit < widths[tap]; ++bit)
        bits.push_back((linear_number(model, run, tap, widths[tap]) >> bit & 1) != 0);
  for (std::size_t at = 0; at < bits.size(); at += 8) {
    int byte = 0;
    for (std::size_t bit = at; bit < at + 8 && bit < bits.size(); ++bit)
      byte |= static_cast<int>(bits[bit]) << (bit - at);
    append(byte);
  }
  return bytes;
}

/// What is predicted for tuple `i` of a run that begins at `first`; `c`: the lane's coefficients.
inline std::uint64_t linear_prediction(const LinearPlainModel& model,
                                       const std::vector<std::vector<std::uint64_t>>& lanes,
                                       std::size_t number, std::size_t first, std::size_t i,
                                       const std::int16_t* c, std::uint64_t mask) {
  const LinearLaneModel& lane = model.lanes[number];
  int history = lane.own;
  for (const auto& [source, taps] : lane.sources)
    if (taps - 1 > history) history = taps - 1;
  const std::uint64_t* const x = lanes[number].data() + first + i;
  if (i < static_cast<std::size_t>(history)) return i == 0 ? 0 : i == 1 ? x[-1] : 2 * x[-1] - x[-2];
  const std::uint64_t sign = mask ^ (mask >> 1);
  const auto read = [&](std::uint64_t word) {
    return model.reading == 0 && (word & sign) != 0 ? word | ~mask : word;
  };
  std::uint64_t sum = lane.shift > 0 ? std::uint64_t{1} << (lane.shift - 1) : 0;
  for (int k = 0; k < lane.own; ++k) sum += static_cast<std::uint64_t>(*c++) * read(x[-1 - k]);
  for (const auto& [source, taps] : lane.sources) {
    const std::uint64_t* const y = lanes[static_cast<std::size_t>(source)].data() + first + i;
    for (int k = 0; k < taps; ++k) sum += static_cast<std::uint64_t>(*c++) * read(y[-k]);
  }
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(sum) >> lane.shift);
}

/// The residuals of all lanes.
inline std::vector<std::vector<std::uint64_t>> predict_linear(
    const LinearPlainModel& model, const std::vector<std::vector<std::uint64_t>>& lanes,
    std::uint64_t mask) {
  std::vector<std::vector<std::uint64_t>> residuals = lanes;
  const std::size_t run_tuples = std::size_t{1} << model.run_bits;
  for (std::size_t at = 0; at < lanes[0].size(); ++at) {
    const std::size_t run = at / run_tuples, first = run * run_tuples;
    std::vector<std::int16_t> coefficients;
    for (const LinearLaneModel& lane : model.lanes)
      for (const LinearTapModel& tap : lane.taps)
        coefficients.push_back(
            static_cast<std::int16_t>(static_cast<std::uint32_t>(tap.base) +
                                      linear_number(model, run, coefficients.size(), tap.width)));
    const std::int16_t* c = coefficients.data();
    for (std::size_t number = 0; number < lanes.size(); c += model.lanes[number++].taps.size())
      residuals[number][at] = (lanes[number][at] - linear_prediction(model, lanes, number, first,
                                                                     at - first, c, mask)) &
                              mask;
  }
  return residuals;
}

}  // namespace detail

}  // namespace gdelta::plain
