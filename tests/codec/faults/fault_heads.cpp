// Faults in headers, frames of blocks, layouts and heads of chunks; fault_cases.h says how they are
// made.

#include "codec/faults/fault_parts.h"

namespace gdelta::faults {

Bytes skippable_frame(std::uint64_t length, std::size_t bytes) {
  Bytes frame;
  format::append_le(frame, 4, 0x184D2A5C);
  format::append_le(frame, 4, length);
  frame.resize(frame.size() + bytes, std::byte{0x89});
  return frame;
}

namespace {

// ---- Section 2: the header, and what stands between streams

void add_header_faults(FaultTable& table) {
  const StreamFields good = raw_stream();
  table.add_good("raw", good);
  for (const std::size_t at : {0, 1, 2, 3})
    table.add(
        "magic byte " + std::to_string(at), good, [at](auto& s) { s.header[at] ^= std::byte{1}; },
        Errc::not_gdelta, Place::start);
  for (const int value : {1, 0x10, 0x80, 0xff}) {
    const std::string name = " " + std::to_string(value);
    table.add(
        "version" + name, good, [value](auto& s) { s.header[4] = static_cast<std::byte>(value); },
        Errc::unsupported_version, Place::start);
  }
  for (const int value : {1, 2, 4, 8, 0xff})
    table.add(
        "flags " + std::to_string(value), good,
        [value](auto& s) { s.header[5] = static_cast<std::byte>(value); },
        Errc::unsupported_feature, Place::start);
  for (const int value : {0x10, 0x80, 0xf0}) {
    StreamFields ignored = good;
    ignored.header[5] = static_cast<std::byte>(value);
    table.add_good("flags that are ignored " + std::to_string(value), ignored);
  }
}

void add_faults_between_streams(FaultTable& table) {
  const StreamFields good = raw_stream();
  const Bytes whole = write(good).bytes;
  const auto behind = [&](const std::string& name, const Bytes& more, Errc code) {
    table.add_edit(
        name, good, [more](Bytes& bytes, auto&) { append(bytes, more); }, code, Place::past_end);
  };
  const auto changed = [&](std::size_t at, int value) {
    Bytes other = whole;
    other[at] = static_cast<std::byte>(value);
    return other;
  };
  behind("a zero behind", bytes_of({0}), Errc::corrupt);
  behind("four zeros behind", bytes_of({0, 0, 0, 0}), Errc::corrupt);
  behind("another magic number behind", changed(3, 'X'), Errc::corrupt);
  behind("another version behind", changed(4, 1), Errc::unsupported_version);
  behind("flags behind", changed(5, 1), Errc::unsupported_feature);
  behind("a frame beside the skippable ones behind", changed(0, 0x60), Errc::corrupt);
  for (const std::size_t bytes : {1, 3, 4, 5})
    behind(std::to_string(bytes) + " bytes of a header behind",
           Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes)),
           Errc::truncated);
  for (const std::size_t bytes : {1, 4, 7}) {
    Bytes head = skippable_frame(0, 0);
    head.resize(bytes);
    behind(std::to_string(bytes) + " bytes of a skippable frame's head behind", head,
           Errc::corrupt);
  }
  behind("a skippable frame behind", skippable_frame(5, 5), Errc::corrupt);
  behind("the longest skippable frame behind", skippable_frame(0xffffffff, 5), Errc::corrupt);

  const auto instead = [&](const std::string& name, const Bytes& other, Errc code) {
    table.add_edit(
        name, good, [other](Bytes& bytes, auto&) { bytes = other; }, code, Place::start);
  };
  instead("nothing at all", {}, Errc::not_gdelta);
  instead("five bytes of a header", Bytes(whole.begin(), whole.begin() + 5), Errc::truncated);
  instead("a skippable frame that is cut", skippable_frame(6, 5), Errc::truncated);
}

// ---- Section 3: what every block has

