// Calls with tasks that the host has made: they decode without a kernel that looks at heads, and look at those before they say
// that chunks are right.
#ifdef GDELTA_HAS_CUDA
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>

#include "codec/cuda/container/place_tasks_cuda.h"
#include "codec/cuda/container/take_heads_cuda.h"
#include "codec/cuda/cuda_cases.h"
#include "codec/cuda/device_layout.h"
#include "codec/cuda/scratch_layout.h"
#include "codec/stream/segment_cases.h"
#include "formats/gdelta/column_head.h"

namespace gdelta::test {
namespace {

struct ReadyStream {
  ReadyStream(const char* record, const Bytes& values, Coder coder, std::uint64_t chunk_bytes = 0) {
    EncodeOptions options;
    options.layout = parse_record(record).value();
    options.level = 1;
    options.coder = coder;
    options.chunk_bytes = chunk_bytes;
    options.device = "cpu";
    bytes = compress(values, options).value();
    info = inspect(bytes).value();
    table = make_chunk_table(info).value();
    table.prepared_pages.clear();
  }

  /// With no models that a kernel could make tasks of.
  ChunkTable without_models() const {
    ChunkTable blank = table;
    for (std::uint64_t i = 0; i < blank.num_chunks; ++i) {
      cuda::KnownChunk known;
      std::memcpy(&known, blank.bytes.data() + blank.heads_at + i * sizeof known, sizeof known);
      std::memset(blank.bytes.data() + known.models_at, 0,
                  blank.layout.columns.size() * sizeof(format::ColumnHead));
    }
    return blank;
  }

  Bytes bytes;
  StreamInfo info;
  ChunkTable table;
};

Bytes decimals(const char* record, std::uint64_t records) {
  const Layout layout = parse_record(record).value();
  std::mt19937_64 random(7);
  Bytes values;
  std::int64_t at = 100'000;
  for (std::uint64_t r = 0; r < records; ++r) {
    for (const Column& column : layout.columns) {
      for (int lane = 0; lane < column.tuple; ++lane) {
        at += static_cast<std::int64_t>(random() % 15) - 7;
        const double value = static_cast<double>(at) / 100;
        std::uint64_t word = 0;
        if (column.type == ValueType::f64) {
          std::memcpy(&word, &value, 8);
        } else if (column.type == ValueType::f32) {
          const auto shorter = static_cast<float>(value);
          std::memcpy(&word, &shorter, 4);
        } else {
          word = static_cast<std::uint64_t>(at + lane * 1000);
        }
        put_value(values, word, value_bytes(column.type), column.big_endian);
      }
    }
  }
  return values;
}

void expect_range(const ReadyStream& stream, const ChunkTable& table, const Bytes& values,
                  std::size_t first, std::size_t count, bool verify, const std::string& what) {
  const std::uint64_t begin = stream.info.chunks[first].decoded_at;
  std::uint64_t bytes = 0;
  for (std::size_t i = first; i < first + count; ++i) bytes += stream.info.chunks[i].decoded_bytes;
  RangeOnDevice range(stream.bytes, table, first, count, count * table.largest_chunk, 3);
  range.decode.verify = verify;
  range.run();
  for (const ChunkStatus& status : range.chunk_status())
    ASSERT_EQ(status.code, static_cast<int>(Errc::ok)) << what << ", byte " << status.byte;
  const Bytes out = range.out.to_host();
  ASSERT_TRUE(std::equal(out.begin() + 3, out.begin() + 3 + static_cast<std::ptrdiff_t>(bytes),
                         values.begin() + static_cast<std::ptrdiff_t>(begin)))
      << what;
}

TEST(CudaReadySmall, TasksOfTheHostAreEnough) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"i32", "f32", "f64", "i32x2", "f32x3", "i16x4", "i32x7", "f32x7",
                             "i32x2,f64", "u8,f32:be,i64x3"}) {
    for (const Coder coder : {Coder::pack, Coder::ans}) {
      const Bytes values = decimals(record, 9001);
      const ReadyStream stream(record, values, coder, 31 * 1000);
      const std::string what = std::string(record) + ", coder " + std::to_string(int(coder));
      const ChunkTable table = stream.without_models();
      ASSERT_GT(table.ready.at, 0u) << what;
      const std::size_t chunks = table.num_chunks;
      ASSERT_GT(chunks, 1u) << what;
      for (const bool verify : {false, true}) {
        expect_range(stream, table, values, 0, chunks, verify, what);
        expect_range(stream, table, values, 1, chunks - 1, verify, what);
        expect_range(stream, table, values, chunks - 1, 1, verify, what);
      }
    }
  }
}

