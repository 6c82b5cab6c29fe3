// Indexes that are whole, with checks that hold, and say what is not so: readers that begin at the end
// of a file give the answer of those that begin at its front.
#include "codec/stream/stream_tools.h"
#include "golden/plain_encoder.h"

namespace gdelta::test {
namespace {

using format::BlockTag;
using format::IndexEntry;

/// Blocks, and an index that may say other things about them.
struct Forgery {
  Bytes blocks;  // behind the header
  std::vector<IndexEntry> entries;

  void add_layout(const Layout& layout) {
    Bytes head;
    format::append_layout_head(head, {layout, {}});
    const std::size_t before = blocks.size();
    const std::uint32_t check = format::append_block(blocks, BlockTag::layout, head);
    entries.push_back({BlockTag::layout, blocks.size() - before, check, 0, head});
  }
  void add_chunk(std::size_t bytes, bool opaque, unsigned seed) {
    const Bytes block =
        plain::encode_chunk(random_bytes(bytes, seed), byte_layout(), {plain::raw()}, opaque);
    blocks.insert(blocks.end(), block.begin(), block.end());
    entries.push_back(format::chunk_entry(block));
  }
  Bytes end() const {
    Bytes index;
    for (const IndexEntry& entry : entries) format::append_index_entry(index, entry);
    Bytes block;
    format::append_end_block(block, entries.size(), index);
    return block;
  }
  Bytes file() const { return join({header(), blocks, end()}); }
  std::uint64_t end_at() const { return header().size() + blocks.size(); }