void add_frame_faults(FaultTable& table) {
  struct Kind {
    const char* name;
    Place place;
    FrameFields& (*of)(StreamFields&);
    std::uint64_t most_head_bytes;
  };
  const Kind kinds[] = {{.name = "layout",
                         .place = Place::layout,
                         .of = [](auto& s) -> FrameFields& { return s.layout.frame; },
                         .most_head_bytes = 1ull << 24},
                        {.name = "chunk",
                         .place = Place::chunk,
                         .of = [](auto& s) -> FrameFields& { return s.chunks[1].frame; },
                         .most_head_bytes = 1ull << 24},
                        {.name = "end",
                         .place = Place::end,
                         .of = [](auto& s) -> FrameFields& { return s.end.frame; },
                         .most_head_bytes = (1ull << 32) - 64}};
  for (const StreamFields& good : {raw_stream(), opaque_stream()})
    for (const Kind& kind : kinds) {
      const std::string of =
          std::string(" of the ") + kind.name + (good.chunks[1].opaque ? ", opaque bytes" : "");
      const auto add = [&](const std::string& name, Errc code, auto change) {
        table.add(
            name + of, good, [&](StreamFields& s) { change(kind.of(s)); }, code, kind.place);
      };
      add("check's first bit", Errc::corrupt, [](FrameFields& f) { f.wrong_bits = 1; });
      add("check's last bit", Errc::corrupt, [](FrameFields& f) { f.wrong_bits = 1u << 31; });
      add("longer head_bytes", Errc::corrupt, [](FrameFields& f) { f.longer_head_bytes = true; });
      for (const std::uint64_t more : {1ull, 1ull << 40})
        add("head_bytes over the limit by " + std::to_string(more), Errc::corrupt,
            [&](FrameFields& f) { f.head_bytes = Varint(kind.most_head_bytes + more); });
      add("head_bytes of 2^64 - 1", Errc::corrupt,
          [](FrameFields& f) { f.head_bytes = Varint(~0ull); });
      add("head_bytes at the limit, beyond the input", Errc::truncated,
          [&](FrameFields& f) { f.head_bytes = Varint(kind.most_head_bytes); });
      add("longer payload_bytes", Errc::corrupt,
          [](FrameFields& f) { f.longer_payload_bytes = true; });
      for (const std::uint64_t bytes : {(1ull << 40) + 1, ~0ull})
        add("payload_bytes of " + std::to_string(bytes), Errc::corrupt,
            [&](FrameFields& f) { f.payload_bytes = Varint(bytes); });
      for (const std::uint64_t bytes : {1ull, 1ull << 40})
        add("payload_bytes of " + std::to_string(bytes) + ", not as they are",
            kind.place == Place::chunk ? Errc::corrupt : Errc::unsupported_feature,
            [&](FrameFields& f) { f.payload_bytes = Varint(bytes); });
    }
  // Longer than any index of the blocks before it: whether it is damaged is for its check to say, if there is more that is unknown.
  const auto add_long_end = [&](const std::string& name, std::uint32_t wrong_bits, Errc code) {
    table.add(
        name, raw_stream(),
        [wrong_bits](auto& s) {
          s.end.behind.resize(100);
          s.end.frame.payload_bytes = Varint(5);
          s.end.frame.wrong_bits = wrong_bits;
        },
        code, Place::end);
  };
  add_long_end("an end block with a long head and a payload", 0, Errc::unsupported_feature);
  add_long_end("an end block with a long head, a payload and a check that differs", 1,
               Errc::corrupt);
  for (const int tag : {0, 5, 0x42, 127}) {
    const std::string name = "tag " + std::to_string(tag);
    table.add(
        name + " for a layout", raw_stream(), [tag](auto& s) { s.layout.frame.tag = tag; },
        Errc::unsupported_feature, Place::layout);
    table.add(
        name + " for a chunk", raw_stream(), [tag](auto& s) { s.chunks[1].frame.tag = tag; },
        Errc::unsupported_feature, Place::unknown_block);
    table.add(
        name + " for the end", raw_stream(), [tag](auto& s) { s.end.frame.tag = tag; },
        Errc::unsupported_feature, Place::end);
    table.add(
        name + " with a check that differs", raw_stream(),
        [tag](auto& s) {
          s.chunks[1].frame.tag = tag;
          s.chunks[1].frame.wrong_bits = 1;
        },
        Errc::corrupt, Place::unknown_block);
  }
  table.add_edit(
      "head_bytes of 2^64", raw_stream(),
      [](Bytes& bytes, const WrittenStream& s) {
        const auto at = bytes.begin() + static_cast<std::ptrdiff_t>(s.chunk_at[1]) + 1;
        std::fill(at, at + 9, std::byte{0x80});
        at[9] = std::byte{2};
      },
      Errc::corrupt, Place::chunk);
}

