// Faults in the tables and pages of the ans coder; fault_cases.h says how they are made. Where it can be, a
// stream decodes as it should but for the rule that it breaks.

#include "codec/faults/fault_parts.h"

namespace gdelta::faults {

namespace {

/// A walk of a column with these tables. No selector ends at a byte's edge.
StreamFields ans_stream(const char* record, std::size_t records,
                        const std::function<void(plain::Choice&, int bits)>& change,
                        int order = 1) {
  return wandering_stream(record, records, [&](const Column& column) {
    plain::Choice choice = plain::linked(Coder::ans, column, {order});
    change(choice, value_bits(column.type));
    return choice;
  });
}

/// The model's tables are these.
StreamFields ans_stream_of(const char* record, int slot_bits, int span_bits,
                           const std::function<plain::AnsTable(int bits, int number)>& table,
                           int tables = 1) {
  return ans_stream(record, 140, [&](plain::Choice& choice, int bits) {
    choice.ans = {slot_bits, span_bits, {}};
    for (int number = 0; number < tables; ++number)
      choice.ans.tables.push_back(table(bits, number));
  });
}

std::vector<AnsBinFields>& bins_of(StreamFields& stream, std::size_t table) {
  return model(stream).ans.tables[table].bins;
}

// ---- Section 4: models

auto overlaps(int slot_bits) {
  return [slot_bits](int bits, int) { return plain::table_of_overlaps(bits, slot_bits); };
}

/// Three tables of 2^9 slots.
StreamFields ans_tables_stream() { return ans_stream_of("i16x2", 9, 4, overlaps(9), 3); }

void add_ans_number_faults(FaultTable& table) {
  const StreamFields good = ans_tables_stream();
  table.add_good("ans", good);
  const auto add = [&](const std::string& name, const StreamFields& other, Errc code) {
    table.add(name, good, put_chunk_of(other), code, Place::chunk);
  };
  const auto change = [&](const std::string& name, Errc code, const FaultTable::Change& changed) {
    table.add(name, good, changed, code, Place::chunk);
  };
  constexpr auto kUnsupported = Errc::unsupported_feature;
  for (const int slot_bits : {4, 12})
    add("slot_bits " + std::to_string(slot_bits),
        ans_stream_of("i16x2", slot_bits, 4, overlaps(slot_bits)), kUnsupported);
  for (const int span_bits : {2, 9})
    add("span_bits " + std::to_string(span_bits),
        ans_stream_of("i16x2", 9, span_bits, overlaps(9), 3), kUnsupported);
  for (const int number : {0, 255}) {
    change("slot_bits " + std::to_string(number), kUnsupported,
           [=](auto& s) { model(s).ans.slot_bits = number; });
    change("span_bits " + std::to_string(number), kUnsupported,
           [=](auto& s) { model(s).ans.span_bits = number; });
  }
  for (const auto& [slot_bits, tables] : {std::pair{5, 16}, {8, 16}, {9, 8}, {10, 4}, {11, 2}})
    table.add_good(
        std::to_string(tables) + " tables of " + std::to_string(1 << slot_bits) + " slots",
        ans_stream_of("i16x2", slot_bits, 8, overlaps(slot_bits), tables));
  for (const auto& [slot_bits, tables] :
       {std::pair{5, 17}, {8, 17}, {9, 9}, {10, 5}, {11, 3}, {11, 16}})
    add(std::to_string(tables) + " tables of " + std::to_string(1 << slot_bits) + " slots",
        ans_stream_of("i16x2", slot_bits, 8, overlaps(slot_bits), tables), kUnsupported);
}

/// Tables and bins that are more or fewer than the numbers before them say.
void add_ans_table_faults(FaultTable& table) {
  const StreamFields good = ans_tables_stream();
  const auto change = [&](const std::string& name, Errc code, const FaultTable::Change& changed) {
    table.add(name, good, changed, code, Place::chunk);
  };
  constexpr auto kUnsupported = Errc::unsupported_feature;
  change("255 tables", kUnsupported, [](auto& s) { model(s).ans.num_tables = 255; });
  change("no tables", Errc::corrupt, [](auto& s) { model(s).ans.tables.clear(); });
  change("no tables, and three behind", Errc::corrupt,
         [](auto& s) { model(s).ans.num_tables = 0; });
  change("a table too many", Errc::corrupt, [](auto& s) {
    model(s).ans.tables.pop_back();
    model(s).ans.num_tables = 3;
  });
  change("a table that nothing speaks of", Errc::corrupt,
         [](auto& s) { model(s).ans.num_tables = 2; });
  for (const int more : {-1, 1})
    change("bins other by " + std::to_string(more), Errc::corrupt, [more](auto& s) {
      model(s).ans.tables[1].bins_less_1 =
          Varint(bins_of(s, 1).size() - 1 + static_cast<std::uint64_t>(more));
    });
  change("longer number of bins", Errc::corrupt, [](auto& s) {
    model(s).ans.tables[1].bins_less_1 = Varint(bins_of(s, 1).size() - 1, true);
  });
  for (const std::uint64_t bins : {1ull << 8, 1ull << 32, ~0ull - 1, ~0ull})
    change(std::to_string(bins) + " bins and one", kUnsupported,
           [bins](auto& s) { model(s).ans.tables[1].bins_less_1 = Varint(bins); });
}

void add_ans_limit_faults(FaultTable& table) {
  const StreamFields good = ans_tables_stream();
  const auto add = [&](const std::string& name, const StreamFields& other) {
    table.add(name, good, put_chunk_of(other), Errc::unsupported_feature, Place::chunk);
  };
  const auto values = [](int bits, int) { return plain::table_of_values(bits, 8); };
  const auto values_and_one = [=](int bits, int number) {
    return number < 4 ? values(bits, number) : plain::whole_table(bits, 8);
  };
  const StreamFields most = ans_stream_of("u8", 8, 3, values, 4);
  const StreamFields one_more = ans_stream_of("u8", 8, 3, values_and_one, 5);
  const auto whole_and_values = [](std::size_t bins) {
    return [bins](int bits, int) {
      plain::AnsTable made = plain::whole_table(bits, 9);
      const plain::AnsTable more = plain::table_of_values(bits, 9);
      made.insert(made.end(), more.begin() + 1, more.end());
      made.push_back({.lower = 200, .frequency = 0, .offset_bits = 2});
      made.resize(bins);
      return plain::with_frequencies(made, 9);
    };
  };
  table.add_good("256 bins in a table", ans_stream_of("u24", 9, 3, whole_and_values(256), 2));
  add("257 bins in a table", ans_stream_of("u24", 9, 3, whole_and_values(257), 2));
  table.add_good("1024 bins", most);
  add("1025 bins", one_more);
  // Of two faults the first decides.
  table.add(
      "1025 bins, behind frequencies that do not add up", most,
      [&](auto& s) {
        put_chunk_of(one_more)(s);
        bins_of(s, 3)[255].frequency.value = 2;
      },
      Errc::corrupt, Place::chunk);
  table.add(
      "1025 bins, before a frequency of 0", most,
      [&](auto& s) {
        put_chunk_of(one_more)(s);
        bins_of(s, 4)[0].frequency.value = 0;
      },
      Errc::unsupported_feature, Place::chunk);
  // Where a field is missing nothing is unknown.
  const std::size_t before = 2 + 1 + 3 + 2;  // column_bytes, coder, front with order 1
  for (const std::size_t there : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{3},
                                  std::size_t{4}, std::size_t{5}, std::size_t{6}, std::size_t{7}})
    table.add(
        std::to_string(there) + " bytes of the tables", good,
        [=](auto& s) { model(s).bytes_there = before + there; }, Errc::corrupt, Place::chunk);
  table.add(
      "1024 bins and no byte of a further table", most,
      [&](auto& s) {
        put_chunk_of(one_more)(s);
        Bytes tables;
        model(s).ans.tables.pop_back();
        model(s).ans.num_tables = 5;
        append_ans(tables, model(s).ans);
        model(s).bytes_there = before + tables.size();
      },
      Errc::corrupt, Place::chunk);
}

constexpr int kBinSlotBits = 8;

/// Bins behind one that has every residual: (lower, offset bits).
using LaterBins = std::vector<std::pair<std::int64_t, int>>;

StreamFields stream_of_bins(const char* record, const LaterBins& bins) {
  return ans_stream_of(record, kBinSlotBits, 5, [&](int bits, int) {
    plain::AnsTable made = plain::whole_table(bits, kBinSlotBits);
    for (const auto& [lower, offset_bits] : bins)
      made.push_back(
          {.lower = lower, .frequency = 0, .offset_bits = static_cast<std::uint8_t>(offset_bits)});
    return plain::with_frequencies(made, kBinSlotBits);
  });
}

StreamFields usual_bins(const char* record) {
  return stream_of_bins(record, {{-4, 2}, {0, 0}, {1, 1}});
}

void add_ans_bin_faults(FaultTable& table, const char* record) {
  const int bits = value_bits(parse_record(record).value().columns[0].type);
  const std::string of = std::string(" of ") + record;
  const StreamFields good = usual_bins(record);
  table.add_good("bins" + of, good);
  const auto add = [&](const std::string& name, const FaultTable::Change& change) {
    table.add(name + of, good, change, Errc::corrupt, Place::chunk);
  };
  const auto frequency = [](StreamFields& s, std::size_t bin) -> Varint& {
    return bins_of(s, 0)[bin].frequency;
  };
  for (const std::size_t bin : {0, 2, 3}) {
    const std::string at = " of bin " + std::to_string(bin);
    for (const int more : {-1, 1})
      add("frequency more by " + std::to_string(more) + at,
          [=](auto& s) { frequency(s, bin).value += static_cast<std::uint64_t>(more); });
    add("longer frequency" + at, [=](auto& s) { frequency(s, bin).longer = true; });
    add("longer distance" + at, [=](auto& s) { bins_of(s, 0)[bin].distance.longer = true; });
    for (const int more : {16, 32, 63})
      add("frequency more by 2^" + std::to_string(more) + at,
          [=](auto& s) { frequency(s, bin).value += 1ull << more; });
    for (const int offset_bits : {bits + 1, 128, 255})
      add("offset bits " + std::to_string(offset_bits) + at,
          [=](auto& s) { bins_of(s, 0)[bin].offset_bits = offset_bits; });
  }
  // The others make up for it.
  add("a frequency of 0", [=](auto& s) {
    frequency(s, 3).value += frequency(s, 1).value;
    frequency(s, 1).value = 0;
  });
  add("a frequency of 0 of the first bin", [=](auto& s) {
    frequency(s, 1).value += frequency(s, 0).value;
    frequency(s, 0).value = 0;
  });
  add("frequencies whose sum wraps", [=](auto& s) {
    frequency(s, 3).value -= 1000;
    frequency(s, 1).value += 1000;
  });
}

/// Bins that fall, or lie outside of the type.
void add_ans_lower_faults(FaultTable& table, const char* record) {
  const int bits = value_bits(parse_record(record).value().columns[0].type);
  const std::string of = std::string(" of ") + record;
  const std::int64_t lowest = plain::lowest_residual(bits);
  const StreamFields good = usual_bins(record);
  const auto refused = [&](const std::string& name, const LaterBins& bins) {
    table.add(name + of, good, put_chunk_of(stream_of_bins(record, bins)), Errc::corrupt,
              Place::chunk);
  };
  table.add_good("bins at the ends of the type" + of,
                 stream_of_bins(record, {{lowest + 1, 0}, {-1 - lowest, 3}}));
  refused("a bin twice", {{-4, 2}, {-4, 2}});
  refused("a bin twice, longer", {{-4, 2}, {-4, 3}});
  refused("bins that fall", {{0, 0}, {-4, 2}});
  refused("bins that fall at last", {{-4, 2}, {0, 0}, {6, 1}, {5, 1}});
  refused("bins that fall to the lowest", {{-4, 2}, {lowest, 1}});
  refused("bins that fall from the highest", {{-1 - lowest, 1}, {0, 2}});
  if (bits == 64) return;
  refused("a lower above the type", {{-4, 2}, {-lowest, 0}});
  refused("a lower far above the type", {{INT64_MAX, 0}});
  const auto first_below = [&](std::int64_t lower) {
    return ans_stream_of(record, kBinSlotBits, 5, [&](int, int) {
      plain::AnsTable made = plain::whole_table(bits, kBinSlotBits);
      made.insert(made.begin(), {.lower = lower, .frequency = 0, .offset_bits = 2});
      return plain::with_frequencies(made, kBinSlotBits);
    });
  };
  for (const std::int64_t lower : {lowest - 1, INT64_MIN})
    table.add("a lower of " + std::to_string(lower) + of, good, put_chunk_of(first_below(lower)),
              Errc::corrupt, Place::chunk);
  // Right but for a bin with a bit more than the type has.
  table.add("offsets longer than the type" + of, good,
            put_chunk_of(ans_stream_of(record, kBinSlotBits, 5,
                                       [&](int, int) {
                                         return plain::AnsTable{
                                             {.lower = lowest,
                                              .frequency = 1 << kBinSlotBits,
                                              .offset_bits = static_cast<std::uint8_t>(bits + 1)}};
                                       })),
            Errc::corrupt, Place::chunk);
}

/// The longest section that a reader accepts (coders/ans.md).
std::uint64_t most_ans_bytes(std::uint64_t records, std::uint64_t lanes, std::uint64_t bits,
                             std::uint64_t pages) {
  return records * lanes * (bits / 8 + 3) + pages * (256 + (bits + 16) * lanes);
}

void add_ans_part_faults(FaultTable& table) {
  const auto with_page_groups = [](const char* record, std::uint32_t page_groups) {
    return ans_stream(record, 140, [&](plain::Choice& choice, int) {
      choice.model.section.part_groups = page_groups;
    });
  };
  const auto add = [&](const std::string& name, const StreamFields& from,
                       const FaultTable::Change& change, Errc code = Errc::corrupt) {
    table.add(name, from, change, code, Place::chunk);
  };
  table.add_good("pages of 2048 groups of ans", with_page_groups("u8", 2048));
  add("pages of 2049 groups of ans", with_page_groups("u8", 2048),
      put_chunk_of(with_page_groups("u8", 2049)), Errc::unsupported_feature);
  table.add_good("pages of 682 groups of three lanes of ans", with_page_groups("u8x3", 682));
  add("pages of 683 groups of three lanes of ans", with_page_groups("u8x3", 682),
      put_chunk_of(with_page_groups("u8x3", 683)), Errc::unsupported_feature);
  const StreamFields good = with_page_groups("i16x2", 1);
  add(
      "pages of no groups of ans", good, [](auto& s) { model(s).part_groups = 0; },
      Errc::unsupported_feature);
  add(
      "pages of no groups of ans, and one part", with_page_groups("u8", 2),
      [](auto& s) { model(s).part_groups = 0; }, Errc::unsupported_feature);
  add("longer groups of a page of ans", good, [](auto& s) { model(s).part_groups.longer = true; });
  add("an end too few of ans", good, [](auto& s) { model(s).part_ends.pop_back(); });
  add("a check too few of ans", good, [](auto& s) { model(s).part_checks.pop_back(); });
  for (const std::size_t page : {0, 1})
    table.add(
        "the check of page " + std::to_string(page) + " of ans", good,
        [=](auto& s) { model(s).part_checks[page] ^= 1; }, Errc::corrupt,
        page == 0 ? Place::first_part : Place::second_part);
  const auto longest = [](std::uint64_t more) {
    return [more](StreamFields& s) {
      const std::uint64_t bytes = most_ans_bytes(140, 2, 16, 2) + more;
      chunk(s).payload.resize(bytes);
      model(s).column_bytes = model(s).part_ends[1] = bytes;
    };
  };
  add("a section of ans longer than any", good, longest(1));
  table.add("a section of ans as long as one may be, with a page too long", good, longest(0),
            Errc::corrupt, Place::second_part);
}

// ---- Section 6: pages

/// A column in two pages, of which one is made in another way.
struct AnsPages {
  const char* record;
  std::size_t records;
  std::uint32_t page_groups;
  int order;
  plain::AnsModel (*model)(int bits);

