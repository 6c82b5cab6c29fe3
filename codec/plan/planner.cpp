#include "codec/plan/planner.h"

#include <algorithm>
#include <optional>

#include "codec/coders/zstd_section.h"
#include "codec/plan/lane_orders.h"
#include "codec/plan/stride_search.h"
#include "kernels/bitpack/order_cost.h"

namespace gdelta {
namespace {

using format::Arrangement;
using format::ColumnModel;
using format::StrideLink;
using format::ValueMap;

constexpr std::uint32_t kLongFrame = 1u << 20;
constexpr std::uint64_t kShortestPlaneFrame = 4096;
constexpr std::uint8_t kMaxPlaneOrder = 3;
constexpr int kLowestStrideLevel = 3;
constexpr int kLowestZstdLevel = 3;  // for numbers
constexpr int kFullTrialLevel = 9;
constexpr int kPercentOfBytes = 95;

// zstd decodes on the host alone and slower, so below the top levels it has to be clearly smaller:
// at most so many per cent of pack. Where there are no numbers it is what one expects.
int zstd_percent(int level, bool plain_bytes) {
  constexpr int kPercent[] = {0, 0, 0, 70, 85, 95, 96, 98, 100, 100};
  return std::max(kPercent[level], plain_bytes ? kPercentOfBytes : 0);
}

// What is compressed on trial: stretches of whole groups, spread evenly.
struct TrialSize {
  std::uint64_t stretches;
  std::uint64_t stretch_bytes;
};
TrialSize trial_size(int level) {
  if (level <= 6) return {level <= 5 ? 2u : 4u, 32u << 10};
  return {4, level == 7 ? 64u << 10 : 128u << 10};
}

// Trials of many candidates are quick, those of the best are as the encoder will do it.
ZstdLevels quick_zstd_levels(int level) {
  return level <= 7 ? ZstdLevels{1} : level == 8 ? ZstdLevels{3, 1} : ZstdLevels{3};
}
std::size_t most_finalists(int level) { return level == 8 ? 2 : 3; }

// A stride makes decoding a second pass, so it has to save as many per mille.
std::uint64_t stride_gain_permille(int level) { return level <= 6 ? 20 : level <= 8 ? 5 : 1; }

class ColumnPlanner {
 public:
  ColumnPlanner(const ColumnBytes& column, const EncodeSettings& settings)
      : column_(column), settings_(settings), level_(settings.level) {}

  ColumnModel plan() {
    ColumnModel model;
    model.page_groups = default_page_groups(column_.column.tuple);
    model.frame_bytes = long_frame();
    if (settings_.coder == Coder::raw) return model;
    model.coder = Coder::pack;
    choose_map_and_orders(model);
    if (level_ >= kLowestStrideLevel) add_strides(model);
    const bool zstd_allowed = !settings_.device_decodable && settings_.coder != Coder::pack;
    const bool zstd_pays = level_ >= kLowestZstdLevel || settings_.plain_bytes;
    if (settings_.coder == Coder::zstd || (zstd_allowed && zstd_pays)) choose_coder(model);
    // No order helps, and zstd was not asked or did not: spare the work of finding out by encoding.
    if (!settings_.coder && model.coder == Coder::pack &&
        !looks_worth_packing(packed_bits_, column_.column.tuple, column_.bytes()))
      model.coder = Coder::raw;
    return model;
  }

 private:
  ResidualSource source_of(const ColumnModel& model) const { return {column_, model}; }

  OrderEffort effort() const { return {planned_max_order(level_), planned_groups(level_)}; }
  OrderEffort quick_effort() const {
    return {2, std::min<std::uint64_t>(planned_groups(level_), 128) / 4};
  }

  // The orders that suit the model's map and strides best; returns what they cost.
  std::uint64_t set_best_orders(ColumnModel& model) const {
    const LaneOrders lanes = choose_orders(source_of(model), settings_.order, effort());
    std::copy_n(lanes.orders, column_.column.tuple, model.orders);
    return lanes.bits;
  }

  // Without strides, under every map there is.
  void choose_map_and_orders(ColumnModel& model) {
    packed_bits_ = ~std::uint64_t{0};
    for (const ValueMap map : {ValueMap::none, ValueMap::ordered}) {
      if (map == ValueMap::ordered && !is_float(column_.column.type)) break;
      ColumnModel& plain = plain_.emplace_back(model);
      plain.map = map;
      const std::uint64_t bits = set_best_orders(plain);
      if (bits >= packed_bits_) continue;
      packed_bits_ = bits;
      model.map = map;
    }
    model = plain_[static_cast<std::size_t>(model.map)];
  }

  // The lane that costs most gains most from a stride.
  int widest_lane(const ColumnModel& model) const {
    const ResidualSource source = source_of(model);
    int widest = 0;
    std::uint64_t most = 0;
    for (int lane = 0; lane < column_.column.tuple; ++lane) {
      const std::uint64_t bits = lane_bits(source, lane, model.orders[lane], quick_effort());
      if (bits > most) {
        most = bits;
        widest = lane;
      }
    }
    return widest;
  }