/// Streams that end too early.
void add_truncations(FaultTable& table) {
  const StreamFields good = raw_stream();
  const auto cut = [&](const std::string& name, auto at, Place place) {
    table.add_edit(
        "cut " + name, good,
        [at](Bytes& bytes, const WrittenStream& s) {
          bytes.resize(static_cast<std::size_t>(at(s)));
        },
        Errc::truncated, place);
  };
  using Written = const WrittenStream&;
  cut(
      "inside the header", [](Written) { return 5; }, Place::start);
  cut(
      "behind the layout's tag", [](Written s) { return s.layout_at + 1; }, Place::layout);
  cut(
      "inside the layout's head", [](Written s) { return s.layout_at + 3; }, Place::layout);
  cut(
      "inside the layout's check", [](Written s) { return s.chunk_at[0] - 1; }, Place::layout);
  cut(
      "behind a chunk's tag", [](Written s) { return s.chunk_at[1] + 1; }, Place::chunk);
  cut(
      "inside a chunk's head", [](Written s) { return s.payload_at[1] - 5; }, Place::chunk);
  cut(
      "inside a chunk's check", [](Written s) { return s.payload_at[1] - 1; }, Place::chunk);
  cut(
      "before a chunk's payload", [](Written s) { return s.payload_at[1]; }, Place::chunk);
  cut(
      "before a chunk's last byte", [](Written s) { return s.end_at - 1; }, Place::chunk);
  cut(
      "before the end block", [](Written s) { return s.end_at; }, Place::end);
  cut(
      "before a chunk", [](Written s) { return s.chunk_at[1]; }, Place::unknown_block);
  cut(
      "behind the end's tag", [](Written s) { return s.end_at + 1; }, Place::end);
  cut(
      "inside the end's head", [](Written s) { return s.end_at + 2; }, Place::end);
  for (const std::size_t missing : {1, 4, 5})
    cut(
        std::to_string(missing) + " bytes before the stream's end",
        [missing](Written s) { return s.bytes.size() - missing; }, Place::end);
}

// ---- Section 3.1: layouts

/// Records of 65536 bytes.
Layout widest_layout() { return {std::vector<Column>(128, {ValueType::f64, 64})}; }

