// The ans coder's section: pages of symbols and offsets, and tables in the model. Spec: coders/ans.md.
#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>

#include "codec/coders/ans_tables_of_fields.h"
#include "codec/coders/coder.h"
#include "codec/coders/pack_section.h"
#include "codec/coders/residual_source.h"
#include "formats/gdelta/block_frame.h"
#include "formats/gdelta/chunk_head.h"
#include "kernels/ans/ans_field_writer.h"
#include "kernels/ans/ans_fit.h"
#include "kernels/ans/ans_page.h"
#include "kernels/ans/fixed_log2.h"
#include "kernels/deltas/lane_delta.h"

namespace gdelta {
namespace {

static_assert(kMinSlotBits == format::kMinAnsSlotBits && kMaxSlotBits == format::kMaxAnsSlotBits &&
              kMinSpanBits == format::kMinAnsSpanBits && kMaxSpanBits == format::kMaxAnsSpanBits &&
              kMaxAnsTables == format::kMaxAnsTables && kMaxAnsSlots == format::kMaxAnsSlots &&
              kMaxAnsBins == format::kMaxAnsBins && kMaxTableBins == format::kMaxAnsTableBins);

// Fields of a table of one bin, the number of words, and a state.
constexpr std::uint64_t kShortestSection = 7 + 4 + kAnsStateBytes;

// ---- Encoding

constexpr std::uint64_t kRoomOfPage = 1024;  // for what is not symbols and offsets

// The residuals of a column, page after page: lane after lane.
template <class Word>
struct ColumnResiduals {
  ColumnResiduals(const ResidualSource& source, const format::ColumnModel& model, Workers& workers,
                  Work* work);

  std::uint64_t num_pages() const { return (records + page_tuples - 1) / page_tuples; }
  std::uint64_t first_of(std::uint64_t page) const { return page * page_tuples; }
  std::uint64_t tuples_of(std::uint64_t page) const {
    return std::min(page_tuples, records - first_of(page));
  }
  /// Where a page begins in `words`.
  std::uint64_t at(std::uint64_t page) const { return first_of(page) * tuple; }

  std::uint64_t records, page_tuples;
  int tuple, value_bits;
  std::unique_ptr<Word[]> words;               // sign-extended
  std::vector<std::vector<std::byte>> states;  // of each page, as they stand in it
};

template <class Word>
ColumnResiduals<Word>::ColumnResiduals(const ResidualSource& source,
                                       const format::ColumnModel& model, Workers& workers,
                                       Work* work)
    : records(source.records()),
      page_tuples(page_values_of(model.section, records)),
      tuple(source.column().column.tuple),
      value_bits(gdelta::value_bits(source.column().column.type)),
      words(std::make_unique_for_overwrite<Word[]>(records * tuple)),
      states(num_pages()) {
  const int bytes = value_bytes(source.column().column.type);
  workers.for_ranges(num_pages(), 1, [&](std::uint64_t begin, std::uint64_t end) {
    const auto room = std::make_unique_for_overwrite<Word[]>(kMaxOrder + tuples_of(begin));
    for (std::uint64_t page = begin; page < end; ++page) {
      const WorkPart of_page(work, 1 / static_cast<double>(num_pages()));
      const std::uint64_t tuples = tuples_of(page);
      Word* out = words.get() + at(page);
      for (int lane = 0; lane < tuple; ++lane, out += tuples) {
        Word before[kMaxOrder];
        const int order = model.front.orders[lane];
        source.signed_residuals(lane, first_of(page), tuples, order, History::first_value,
                                room.get(), before, out);
        for (int k = 0; k < order; ++k) format::append_le(states[page], bytes, before[k]);
      }
    }
  });
}

// Which table each span has, and in which of its bins each residual is.
template <class Word>
struct Classified {
  Classified(const ColumnResiduals<Word>& residuals, const AnsFit<Word>& fit, Workers& workers,
             Work* work)
      : bins(std::make_unique_for_overwrite<std::uint8_t[]>(residuals.records * residuals.tuple)),
        selectors(residuals.num_pages()) {
    std::mutex mutex;
    AnsCounts<Word> counts(fit.tables());
    workers.for_ranges(residuals.num_pages(), 1, [&](std::uint64_t begin, std::uint64_t end) {
      AnsCounts<Word> own(fit.tables());
      std::vector<std::uint16_t> classes;
      for (std::uint64_t page = begin; page < end; ++page) {
        const WorkPart of_page(work, 1 / static_cast<double>(residuals.num_pages()));
        classify(residuals, fit, page, classes, own);
      }
      const std::lock_guard lock(mutex);
      counts.add(own);
    });
    finished = fit.finish(counts, residuals.value_bits);
    const auto of_selector = static_cast<std::uint64_t>(selector_bits(fit.tables()));
    for (const std::vector<std::uint8_t>& of_page : selectors)
      finished.bits += of_selector * of_page.size() << kFixedLog2Bits;
  }

