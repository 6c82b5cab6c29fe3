// What else could have been done with a chunk: the costs that the planner compares, over all of the
// values instead of a sample, and zstd tried out.
#include <algorithm>
#include <array>
#include <new>

#include "codec/chunk/chunk_encode.h"
#include "codec/coders/coder.h"
#include "codec/coders/zstd_section.h"
#include "codec/plan/lane_orders.h"
#include "codec/plan/levels.h"
#include "codec/plan/symbol_orders.h"
#include "gdelta/codec.h"

namespace gdelta {

namespace {

using format::ChosenBy;
using format::ColumnModel;
using format::Front;

constexpr Coder kPlainCoder = format::coder_chosen_by(ChosenBy::no_gain);
constexpr Coder kWidthCoder = format::coder_chosen_by(ChosenBy::widths);
constexpr Coder kFrameCoder = format::coder_chosen_by(ChosenBy::stretches);
constexpr int kTrialZstdLevel = 3;

bool is_possible(const ColumnInfo& info, const Column& column) {
  const auto is_order = [](int order) { return order >= 0 && order <= kMaxOrder; };
  const auto is_link = [](const auto& link) {
    return link.first >= 1 && link.first <= kMaxStride && link.second >= 1 &&
           link.second <= kMaxOrder;
  };
  return info.unknown.empty() && (info.orders.empty() || info.orders.size() == column.tuple) &&
         std::all_of(info.orders.begin(), info.orders.end(), is_order) &&
         info.strides.size() <= kMaxStrides &&
         std::all_of(info.strides.begin(), info.strides.end(), is_link) &&
         (info.map == ValueMap::by_lane ||
          (static_cast<int>(info.map) < kNumValueMaps && format::map_takes(info.map, column.type)));
}

/// Bits of each lane at each order.
using LaneCosts = std::vector<std::array<std::uint64_t, kMaxOrder + 1>>;

class ColumnExplainer {
 public:
  ColumnExplainer(const ColumnBytes& column, const ColumnInfo& info)
      : column_(column), info_(info) {}

  ColumnExplanation explain() {
    add(like(kPlainCoder), column_.bytes());
    if (info_.coder == format::coder_chosen_by(ChosenBy::equal_tuples)) return std::move(told_);
    ColumnInfo packed = like(kWidthCoder);
    const LaneCosts costs = lane_costs(packed);
    if (info_.coder == kWidthCoder)
      for (std::size_t lane = 0; lane < costs.size() && lane < info_.orders.size(); ++lane)
        told_.lane_bits.push_back(costs[lane][static_cast<std::size_t>(info_.orders[lane])]);
    for (int order = 0; order <= kMaxOrder; ++order) {
      packed.orders.assign(costs.size(), order);
      add(packed, bytes_of(packed, costs));
    }
    const ColumnInfo best = with_best_orders(packed, costs);
    if (std::adjacent_find(best.orders.begin(), best.orders.end(), std::not_equal_to<>()) !=
        best.orders.end())
      add(best, bytes_of(best, costs));
    add_other_fronts();
    add_symbols();
    add_zstd(best);
    return std::move(told_);
  }

 private:
  /// Map and strides of the column, coded otherwise.
  ColumnInfo like(Coder coder) const {
    ColumnInfo info;
    info.coder = coder;
    if (coder == kPlainCoder) return info;
    info.map = map_alone();
    info.strides = info_.strides;
    return info;
  }

  /// The column's, unless it has fields: those are not told of.
  ValueMap map_alone() const {
    const bool has_fields = info_.map == ValueMap::by_lane || format::has_fields(info_.map);
    return has_fields ? ValueMap::none : info_.map;
  }

  static Front front_of(const ColumnInfo& info) {
    Front front;
    front.map = info.map;
    for (const auto& [stride, order] : info.strides)
      front.strides[front.num_strides++] = {static_cast<std::uint32_t>(stride),
                                            static_cast<std::uint8_t>(order)};
    std::copy(info.orders.begin(), info.orders.end(), front.orders);
    return front;
  }

  LaneCosts lane_costs(const ColumnInfo& info) const {
    const ResidualSource source(column_, front_of(info));
    LaneCosts costs(column_.column.tuple);
    for (std::size_t lane = 0; lane < costs.size(); ++lane)
      for (int order = 0; order <= kMaxOrder; ++order)
        costs[lane][static_cast<std::size_t>(order)] =
            packed_lane_bits(source, static_cast<int>(lane), order, 0, column_.records, workers_);
    return costs;
  }

  static std::uint64_t bytes_of(const ColumnInfo& info, const LaneCosts& costs) {
    std::uint64_t bits = 0;
    for (std::size_t lane = 0; lane < costs.size(); ++lane)
      bits += costs[lane][static_cast<std::size_t>(info.orders[lane])];
    return (bits + 7) / 8;
  }

  static ColumnInfo with_best_orders(ColumnInfo info, const LaneCosts& costs) {
    info.orders.clear();
    for (const auto& lane : costs)
      info.orders.push_back(
          static_cast<int>(std::min_element(lane.begin(), lane.end()) - lane.begin()));
    return info;
  }

