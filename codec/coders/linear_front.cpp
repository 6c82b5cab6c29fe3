#include "codec/coders/linear_front.h"

#include <algorithm>

#include "codec/coders/predictor.h"
#include "codec/coders/residual_source.h"
#include "formats/gdelta/predictors/linear_fields.h"
#include "kernels/linear/linear_fit.h"

namespace gdelta {
namespace {

static_assert(kMaxLinearTaps == format::kMaxLinearTaps &&
              kMaxLinearSources == format::kMaxLinearSources);

constexpr int kSolutions = 4;

template <class Word>
void store_mapped(const ResidualSource& source, Workers& workers, Work* work, unsigned char* out) {
  const Column& column = source.column().column;
  const int bytes = value_bytes(column.type);
  const std::uint64_t pieces = (source.records() + kColumnPiece - 1) / kColumnPiece;
  workers.for_ranges(
      pieces, kFewestColumnPieces, work, [&](std::uint64_t begin, std::uint64_t end) {
        Word words[kColumnPiece];
        for (std::uint64_t first = begin * kColumnPiece;
             first < std::min(end * kColumnPiece, source.records()); first += kColumnPiece) {
          const std::uint64_t count = std::min(kColumnPiece, source.records() - first);
          for (int lane = 0; lane < column.tuple; ++lane) {
            source.values(lane, first, count, words);
            store_lane(words, count, {.value_bytes = bytes},
                       out + (first * column.tuple + static_cast<unsigned>(lane)) *
                                 static_cast<unsigned>(bytes),
                       column.bytes());
          }
        }
      });
}

void fit_run(const LinearColumn& words, std::uint64_t run, LinearModel& model) {
  const std::uint64_t first = run << model.run_bits;
  const LinearStretch stretch(words, static_cast<int>(model.lanes.size()), model.is_unsigned, first,
                              std::min(model.run_tuples(), words.tuples - first));
  std::int16_t* out = model.coefficients.data() + run * model.taps();
  for (std::size_t lane = 0; lane < model.lanes.size(); ++lane) {
    const LinearLane& shape = model.lanes[lane];
    const LaneMoments moments(stretch, static_cast<int>(lane), shape);
    moments.fit_coefficients(shape, kSolutions, out);
    out += shape.taps();
  }
}

}  // namespace

ColumnBytes LinearResiduals::column(const ColumnBytes& values) const {
  Column as_words = values.column;
  as_words.big_endian = false;
  return {.first = words.data(),
          .record_bytes = static_cast<std::uint64_t>(as_words.bytes()),
          .records = values.records,
          .column = as_words};
}

std::vector<unsigned char> mapped_words(const ColumnBytes& column, ValueMap map, Workers& workers,
                                        Work* work) {
  const ResidualSource source(column, map, {});
  std::vector<unsigned char> words(column.bytes());
  if (value_bytes(column.column.type) == 8) {
    store_mapped<std::uint64_t>(source, workers, work, words.data());
  } else {
    store_mapped<std::uint32_t>(source, workers, work, words.data());
  }
  return words;
}

bool reads_unsigned(ValueType type, ValueMap map) {
  const bool is_unsigned = type < ValueType::f16 && static_cast<int>(type) % 2 == 1;
  return map == ValueMap::none ? is_unsigned : map == ValueMap::ordered;
}

LinearResiduals predict_front(const ColumnBytes& column, std::vector<unsigned char> words,
                              LinearModel model, Workers& workers, Work* work) {
  LinearResiduals residuals{.words = std::move(words), .fields = {}};
  const LinearColumn packed{residuals.words.data(), column.records,
                            value_bytes(column.column.type)};
  const std::uint64_t runs = model.runs(column.records);
  model.coefficients.resize(runs * model.taps());
  workers.for_ranges(runs, 1, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t run = begin; run < end; ++run) {
      const WorkPart of_run(work, 1 / static_cast<double>(runs));
      fit_run(packed, run, model);
      predict_linear(packed, model, run, run + 1);
    }
  });
  residuals.fields = linear_fields(model, column.records);
  return residuals;
}

format::Front linear_front(ValueMap map) { return {.map = map, .predictor = Predictor::linear}; }

namespace {

void undo_linear_front(const SectionToDecode& section, unsigned char* words) {
  const unsigned char* const fields =
      section.at(section.chunk->frame.head_at + section.head->predictor_at);
  const LinearModel model = read_linear_fields(fields, section.column.tuple, section.records());
  const LinearColumn packed{words, section.records(), value_bytes(section.column.type)};
  const std::uint64_t runs = model.runs(section.records());
  const std::uint64_t groups = (runs + kLinearSide - 1) / kLinearSide;
  section.workers->for_ranges(groups, 1, section.work, [&](std::uint64_t begin, std::uint64_t end) {
    undo_linear(packed, model, begin * kLinearSide, std::min(end * kLinearSide, runs));
  });
}

// It holds at most coefficients of the shortest runs, and rows of those that are undone side by side.
DecodeScratch linear_scratch(const Column& column, std::uint64_t records) {
  const std::uint64_t runs = (records >> format::kMinLinearRunBits) + 1;
  const auto lanes = static_cast<std::uint64_t>(column.tuple);
  const std::uint64_t coefficients = runs * lanes * kMaxLinearTaps * sizeof(std::int16_t);
  return {.bytes = coefficients + lanes * kLinearLaneBytes, .more_bytes = lanes * kLinearLaneBytes};
}

// Lanes have no orders.
void describe_linear(std::span<const std::byte>, const format::ColumnHead&, int, ColumnInfo&) {}

}  // namespace

const ColumnPredictor linear_predictor{
    .undo = undo_linear_front, .scratch = linear_scratch, .describe = describe_linear};

}  // namespace gdelta