  void classify(const ColumnResiduals<Word>& residuals, const AnsFit<Word>& fit, std::uint64_t page,
                std::vector<std::uint16_t>& classes, AnsCounts<Word>& own) {
    const std::uint64_t tuples = residuals.tuples_of(page);
    const AnsPageShape shape =
        ans_page_shape(tuples, residuals.tuple, fit.span_bits(), fit.tables());
    selectors[page].resize(shape.selectors());
    std::uint8_t* selector = selectors[page].data();
    classes.resize(tuples * residuals.tuple);
    find_fine_classes(residuals.words.get() + residuals.at(page), classes.size(), classes.data());
    for (std::uint64_t tile = 0; tile < shape.tiles; ++tile)
      for (int lane = 0; lane < shape.tuple; ++lane)
        for (int number = 0; number < shape.spans; ++number, ++selector) {
          const std::uint64_t first =
              tile * shape.tile_tuples() + (static_cast<std::uint64_t>(number) << shape.span_bits);
          if (first >= tuples) continue;
          const std::uint64_t of_page = lane * tuples + first, at = residuals.at(page) + of_page;
          const std::span span(residuals.words.get() + at,
                               std::min(std::uint64_t{1} << shape.span_bits, tuples - first));
          const std::uint16_t* const of_span = classes.data() + of_page;
          const int table = fit.choose_table({of_span, span.size()});
          *selector = static_cast<std::uint8_t>(table);
          fit.classify(table, span, of_span, bins.get() + at, own);
        }
  }