/// What kernels leave for all chunks of a table, in memory that was zero.
class LeftTasks {
 public:
  LeftTasks(const Bytes& stream, const ChunkTable& chunks, bool verify)
      : chunks_(chunks),
        layout_(cuda::make_device_layout(chunks.layout, chunks.lengths > 0)),
        stream_(stream),
        table_(chunks.bytes),
        num_tasks_(layout_.num_slots * chunks.num_chunks) {
    cuda::ScratchLayout sizes;
    take(sizes, verify);
    memory_ = std::make_unique<DeviceBytes>(sizes.bytes(), 0);
    cuda::ScratchLayout places(reinterpret_cast<unsigned char*>(memory_->data()));
    take(places, verify);
  }

  /// By the kernel that looks at heads, or the one that places tasks: what both leave alike, without counts, verdicts, and parts of
  /// which nobody asks.
  Bytes left_by(bool places) const {
    GDELTA_CUDA_OK(cudaMemset(memory_->data(), 0, memory_->size()));
    const cuda::ParseArgs& from = args_;
    if (places) {
      GDELTA_CUDA_OK(cuda::launch_place_tasks(
          from,
          {.places = cuda::ready_places(chunks_.ready.at, layout_.num_slots, chunks_.num_chunks,
                                        chunks_.ready.kinds.maps, chunks_.ready.kinds.segments),
           .heads_at = chunks_.heads_at,
           .table_chunks = chunks_.num_chunks},
          nullptr));
    } else {
      GDELTA_CUDA_OK(cuda::launch_take_heads(from, chunks_.heads_at, nullptr));
    }
    GDELTA_CUDA_OK(cudaDeviceSynchronize());
    Bytes left = memory_->to_host();
    clear_last_bytes(left, from.map_tasks, num_tasks_);
    if (from.segments.chunks != nullptr)
      clear_last_bytes(left, from.segments.chunks, chunks_.num_chunks);
    left.resize(compared_bytes_);
    return left;
  }

 private:
  void take(cuda::ScratchLayout& layout, bool verify) {
    const std::uint64_t chunks = chunks_.num_chunks, starts = num_tasks_ + 1;
    const bool segments = chunks_.lengths > 0;
    args_ = {};
    args_.stream = reinterpret_cast<const unsigned char*>(stream_.data());
    args_.stream_bytes = stream_.size();
    args_.table = reinterpret_cast<const unsigned char*>(table_.data());
    args_.num_chunks = static_cast<std::uint32_t>(chunks);
    args_.num_slots = layout_.num_slots;
    args_.out = reinterpret_cast<unsigned char*>(0x1000000);  // nobody writes there
    args_.out_bytes = chunks_.decoded_bytes;
    args_.kinds = chunks_.ready.kinds;
    if (layout_.apart)
      args_.apart = {reinterpret_cast<unsigned char*>(0x2000000), chunks_.decoded_bytes};
    args_.verify = verify;
    args_.tasks = layout.take<cuda::ColumnTask>(num_tasks_);
    args_.map_tasks = layout.take<cuda::MapTask>(num_tasks_);
    args_.damaged_at = layout.take<unsigned long long>(chunks);
    args_.differs_at = layout.take<unsigned long long>(chunks);
    cuda::CountArgs& count = args_.count;
    count.num_tasks = static_cast<std::uint32_t>(num_tasks_);
    count.warp_starts = layout.take<std::uint64_t>(starts);
    count.map_starts = layout.take<std::uint64_t>(starts);
    count.block_starts = layout.take<std::uint64_t>(starts);
    if (verify) count.part_starts = layout.take<std::uint64_t>(starts);
    count.tickets = layout.take<unsigned long long>(layout_.classes.size());
    count.num_tickets = static_cast<std::uint32_t>(layout_.classes.size());
    if (segments) {
      count.segment_starts = layout.take<std::uint64_t>(starts);
      args_.segments.chunks = layout.take<cuda::SegmentedChunk>(chunks);
    }
    compared_bytes_ = layout.bytes();
    if (!verify) count.part_starts = layout.take<std::uint64_t>(starts);  // nobody asks for them
    if (segments) {
      args_.segments.room = cuda::lengths_place(chunks_.lengths, chunks + 1);
      args_.segments.lengths = layout.take<std::uint32_t>(args_.segments.room);
      args_.segments.starts = layout.take<std::uint32_t>(args_.segments.room);
      args_.segments.residual_bytes = chunks_.decoded_bytes;
      args_.segments.residuals = layout.take<unsigned char>(64);
      args_.segments.num_offsets = chunks_.lengths + 1;
      args_.segments.offsets = layout.take<std::uint64_t>(args_.segments.num_offsets);
      args_.segments.slot = layout_.num_slots - 1;
      count.counts.segment_pages = layout.take<std::uint32_t>(num_tasks_);
    }
    args_.lane_maps = layout.take<LaneMaps>(num_tasks_);
    args_.verdicts = layout.take<cuda::ChunkVerdict>(chunks);
    count.counts.warp_pages = layout.take<std::uint32_t>(num_tasks_);
    count.counts.map_pages = layout.take<std::uint32_t>(num_tasks_);
    count.counts.block_pages = layout.take<std::uint32_t>(num_tasks_);
    count.counts.parts = layout.take<std::uint32_t>(num_tasks_);
  }

