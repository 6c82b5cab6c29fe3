// The kernels that parse heads or take those which the host has read, and the one that counts pages on a simulated device, in
// random orders of warps: chunks of the encoder, whole and damaged, against the parser of the host. Stream and
// table end before a page that cannot be read.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "codec/chunk/chunk_cases.h"
#include "codec/chunk/chunk_encode.h"
#include "codec/cuda/container/chunk_decode_cuda.h"
#include "codec/cuda/known_heads.h"
#include "formats/gdelta/block_frame.h"
#include "formats/gdelta/chunk_block.h"
#include "simulator/guarded_bytes.h"

namespace gdelta::cuda {
namespace {

using simulator::GuardedBytes;
using test::Bytes;
using test::Pattern;

struct Chunk {
  Bytes block;
  std::uint64_t decoded_bytes = 0;
  bool opaque = false;
};

format::ColumnModel pack_model(int order, std::uint32_t page_groups) {
  format::ColumnModel model;
  model.section.coder = Coder::pack;
  std::fill_n(model.front.orders, kMaxTuple, static_cast<std::uint8_t>(order));
  model.section.part_groups = page_groups;
  return model;
}

Chunk make_chunk(const Layout& layout, std::uint64_t records, Pattern pattern,
                 const format::ColumnModel& model, bool opaque = false) {
  ChunkPlan plan;
  plan.columns.assign(layout.columns.size(), model);
  const Bytes values = make_values(layout, records, pattern);
  return {encode_chunk(values, layout, opaque, plan), values.size(), opaque};
}

/// Chunks of every kind, and heads about as long as what is staged in shared memory.
std::vector<Chunk> make_chunks(const Layout& layout) {
  format::ColumnModel raw = pack_model(0, 1);
  raw.section.coder = Coder::raw;
  format::ColumnModel zstd = pack_model(1, 1);
  zstd.section.coder = Coder::zstd;
  format::ColumnModel strides = pack_model(1, 3);
  strides.front.num_strides = 2;
  strides.front.strides[0] = {9, 2};
  strides.front.strides[1] = {2, 1};
  format::ColumnModel lanes = pack_model(1, 2);
  lanes.front.orders[1] = 4;
  std::vector<Chunk> chunks;
  for (const std::uint64_t records : {1, 20, 140, 300, 5000}) {
    for (const auto& model :
         {pack_model(2, 1), pack_model(1, 8), pack_model(1, 40), lanes, raw, zstd})
      chunks.push_back(make_chunk(layout, records, Pattern::smooth, model));
    if (records > 36) chunks.push_back(make_chunk(layout, records, Pattern::smooth, strides));
    chunks.push_back(make_chunk(layout, records, Pattern::random, raw));
    chunks.push_back(make_chunk(layout, records, Pattern::equal, raw));
    chunks.push_back(make_chunk(byte_layout(), records, Pattern::smooth, pack_model(1, 32), true));
    chunks.push_back(make_chunk(byte_layout(), records, Pattern::random, raw, true));
  }
  const std::uint64_t columns = layout.columns.size();
  for (std::uint64_t pages = 330 / columns; pages < 400 / columns; pages += 3)
    chunks.push_back(make_chunk(layout, 128 * pages, Pattern::smooth, pack_model(1, 1)));
  return chunks;
}

/// The chunks one behind the other, and the table that says so. Slots are those of the columns, last
/// one first, and then that of opaque chunks.
struct Stream {
  std::uint32_t num_slots = 0;
  std::vector<TableChunk> places;
  Bytes bytes;
  Bytes table;
  std::uint64_t decoded_bytes = 0;

  Stream(const Layout& layout, const std::vector<Chunk>& chunks, std::size_t first_at)
      : num_slots(static_cast<std::uint32_t>(layout.columns.size()) + 1), bytes(first_at) {
    for (const Chunk& chunk : chunks) {
      places.push_back({bytes.size(), chunk.block.size(), decoded_bytes, chunk.decoded_bytes,
                        chunk.opaque ? 1u : 0u});
      bytes.insert(bytes.end(), chunk.block.begin(), chunk.block.end());
      decoded_bytes += chunk.decoded_bytes;
    }
    append(ChunkTableHeader{.num_chunks = chunks.size(),
                            .num_columns = num_slots - 1,
                            .record_bytes = static_cast<std::uint32_t>(layout.record_bytes()),
                            .opaque_slot = num_slots - 1,
                            .reserved = 0});
    std::uint32_t offset = 0, slot = num_slots - 1;
    for (const Column& column : layout.columns) {
      append(TableColumn{.type = static_cast<std::uint8_t>(column.type),
                         .tuple = column.tuple,
                         .big_endian = static_cast<std::uint8_t>(column.big_endian),
                         .reserved = 0,
                         .offset = offset,
                         .slot = --slot,
                         .reserved2 = 0});
      offset += static_cast<std::uint32_t>(column.bytes());
    }
    for (const TableChunk& place : places) append(place);
  }