  using Make =
      std::function<plain::AnsPage(const plain::AnsModel&, int bits, const plain::AnsLanes&)>;
  StreamFields with_page(std::size_t number, const Make& make) const {
    return ans_stream(
        record, records,
        [&](plain::Choice& choice, int bits) {
          choice.ans = model(bits);
          choice.model.section.part_groups = page_groups;
          choice.make_ans_page = [=, tables = choice.ans, wrong_at = number * page_groups * 128](
                                     std::size_t first, const plain::AnsLanes& lanes) {
            return first == wrong_at ? make(tables, bits, lanes)
                                     : plain::encode_ans_page(tables, bits, lanes);
          };
        },
        order);
  }
};

class AnsPageFaults {
 public:
  AnsPageFaults(FaultTable& table, const AnsPages& pages)
      : table_(table),
        pages_(pages),
        good_(pages.with_page(
            0, [](const plain::AnsModel& model, int bits, const plain::AnsLanes& lanes) {
              return plain::encode_ans_page(model, bits, lanes);
            })) {
    table_.add_good("pages of ans" + of(), good_);
  }

  /// A page made in another way.
  void add(const std::string& name, const AnsPages::Make& make) {
    for (const std::size_t page : {0, 1})
      table_.add(name + " in page " + std::to_string(page) + of(), good_,
                 put_chunk_of(pages_.with_page(page, make)), Errc::corrupt,
                 page == 0 ? Place::first_part : Place::second_part);
  }
  /// A page that is changed when it has been made.
  void change(const std::string& name, const std::function<void(plain::AnsPage&)>& changed) {
    add(name, [changed](const plain::AnsModel& model, int bits, const plain::AnsLanes& lanes) {
      plain::AnsPage page = plain::encode_ans_page(model, bits, lanes);
      changed(page);
      return page;
    });
  }
  /// Pages that end early. `bytes` of the second one are there, its delta states included.
  void cut_second(std::size_t bytes) {
    table_.add(
        "the first " + std::to_string(bytes) + " bytes of the second page" + of(), good_,
        [bytes](auto& s) {
          const std::uint64_t end = model(s).part_ends[0] + bytes;
          chunk(s).payload.resize(end);
          model(s).column_bytes = model(s).part_ends[1] = end;
        },
        Errc::corrupt, Place::second_part);
  }
  void cut_first(std::size_t bytes) {
    table_.add(
        "the first " + std::to_string(bytes) + " bytes of the first page" + of(), good_,
        [bytes](auto& s) {
          const std::uint64_t gone = model(s).part_ends[0] - bytes;
          Bytes& payload = chunk(s).payload;
          payload.erase(payload.begin() + static_cast<std::ptrdiff_t>(bytes),
                        payload.begin() + static_cast<std::ptrdiff_t>(bytes + gone));
          model(s).part_ends[0] -= gone;
          model(s).part_ends[1] -= gone;
          model(s).column_bytes.value -= gone;
        },
        Errc::corrupt, Place::first_part);
  }
  std::size_t bytes_of_second() const {
    const ModelFields& model = good_.chunks[1].models[0];
    return model.part_ends[1] - model.part_ends[0];
  }