  // The candidate with the least cost by a quick look; nothing where none beats the model without.
  std::optional<ColumnModel> best_stride(const ColumnModel& before) const {
    const auto quick_bits = [&](const ColumnModel& model) {
      return choose_orders(source_of(model), settings_.order, quick_effort()).bits;
    };
    std::uint64_t least = quick_bits(before);
    std::optional<ColumnModel> best;
    const int lane = column_.column.tuple == 1 ? 0 : widest_lane(before);
    for (const std::uint32_t stride : find_strides(source_of(before), lane, level_)) {
      ColumnModel candidate = before;
      candidate.strides[candidate.num_strides++] = StrideLink{stride, 1};
      const std::uint64_t bits = quick_bits(candidate);
      if (bits >= least) continue;
      least = bits;
      best = candidate;
    }
    return best;
  }

  void add_strides(ColumnModel& model) {
    const int most = level_ >= 6 ? kMaxStrides : 1;
    while (model.num_strides < most) {
      auto candidate = best_stride(model);
      if (!candidate) return;
      const std::uint64_t bits = set_best_orders(*candidate);
      if (bits * 1000 >= packed_bits_ * (1000 - stride_gain_permille(level_))) return;
      packed_bits_ = bits;
      model = *candidate;
    }
  }

  // ---- zstd: by trial

  // All of a short column, and of any at the top level.
  std::vector<TupleRange> trial_ranges() const {
    const std::uint64_t records = column_.records;
    const std::uint64_t tuple_bytes = column_.column.bytes();
    const auto [stretches, stretch_bytes] = trial_size(level_);
    const std::uint64_t length =
        std::max<std::uint64_t>(stretch_bytes / tuple_bytes / 128, 1) * 128;
    if (level_ >= kFullTrialLevel || records <= stretches * length) return {{0, records}};
    std::vector<TupleRange> ranges;
    for (std::uint64_t k = 0; k < stretches; ++k)
      ranges.push_back({k * (records - length) / (stretches - 1) / 128 * 128, length});
    return ranges;
  }

  std::uint32_t long_frame() const {
    return level_ >= 9 ? static_cast<std::uint32_t>(kMaxChunkBytes) : kLongFrame;
  }

  // Planes have little in common, so each gets frames of its own, unless they are too short to pay
  // for that.
  std::uint32_t plane_frame(std::uint64_t tuples) const {
    return tuples >= kShortestPlaneFrame && tuples <= long_frame()
               ? static_cast<std::uint32_t>(tuples)
               : long_frame();
  }

  std::uint64_t trial_bytes(const ColumnBytes& column, const ColumnModel& model,
                            std::span<const TupleRange> ranges, ZstdLevels levels) {
    std::uint64_t tuples = 0;
    for (const TupleRange& range : ranges) tuples += range.count;
    const bool plane_frames = model.frame_bytes == plane_frame(column.records);
    std::vector<std::byte> section;
    std::vector<std::uint32_t> sizes;
    frames_.encode(residual_bytes(ResidualSource(column, model), ranges, model),
                   model.arrangement == Arrangement::planes && plane_frames ? plane_frame(tuples)
                                                                            : model.frame_bytes,
                   levels, section, sizes);
    return section.size();
  }

  std::uint64_t packed_bytes(const ColumnModel& model, std::span<const TupleRange> ranges) const {
    const ResidualSource source = source_of(model);
    std::uint64_t bits = 0;
    for (const TupleRange& range : ranges)
      bits += packed_bits(source, model.orders, range.first, range.count);
    return bits / 8;
  }

  // As planes the lanes are coded apart, so each can be given the order that it likes best: a low one,
  // or that of pack.
  void choose_plane_orders(ColumnModel& model, std::span<const TupleRange> ranges) {
    ColumnBytes lane_bytes = column_;
    lane_bytes.column.tuple = 1;
    for (int lane = 0; lane < column_.column.tuple; ++lane) {
      ColumnModel lane_model = model;
      std::uint64_t least = ~std::uint64_t{0};
      lane_bytes.first = column_.at(0, lane);
      const std::uint8_t packed_order = model.orders[lane];
      for (std::uint8_t order = 0; order <= std::max(kMaxPlaneOrder, packed_order); ++order) {
        if (order > kMaxPlaneOrder && order != packed_order) continue;
        lane_model.orders[0] = order;
        const std::uint64_t bytes =
            trial_bytes(lane_bytes, lane_model, ranges, quick_zstd_levels(level_));
        if (bytes >= least) continue;
        least = bytes;
        model.orders[lane] = order;
      }
    }
  }