  void add(ColumnInfo info, std::uint64_t bytes) {
    info.compressed_bytes = bytes;
    if (format::codes_residuals(info.coder)) {
      const format::Front front = front_of(info);
      info.predictor = format::needed_predictor(front.predictor, front.links(column_.column.tuple));
    }
    told_.alternatives.push_back(std::move(info));
  }

  void add_packed(const ColumnInfo& front) {
    const LaneCosts costs = lane_costs(front);
    const ColumnInfo best = with_best_orders(front, costs);
    add(best, bytes_of(best, costs));
  }

  void add_other_fronts() {
    ColumnInfo other = like(kWidthCoder);
    for (int number = 0; number < kNumValueMaps; ++number) {
      other.map = static_cast<ValueMap>(number);
      if (other.map != map_alone() && !format::has_fields(other.map) &&
          format::map_takes(other.map, column_.column.type))
        add_packed(other);
    }
    other.map = map_alone();
    if (other.strides.empty()) return;
    other.strides.clear();
    add_packed(other);
  }

  // Coders that are measured by what they make of the column.
  void add_symbols() {
    for (int number = 0; number < kNumCoders; ++number) {
      const auto coder = static_cast<Coder>(number);
      const ColumnCoder& with = column_coder(coder);
      if (with.order_cost != OrderCost::symbols) continue;
      ColumnInfo info = like(coder);
      ColumnModel model{.front = front_of(info),
                        .section = {.coder = coder,
                                    .part_groups = with.page_groups(column_.column, column_.records,
                                                                    AnsEffort{})}};
      std::uint8_t highest[kMaxTuple];
      std::fill_n(highest, column_.column.tuple, std::uint8_t{kMaxOrder});
      const LaneOrders lanes = choose_symbol_orders({column_, model.front}, std::nullopt, highest,
                                                    kAllGroups, ByteSymbols::one_by_one, workers_);
      std::copy_n(lanes.orders, column_.column.tuple, model.front.orders);
      info.orders.assign(lanes.orders, lanes.orders + column_.column.tuple);
      ColumnSection section;
      with.encode({.column = column_,
                   .model = model,
                   .zstd_levels = ZstdLevels{},
                   .ans_effort = AnsEffort{},
                   .workers = workers_},
                  section.bytes, section.table);
      add(std::move(info), section.bytes.size());
    }
  }

  void add_zstd(const ColumnInfo& best) {
    ColumnInfo plain;
    plain.coder = kFrameCoder;
    plain.orders.assign(column_.column.tuple, 0);
    add(plain, zstd_bytes(plain, format::Arrangement::values));
    ColumnInfo planes = best;
    planes.coder = kFrameCoder;
    add(planes, zstd_bytes(planes, format::Arrangement::planes));
  }

  std::uint64_t zstd_bytes(const ColumnInfo& info, format::Arrangement arrangement) const {
    const ColumnModel model{.front = front_of(info),
                            .section = {.coder = kFrameCoder, .arrangement = arrangement}};
    const TupleRange all{0, column_.records};
    std::vector<std::byte> section;
    const ResidualSource source(column_, model.front);
    encode_frames(residual_bytes(source, std::span(&all, 1), model, workers_),
                  frame_bytes(model, column_.column, column_.records),
                  ZstdLevels{.first = kTrialZstdLevel}, workers_, section);
    return section.size();
  }

  const ColumnBytes& column_;
  const ColumnInfo& info_;
  Workers& workers_ = Workers::alone();
  ColumnExplanation told_;
};

}  // namespace

Result<std::vector<ColumnExplanation>> explain_chunk(std::span<const std::byte> values,
                                                     const Layout& layout, const ChunkInfo& chunk) {
  if (auto checked = check_layout(layout); !checked)
    return tl::unexpected(std::move(checked.error()));
  const std::uint64_t record_bytes = layout.record_bytes();
  const bool may_be_empty = chunk.segments > 0;
  if (values.size() % record_bytes != 0 || (values.empty() && !may_be_empty))
    return fail(Errc::invalid_argument, "the values of a chunk are whole records, at least one");
  if (values.empty()) return std::vector<ColumnExplanation>(layout.columns.size());
  if (chunk.columns.size() != layout.columns.size() ||
      !std::equal(chunk.columns.begin(), chunk.columns.end(), layout.columns.begin(), is_possible))
    return fail(Errc::invalid_argument, "the chunk's columns are not those of the layout");
  try {
    ColumnBytes column{.first = reinterpret_cast<const unsigned char*>(values.data()),
                       .record_bytes = record_bytes,
                       .records = values.size() / record_bytes,
                       .column = {}};
    std::vector<ColumnExplanation> columns;
    for (std::size_t c = 0; c < layout.columns.size(); ++c) {
      column.column = layout.columns[c];
      columns.push_back(ColumnExplainer(column, chunk.columns[c]).explain());
      column.first += column.column.bytes();
    }
    return columns;
  } catch (const std::bad_alloc&) {
    return fail(Errc::out_of_memory, "no memory to explain the chunk");
  }
}

}  // namespace gdelta