  /// Adds what the heads of these chunks say, which lie where those of the stream do.
  void append_heads(const Layout& layout, const std::vector<Chunk>& chunks) {
    std::vector<KnownHead> heads;
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      const Bytes& block = chunks[i].block;
      auto parsed = format::parse_chunk_block(block, places[i].block_at,
                                              chunks[i].opaque ? byte_layout() : layout);
      ASSERT_TRUE(parsed) << "chunk " << i;
      const auto head = std::span(block).first(parsed->frame.payload_at());
      heads.push_back({places[i].block_at, places[i].decoded_at, head, *std::move(parsed)});
    }
    heads_at = append_known_heads(heads, table);
  }
  /// Where the block of a chunk begins, as far as the table has it.
  std::uint64_t known_at(std::size_t chunk) const {
    KnownChunk known;
    std::memcpy(&known, table.data() + heads_at + chunk * sizeof known, sizeof known);
    return known.head_at;
  }

  std::uint64_t heads_at = 0;

  std::uint32_t slot_of(bool opaque, std::size_t column) const {
    return opaque ? num_slots - 1 : num_slots - 2 - static_cast<std::uint32_t>(column);
  }

 private:
  template <class Entry>
  void append(const Entry& entry) {
    const auto* const from = reinterpret_cast<const std::byte*>(&entry);
    table.insert(table.end(), from, from + sizeof entry);
  }
};

ColumnPath path_of(const format::ColumnModel& model, int tuple) {
  if (model.section.coder == Coder::raw) return ColumnPath::copy;
  if (model.section.coder == Coder::constant) return ColumnPath::fill;
  const bool by_warps = tuple <= 4 ? model.section.part_groups * static_cast<unsigned>(tuple) <= 32
                                   : model.section.part_groups <= 8;
  return by_warps ? ColumnPath::page_warp : ColumnPath::page_block;
}

bool is_launched(const ChunkKinds& kinds, const format::ColumnModel& model, ColumnPath path) {
  if (model.front.predictor == Predictor::linear && !kinds.linear) return false;
  if (path == ColumnPath::copy || path == ColumnPath::fill) return kinds.placed;
  return (path == ColumnPath::page_warp
              ? kinds.warp_pages
              : (kinds.page_coders >> static_cast<int>(model.section.coder) & 1) != 0) &&
         (kinds.strides || model.front.num_strides == 0) &&
         (kinds.stride_pairs || model.front.num_strides < 2) &&
         (kinds.maps || !format::maps_in_a_pass(model.front));
}

/// The verdict on a chunk, and what the host's parser has found if it is ok.
Errc expect_verdict(const Chunk& chunk, const Layout& layout, const ChunkKinds& kinds,
                    const Result<format::ParsedChunk>& parsed) {
  if (!parsed) return parsed.error().code;
  if (parsed->opaque() != chunk.opaque ||
      parsed->records * layout.record_bytes() != chunk.decoded_bytes)
    return Errc::corrupt;
  bool launched = kinds.opaque || !chunk.opaque;
  for (std::size_t c = 0; c < parsed->columns.size(); ++c) {
    const format::ColumnModel& model = parsed->columns[c].model;
    if (!parsed->columns[c].decodes_on_device()) return Errc::needs_host;
    launched &= is_launched(kinds, model, path_of(model, layout.columns[c].tuple));
  }
  return launched ? Errc::ok : Errc::corrupt;
}

/// Chunks, and the table with the heads of others, which lie in the same places.
Stream stream_with_heads(const Layout& layout, const std::vector<Chunk>& chunks,
                         std::size_t first_at, const std::vector<Chunk>& known) {
  Stream stream(layout, chunks, first_at);
  if (!known.empty()) stream.append_heads(layout, known);
  return stream;
}

/// What parse_chunks leaves behind for one stream or, if heads are `known`, take_heads.
class ParsedStream {
 public:
  ParsedStream(const Layout& layout, const std::vector<Chunk>& chunks, std::size_t first_at,
               const ChunkKinds& kinds, const std::vector<Chunk>& known)
      : layout_(layout),
        chunks_(chunks),
        known_(known),
        kinds_(kinds),
        stream_(stream_with_heads(layout, chunks, first_at, known)),
        bytes_(simulator::unsigned_bytes(stream_.bytes), 0, true),
        table_(simulator::unsigned_bytes(stream_.table), 0, true),
        num_chunks_(static_cast<std::uint32_t>(chunks.size())),
        num_tasks_(num_chunks_ * stream_.num_slots),
        tasks_(num_tasks_),
        map_tasks_(num_tasks_),
        dictionaries_(num_tasks_),
        lane_maps_(num_tasks_),
        verdicts_(num_chunks_),
        damaged_(num_chunks_),
        differs_(num_chunks_),
        warp_pages_(num_tasks_, kStale),
        map_pages_(num_tasks_, kStale),
        block_pages_(num_tasks_, kStale),
        parts_(num_tasks_, kStale),
        warp_starts_(num_tasks_ + 1, kStale),
        map_starts_(num_tasks_ + 1, kStale),
        block_starts_(num_tasks_ + 1, kStale),
        part_starts_(num_tasks_ + 1, kStale) {
    std::memset(static_cast<void*>(tasks_.data()), 0xa5, tasks_.size() * sizeof(ColumnTask));
  }