void add_layout_faults(FaultTable& table) {
  const StreamFields good = raw_stream();
  const auto add = [&](const std::string& name, const FaultTable::Change& change,
                       Errc code = Errc::corrupt) {
    table.add(name, good, change, code, Place::layout);
  };
  add("no columns", [](auto& s) { s.layout.columns.clear(); });
  add("a column that is not there", [](auto& s) { s.layout.num_columns = Varint(2); });
  add("a column too many", [](auto& s) { s.layout.num_columns = Varint(0x7fff); });
  add("2^64 - 1 columns", [](auto& s) { s.layout.num_columns = Varint(~0ull); });
  add("longer number of columns", [](auto& s) { s.layout.num_columns = Varint(1, true); });
  add("no note", [](auto& s) { s.layout.note.reset(); });
  for (const int note : {1, 0x10, 0xff}) {
    StreamFields noted = good;
    noted.layout.note = note;
    table.add_good("note " + std::to_string(note), noted);
  }
  add("a byte behind the note", [](auto& s) { s.layout.behind = bytes_of({0}); });
  add("a column behind the note", [](auto& s) { s.layout.behind = bytes_of({1, 1}); });
  for (const int type : {14, 0x7f, 0x8e, 0xff})
    add(
        "type " + std::to_string(type), [type](auto& s) { s.layout.columns[0].first = type; },
        Errc::unsupported_feature);
  add("a tuple of 0", [](auto& s) { s.layout.columns[0].second = 0; });
  table.add(
      "no layout", good, [](auto& s) { s.has_layout = false; }, Errc::corrupt, Place::first_chunk);

  const auto raw_of = [](const Layout& layout) {
    return stream_of(layout, plain::wandering_values(layout, 2, 5, 7), {plain::raw()});
  };
  table.add_good("a tuple of 64", raw_of({{{ValueType::u8, 64}}}));
  table.add(
      "a tuple of 65", raw_of({{{ValueType::u8, 65}}}), [](auto&) {}, Errc::corrupt, Place::layout);
  const std::vector<Column> most(kMaxColumns, {ValueType::u8, 1});
  std::vector<Column> one_more = most;
  one_more.push_back(most[0]);
  table.add_good("4096 columns", constant_stream({most}, 2));
  table.add(
      "4097 columns", constant_stream({one_more}, 2), [](auto&) {}, Errc::corrupt, Place::layout);
  Layout widest = widest_layout();
  table.add_good("records of 65536 bytes", constant_stream(widest, 1));
  widest.columns.push_back({ValueType::u8, 1});
  table.add(
      "records of 65537 bytes", constant_stream(widest, 1), [](auto&) {}, Errc::corrupt,
      Place::layout);
}

// ---- Section 3.2: the head of a chunk

/// Of the column of raw_stream(): column_bytes, coder, part_groups, a check.
constexpr std::uint64_t kRawModelBytes = 1 + 1 + 1 + 4;

StreamFields equal_bytes(std::size_t bytes) {
  return constant_stream(parse_record("u8").value(), bytes);
}

void add_record_faults(FaultTable& table) {
  const StreamFields good = raw_stream();
  const auto add = [&](const std::string& name, const FaultTable::Change& change) {
    table.add(name, good, change, Errc::corrupt, Place::chunk);
  };
  const StreamFields equal = equal_bytes(50);
  table.add_good("constant", equal);
  table.add(
      "no records", equal, [](auto& s) { chunk(s).records = 0; }, Errc::corrupt, Place::chunk);
  table.add(
      "a chunk of 2^28 + 1 bytes", equal,
      [](auto& s) {
        s.decoded_bytes = kMaxChunkBytes + 1;
        chunk(s).records = s.decoded_bytes;
      },
      Errc::corrupt, Place::chunk);
  add("records that wrap to no bytes", [](auto& s) {
    chunk(s).records = 1ull << 61;
    chunk(s).payload.clear();
    model(s).column_bytes = 0;
  });
  for (const int kinds : {1, 0x20, 0xff})
    table.add(
        "kinds " + std::to_string(kinds), good, [kinds](auto& s) { chunk(s).kinds = kinds; },
        Errc::unsupported_feature, Place::chunk);
  add("2^64 - 1 records", [](auto& s) { chunk(s).records = ~0ull; });
  add("longer records", [](auto& s) { chunk(s).records.longer = true; });
  add("payload_bytes below the sections", [](auto& s) { chunk(s).payload.pop_back(); });
  add("payload_bytes above the sections", [](auto& s) { append_byte(chunk(s).payload, 0); });
}

