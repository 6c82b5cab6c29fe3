#include "codec/detect/byte_repetition.h"

#include <algorithm>
#include <vector>

#include "codec/coders/residual_bytes.h"
#include "codec/coders/workers.h"
#include "codec/coders/zstd_section.h"

namespace gdelta {
namespace {

// Of packed values: symbols take less than those, too.
constexpr std::uint64_t kMostPercentOfPacked = 85;
// Values that repeat do so as bytes, too, about as often.
constexpr std::uint64_t kMostPercentOfValues = 95;
constexpr int kQuickLevel = 1, kHighestOrder = 1;

std::uint64_t frame_bytes_of(std::span<const unsigned char> bytes, FrameEncoder& encoder) {
  std::vector<std::byte> frame;
  encoder.encode(bytes, {kQuickLevel}, frame, nullptr);
  return frame.size();
}

// What frames take of stretches that begin where records do: of their bytes, and of their residuals at each order.
struct FrameBytes {
  std::uint64_t of_bytes = 0, stretches = 0;
  std::uint64_t of_values[kHighestOrder + 1] = {};
};

void add_values(std::span<const unsigned char> stretch, const Column& column, FrameEncoder& encoder,
                FrameBytes& sum) {
  const ColumnBytes values{.first = stretch.data(),
                           .record_bytes = static_cast<std::uint64_t>(column.bytes()),
                           .records = stretch.size() / static_cast<std::uint64_t>(column.bytes()),
                           .column = column};
  format::ColumnModel model;
  const TupleRange all{0, values.records};
  for (int order = 0; order <= kHighestOrder; ++order) {
    std::fill_n(model.front.orders, column.tuple, static_cast<std::uint8_t>(order));
    sum.of_values[order] += frame_bytes_of(
        residual_bytes({values, model.front}, {&all, 1}, model, Workers::alone()), encoder);
  }
}

}  // namespace

bool bytes_repeat_more(std::span<const std::byte> sample, const Column& column,
                       std::uint64_t packed_cost, Stretches stretches) {
  if (stretches.count == 0) return false;
  if (stretches.count * stretches.bytes >= sample.size()) stretches = {1, sample.size()};
  FrameEncoder encoder;
  FrameBytes sum;
  const auto record_bytes = static_cast<std::uint64_t>(column.bytes());
  const auto stretch_at = [&](std::uint64_t i) {
    const std::uint64_t first = stretches.place(i, sample.size()) / record_bytes * record_bytes;
    return std::span(reinterpret_cast<const unsigned char*>(sample.data()) + first,
                     stretches.bytes / record_bytes * record_bytes);
  };
  for (std::uint64_t i = 0; i < stretches.count; ++i) {
    const auto stretch = stretch_at(i);
    sum.of_bytes += frame_bytes_of(stretch, encoder);
    sum.stretches += stretch.size();
  }
  const std::uint64_t packed = (packed_cost * sum.stretches / 8) >> 16;
  if (100 * sum.of_bytes > kMostPercentOfPacked * packed) return false;
  for (std::uint64_t i = 0; i < stretches.count; ++i)
    add_values(stretch_at(i), column, encoder, sum);
  return std::ranges::all_of(sum.of_values, [&](std::uint64_t of_values) {
    return 100 * sum.of_bytes <= kMostPercentOfValues * of_values;
  });
}

}  // namespace gdelta