  // They are no part of any member.
  template <class Record>
  void clear_last_bytes(Bytes& left, const Record* records, std::uint64_t count) const {
    const auto* const begin = reinterpret_cast<const std::byte*>(records);
    for (std::uint64_t i = 1; i <= count; ++i)
      left[static_cast<std::size_t>(begin - memory_->data()) + i * sizeof(Record) - 1] = {};
  }
  static_assert(offsetof(cuda::MapTask, undone_before) == sizeof(cuda::MapTask) - 2 &&
                offsetof(cuda::SegmentedChunk, right) == sizeof(cuda::SegmentedChunk) - 2);

  const ChunkTable& chunks_;
  cuda::DeviceLayout layout_;
  DeviceBytes stream_, table_;
  std::uint64_t num_tasks_;
  std::unique_ptr<DeviceBytes> memory_;
  std::size_t compared_bytes_ = 0;
  cuda::ParseArgs args_;
};

TEST(CudaReadySmall, TasksAreThoseThatKernelsMake) {
  GDELTA_NEEDS_GPU();
  std::vector<std::uint64_t> offsets = {0};
  while (offsets.size() < 700) offsets.push_back(offsets.back() + offsets.size() % 29);
  for (const char* record : {"f32x2", "i32x3", "u8,f64:be,i16x6"}) {
    for (const Coder coder : {Coder::pack, Coder::ans}) {
      for (const bool segments : {false, true}) {
        EncodeOptions options = encode_on_cpu(record);
        options.coder = coder;
        options.chunk_bytes = 20000;
        const Bytes values = decimals(record, offsets.back());
        const Bytes stream = segments ? compress_segments(offsets, values, options).value()
                                      : compress(values, options).value();
        const ChunkTable table = make_chunk_table(inspect(stream).value()).value();
        ASSERT_GT(table.ready.at, 0u);
        for (const bool verify : {false, true}) {
          const LeftTasks tasks(stream, table, verify);
          const Bytes made = tasks.left_by(false), placed = tasks.left_by(true);
          const auto differs = std::mismatch(made.begin(), made.end(), placed.begin());
          EXPECT_TRUE(differs.first == made.end())
              << record << ", coder " << int(coder) << (segments ? ", segments" : "")
              << (verify ? ", verified" : "") << ", byte " << differs.first - made.begin();
        }
      }
    }
  }
}