void add_model_faults(FaultTable& table) {
  const StreamFields good = raw_stream();
  const auto add = [&](const std::string& name, const FaultTable::Change& change) {
    table.add(name, good, change, Errc::corrupt, Place::chunk);
  };
  add("longer model_bytes", [](auto& s) { model(s).model_bytes = Varint(kRawModelBytes, true); });
  for (const std::uint64_t bytes : {std::uint64_t{0}, kRawModelBytes - 1, kRawModelBytes + 1,
                                    std::uint64_t{1} << 32, ~std::uint64_t{0}})
    add("model_bytes of " + std::to_string(bytes),
        [bytes](auto& s) { model(s).model_bytes = Varint(bytes); });
  add("a byte behind a model's fields", [](auto& s) { append_byte(model(s).behind, 0); });
  add("longer column_bytes", [](auto& s) { model(s).column_bytes.longer = true; });
  for (const int more : {-1, 1})
    add("a raw section longer by " + std::to_string(more), [more](auto& s) {
      model(s).column_bytes.value += static_cast<std::uint64_t>(more);
      chunk(s).payload.resize(chunk(s).payload.size() + static_cast<std::size_t>(more));
    });
  add("column_bytes whose sum wraps", [](auto& s) { model(s).column_bytes = ~0ull; });
  table.add(
      "a constant section longer by 1", equal_bytes(50),
      [](auto& s) {
        ++model(s).column_bytes.value;
        append_byte(chunk(s).payload, 0);
      },
      Errc::corrupt, Place::chunk);
  add("a front of a raw column", [](auto& s) { model(s).has_front = true; });
  add("no check of the part", [](auto& s) { model(s).part_checks.clear(); });
  add("a check too many", [](auto& s) { model(s).part_checks.push_back(0); });
}

void add_raw_part_faults(FaultTable& table) {
  const StreamFields parts = wandering_stream("i16,u8", 300, [](const Column&) {
    plain::Choice choice = plain::raw();
    choice.model.section.part_groups = 1;
    return choice;
  });
  table.add_good("raw parts", parts);
  for (const std::uint64_t groups :
       {3ull, 4ull, 1ull << 22, (1ull << 22) + 1, (1ull << 32) + 1, 1ull << 57})
    table.add(
        "raw parts of " + std::to_string(groups) + " groups", parts,
        [groups](auto& s) {
          model(s).part_groups = groups;
          model(s).part_checks.resize(1);
        },
        Errc::corrupt, Place::chunk);
  table.add(
      "longer part_groups", parts, [](auto& s) { model(s).part_groups.longer = true; },
      Errc::corrupt, Place::chunk);
  table.add(
      "parts of a constant column", equal_bytes(300),
      [](auto& s) {
        model(s).part_groups = 1;
        model(s).part_checks.resize(3, model(s).part_checks[0]);
      },
      Errc::corrupt, Place::chunk);
  table.add_at(
      "the check of the third part of a raw column", parts,
      [](auto& s) { model(s).part_checks[2] ^= 1; }, Errc::corrupt, 2 * 128 * 2);
  table.add_at(
      "the check of the second part of a second column", parts,
      [](auto& s) { chunk(s).models[1].part_checks[1] ^= 1u << 31; }, Errc::corrupt, 300 * 2 + 128);
  table.add(
      "the check of a constant column", equal_bytes(50),
      [](auto& s) { model(s).part_checks[0] ^= 1; }, Errc::corrupt, Place::first_part);
}

void add_coder_faults(FaultTable& table) {
  const StreamFields good = raw_stream();
  const auto add = [&](const std::string& name, const FaultTable::Change& change) {
    table.add(name, good, change, Errc::corrupt, Place::chunk);
  };
  add("a byte behind the models", [](auto& s) { append_byte(chunk(s).behind, 0); });
  add("no model", [](auto& s) { chunk(s).models.clear(); });
  for (const std::uint32_t wrong_bit : {1u, 1u << 31})
    table.add(
        "content " + std::to_string(wrong_bit), good,
        [=](auto& s) { model(s).part_checks[0] ^= wrong_bit; }, Errc::corrupt, Place::first_part);
  for (const int coder : {kNumCoders, kNumCoders + 1, 0x82, 255}) {
    table.add(
        "coder " + std::to_string(coder), good, [coder](auto& s) { model(s).coder = coder; },
        Errc::unsupported_feature, Place::chunk);
    table.add(
        "second coder " + std::to_string(coder), raw_stream("i32x2,u8"),
        [coder](auto& s) { chunk(s).models[1].coder = coder; }, Errc::unsupported_feature,
        Place::chunk);
  }
  table.add(
      "no second model", raw_stream("i32x2,u8"), [](auto& s) { chunk(s).models.pop_back(); },
      Errc::corrupt, Place::chunk);
}

