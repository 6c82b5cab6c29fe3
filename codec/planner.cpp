#include "codec/planner.h"

#include <algorithm>
#include <optional>

#include "codec/lane_orders.h"
#include "codec/stride_search.h"
#include "codec/zstd_section.h"

namespace gdelta {
namespace {

using format::Arrangement;
using format::ColumnModel;
using format::StrideLink;
using format::ValueMap;

constexpr std::uint32_t kFrameBytes = 1u << 20;
constexpr int kLowestStrideLevel = 3;
constexpr int kLowestZstdLevel = 3;
constexpr int kLowestFullTrialLevel = 8;

// zstd decodes on the host alone and slower, so below the top levels it has to be clearly smaller:
// at most so many per cent of pack.
int zstd_percent(int level) {
  constexpr int kPercent[] = {0, 0, 0, 70, 80, 92, 95, 98, 100, 100};
  return kPercent[std::clamp(level, 0, 9)];
}

// A stride makes decoding a second pass, so it has to save as many per mille.
std::uint64_t stride_gain_permille(int level) { return level <= 6 ? 20 : level <= 8 ? 5 : 1; }

class ColumnPlanner {
 public:
  ColumnPlanner(const ColumnBytes& column, const EncodeSettings& settings)
      : column_(column), settings_(settings), level_(std::clamp(settings.level, 1, 9)) {}

  ColumnModel plan() {
    ColumnModel model;
    model.page_groups = default_page_groups(column_.column.tuple);
    model.frame_bytes = level_ >= 9 ? static_cast<std::uint32_t>(kMaxChunkBytes) : kFrameBytes;
    if (settings_.coder == Coder::raw) return model;
    model.coder = Coder::pack;
    choose_map_and_orders(model);
    if (level_ >= kLowestStrideLevel) add_strides(model);
    const bool zstd_allowed = !settings_.device_decodable && settings_.coder != Coder::pack;
    if (settings_.coder == Coder::zstd || (zstd_allowed && level_ >= kLowestZstdLevel))
      choose_coder(model);
    // No order helps and zstd was not asked or did not: spare the work of finding out by encoding.
    if (!settings_.coder && model.coder == Coder::pack && packed_bits_ >= 8 * column_.bytes())
      model.coder = Coder::raw;
    return model;
  }

 private:
  ResidualSource source_of(const ColumnModel& model) const { return {column_, model}; }

  // Takes the model's map and strides with their best orders, if that costs less than the best so
  // far by more than so many per mille.
  bool take_if_better(const ColumnModel& candidate, ColumnModel& best, std::uint64_t permille) {
    const LaneOrders lanes = choose_orders(source_of(candidate), settings_.order, level_);
    if (lanes.bits * 1000 >= packed_bits_ * (1000 - permille)) return false;
    packed_bits_ = lanes.bits;
    best = candidate;
    std::copy_n(lanes.orders, column_.column.tuple, best.orders);
    return true;
  }

  void choose_map_and_orders(ColumnModel& model) {
    packed_bits_ = ~std::uint64_t{0} / 1000;
    take_if_better(model, model, 0);
    if (!is_float(column_.column.type)) return;
    ColumnModel ordered = model;
    ordered.map = ValueMap::ordered;
    take_if_better(ordered, model, 0);
  }

  // The lane that costs most gains most from a stride.
  int widest_lane(const ColumnModel& model) const {
    const ResidualSource source = source_of(model);
    int widest = 0;
    std::uint64_t most = 0;
    for (int lane = 0; lane < column_.column.tuple; ++lane) {
      const std::uint64_t bits = lane_bits(source, lane, model.orders[lane], level_);
      if (bits > most) {
        most = bits;
        widest = lane;
      }
    }
    return widest;
  }

  void add_strides(ColumnModel& model) {
    const int most = level_ >= 6 ? kMaxStrides : 1;
    while (model.num_strides < most) {
      const ColumnModel before = model;
      bool found = false;
      const int lane = column_.column.tuple == 1 ? 0 : widest_lane(before);
      for (const std::uint32_t stride : find_strides(source_of(before), lane, level_)) {
        ColumnModel candidate = before;
        candidate.strides[candidate.num_strides++] = StrideLink{stride, 1};
        found |= take_if_better(candidate, model, found ? 0 : stride_gain_permille(level_));
      }
      if (!found) return;
    }
  }

  // ---- zstd: by trial