 private:
  std::string of() const {
    return std::string(" of ") + pages_.record + " of " + std::to_string(pages_.records);
  }

  FaultTable& table_;
  AnsPages pages_;
  StreamFields good_;
};

/// Bits beyond those that a run has are not zero.
void set_padding(plain::BitRun& run, bool last) {
  if (run.bits % 8 == 0) return run.bytes.push_back(std::byte{1});
  run.bytes.back() |= std::byte{1} << (last ? 7 : run.bits % 8);
}

/// One selector names no table. `model` has tables whose number is no power of two.
void spoil_selector(plain::AnsPage& page, const plain::AnsModel& model, std::uint64_t number) {
  int bits = 0;
  while (std::size_t{1} << bits < model.tables.size()) ++bits;
  for (std::uint64_t bit = number * bits; bit < (number + 1) * bits; ++bit)
    page.selectors.bytes[bit / 8] |= std::byte{1} << (bit % 8);
}

/// A state below 2^16 that decodes as the right one does: it had given a word away that it could have kept.
/// The first residual of the page is the first that is decoded.
plain::AnsPage with_low_state(const plain::AnsModel& model, int bits,
                              const plain::AnsLanes& lanes) {
  plain::AnsPage page = plain::encode_ans_page(model, bits, lanes);
  const std::uint32_t slots = 1u << model.slot_bits;
  std::uint32_t slot = page.states[0] % slots;
  for (const format::AnsBinFields& bin : model.tables[0]) {
    if (slot >= bin.frequency) {
      slot -= bin.frequency;
      continue;
    }
    const std::uint32_t start = page.states[0] % slots - slot;
    const std::uint32_t next = bin.frequency * (page.states[0] >> model.slot_bits) + slot;
    if (next < 1 << 16) break;  // it had to
    const std::uint32_t kept = next >> 16;
    page.states[0] = (kept / bin.frequency << model.slot_bits) + start + kept % bin.frequency;
    page.words.insert(page.words.begin(), static_cast<std::uint16_t>(next));
    ++page.num_words;
    return page;
  }
  page.states[0] &= 0xffff;
  return page;
}

void add_ans_pages_faults(FaultTable& table, const AnsPages& pages) {
  AnsPageFaults faults(table, pages);
  using Page = plain::AnsPage;
  const int bits = value_bits(parse_record(pages.record).value().columns[0].type);
  const plain::AnsModel tables = pages.model(bits);

  for (const std::int64_t words : {-1, 1})
    faults.change("words more by " + std::to_string(words),
                  [=](Page& p) { p.num_words += static_cast<std::uint32_t>(words); });
  for (const std::uint32_t words : {0u, 0x7fffffffu, 0x80000000u, 0xffffffffu})
    faults.change(std::to_string(words) + " words", [=](Page& p) { p.num_words = words; });
  faults.change("a word that is not taken", [](Page& p) {
    ++p.num_words;
    p.words.push_back(0);
  });
  faults.change("words that are not there", [](Page& p) {
    p.num_words = 0;
    p.words.clear();
  });
  faults.change("a word that is not there", [](Page& p) {
    --p.num_words;
    p.words.pop_back();
  });
  faults.add("a state below 2^16", with_low_state);
  for (const std::uint32_t state : {0u, 0xffffu}) {
    faults.change("the first state " + std::to_string(state),
                  [=](Page& p) { p.states.front() = state; });
    faults.change("the last state " + std::to_string(state),
                  [=](Page& p) { p.states.back() = state; });
  }
  const auto ending = [&](const std::string& name, bool last, std::uint32_t end) {
    faults.add(name + " that ends at " + std::to_string(end),
               [=](const plain::AnsModel& model, int width, const plain::AnsLanes& lanes) {
                 std::vector<std::uint32_t> ends(
                     plain::encode_ans_page(model, width, lanes).states.size(), 1 << 16);
                 (last ? ends.back() : ends.front()) = end;
                 return plain::encode_ans_page(model, width, lanes, ends);
               });
  };
  for (const std::uint32_t end : {(1u << 16) + 1, 1u << 17, ~0u}) {
    ending("a first state", false, end);
    ending("a last state", true, end);
  }
  faults.change("a byte behind the offsets",
                [](Page& p) { p.offsets.bytes.push_back(std::byte{0}); });
  faults.change("300 bytes behind the offsets",
                [](Page& p) { p.offsets.bytes.resize(p.offsets.bytes.size() + 300); });
  faults.change("a byte of offsets that is not there", [](Page& p) { p.offsets.bytes.pop_back(); });
  faults.change("no offsets", [](Page& p) { p.offsets.bytes.clear(); });
  for (const bool last : {false, true}) {
    const std::string which = last ? "the last" : "the first";
    faults.change(which + " bit behind the offsets",
                  [=](Page& p) { set_padding(p.offsets, last); });
    faults.change(which + " bit behind the selectors",
                  [=](Page& p) { set_padding(p.selectors, last); });
  }
  if ((tables.tables.size() & (tables.tables.size() - 1)) != 0) {
    const auto selector = [&](const std::string& name, auto number) {
      faults.change(name + " selector names no table",
                    [=](Page& p) { spoil_selector(p, tables, number(p.selectors.bits)); });
    };
    const int width = tables.tables.size() > 4 ? 3 : 2;
    selector("the first", [](std::uint64_t) { return 0; });
    selector("a middle", [=](std::uint64_t run_bits) { return run_bits / width / 2; });
    selector("the last", [=](std::uint64_t run_bits) { return run_bits / width - 1; });
  }
  for (const std::size_t bytes : {0, 1, 3, 4, 5, 7, 8, 9, 10}) {
    faults.cut_first(bytes);
    faults.cut_second(bytes);
  }
  for (const std::size_t missing : {1, 2, 3, 40})
    faults.cut_second(faults.bytes_of_second() - missing);
}

void add_ans_page_faults(FaultTable& table) {
  const auto usual = [](int bits) { return plain::ans_model(bits); };
  // Two bins that have every residual, so that offsets fill bytes to the last bit.
  const auto twice = [](int bits) {
    plain::AnsTable two = plain::whole_table(bits, 6);
    two.push_back(two[0]);
    two[1].lower = 5;
    return plain::AnsModel{6, 3, std::vector<plain::AnsTable>(5, plain::with_frequencies(two, 6))};
  };
  const auto overlaps = [](int bits) {
    plain::AnsModel model{10, 6, {}};
    for (int t = 0; t < 3; ++t) model.tables.push_back(plain::table_of_overlaps(bits, 10));
    return model;
  };
  // The last tile of the last page ends before its last span does; the lanes of some have states without
  // residuals, and pages of 32 groups have whole tiles of 32 states.
  for (const AnsPages& pages :
       {AnsPages{.record = "u8", .records = 200, .page_groups = 1, .order = 1, .model = usual},
        {.record = "i64x2", .records = 261, .page_groups = 2, .order = 0, .model = usual},
        {.record = "i24x3", .records = 140, .page_groups = 1, .order = 8, .model = twice},
        {.record = "u8x64", .records = 133, .page_groups = 1, .order = 0, .model = usual},
        {.record = "f32", .records = 4096 + 300, .page_groups = 32, .order = 1, .model = overlaps}})
    add_ans_pages_faults(table, pages);
}

}  // namespace

void add_faults_of_ans(FaultTable& table) {
  add_ans_number_faults(table);
  add_ans_table_faults(table);
  add_ans_limit_faults(table);
  for (const char* record : {"i8", "u24x2", "f32", "u64"}) {
    add_ans_bin_faults(table, record);
    add_ans_lower_faults(table, record);
  }
  add_ans_part_faults(table);
  add_ans_page_faults(table);
}

}  // namespace gdelta::faults
