#include "codec/faults/fault_cases.h"

#include "codec/faults/fault_parts.h"

namespace gdelta::faults {

namespace {

// ---- Section 3.3: the end block, its index, its footer

void add_end_faults(FaultTable& table) {
  const StreamFields good = raw_stream();
  const auto add = [&](const std::string& name, const FaultTable::Change& change) {
    table.add(name, good, change, Errc::corrupt, Place::end);
  };
  add("an end block without a head", [](auto& s) { s.end.has_head = false; });
  add("a byte behind the entries", [](auto& s) { append_byte(s.end.behind, 0); });
  add("longer number of entries",
      [](auto& s) { s.end.num_entries = Varint(s.has_index ? 3 : 0, true); });
  add("2^64 - 1 entries", [](auto& s) { s.end.num_entries = Varint(~0ull); });
  add("an entry that is not there",
      [](auto& s) { s.end.num_entries = Varint(s.has_index ? 4 : 1); });
  add("a byte between end block and footer", [](auto& s) { append_byte(s.end.before_footer, 0); });
  for (const std::uint32_t footer : {0u, 7u, 9u, 0xffffffffu})
    add("footer " + std::to_string(footer), [=](auto& s) { s.end.footer = footer; });
}

void add_index_faults(FaultTable& table) {
  using Entries = std::vector<EntryFields>;
  const StreamFields good = raw_stream("u8", 30);  // of records like opaque bytes
  const auto add = [&](const std::string& name, const std::function<void(Entries&)>& change) {
    table.add_to_index(name, good, [=](auto& s) { s.end.change_entries = change; });
  };
  for (const int entries : {0, 2, 4})
    table.add_to_index(std::to_string(entries) + " entries, three of them there", good,
                       [=](auto& s) { s.end.num_entries = Varint(entries); });
  add("no entry for the layout", [](Entries& e) { e.erase(e.begin()); });
  add("no entry for the last chunk", [](Entries& e) { e.pop_back(); });
  add("an entry too many", [](Entries& e) { e.push_back(e.back()); });
  add("entries of the chunks exchanged", [](Entries& e) { std::swap(e[1], e[2]); });
  add("entry of the layout behind a chunk", [](Entries& e) { std::swap(e[0], e[1]); });
  for (const int tag : {0, 3, 4, 5, 255})
    add("entry's tag " + std::to_string(tag), [=](Entries& e) { e[2].tag = tag; });
  for (const std::size_t i : {0, 1, 2}) {
    const std::string of = " in entry " + std::to_string(i);
    for (const int more : {-1, 1})
      add("block_bytes more by " + std::to_string(more) + of,
          [=](Entries& e) { e[i].block_bytes.value += static_cast<std::uint64_t>(more); });
    add("longer block_bytes" + of, [=](Entries& e) { e[i].block_bytes.longer = true; });
    add("block_bytes of 2^64 - 1" + of, [=](Entries& e) { e[i].block_bytes = ~0ull; });
    add("block_bytes of 0" + of, [=](Entries& e) { e[i].block_bytes = 0; });
    for (const std::uint32_t bit : {1u, 1u << 31})
      add("a bit of the check" + of + ": " + std::to_string(bit),
          [=](Entries& e) { e[i].check ^= bit; });
    if (i == 0) continue;
    for (const int more : {-1, 1})
      add("records more by " + std::to_string(more) + of,
          [=](Entries& e) { e[i].number.value += static_cast<std::uint64_t>(more); });
    add("longer records" + of, [=](Entries& e) { e[i].number.longer = true; });
    add("no records" + of, [=](Entries& e) { e[i].number = 0; });
    for (const int bits : {28, 60})
      add("2^" + std::to_string(bits) + " records" + of,
          [=](Entries& e) { e[i].number = 1ull << bits; });
  }
  // Two blocks of lengths that only their sum has.
  add("block_bytes moved from one entry to the next", [](Entries& e) {
    ++e[1].block_bytes.value;
    --e[2].block_bytes.value;
  });
  for (const auto& [what, head] : {std::pair{"type", bytes_of({1, 0, 1, 0})},
                                   {"byte order", bytes_of({1, 0x81, 1, 0})},
                                   {"tuple", bytes_of({1, 1, 2, 0})},
                                   {"unknown type", bytes_of({1, 14, 1, 0})},
                                   {"columns", bytes_of({2, 1, 1, 1, 1, 0})},
                                   {"note", bytes_of({1, 1, 1, 7})},
                                   {"number of columns", bytes_of({0x81, 0, 1, 1, 0})}})
    add(std::string("another ") + what + " in the entry of the layout", [head = head](Entries& e) {
      e[0].head = head;
      e[0].number = head.size();
    });
  add("a head longer than it says", [](Entries& e) { --e[0].number.value; });
  add("a head shorter than it says", [](Entries& e) { ++e[0].number.value; });
  add("a head of 2^64 - 1 bytes", [](Entries& e) { e[0].number = ~0ull; });
}

/// The same faults in chunks of a later stream, the first behind a skippable frame.
void add_behind_others(FaultTable& table) {
  const Bytes before = joined({skippable_frame(3, 3), write(raw_stream()).bytes});
  FaultTable later;
  add_chunk_faults(later);
  add_end_faults(later);
  for (FaultCase& fault : later.cases) {
    fault.name += ", behind others";
    fault.byte += fault.code == Errc::ok ? 0 : before.size();
    if (fault.chunk) *fault.chunk += 2;
    fault.stream = joined({before, fault.stream});
    fault.decoded_bytes += kFirstRecords * 8 + 5 * 8;
    fault.at_fault.reset();  // it is there already
    table.cases.push_back(std::move(fault));
  }
}

}  // namespace

std::vector<FaultCase> fault_cases() {
  FaultTable table;
  add_faults_of_heads(table);
  add_faults_of_models(table);
  add_faults_of_maps(table);
#define GDELTA_ADD(name) add_faults_of_##name(table);
  GDELTA_PLAIN_CODERS(GDELTA_ADD)
  GDELTA_PLAIN_MAPS(GDELTA_ADD)
  GDELTA_PLAIN_LANE_MAPS(GDELTA_ADD)
#undef GDELTA_ADD
  add_faults_of_linear(table);
  add_faults_of_segments(table);
  add_end_faults(table);
  add_index_faults(table);
  add_behind_others(table);
  return table.cases;
}

bool head_goes_beyond(const Bytes& block) {
  format::Cursor cursor = format::cursor_over(block);
  cursor.byte();
  const std::uint64_t head_bytes = cursor.varint();
  return !cursor.failed && head_bytes > block.size() && head_bytes <= format::kMaxHeadBytes;
}

}  // namespace gdelta::faults
