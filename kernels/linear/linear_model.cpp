#include "kernels/linear/linear_model.h"

#include <algorithm>
#include <bit>

namespace gdelta {
namespace {

// A row of numbers of any widths, from the lowest bit up.
class BitRow {
 public:
  explicit BitRow(std::vector<std::byte>& bytes) : bytes_(bytes) {}
  void append(std::uint32_t number, int width) {
    for (int bit = 0; bit < width; ++bit, used_ = (used_ + 1) & 7) {
      if (used_ == 0) bytes_.push_back({});
      bytes_.back() |= static_cast<std::byte>(((number >> bit) & 1) << used_);
    }
  }

 private:
  std::vector<std::byte>& bytes_;
  int used_ = 0;  // of the last byte
};

struct TapRange {
  std::int16_t base;
  int width;
};

// The lowest coefficient of each tap, and the bits of what the others are more.
std::vector<TapRange> tap_ranges(const LinearModel& model) {
  const std::size_t taps = model.taps();
  std::vector<TapRange> ranges(taps);
  for (std::size_t tap = 0; tap < taps; ++tap) {
    int least = model.coefficients[tap], most = least;
    for (std::size_t at = tap; at < model.coefficients.size(); at += taps) {
      least = std::min<int>(least, model.coefficients[at]);
      most = std::max<int>(most, model.coefficients[at]);
    }
    ranges[tap] = {static_cast<std::int16_t>(least),
                   static_cast<int>(std::bit_width(static_cast<unsigned>(most - least)))};
  }
  return ranges;
}

}  // namespace

std::size_t LinearModel::taps() const {
  std::size_t count = 0;
  for (const LinearLane& lane : lanes) count += static_cast<std::size_t>(lane.taps());
  return count;
}

std::vector<std::byte> linear_fields(const LinearModel& model, std::uint64_t tuples) {
  std::vector<std::byte> bytes;
  const auto append = [&](int value) { bytes.push_back(static_cast<std::byte>(value)); };
  const std::vector<TapRange> ranges = tap_ranges(model);
  append(model.run_bits);
  append(model.is_unsigned ? 1 : 0);
  const TapRange* range = ranges.data();
  for (const LinearLane& lane : model.lanes) {
    append(lane.own);
    append(lane.num_sources);
    append(lane.shift);
    for (int number = 0; number < lane.num_sources; ++number) {
      append(lane.sources[number].lane);
      append(lane.sources[number].taps);
    }
    for (int tap = 0; tap < lane.taps(); ++tap, ++range) {
      append(range->base & 255);
      append((range->base >> 8) & 255);
      append(range->width);
    }
  }
  BitRow table(bytes);
  const std::int16_t* coefficient = model.coefficients.data();
  for (std::uint64_t run = 0; run < model.runs(tuples); ++run)
    for (const TapRange& tap : ranges)
      table.append(static_cast<std::uint32_t>(*coefficient++ - tap.base), tap.width);
  return bytes;
}

LinearModel read_linear_fields(const unsigned char* fields, int tuple, std::uint64_t tuples) {
  LinearModel model;
  model.run_bits = *fields++;
  model.is_unsigned = *fields++ != 0;
  std::vector<const unsigned char*> taps;
  for (int number = 0; number < tuple; ++number) {
    LinearLane& lane = model.lanes.emplace_back();
    fields = read_linear_lane(fields, lane);
    for (int tap = 0; tap < lane.taps(); ++tap, fields += kLinearTapBytes) taps.push_back(fields);
  }
  std::uint64_t bit = 0;
  model.coefficients.reserve(model.runs(tuples) * taps.size());
  for (std::uint64_t run = 0; run < model.runs(tuples); ++run)
    for (const unsigned char* tap : taps) {
      model.coefficients.push_back(read_linear_coefficient(tap, fields, bit));
      bit += tap[2];
    }
  return model;
}

}  // namespace gdelta