  // Maps and strides that zstd may like: those of pack, and none with each map.
  std::vector<ColumnModel> zstd_fronts(const ColumnModel& packed) const {
    std::vector<ColumnModel> fronts{packed};
    for (const ColumnModel& plain : plain_) {
      if (settings_.order || (plain.map == ValueMap::ordered && level_ < 6)) continue;
      if (packed.map == plain.map && packed.num_strides == 0) continue;
      fronts.push_back(plain);
      fronts.back().coder = Coder::pack;
    }
    return fronts;
  }

  std::vector<ColumnModel> zstd_candidates(const ColumnModel& packed,
                                           std::span<const TupleRange> ranges) {
    std::vector<ColumnModel> candidates;
    const auto add = [&](ColumnModel model, Arrangement arrangement) {
      model.arrangement = arrangement;
      model.frame_bytes =
          arrangement == Arrangement::planes ? plane_frame(column_.records) : long_frame();
      candidates.push_back(model);
      if (level_ < 9 || arrangement == Arrangement::values) return;
      candidates.back().frame_bytes = long_frame();
      if (model.frame_bytes != long_frame()) candidates.push_back(model);
    };
    // Bytes have one plane.
    const bool planes_differ = column_.column.bytes() > 1;
    for (ColumnModel front : zstd_fronts(packed)) {
      front.coder = Coder::zstd;
      front.arrangement = Arrangement::planes;
      if (!settings_.plain_bytes || level_ >= kLowestZstdLevel) add(front, Arrangement::values);
      if (level_ < 6 || settings_.order) {
        if (planes_differ) add(front, Arrangement::planes);
      } else {
        ColumnModel planes = front;
        planes.frame_bytes = plane_frame(column_.records);
        choose_plane_orders(planes, ranges);
        add(planes, Arrangement::planes);
      }
      if (settings_.order) continue;
      const std::uint8_t last_order = level_ < 6 ? 0 : 1;
      for (std::uint8_t order = 0; order <= last_order; ++order) {
        std::fill_n(front.orders, column_.column.tuple, order);
        add(front, Arrangement::values);
        if (level_ < 6 && planes_differ) add(front, Arrangement::planes);
      }
    }
    return candidates;
  }

  void choose_coder(ColumnModel& model) {
    const std::vector<TupleRange> ranges = trial_ranges();
    const std::vector<ColumnModel> candidates = zstd_candidates(model, ranges);
    std::vector<std::pair<std::uint64_t, std::size_t>> ranking;
    for (std::size_t c = 0; c < candidates.size(); ++c)
      ranking.emplace_back(trial_bytes(column_, candidates[c], ranges, quick_zstd_levels(level_)),
                           c);
    std::sort(ranking.begin(), ranking.end());
    const std::uint64_t limit =
        settings_.coder == Coder::zstd
            ? ~std::uint64_t{0}
            : packed_bytes(model, ranges) *
                  static_cast<std::uint64_t>(zstd_percent(level_, settings_.plain_bytes)) / 100;
    // The quick trial ranks, and its sizes are upper bounds. Only where it leaves doubt, those at the
    // top are tried at the level that counts.
    const std::uint64_t close =
        ranking.front().first + ranking.front().first / (level_ >= 8 ? 4 : 32);
    const auto doubtful = [&](const auto& entry) { return entry.first <= close; };
    const auto finalists =
        static_cast<std::size_t>(std::count_if(ranking.begin(), ranking.end(), doubtful));
    if (level_ >= 6 && (finalists > 1 || ranking.front().first >= limit)) {
      ranking.resize(std::min(finalists, most_finalists(level_)));
      for (auto& [bytes, c] : ranking)
        bytes = trial_bytes(column_, candidates[c], ranges, zstd_levels(level_));
      std::sort(ranking.begin(), ranking.end());
    }
    if (ranking.front().first < limit) model = candidates[ranking.front().second];
  }

  const ColumnBytes& column_;
  const EncodeSettings& settings_;
  const int level_;
  std::uint64_t packed_bits_ = 0;
  std::vector<ColumnModel> plain_;  // by map, without strides
  FrameEncoder frames_;
};

}  // namespace

ChunkPlan plan_chunk(std::span<const std::byte> values, const Layout& layout, bool opaque,
                     const EncodeSettings& settings) {
  // An order that was asked for is meant for numbers.
  EncodeSettings own = settings;
  own.level = std::clamp(own.level, 1, 9);
  own.plain_bytes |= opaque;
  if (opaque) own.order.reset();
  if (own.coder == Coder::constant) own.coder.reset();
  ColumnBytes column{reinterpret_cast<const unsigned char*>(values.data()),
                     layout.record_bytes(),
                     values.size() / layout.record_bytes(),
                     {}};
  ChunkPlan plan;
  for (const Column& next : layout.columns) {
    column.column = next;
    plan.columns.push_back(ColumnPlanner(column, own).plan());
    column.first += next.bytes();
  }
  return plan;
}

}  // namespace gdelta