  void launch() {
    const ParseArgs parse{.stream = bytes_.data(),
                          .stream_bytes = stream_.bytes.size(),
                          .table = table_.data(),
                          .first_chunk = 0,
                          .num_chunks = num_chunks_,
                          .num_slots = stream_.num_slots,
                          .out = out_,
                          .out_bytes = stream_.decoded_bytes,
                          .tasks = tasks_.data(),
                          .map_tasks = map_tasks_.data(),
                          .dictionaries = dictionaries_.data(),
                          .table_values = nullptr,
                          .table_room = 0,
                          .lane_maps = lane_maps_.data(),
                          .verdicts = verdicts_.data(),
                          .damaged_at = damaged_.data(),
                          .differs_at = differs_.data(),
                          .count = {.counts = {warp_pages_.data(), map_pages_.data(),
                                               block_pages_.data(), parts_.data()},
                                    .num_tasks = num_tasks_,
                                    .warp_starts = warp_starts_.data(),
                                    .map_starts = map_starts_.data(),
                                    .block_starts = block_starts_.data(),
                                    .part_starts = part_starts_.data(),
                                    .tickets = &ticket_,
                                    .num_tickets = 1},
                          .kinds = kinds_,
                          .verify = false,
                          .stride_pages = 0};
    ASSERT_EQ(known_.empty() ? launch_parse_chunks(parse, nullptr)
                             : launch_take_heads(parse, stream_.heads_at, nullptr),
              cudaSuccess);
  }

  /// Of the only chunk's first column.
  bool leaves_maps_to_pages() const {
    EXPECT_EQ(verdicts_[0].code, static_cast<int>(Errc::ok));
    EXPECT_EQ(map_pages_[0] > 0, map_tasks_[0].undone_before);
    EXPECT_NE(map_pages_[0] > 0, warp_pages_[0] + block_pages_[0] > 0);
    return map_pages_[0] > 0;
  }

  void expect_sums() const {
    const auto expect = [&](const std::vector<std::uint32_t>& counts,
                            const std::vector<std::uint64_t>& starts) {
      std::uint64_t sum = 0;
      for (std::size_t task = 0; task < num_tasks_; sum += counts[task++])
        EXPECT_EQ(starts[task], sum) << "task " << task << " of " << num_tasks_;
      EXPECT_EQ(starts[num_tasks_], sum);
    };
    expect(warp_pages_, warp_starts_);
    expect(map_pages_, map_starts_);
    expect(block_pages_, block_starts_);
    expect(parts_, part_starts_);
    EXPECT_EQ(ticket_, 0u);
  }