  static Bytes header() { return {format::kStreamHeader.begin(), format::kStreamHeader.end()}; }
};

/// A layout, three chunks of 40, 50 and 60 bytes, the second opaque.
Forgery right() {
  Forgery made;
  made.add_layout(byte_layout());
  made.add_chunk(40, false, 1);
  made.add_chunk(50, true, 2);
  made.add_chunk(60, false, 3);
  return made;
}

template <class Value>
std::string answer_of(const Result<Value>& result) {
  if (result) return "ok";
  const Error& error = result.error();
  return std::string(errc_name(error.code)) +
         (error.chunk ? " chunk " + std::to_string(*error.chunk) : "") +
         (error.byte ? " byte " + std::to_string(*error.byte) : "");
}

Result<Bytes> range_of(const Bytes& file, std::uint64_t begin, std::uint64_t end) {
  DecodeOptions options = decode_on_cpu();
  options.memory_limit = ~0ull;  // no limit hides what is wrong
  return decompress_range(file, begin, end, options);
}

/// What every reader says of a file.
void expect_everywhere(const Bytes& file, const std::string& expected) {
  EXPECT_EQ(answer_of(decompress(file, decode_on_cpu())), expected);
  EXPECT_EQ(answer_of(inspect(file)), expected);
  EXPECT_EQ(answer_of(range_of(file, 0, 150)), expected);
}

std::string corrupt_at(std::uint64_t byte) { return "corrupt byte " + std::to_string(byte); }

TEST(ForgedIndex, TheRightOneServes) { expect_everywhere(right().file(), "ok"); }

TEST(ForgedIndex, EveryLieAboutAChunkIsFoundWhereItIsRead) {
  struct Lie {
    const char* name;
    std::size_t entry;
    std::function<void(std::vector<IndexEntry>&)> tell;
  };
  const Lie lies[] = {
      {"no records", 1, [](auto& e) { e[1].records = 0; }},
      {"2^28 + 1 records", 1, [](auto& e) { e[1].records = (1ull << 28) + 1; }},
      {"2^60 records", 1, [](auto& e) { e[1].records = 1ull << 60; }},
      {"2^64 - 1 records", 3, [](auto& e) { e[3].records = ~0ull; }},
      {"a record more", 1, [](auto& e) { ++e[1].records; }},
      {"another check", 1, [](auto& e) { ++e[1].check; }},
      {"the check of another chunk", 3, [](auto& e) { e[3].check = e[1].check; }},
      {"a record less", 3, [](auto& e) { --e[3].records; }},
      {"numbers for opaque bytes", 2, [](auto& e) { e[2].tag = BlockTag::chunk; }},
      {"opaque bytes for numbers", 3, [](auto& e) { e[3].tag = BlockTag::opaque_chunk; }},
      {"a byte more", 1, [](auto& e) { ++e[1].block_bytes; }},
      {"a byte less", 3, [](auto& e) { --e[3].block_bytes; }},
      {"bytes of the next chunk", 1,
       [](auto& e) {
         ++e[1].block_bytes;
         --e[2].block_bytes;
       }},
      {"two chunks for one", 2,
       [](auto& e) {
         e[2].block_bytes += e[3].block_bytes;
         e.pop_back();
       }},
      {"more than the file has", 2, [](auto& e) { e[2].block_bytes = ~0ull; }},
  };
  for (const Lie& lie : lies) {
    SCOPED_TRACE(lie.name);
    Forgery forged = right();
    lie.tell(forged.entries);
    expect_everywhere(forged.file(), corrupt_at(forged.end_at()));
  }
}

TEST(ForgedIndex, NumbersThatCannotBeAreNotHandedOn) {
  const auto expect_found = [](const std::function<void(std::vector<IndexEntry>&)>& tell) {
    Forgery forged = right();
    tell(forged.entries);
    EXPECT_EQ(answer_of(inspect(forged.file(), {.models = false, .memory_limit = ~0ull})),
              corrupt_at(forged.end_at()));
  };
  for (const std::uint64_t records : {0ull, (1ull << 28) + 1, 1ull << 60, ~0ull})
    expect_found([&](auto& e) { e[1].records = records; });
  expect_found([](auto& e) {  // together they are as long as before, modulo 2^64
    e[1].block_bytes += 1ull << 63;
    e[2].block_bytes += 1ull << 63;
  });
  expect_found([](auto& e) { e.erase(e.begin()); });
}

TEST(ForgedIndex, ALieAboutALayoutIsFoundWhateverIsRead) {
  for (const char* record : {"i8", "u8x2", "u8:be", "u8,u8"}) {
    Forgery forged = right();
    forged.entries[0].head.clear();
    format::append_layout_head(forged.entries[0].head, {parse_record(record).value(), {}});
    expect_everywhere(forged.file(), corrupt_at(forged.end_at()));
    EXPECT_EQ(answer_of(range_of(forged.file(), 0, 1)), corrupt_at(forged.end_at())) << record;
  }
  Forgery longer = right();
  ++longer.entries[0].block_bytes;
  --longer.entries[1].block_bytes;
  EXPECT_EQ(answer_of(range_of(longer.file(), 149, 150)), corrupt_at(longer.end_at()));
}

TEST(ForgedIndex, ADamagedLayoutBlockBehindAGoodIndexIsFound) {
  const Forgery forged = right();
  const std::uint64_t at = Forgery::header().size();
  for (std::uint64_t byte = at; byte < at + forged.entries[0].block_bytes; ++byte) {
    Bytes file = forged.file();
    file[byte] ^= std::byte{0x10};
    const std::string expected = answer_of(decompress(file, decode_on_cpu()));
    EXPECT_NE(expected, "ok");
    expect_everywhere(file, expected);
    EXPECT_EQ(answer_of(range_of(file, 149, 150)), expected) << byte;
  }
}

TEST(ForgedIndex, OfAnotherStreamIsNotBelieved) {
  Forgery longer = right();
  longer.add_chunk(70, false, 4);
  Forgery shorter = right();
  shorter.blocks.resize(shorter.blocks.size() - shorter.entries.back().block_bytes);
  shorter.entries.pop_back();
  const Forgery made = right();
  for (const Forgery& other : {longer, shorter})
    expect_everywhere(join({Forgery::header(), made.blocks, other.end()}),
                      corrupt_at(made.end_at()));
}

TEST(ForgedIndex, LeadsToAHeaderThatIsReadAsAnyHeader) {
  Bytes file = right().file();
  file[4] = std::byte{1};
  expect_everywhere(file, "unsupported_version byte 0");
  file = right().file();
  file[5] = std::byte{1};
  expect_everywhere(file, "unsupported_feature byte 0");
  file = right().file();
  file[0] = std::byte{0x88};
  expect_everywhere(file, "not_gdelta byte 0");
}

TEST(ForgedIndex, WithBytesBehindItIsPassedOver) {
  const Forgery made = right();
  // Behind the footer.
  expect_everywhere(join({made.file(), Bytes(9)}), corrupt_at(made.file().size()));
  // In the head of the end block, behind the entries, and behind that head.
  Bytes index;
  for (const IndexEntry& entry : made.entries) format::append_index_entry(index, entry);
  index.push_back(std::byte{0});
  Bytes end;
  format::append_end_block(end, made.entries.size(), index);
  expect_everywhere(join({Forgery::header(), made.blocks, end}), corrupt_at(made.end_at()));
  end = made.end();
  Bytes footer;
  format::append_le(footer, 4, end.size() - 4 + 1);
  end.resize(end.size() - 4);
  expect_everywhere(join({Forgery::header(), made.blocks, end, Bytes(1), footer}),
                    corrupt_at(made.end_at()));
  // Where the check ought to be stands another one that holds.
  format::store_le(reinterpret_cast<format::Byte*>(footer.data()), 4, end.size() + 4);
  const Bytes check(end.end() - 4, end.end());
  expect_everywhere(join({Forgery::header(), made.blocks, end, check, footer}),
                    corrupt_at(made.end_at()));
}

TEST(ForgedIndex, LongerThanAnyIsPassedOverUnread) {
  const Forgery made = right();
  Bytes end;
  format::append_block(end, BlockTag::end, Bytes(1 << 20));
  Bytes footer;
  format::append_le(footer, 4, end.size());
  const Bytes file = join({Forgery::header(), made.blocks, end, footer});
  expect_everywhere(file, corrupt_at(made.end_at()));
  std::uint64_t bytes_read = 0;
  const ReadAt counting = [&](std::uint64_t offset,
                              std::span<std::byte> buffer) -> Result<std::size_t> {
    const std::size_t from = std::min<std::size_t>(file.size(), offset);
    const std::size_t count = std::min(buffer.size(), file.size() - from);
    std::copy_n(file.begin() + static_cast<std::ptrdiff_t>(from), count, buffer.begin());
    bytes_read += count;
    return count;
  };
  EXPECT_EQ(answer_of(inspect(counting, file.size())), corrupt_at(made.end_at()));
  EXPECT_LT(bytes_read, 10000u);
  Bytes cut = file;
  cut.resize(cut.size() - 10);
  expect_everywhere(cut, "truncated byte " + std::to_string(made.end_at()));
}

TEST(ForgedIndex, ARangeThatOnlyTheIndexHasIsTheIndexsFault) {
  Forgery forged = right();
  --forged.entries[1].records;
  EXPECT_EQ(answer_of(range_of(forged.file(), 0, 150)), corrupt_at(forged.end_at()));
  EXPECT_EQ(answer_of(range_of(right().file(), 0, 151)), "invalid_argument");
}

TEST(ForgedIndex, WhatItSaysElsewhereStaysUnseen) {
  Forgery forged = right();
  ++forged.entries[2].records;
  EXPECT_EQ(range_of(forged.file(), 0, 40).value(), random_bytes(40, 1));
}

/// A stream, and behind it a frame that ends like a stream whose index takes the first stream for its
/// blocks: if it could be skipped, the file would have two contents.
TEST(ForgedIndex, AFrameBehindAStreamIsRefusedByEveryReader) {
  Forgery first;
  first.add_chunk(7, true, 1);
  Bytes first_end;
  format::append_end_block(first_end, 0, {});
  Forgery second;
  second.add_chunk(7, true, 2);
  const std::uint64_t hidden_bytes = first.blocks.size() + first_end.size() + 8;
  for (const bool as_layout : {true, false}) {
    Forgery frame = second;
    frame.entries.insert(frame.entries.begin(), as_layout
                                                    ? IndexEntry{.tag = BlockTag::layout,
                                                                 .block_bytes = hidden_bytes,
                                                                 .check = 0,
                                                                 .records = 0,
                                                                 .head = right().entries[0].head}
                                                    : IndexEntry{.tag = BlockTag::opaque_chunk,
                                                                 .block_bytes = hidden_bytes,
                                                                 .check = 0,
                                                                 .records = 7,
                                                                 .head = {}});
    const Bytes inside = join({frame.blocks, frame.end()});
    Bytes skippable;
    format::append_le(skippable, 4, 0x184D2A50);
    format::append_le(skippable, 4, inside.size());
    const Bytes before = join({Forgery::header(), first.blocks, first_end});
    expect_everywhere(join({before, skippable, inside}), corrupt_at(before.size()));
  }
}

}  // namespace
}  // namespace gdelta::test