TEST(CudaReadySmall, TasksAreThoseOfEqualAndRawColumnsToo) {
  GDELTA_NEEDS_GPU();
  const char* const record = "i32,u16,i64";
  std::mt19937_64 random(1);
  Bytes values;
  for (int i = 0; i < 5000; ++i) {
    put_value(values, static_cast<std::uint64_t>(i) * 3, 4, false);
    put_value(values, 77, 2, false);
    put_value(values, random(), 8, false);
  }
  const ReadyStream stream(record, values, Coder::pack, 14 * 700);
  ASSERT_GT(stream.table.ready.at, 0u);
  ASSERT_TRUE(stream.table.ready.kinds.placed);
  expect_range(stream, stream.without_models(), values, 2, 4, true, record);
}

// Of a range in the middle, too, and whether offsets are asked for or not.
TEST(CudaReadySmall, TasksAreThoseOfSegmentsToo) {
  GDELTA_NEEDS_GPU();
  std::mt19937_64 random(11);
  std::vector<std::uint64_t> offsets = {0};
  while (offsets.size() < 900) offsets.push_back(offsets.back() + random() % 40 * (random() % 3));
  for (const char* record : {"u32x2", "i64", "i16x5,u32"}) {
    for (const Coder coder : {Coder::pack, Coder::ans}) {
      const std::string what = std::string(record) + ", coder " + std::to_string(int(coder));
      EncodeOptions options = encode_on_cpu(record);
      options.order = 2;
      options.coder = coder;
      options.chunk_bytes = 9000;
      const Bytes values = decimals(record, offsets.back());
      const Bytes bytes = compress_segments(offsets, values, options).value();
      const StreamInfo info = inspect(bytes).value();
      const ChunkTable ready = make_chunk_table(info).value();
      ASSERT_GT(ready.ready.at, 0u) << what;
      ASSERT_TRUE(ready.ready.kinds.segments) << what;
      ASSERT_GT(ready.num_chunks, 4u) << what;
      ChunkTable plain = ready;
      plain.ready = {};
      for (const std::size_t first : {0, 1, 3}) {
        const std::size_t count = ready.num_chunks - first - (first == 1 ? 1 : 0);
        std::uint64_t decoded_bytes = 0;
        for (std::size_t i = 0; i < count; ++i)
          decoded_bytes += info.chunks[first + i].decoded_bytes;
        std::vector<Bytes> outs, all_offsets;
        for (const ChunkTable& table : {ready, plain}) {
          for (const bool asks : {false, true}) {
            RangeOnDevice range(bytes, table, first, count, count * table.largest_chunk, 0);
            const DeviceBytes room(offsets.size() * 8);
            if (asks) range.decode.offsets = reinterpret_cast<std::uint64_t*>(room.data());
            range.decode.num_offsets = offsets.size();
            range.run();
            for (const ChunkStatus& status : range.chunk_status())
              ASSERT_EQ(status.code, static_cast<int>(Errc::ok)) << what;
            outs.push_back(range.out.to_host());
            outs.back().resize(decoded_bytes);
            if (asks) all_offsets.push_back(room.to_host());
          }
        }
        const auto begin = static_cast<std::ptrdiff_t>(info.chunks[first].decoded_at);
        for (const Bytes& out : outs)
          ASSERT_TRUE(std::equal(out.begin(), out.end(), values.begin() + begin)) << what;
        ASSERT_TRUE(all_offsets[0] == all_offsets[1]) << what << " from chunk " << first;
      }
    }
  }
}

TEST(CudaReadySmall, HeadsAreLookedAtAllTheSame) {
  GDELTA_NEEDS_GPU();
  const Bytes values = decimals("f32x2", 6000);
  const ReadyStream stream("f32x2", values, Coder::pack, 16000);
  const ChunkTable table = stream.without_models();
  ASSERT_EQ(table.num_chunks, 3u);
  const ChunkInfo& chunk = stream.info.chunks[1];
  for (std::size_t i = 0; i < chunk.head.size(); ++i) {
    Bytes changed = stream.bytes;
    changed[chunk.byte + i] ^= static_cast<std::byte>(1u << i % 8);
    RangeOnDevice range(changed, table, 0, 3, values.size(), 0);
    range.run();
    const std::vector<ChunkStatus> status = range.chunk_status();
    ASSERT_EQ(status[0].code, static_cast<int>(Errc::ok)) << "byte " << i;
    ASSERT_EQ(status[1].code, static_cast<int>(Errc::corrupt)) << "byte " << i;
    ASSERT_EQ(status[1].byte, chunk.byte) << "byte " << i;
    ASSERT_EQ(status[2].code, static_cast<int>(Errc::ok)) << "byte " << i;
    ASSERT_TRUE(std::equal(values.begin(), values.begin() + 16000, range.out.to_host().begin()));
  }
}