  std::unique_ptr<std::uint8_t[]> bins;  // as residuals lie
  std::vector<std::vector<std::uint8_t>> selectors;
  FinishedAnsFit<Word> finished;
};

// Tables that suit a column, and what has been classified by them.
template <class Word>
Classified<Word> fit_column(const ColumnResiduals<Word>& residuals, const AnsEffort& effort,
                            Workers& workers, Work* work) {
  std::vector<std::span<const Word>> lanes;
  for (std::uint64_t page = 0; page < residuals.num_pages(); ++page)
    for (int lane = 0; lane < residuals.tuple; ++lane)
      lanes.emplace_back(
          residuals.words.get() + residuals.at(page) + lane * residuals.tuples_of(page),
          residuals.tuples_of(page));
  const auto classified = [&](const AnsFit<Word>& fit, double share) {
    WorkPart of_fit(work, share);
    return Classified<Word>(residuals, fit, workers, &of_fit);
  };
  if (!effort.counts_several) return classified({lanes, effort}, 1);
  const double share_of_usual = effort.counts_usual ? 0.3 : 0;
  std::optional<Classified<Word>> best;
  if (effort.counts_usual) best = classified({lanes, AnsEffort{}}, share_of_usual);
  const std::vector<AnsFit<Word>> fits = AnsFit<Word>::several(lanes, effort);
  for (const AnsFit<Word>& fit : fits) {
    Classified<Word> other =
        classified(fit, (1 - share_of_usual) / static_cast<double>(fits.size()));
    if (!best || other.finished.bits < best->finished.bits) best = std::move(other);
  }
  return *std::move(best);
}

template <class Word>
void append_tables(const AnsTables<Word>& tables, std::vector<std::byte>& fields) {
  format::ByteAppender sink{fields};
  write_ans_start(sink, tables.slot_bits, tables.span_bits, static_cast<int>(tables.tables.size()));
  for (const std::vector<AnsBin<Word>>& table : tables.tables) {
    write_ans_table_start(sink, static_cast<int>(table.size()));
    const AnsBin<Word>* before = nullptr;
    for (const AnsBin<Word>& bin : table) {
      write_ans_bin(sink, before, bin);
      before = &bin;
    }
  }
}

template <class Word>
void encode_pages(const ColumnToEncode& encode, std::vector<std::byte>& section,
                  format::SectionTable& table) {
  const ResidualSource source(encode.column, encode.model.front);
  constexpr double kShareOfResiduals = 0.1, kShareOfFit = 0.6;
  constexpr double kShareOfPages = 1 - kShareOfResiduals - kShareOfFit;
  WorkPart of_residuals(encode.work, kShareOfResiduals);
  const ColumnResiduals<Word> residuals(source, encode.model, encode.workers, &of_residuals);
  WorkPart of_fit(encode.work, kShareOfFit);
  const Classified<Word> classified =
      fit_column(residuals, encode.ans_effort, encode.workers, &of_fit);
  const AnsTables<Word>& tables = classified.finished.tables;
  append_tables(tables, table.fields);

  const std::uint64_t pages = residuals.num_pages();
  std::vector<std::vector<std::byte>> stretches(pages);  // of pages, by the first one
  std::vector<std::uint32_t> page_bytes(pages);
  encode.workers.for_ranges(pages, 1, [&](std::uint64_t begin, std::uint64_t end) {
    AnsPageEncoder<Word> encoder(tables, classified.finished.names);
    std::vector<std::byte>& stretch = stretches[begin];
    stretch.reserve((classified.finished.bits >> (kFixedLog2Bits + 3)) * (end - begin) / pages +
                    kRoomOfPage * (end - begin));
    for (std::uint64_t page = begin; page < end; ++page) {
      const WorkPart of_page(encode.work, kShareOfPages / static_cast<double>(pages));
      const std::uint64_t tuples = residuals.tuples_of(page);
      const std::size_t before = stretch.size();
      stretch.insert(stretch.end(), residuals.states[page].begin(), residuals.states[page].end());
      encoder.encode(ans_page_shape(tuples, residuals.tuple, tables.span_bits,
                                    static_cast<int>(tables.tables.size())),
                     residuals.words.get() + residuals.at(page),
                     classified.bins.get() + residuals.at(page), tuples,
                     classified.selectors[page].data(), stretch);
      page_bytes[page] = static_cast<std::uint32_t>(stretch.size() - before);
    }
  });
  for (std::vector<std::byte>& stretch : stretches) {
    if (section.empty()) {
      section = std::move(stretch);
    } else {
      section.insert(section.end(), stretch.begin(), stretch.end());
    }
  }
  for (std::uint32_t end = 0; const std::uint32_t bytes : page_bytes)
    table.ends.push_back(end += bytes);
}

void encode_ans(const ColumnToEncode& encode, std::vector<std::byte>& section,
                format::SectionTable& table) {
  if (value_bytes(encode.column.column.type) == 8) {
    encode_pages<std::uint64_t>(encode, section, table);
  } else {
    encode_pages<std::uint32_t>(encode, section, table);
  }
}

// ---- Decoding

// Precondition: the head has been parsed, so that its fields are valid.
template <class Word>
AnsDecodeTables<Word> tables_of(const SectionToDecode& section) {
  const format::BlockFrame& frame = section.chunk->frame;
  format::Cursor cursor{section.at(frame.head_at), frame.head_bytes, section.head->fields_at};
  AnsTables<Word> tables;
  read_ans_tables(cursor, value_bits(section.column.type), tables);
  return AnsDecodeTables<Word>(tables);
}

template <class Word>
bool decode_page(std::span<const unsigned char> page, const SectionToDecode& section,
                 std::uint64_t tuples, AnsPageDecoder<Word>& decoder, Word* words) {
  const Column& column = section.column;
  const format::Front& front = section.head->model.front;
  const std::uint32_t state_bytes = format::page_state_bytes(front, column);
  if (page.size() < state_bytes ||
      !decoder.decode(page.subspan(state_bytes), column.tuple, tuples, words, tuples))
    return false;
  const unsigned char* state = page.data();
  for (int lane = 0; lane < column.tuple; ++lane) {
    Word states[kMaxOrder];
    for (int k = 0; k < front.orders[lane]; ++k, state += value_bytes(column.type))
      states[k] = static_cast<Word>(format::load_le(state, value_bytes(column.type)));
    sum_residuals(words + lane * tuples, tuples, front.orders[lane], states);
  }
  return true;
}

template <class Word>
std::optional<Error> decode_pages(const SectionToDecode& section, const ValueSink& sink) {
  const std::uint64_t page_values = page_values_of(section.head->model.section, section.records());
  const AnsDecodeTables<Word> tables = tables_of<Word>(section);
  FirstDamage damage;
  section.workers->for_ranges(
      section.head->num_parts, 1, section.work,
      [&](std::uint64_t first_page, std::uint64_t end_page) {
        AnsPageDecoder<Word> decoder(tables);
        std::vector<Word> words(std::min(page_values, section.records()) * section.column.tuple);
        for (std::uint64_t page = first_page; page < end_page; ++page) {
          const std::uint64_t at = section.part_at(page), first = page * page_values;
          const std::uint64_t tuples = std::min(page_values, section.records() - first);
          if (damage.lies_before(at)) return;
          if (!decode_page({section.at(at), section.part_end(page) - at}, section, tuples, decoder,
                           words.data()))
            return damage.note(at);
          sink.store_all(section.column.tuple, first, tuples, words.data(), tuples);
        }
      });
  return damage.error(section.byte, "a page of ans symbols is damaged");
}

std::optional<Error> decode_ans(const SectionToDecode& section) {
  return decode_residuals(section, decode_pages<std::uint32_t>, decode_pages<std::uint64_t>);
}

std::uint32_t page_groups(const Column& column, std::uint64_t records, const AnsEffort& effort) {
  return ans_page_groups(value_bytes(column.type), column.tuple, records, effort.page_residuals);
}

// Tables, then words, selectors, and copies of symbols and offsets of a page.
DecodeScratch ans_scratch(const Column& column, const format::ColumnHead& head,
                          std::uint64_t records) {
  const std::uint64_t residuals =
      std::min(page_values_of(head.model.section, records), records) * column.tuple;
  const std::uint64_t word = value_bytes(column.type) == 8 ? 8 : 4;
  const std::uint64_t page = residuals * (2 * word + 3) + 8192;
  return {.bytes = page + 4 * kMaxAnsSlots + kMaxAnsBins * (word + 16), .more_bytes = page};
}

}  // namespace

const ColumnCoder ans_coder{.encode = encode_ans,
                            .decode = decode_ans,
                            .scratch = ans_scratch,
                            .page_groups = page_groups,
                            .order_cost = OrderCost::symbols,
                            .shortest = kShortestSection,
                            .tried_from_level = 3};

}  // namespace gdelta