  /// Compares with the host. Returns how many chunks are ok.
  int expect_as_host() const {
    int good = 0;
    for (std::uint32_t i = 0; i < num_chunks_; ++i) {
      SCOPED_TRACE("chunk " + std::to_string(i) + " of " + to_string(layout_) + ", " +
                   std::to_string(chunks_[i].block.size()) + " bytes");
      const Layout& layout = chunks_[i].opaque ? byte_layout() : layout_;
      const std::uint64_t block_at = stream_.places[i].block_at;
      const auto parsed = format::parse_chunk_block(chunks_[i].block, block_at, layout);
      const Errc expected =
          is_head_known(i) ? expect_verdict(chunks_[i], layout, kinds_, parsed) : Errc::corrupt;
      const auto code = static_cast<Errc>(verdicts_[i].code);
      // Behind a zstd column the device looks no further.
      if (code == Errc::needs_host && expected != Errc::ok) continue;
      EXPECT_EQ(code, expected);
      const bool ok = code == Errc::ok && expected == Errc::ok;
      EXPECT_EQ(verdicts_[i].byte, ok ? 0 : block_at);
      EXPECT_EQ(damaged_[i], kNoDamage);
      EXPECT_EQ(differs_[i], kNoDamage);
      std::vector<bool> used(stream_.num_slots);
      if (ok) {
        ++good;
        for (std::size_t c = 0; c < parsed->columns.size(); ++c) {
          const std::uint32_t slot = stream_.slot_of(chunks_[i].opaque, c);
          used[slot] = true;
          expect_task(i, slot, layout.columns[c], *parsed, parsed->columns[c]);
        }
      }
      for (std::uint32_t slot = 0; slot < stream_.num_slots; ++slot) {
        if (!used[slot]) expect_no_task(slot * num_chunks_ + i);
      }
    }
    return good;
  }

 private:
  void expect_task(std::uint32_t chunk, std::uint32_t slot, const Column& column,
                   const format::ParsedChunk& parsed, const format::ColumnHead& head) const {
    const std::uint32_t at = slot * num_chunks_ + chunk;
    const ColumnTask& task = tasks_[at];
    const std::uint64_t block_at = stream_.places[chunk].block_at;
    const ColumnPath path = path_of(head.model, column.tuple);
    EXPECT_EQ(task.path, path);
    EXPECT_EQ(task.section_at, block_at + parsed.frame.payload_at() + head.section_at);
    EXPECT_EQ(task.section, bytes_.data() + task.section_at);
    EXPECT_EQ(task.records, parsed.records);
    EXPECT_EQ(task.chunk, chunk);
    EXPECT_EQ(task.value_bytes, value_bytes(column.type));
    EXPECT_EQ(task.tuple, column.tuple);
    EXPECT_EQ(task.big_endian, column.big_endian);
    const bool packed = head.model.section.coder == Coder::pack;
    EXPECT_EQ(task.num_pages, packed ? head.num_parts : 0);
    const std::uint64_t by_warps = path == ColumnPath::page_warp ? head.num_parts : 0;
    const bool mapped = lane_maps_of(task) != nullptr;
    EXPECT_EQ(warp_pages_[at], mapped ? 0 : by_warps);
    EXPECT_EQ(map_pages_[at], mapped ? by_warps : 0);
    EXPECT_EQ(block_pages_[at], path == ColumnPath::page_block ? head.num_parts : 0);
    EXPECT_EQ(parts_[at], head.num_parts);
    EXPECT_EQ(task.page_groups, head.model.section.part_groups);
    const unsigned char* const block =
        known_.empty() ? bytes_.data() + block_at : table_.data() + stream_.known_at(chunk);
    const unsigned char* const fields = block + parsed.frame.head_at;
    EXPECT_EQ(task.part_checks(), fields + head.part_checks_at());
    if (!packed) return;
    EXPECT_EQ(task.directory, fields + head.part_ends_at);
    EXPECT_EQ(task.state_bytes, format::page_state_bytes(head.model.front, column));
    EXPECT_EQ(task.map, static_cast<int>(head.model.front.map));
    for (int lane = 0; lane < column.tuple; ++lane)
      EXPECT_EQ(task.orders != nullptr ? task.orders[lane] : task.order,
                head.model.front.orders[lane]);
    ASSERT_EQ(task.num_strides, head.model.front.num_strides);
    for (int link = 0; link < task.num_strides; ++link) {
      EXPECT_EQ(task.strides[link].stride, head.model.front.strides[link].stride);
      EXPECT_EQ(task.strides[link].order, head.model.front.strides[link].order);
    }
  }