// Places that do not lie in the stream or the output are found by the kernel that looks at heads.
TEST(CudaReadySmall, AreNotTakenWhereSomethingIsMissing) {
  GDELTA_NEEDS_GPU();
  const Bytes values = decimals("f32x2", 6000);
  const ReadyStream stream("f32x2", values, Coder::pack, 16000);
  ASSERT_EQ(stream.table.num_chunks, 3u);
  const auto status_of = [&](std::size_t stream_bytes, std::uint64_t room,
                             const ChunkTable& table) {
    Bytes cut = stream.bytes;
    cut.resize(stream_bytes);
    RangeOnDevice range(cut, table, 0, 3, room, 0);
    range.run();
    return range.chunk_status();
  };
  const std::size_t all = stream.bytes.size();
  for (const std::uint64_t room : {values.size(), values.size() - 1, std::size_t{16000}}) {
    const auto status = status_of(all, room, stream.table);
    EXPECT_EQ(status[0].code, static_cast<int>(Errc::ok));
    const Errc last = room == values.size() ? Errc::ok : Errc::output_too_small;
    EXPECT_EQ(status[2].code, static_cast<int>(last)) << "room " << room;
  }
  const std::uint64_t end = stream.info.chunks[2].byte + stream.info.chunks[2].block_bytes;
  for (const std::uint64_t left : {end, end - 1, stream.info.chunks[2].byte}) {
    const auto status = status_of(left, values.size(), stream.table);
    EXPECT_EQ(status[0].code, static_cast<int>(Errc::ok));
    const Errc last = left == end ? Errc::ok : Errc::truncated;
    EXPECT_EQ(status[2].code, static_cast<int>(last)) << "left " << left;
  }
  ChunkTable denied = stream.table;
  denied.kinds.warp_pages = false;
  for (const ChunkStatus& status : status_of(all, values.size(), denied))
    EXPECT_EQ(status.code, static_cast<int>(Errc::corrupt));
}

TEST(CudaReadySmall, AreMadeUnlessKernelsHaveToLookMore) {
  const auto is_ready = [](const char* record, const Bytes& values, const auto& change) {
    EncodeOptions options;
    options.layout = parse_record(record).value();
    options.level = 1;
    options.device = "cpu";
    change(options);
    StreamInfo info = inspect(compress(values, options).value()).value();
    return make_chunk_table(info).value().ready.at > 0;
  };
  const auto as_it_is = [](EncodeOptions&) {};
  const Bytes values = decimals("f32x2", 6000);
  EXPECT_TRUE(is_ready("f32x2", values, as_it_is));
  EXPECT_TRUE(is_ready("u32x2", values, [](EncodeOptions& o) { o.coder = Coder::ans; }));
  EXPECT_TRUE(is_ready("u32x2", values, [](EncodeOptions& o) { o.coder = Coder::raw; }));
  EXPECT_FALSE(is_ready("u32x2", values, [](EncodeOptions& o) { o.coder = Coder::zstd; }));
  // Lanes of few values become indices, and eight columns have nine slots with that of opaque chunks.
  Bytes few;
  std::mt19937_64 random(5);
  constexpr std::uint64_t kFew[] = {0x123456789abcdef1, 0x2b992ddfa23249d6, 0x3c6ef372fe94f82a};
  for (int i = 0; i < 9000; ++i) put_value(few, kFew[random() % 3], 8, false);
  EXPECT_FALSE(is_ready("i64", few, as_it_is));
  EXPECT_TRUE(is_ready("u8,u8,u8,u8,u8,u8,u8", Bytes(7000), as_it_is));
  EXPECT_FALSE(is_ready("u8,u8,u8,u8,u8,u8,u8,u8", Bytes(8000), as_it_is));
}

}  // namespace
}  // namespace gdelta::test
#endif