  // Stretches of whole groups, spread evenly; everything at the top levels.
  std::vector<TupleRange> trial_ranges() const {
    const std::uint64_t records = column_.records;
    const std::uint64_t tuple_bytes = column_.column.bytes();
    const std::uint64_t stretches = level_ <= 5 ? 2 : 4;
    const std::uint64_t stretch_bytes = level_ <= 5 ? 48u << 10 : 64u << 10;
    const std::uint64_t length =
        std::max<std::uint64_t>(stretch_bytes / tuple_bytes / 128, 1) * 128;
    if (level_ >= kLowestFullTrialLevel || records <= stretches * length) return {{0, records}};
    std::vector<TupleRange> ranges;
    for (std::uint64_t k = 0; k < stretches; ++k)
      ranges.push_back({k * (records - length) / (stretches - 1) / 128 * 128, length});
    return ranges;
  }

  std::uint64_t trial_bytes(const ColumnModel& model, std::span<const TupleRange> ranges,
                            int trial_level) {
    std::vector<std::byte> section;
    std::vector<std::uint32_t> sizes;
    frames_.encode(residual_bytes(source_of(model), ranges, model), model.frame_bytes, trial_level,
                   section, sizes);
    return section.size();
  }

  std::uint64_t packed_bytes(const ColumnModel& model, std::span<const TupleRange> ranges) const {
    const ResidualSource source = source_of(model);
    std::uint64_t bits = 0;
    for (const TupleRange& range : ranges)
      bits += packed_bits(source, model.orders, range.first, range.count);
    return bits / 8;
  }

  // What zstd may be given: the residuals that pack likes, or the values as they are, each as
  // values and as planes.
  std::vector<ColumnModel> zstd_candidates(const ColumnModel& packed) const {
    std::vector<ColumnModel> candidates;
    const auto add = [&](ColumnModel model) {
      model.coder = Coder::zstd;
      for (const Arrangement arrangement : {Arrangement::planes, Arrangement::values}) {
        model.arrangement = arrangement;
        if (arrangement == Arrangement::planes || column_.column.bytes() > 1)
          candidates.push_back(model);
      }
    };
    add(packed);
    if (settings_.order) return candidates;
    const auto add_uniform = [&](ValueMap map, int order) {
      ColumnModel model = packed;
      model.num_strides = 0;
      model.map = map;
      std::fill_n(model.orders, column_.column.tuple, static_cast<std::uint8_t>(order));
      add(model);
    };
    add_uniform(ValueMap::none, 0);
    if (level_ >= 6) {
      add_uniform(ValueMap::none, 1);
      if (is_float(column_.column.type)) add_uniform(ValueMap::ordered, 0);
      if (is_float(column_.column.type)) add_uniform(ValueMap::ordered, 1);
    }
    if (level_ >= kLowestFullTrialLevel) {
      add_uniform(packed.map, 2);
      if (packed.num_strides > 0) {
        for (const int order : {0, 1}) {
          ColumnModel model = packed;
          std::fill_n(model.orders, column_.column.tuple, static_cast<std::uint8_t>(order));
          add(model);
        }
      }
    }
    return candidates;
  }

  void choose_coder(ColumnModel& model) {
    const std::vector<TupleRange> ranges = trial_ranges();
    const int final_level = zstd_level(level_);
    std::vector<ColumnModel> candidates = zstd_candidates(model);
    std::vector<std::pair<std::uint64_t, std::size_t>> ranking;
    for (std::size_t c = 0; c < candidates.size(); ++c)
      ranking.emplace_back(trial_bytes(candidates[c], ranges, std::min(final_level, 3)), c);
    std::sort(ranking.begin(), ranking.end());
    // The quick trial ranks; those near the top are tried at the level that counts.
    const std::size_t finalists = final_level <= 3 ? 0 : level_ >= kLowestFullTrialLevel ? 4 : 2;
    ranking.resize(std::min(std::max<std::size_t>(finalists, 1), ranking.size()));
    if (finalists > 0) {
      for (auto& [bytes, c] : ranking) bytes = trial_bytes(candidates[c], ranges, final_level);
      std::sort(ranking.begin(), ranking.end());
    }
    const auto [zstd_bytes, best] = ranking.front();
    if (settings_.coder == Coder::zstd ||
        zstd_bytes * 100 < packed_bytes(model, ranges) * zstd_percent(level_))
      model = candidates[best];
  }

  const ColumnBytes& column_;
  const EncodeSettings& settings_;
  const int level_;
  std::uint64_t packed_bits_ = 0;
  FrameEncoder frames_;
};

}  // namespace

ChunkPlan plan_chunk(std::span<const std::byte> values, const Layout& layout, bool opaque,
                     const EncodeSettings& settings) {
  // An order that was asked for is meant for numbers.
  EncodeSettings own = settings;
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