  void expect_no_task(std::uint32_t at) const {
    EXPECT_EQ(tasks_[at].path, ColumnPath::none);
    EXPECT_EQ(tasks_[at].num_pages, 0u);
    EXPECT_EQ(tasks_[at].num_strides, 0);
    EXPECT_EQ(warp_pages_[at], 0u);
    EXPECT_EQ(map_pages_[at], 0u);
    EXPECT_EQ(block_pages_[at], 0u);
    EXPECT_EQ(parts_[at], 0u);
  }

  // Whether the stream has the head that the host has read, if it has read any.
  bool is_head_known(std::size_t chunk) const {
    if (known_.empty()) return true;
    const Bytes &block = chunks_[chunk].block, &known = known_[chunk].block;
    const auto parsed =
        format::parse_chunk_block(known, 0, known_[chunk].opaque ? byte_layout() : layout_);
    const auto head_bytes = static_cast<std::ptrdiff_t>(parsed->frame.payload_at());
    return std::equal(known.begin(), known.begin() + head_bytes, block.begin());
  }

  static constexpr std::uint32_t kStale = 99;
  const Layout& layout_;
  const std::vector<Chunk>& chunks_;
  const std::vector<Chunk>& known_;
  ChunkKinds kinds_;
  Stream stream_;
  GuardedBytes bytes_;
  GuardedBytes table_;
  unsigned char* const out_ = reinterpret_cast<unsigned char*>(0x1000000);  // nobody writes there
  std::uint32_t num_chunks_;
  std::uint32_t num_tasks_;
  std::vector<ColumnTask> tasks_;
  std::vector<MapTask> map_tasks_;
  std::vector<DictionaryTask> dictionaries_;
  std::vector<LaneMaps> lane_maps_;
  std::vector<ChunkVerdict> verdicts_;
  std::vector<unsigned long long> damaged_, differs_;
  std::vector<std::uint32_t> warp_pages_, map_pages_, block_pages_, parts_;
  std::vector<std::uint64_t> warp_starts_, map_starts_, block_starts_, part_starts_;
  unsigned long long ticket_ = kStale;
};

/// Returns how many chunks are ok.
int expect_parses_as_host(const Layout& layout, const std::vector<Chunk>& chunks,
                          std::size_t first_at, const ChunkKinds& kinds = {},
                          const std::vector<Chunk>& known = {}) {
  ParsedStream stream(layout, chunks, first_at, kinds, known);
  stream.launch();
  stream.expect_sums();
  return stream.expect_as_host();
}

constexpr const char* kRecords[] = {"i32x3", "u8", "u16x2,f32:be", "i32x5,u8,f64", "i64"};

TEST(ChunksSimulator, HeadsParseAsOnTheHostAtAnyAddress) {
  for (const char* record : kRecords) {
    const Layout layout = parse_record(record).value();
    const std::vector<Chunk> chunks = make_chunks(layout);
    for (const std::size_t first_at : {0, 1, 2, 7, 12, 15}) {
      EXPECT_GT(expect_parses_as_host(layout, chunks, first_at), 20);
      EXPECT_GT(expect_parses_as_host(layout, chunks, first_at, {}, chunks), 20);
    }
  }
}

// More than a warp has threads, and than go to shared memory.
TEST(ChunksSimulator, HeadsOfManyColumnsAreTaken) {
  for (const std::size_t columns : {4, 5, 33, 40}) {
    std::string record = "u16";
    for (std::size_t c = 1; c < columns; ++c) record += c % 7 == 3 ? ",i32" : ",u8";
    const Layout layout = parse_record(record).value();
    const auto one = [&](std::uint64_t records) {
      return make_chunk(layout, records, Pattern::smooth, pack_model(1, 2));
    };
    const std::vector<Chunk> chunks = {one(300), one(20), one(700)};
    EXPECT_EQ(expect_parses_as_host(layout, chunks, 3, {}, chunks), 3);
  }
}

TEST(ChunksSimulator, HeadsThatAreNotTheKnownOnesAreRefused) {
  for (const char* record : kRecords) {
    const Layout layout = parse_record(record).value();
    std::mt19937_64 random(6);
    const std::vector<Chunk> known = make_chunks(layout);
    for (int round = 0; round < 12; ++round) {
      std::vector<Chunk> chunks = known;
      for (Chunk& chunk : chunks) {
        // Mostly in the head, its ends included, now and then behind it.
        const auto parsed =
            format::parse_chunk_block(chunk.block, 0, chunk.opaque ? byte_layout() : layout);
        const std::size_t head_bytes = parsed->frame.payload_at();
        const std::size_t places[] = {0, head_bytes - 1, random() % head_bytes,
                                      random() % chunk.block.size(), head_bytes};
        const std::size_t at = std::min(places[random() % 5], chunk.block.size() - 1);
        chunk.block[at] ^= static_cast<std::byte>(1 << random() % 8);
      }
      const int good = expect_parses_as_host(layout, chunks, round, {}, known);
      EXPECT_LT(good, static_cast<int>(chunks.size()) / 2);
      EXPECT_GT(good, 0);
    }
  }
}

TEST(ChunksSimulator, FewChunksAreCountedAsMany) {
  for (const char* record : kRecords) {
    const Layout layout = parse_record(record).value();
    std::vector<Chunk> chunks = make_chunks(layout);
    ASSERT_GT(chunks.size(), 9u);
    for (const std::size_t count : {9, 5, 4, 3, 1}) {
      chunks.resize(count);
      for (const auto& known : {std::vector<Chunk>(), chunks}) {
        ParsedStream stream(layout, chunks, 5, {}, known);
        stream.launch();
        stream.expect_as_host();
        stream.expect_sums();
      }
    }
  }
}

TEST(ChunksSimulator, KindsThatAreNotLaunchedAreRefused) {
  for (const char* record : {"i32x3", "i32x5,u8,f64"}) {
    const Layout layout = parse_record(record).value();
    const std::vector<Chunk> chunks = make_chunks(layout);
    for (unsigned bits = 0; bits < 64; ++bits) {
      const ChunkKinds kinds = {.placed = (bits & 1) != 0,
                                .strides = (bits & 2) != 0,
                                .stride_pairs = (bits & 4) != 0,
                                .linear = (bits & 8) != 0,
                                .maps = (bits & 16) != 0,
                                .warp_pages = (bits & 32) != 0};
      expect_parses_as_host(layout, chunks, 6, kinds);
      expect_parses_as_host(layout, chunks, 6, kinds, chunks);
    }
  }
}

TEST(ChunksSimulator, MapsAreLeftToWarpsThatHaveWholeTuples) {
  const auto expect = [](const char* record, std::size_t num_steps, std::uint32_t page_groups,
                         bool left) {
    const Layout layout = parse_record(record).value();
    const Bytes values = make_values(layout, 700, Pattern::smooth);
    ChunkPlan plan;
    plan.columns = {pack_model(1, page_groups)};
    plan.maps.resize(1);
    for (std::size_t i = 0; i < num_steps; ++i)
      plan.maps[0].steps.push_back({1, 0, LaneStepKind::minus});
    const std::vector<Chunk> chunks = {{encode_chunk(values, layout, false, plan), values.size()}};
    const std::vector<Chunk> known;
    ParsedStream stream(layout, chunks, 6, {}, known);
    stream.launch();
    EXPECT_EQ(stream.leaves_maps_to_pages(), left) << record << ' ' << num_steps;
    stream.expect_sums();
  };
  expect("i32x4", 1, 2, true);
  expect("i16x2", 8, 2, true);
  expect("i16x2", 9, 2, false);
  expect("i32x5", 1, 2, false);
  expect("i32x2", 1, 40, false);  // by blocks
}

TEST(ChunksSimulator, WarpsTakeMoreThanOneChunk) {
  constexpr std::size_t kMostWarps = 4 * 4096;
  const Layout layout = parse_record("u8x2,u32").value();
  std::vector<Chunk> chunks;
  for (std::size_t i = 0; i < 7; ++i)
    chunks.push_back(make_chunk(layout, 140 + 260 * i,
                                i % 2 == 0 ? Pattern::equal : Pattern::smooth, pack_model(1, 1)));
  for (std::size_t i = 7; i < kMostWarps + 100; ++i) chunks.push_back(chunks[i * i % 7]);
  const std::vector<Chunk> known = chunks;
  for (std::size_t i = 0; i < chunks.size(); ++i)
    if (i * i % 7 == 4) chunks[i].block[3] ^= std::byte{1};
  EXPECT_GT(expect_parses_as_host(layout, chunks, 3), 10'000);
  EXPECT_GT(expect_parses_as_host(layout, chunks, 3, {}, known), 10'000);
}

/// Makes the head's check right again, if a head can still be told.
void repair(Bytes& block) {
  format::Cursor cursor{simulator::unsigned_bytes(block).data(), block.size()};
  format::BlockFrame frame;
  if (format::parse_block_frame(cursor, frame) != format::HeadError::none || cursor.left() < 4 ||
      frame.head_bytes > cursor.left() - 4)
    return;
  const std::uint64_t check_at = frame.check_at();
  format::store_le(reinterpret_cast<unsigned char*>(block.data()) + check_at, 4,
                   format::block_check(std::span(block).first(check_at)));
}

TEST(ChunksSimulator, FlippedBitsAndCutsAreJudgedAsOnTheHost) {
  for (const char* record : kRecords) {
    const Layout layout = parse_record(record).value();
    std::mt19937_64 random(5);
    std::vector<Chunk> damaged;
    for (const Chunk& chunk : make_chunks(layout)) {
      if (chunk.block.size() > 20'000) continue;
      const std::size_t most = 1 + chunk.block.size() / 20;
      for (std::size_t at = 0; at < chunk.block.size(); at += 1 + random() % most) {
        Chunk flipped = chunk;
        flipped.block[at] ^= static_cast<std::byte>(1 << random() % 8);
        damaged.push_back(flipped);
        repair(flipped.block);
        damaged.push_back(flipped);
        if (at == 0) continue;
        damaged.push_back(chunk);
        damaged.back().block.resize(at);
      }
    }
    for (std::size_t i = 0; i < damaged.size(); i += 200) {
      const auto first = damaged.begin() + static_cast<std::ptrdiff_t>(i);
      const std::vector<Chunk> some(first,
                                    first + std::min<std::ptrdiff_t>(200, damaged.end() - first));
      expect_parses_as_host(layout, some, i / 200 % 16);
    }
  }
}

// ---- Counts

/// Numbers at a multiple of 16 bytes, and some behind them that nobody may touch.
template <class Number>
GuardedBytes guarded(const std::vector<Number>& numbers) {
  return {{reinterpret_cast<const unsigned char*>(numbers.data()), numbers.size() * sizeof(Number)},
          0,
          true};
}

TEST(ChunksSimulator, PagesAreCountedAndTicketsCleared) {
  constexpr std::uint64_t kStale = 77;
  std::mt19937_64 random(3);
  for (const std::uint32_t num_tasks : {1, 7, 8, 9, 255, 257, 8191, 8192, 8193, 20'000}) {
    constexpr int kCounts = 4;
    std::vector<std::vector<std::uint32_t>> counts;
    std::vector<GuardedBytes> guarded_counts, guarded_starts;
    for (int i = 0; i < kCounts; ++i) {
      auto& numbers = counts.emplace_back(num_tasks);
      for (std::uint32_t& number : numbers)
        number = random() % 3 == 0 ? 0 : random() % 5 == 0 ? ~0u : random() % 1000;
      guarded_counts.push_back(guarded(numbers));
      guarded_starts.push_back(guarded(std::vector<std::uint64_t>(num_tasks + 2, kStale)));
    }
    std::vector<unsigned long long> tickets(1500, kStale);
    const auto counts_at = [&](int i) {
      return reinterpret_cast<std::uint32_t*>(guarded_counts[i].data());
    };
    const auto starts_at = [&](int i) {
      return reinterpret_cast<std::uint64_t*>(guarded_starts[i].data());
    };
    ASSERT_EQ(
        launch_count_pages({.counts = {counts_at(0), counts_at(1), counts_at(2), counts_at(3)},
                            .num_tasks = num_tasks,
                            .warp_starts = starts_at(0),
                            .map_starts = starts_at(1),
                            .block_starts = starts_at(2),
                            .part_starts = starts_at(3),
                            .tickets = tickets.data(),
                            .num_tickets = 1400},
                           nullptr),
        cudaSuccess);
    for (int i = 0; i < kCounts; ++i) {
      std::uint64_t sum = 0;
      for (std::uint32_t k = 0; k < num_tasks; sum += counts[i][k++])
        ASSERT_EQ(starts_at(i)[k], sum) << num_tasks << " tasks, count " << i << " of " << k;
      EXPECT_EQ(starts_at(i)[num_tasks], sum);
      EXPECT_EQ(starts_at(i)[num_tasks + 1], kStale);
    }
    for (std::size_t i = 0; i < tickets.size(); ++i) ASSERT_EQ(tickets[i], i < 1400 ? 0 : kStale);
  }
}

}  // namespace
}  // namespace gdelta::cuda