void add_opaque_faults(FaultTable& table) {
  const StreamFields opaque = opaque_stream();
  table.add_good("opaque", opaque);
  table.add(
      "opaque bytes and a byte behind the model", opaque,
      [](auto& s) { append_byte(chunk(s).behind, 0); }, Errc::corrupt, Place::chunk);
  table.add(
      "content of opaque bytes", opaque, [](auto& s) { model(s).part_checks[0] ^= 1; },
      Errc::corrupt, Place::first_part);
}

// ---- Section 8: of two faults the first decides; sums come last

void add_double_faults(FaultTable& table) {
  const auto add = [&](const std::string& name, const StreamFields& good,
                       const FaultTable::Change& change, Errc code,
                       Place place) { table.add(name, good, change, code, place); };
  add(
      "too long a record with an unknown type behind", constant_stream(widest_layout(), 1),
      [](auto& s) {
        s.layout.columns.emplace_back(static_cast<int>(ValueType::u8), 1);
        s.layout.columns.emplace_back(14, 1);
      },
      Errc::unsupported_feature, Place::layout);
  add(
      "payload_bytes below the first section, and an unknown coder behind", raw_stream("i32x2,u8"),
      [](auto& s) {
        chunk(s).frame.payload_bytes = Varint(1);
        chunk(s).models[1].coder = kNumCoders;
      },
      Errc::unsupported_feature, Place::chunk);
  add(
      "payload_bytes over the limit, and an unknown coder behind", raw_stream(),
      [](auto& s) {
        chunk(s).frame.payload_bytes = Varint((1ull << 40) + 1);
        model(s).coder = kNumCoders;
      },
      Errc::corrupt, Place::chunk);
  add(
      "a section longer than any, and an unknown coder behind",
      wandering_stream("u32,u8", 100, coded(Coder::zstd, {1})),
      [](auto& s) {
        model(s).column_bytes = 1ull << 29;
        chunk(s).models[1].coder = kNumCoders;
      },
      Errc::corrupt, Place::chunk);
  table.add(
      "a damaged page behind a part whose content differs",
      wandering_stream("i16,i16", 20, coded(Coder::pack, {0})),
      [](auto& s) {
        model(s).part_checks[0] ^= 1;
        chunk(s).payload[static_cast<std::size_t>(model(s).column_bytes.value)] = std::byte{0x7f};
      },
      Errc::corrupt, Place::second_column);
  add(
      "an unknown map of orders out of range", pack_stream(),
      [](auto& s) {
        model(s).map = kNumValueMaps;
        model(s).orders = 9;
      },
      Errc::unsupported_feature, Place::chunk);
  add(
      "an unknown coder in a head whose check differs", raw_stream(),
      [](auto& s) {
        chunk(s).frame.wrong_bits = 1;
        model(s).coder = kNumCoders;
      },
      Errc::corrupt, Place::chunk);
}

}  // namespace

void add_chunk_faults(FaultTable& table) {
  add_record_faults(table);
  add_model_faults(table);
  add_raw_part_faults(table);
  add_coder_faults(table);
  add_opaque_faults(table);
}

void add_faults_of_heads(FaultTable& table) {
  add_header_faults(table);
  add_faults_between_streams(table);
  add_frame_faults(table);
  add_truncations(table);
  add_layout_faults(table);
  add_chunk_faults(table);
  add_double_faults(table);
}

}  // namespace gdelta::faults
