// Chunks that say their segments: the device gives values and offsets of the CPU, and its errors.
#ifdef GDELTA_HAS_CUDA
#include <array>

#include "codec/backend/backend.h"
#include "codec/cuda/cuda_cases.h"
#include "codec/faults/fault_cases.h"
#include "codec/stream/segment_cases.h"
#include "codec/stream/segment_cutter.h"
#include "formats/foreign_samples.h"
#include "golden/golden_cases.h"
#include "stages/registry.h"

namespace gdelta::test {
namespace {

/// A range of chunks of a stream, decoded through the device API; without tasks that the host has made, if not told otherwise.
struct RaggedOutcome {
  std::vector<ChunkStatus> status;
  Bytes values;
  std::vector<std::uint64_t> offsets;
};

constexpr std::uint64_t kUntouched = 0xa5a5a5a5a5a5a5a5;

RaggedOutcome decode_ragged(const Bytes& stream, const StreamInfo& info, std::size_t first,
                            std::size_t count, std::size_t skew = 0, bool with_tasks = false) {
  RaggedOutcome outcome;
  auto table = make_chunk_table(info);
  EXPECT_TRUE(table) << table.error().to_string();
  if (!table) return outcome;
  if (!with_tasks) table->ready = {};
  std::uint64_t out_bytes = 0, segments = 0;
  for (std::size_t i = first; i < first + count; ++i) {
    const ChunkInfo& chunk = info.chunks[i];
    out_bytes += chunk.decoded_bytes;
    segments += chunk.segments - (chunk.continues ? 1 : 0);
  }
  outcome.offsets.resize(segments + 1);
  RangeOnDevice range(stream, *table, first, count, out_bytes, skew);
  const DeviceBytes offsets(outcome.offsets.size() * 8);
  range.decode.offsets = reinterpret_cast<std::uint64_t*>(offsets.data());
  range.decode.num_offsets = outcome.offsets.size();
  range.run();
  outcome.status = range.chunk_status();
  std::memcpy(outcome.offsets.data(), offsets.to_host().data(), offsets.size());
  const Bytes decoded = range.out.to_host();
  outcome.values.assign(decoded.begin() + static_cast<std::ptrdiff_t>(skew), decoded.end());
  return outcome;
}

StreamInfo info_of(const Bytes& stream) {
  InspectOptions options;
  options.models = true;
  return inspect(stream, options).value();
}

void expect_ragged(const Bytes& stream, const std::vector<std::uint64_t>& offsets,
                   const Bytes& values, const std::string& what, std::size_t skew = 0) {
  const StreamInfo info = info_of(stream);
  for (const bool with_tasks : {false, true}) {
    const RaggedOutcome outcome =
        decode_ragged(stream, info, 0, info.chunks.size(), skew, with_tasks);
    for (std::size_t i = 0; i < outcome.status.size(); ++i)
      ASSERT_EQ(outcome.status[i].code, static_cast<int>(Errc::ok))
          << what << " chunk " << i << " byte " << outcome.status[i].byte - info.chunks[i].byte
          << " of its block";
    EXPECT_TRUE(outcome.values == values) << what;
    if (!info.chunks.empty()) {
      EXPECT_EQ(outcome.offsets, offsets) << what;
    }
  }
}

/// Chunks of a stream as the CPU has cut them, with what they hold.
struct CutChunks {
  std::vector<Bytes> values;
  std::vector<std::vector<std::uint32_t>> lengths;
  std::vector<EncodeJob> jobs;
};

CutChunks cut_chunks(const Segmentation& segments, const Layout& layout, std::uint64_t bytes) {
  CutChunks cut;
  SegmentCutter cutter(bytes, layout.record_bytes());
  const Bytes values = layout.columns.size() == 1
                           ? rising_values(segments, layout)
                           : make_values(layout, segments.records(), Pattern::smooth);
  std::vector<SegmentChunk> chunks;
  std::span<const std::byte> left = values;
  for (const std::uint64_t length : segments.lengths) {
    std::span<const std::byte> mine =
        left.first(static_cast<std::size_t>(length * layout.record_bytes()));
    left = left.subspan(mine.size());
    while (!mine.empty()) {
      mine = mine.subspan(cutter.write(mine));
      if (!mine.empty()) chunks.push_back(cutter.take_chunk());
    }
    if (cutter.end_segment()) continue;
    chunks.push_back(cutter.take_chunk());
    cutter.end_segment();
  }
  if (cutter.has_chunk()) chunks.push_back(cutter.take_chunk());
  for (SegmentChunk& chunk : chunks) {
    cut.values.push_back(std::move(chunk.values));
    cut.lengths.push_back(std::move(chunk.lengths));
    EncodeJob& job = cut.jobs.emplace_back();
    job.segments.continues = chunk.continues;
    job.segments.goes_on = chunk.goes_on;
  }
  for (std::size_t i = 0; i < cut.jobs.size(); ++i) {
    cut.jobs[i].values = cut.values[i];
    cut.jobs[i].segments.lengths = cut.lengths[i];
  }
  return cut;
}

EncodeOptions for_device(const char* record, std::uint64_t chunk_bytes) {
  EncodeOptions options = encode_on_cpu(record);
  options.device_decodable = true;
  options.chunk_bytes = chunk_bytes;
  return options;
}

TEST(CudaSegmentsSmall, EverySegmentationComesBackAtEveryOrder) {
  GDELTA_NEEDS_GPU();
  for (const Segmentation& segments : segmentations())
    for (const char* record : {"u32", "i16x3", "u64:be"})
      for (int order = 0; order <= kMaxOrder; ++order) {
        EncodeOptions options = for_device(record, 9000);
        options.order = order;
        if (order <= 2) options.coder = Coder::pack;  // summed in its pages
        const Bytes values = rising_values(segments, *options.layout);
        expect_ragged(compress_segments(segments.offsets(), values, options).value(),
                      segments.offsets(), values,
                      segments.name + " " + record + " " + std::to_string(order));
      }
}

TEST(CudaSegmentsSmall, EveryTypeComesBackAtEveryLevelAndAddress) {
  GDELTA_NEEDS_GPU();
  const Segmentation segments = segmentations().back();
  std::size_t skew = 0;
  for (const char* record : {"u32", "i8x3", "u8", "i16x2", "u16:be", "i24x2", "u24:be", "i64:bex2",
                             "f16", "bf16x3", "f32:bex3", "f64", "u32x17", "i16x64"})
    for (const int level : {1, 5}) {
      EncodeOptions options = for_device(record, 20000);
      options.level = level;
      const Bytes values = rising_values(segments, *options.layout);
      expect_ragged(compress_segments(segments.offsets(), values, options).value(),
                    segments.offsets(), values, std::string(record) + " " + std::to_string(level),
                    skew++ % 16);
    }
}

// Columns that are predicted inside segments are the host's, others the device packs.
TEST(CudaSegmentsSmall, AreEncodedToTheBytesOfTheCpu) {
  GDELTA_NEEDS_GPU();
  const auto gpu = make_cuda_backend({0}, 2);
  ASSERT_TRUE(gpu) << gpu.error().to_string();
  const auto cpu = make_cpu_backend(2);
  for (const Segmentation& segments : segmentations())
    for (const char* record : {"u32", "i16x3", "u8,f32", "i64"}) {
      const Layout layout = parse_record(record).value();
      CutChunks by_gpu = cut_chunks(segments, layout, 9000);
      CutChunks by_cpu = cut_chunks(segments, layout, 9000);
      for (CutChunks* cut : {&by_gpu, &by_cpu})
        for (EncodeJob& job : cut->jobs) job.layout = &layout;
      for (const int level : {1, 2, 5})
        for (const std::optional<int> order : {std::optional<int>(), std::optional<int>(1)}) {
          const EncodeSettings settings{.level = level, .order = order};
          ProgressMeter progress;
          ASSERT_TRUE((*gpu)->encode(by_gpu.jobs, settings, progress));
          ASSERT_TRUE(cpu->encode(by_cpu.jobs, settings, progress));
          for (std::size_t i = 0; i < by_cpu.jobs.size(); ++i)
            ASSERT_TRUE(by_gpu.jobs[i].block == by_cpu.jobs[i].block)
                << segments.name << " " << record << " -" << level << " chunk " << i;
        }
    }
}

// Longer than a tile, and heads, too.
TEST(CudaSegmentsSmall, SegmentsGoThroughTiles) {
  GDELTA_NEEDS_GPU();
  std::vector<std::uint64_t> uneven;
  for (std::uint64_t k = 0; k < 9000; ++k) uneven.push_back(k % 5 == 0 ? 0 : k % 3 + 1);
  const std::vector<Segmentation> all = {
      {"one of each tile and more", {8191, 8192, 8193, 1, 20000}},
      {"one through forty pages", {5, 180000, 7}},
      {"many heads", uneven}};
  for (const Segmentation& segments : all)
    for (const char* record : {"u32", "u64x2"})
      for (const int order : {1, 2, 3})
        for (const Coder coder : {Coder::pack, Coder::ans}) {
          EncodeOptions options = for_device(record, 1 << 20);
          options.order = order;
          options.coder = coder;
          const Bytes values = rising_values(segments, *options.layout);
          expect_ragged(compress_segments(segments.offsets(), values, options).value(),
                        segments.offsets(), values, segments.name + " " + record);
        }
}

// Segments of one record stand before tuples by hundreds, and fill more than the room of a tile.
TEST(CudaSegmentsSmall, ManyHeadsStandBeforeATuple) {
  GDELTA_NEEDS_GPU();
  Segmentation segments{"", {}};
  for (const std::uint64_t ones : {125, 126, 127, 128, 200, 255, 256, 300, 3000, 31, 32, 33}) {
    segments.lengths.insert(segments.lengths.end(), ones, 1);
    segments.lengths.push_back(ones % 7 + 2);
    segments.lengths.push_back(2 * ones);
  }
  for (const char* record : {"u32", "u64", "i16", "i16x3", "u32x2"})
    for (const int order : {0, 1, 2}) {
      EncodeOptions options = for_device(record, 1 << 20);
      options.order = order;
      options.coder = Coder::pack;
      const Bytes values = rising_values(segments, *options.layout);
      expect_ragged(compress_segments(segments.offsets(), values, options).value(),
                    segments.offsets(), values, std::string(record) + std::to_string(order));
    }
}

// Pages begin anywhere in segments. Values lie at multiples of eight bytes, of their width, and at none.
TEST(CudaSegmentsSmall, PagesBeginAnywhereInSegments) {
  GDELTA_NEEDS_GPU();
  Segmentation segments{"", {}};
  std::uint32_t random = 1;
  for (std::uint64_t records = 0; records < 70000; records += segments.lengths.back()) {
    random = random * 1664525 + 1013904223;
    const std::uint32_t most = records < 50000 ? 64 : 1500;
    segments.lengths.push_back((random >> 8) % most);
  }
  std::size_t skew = 0;
  for (const char* record : {"u32", "i16", "u64", "i16x3", "u32x2", "u32:be"})
    for (const int order : {0, 1, 2}) {
      EncodeOptions options = for_device(record, 150000);
      options.order = order;
      options.coder = Coder::pack;
      const Bytes values = rising_values(segments, *options.layout);
      expect_ragged(compress_segments(segments.offsets(), values, options).value(),
                    segments.offsets(), values, std::string(record) + std::to_string(order),
                    std::array<std::size_t, 4>{0, 4, 8, 1}[skew++ % 4]);
    }
}

// Groups have more exceptions than threads that scatter them, and of several bytes.
TEST(CudaSegmentsSmall, ManyExceptionsComeBack) {
  GDELTA_NEEDS_GPU();
  Segmentation segments{"", {}};
  for (std::uint64_t k = 0; k < 300; ++k) segments.lengths.push_back(k * 7 % 120);
  for (const char* record : {"u32", "u64", "i16", "u16x2", "u32x3"})
    for (const std::uint32_t seldom : {3u, 9u, 40u}) {
      EncodeOptions options = for_device(record, 60000);
      options.order = 1;
      options.coder = Coder::pack;
      const Column& column = options.layout->columns[0];
      const auto width = static_cast<std::size_t>(value_bytes(column.type));
      Bytes values;
      std::uint32_t random = seldom;
      std::vector<std::uint64_t> lanes(column.tuple);
      for (std::uint64_t record_number = 0; record_number < segments.records(); ++record_number)
        for (std::uint64_t& lane : lanes) {
          random = random * 1664525 + 1013904223;
          const bool is_far = (random >> 10) % seldom == 0;
          lane += is_far ? random >> (random % 3 * 8) : random >> 29;
          const auto* const bytes = reinterpret_cast<const std::byte*>(&lane);
          values.insert(values.end(), bytes, bytes + width);
        }
      expect_ragged(compress_segments(segments.offsets(), values, options).value(),
                    segments.offsets(), values, std::string(record) + std::to_string(seldom));
    }
}

TEST(CudaSegmentsSmall, SegmentsOfOneRecordComeBack) {
  GDELTA_NEEDS_GPU();
  Segmentation segments{"", std::vector<std::uint64_t>(30000, 1)};
  for (std::size_t k = 7; k < segments.lengths.size(); k += 50) segments.lengths[k] = 0;
  for (const char* record : {"u32", "u64:be", "i16", "f32x3", "i16x4"})
    for (const int level : {1, 5}) {
      EncodeOptions options = for_device(record, 1 << 20);
      options.level = level;
      options.coder = Coder::pack;
      for (const bool rises : {true, false}) {
        Bytes values = rising_values(segments, *options.layout);
        for (std::size_t i = 0; i < values.size() && !rises; ++i)
          values[i] = static_cast<std::byte>(i * i >> 7);
        expect_ragged(compress_segments(segments.offsets(), values, options).value(),
                      segments.offsets(), values, std::string(record) + std::to_string(level));
      }
    }
}

TEST(CudaSegmentsSmall, GoldenStreamsComeBack) {
  GDELTA_NEEDS_GPU();
  int decoded = 0;
  std::vector<std::string> by_host;
  for (const plain::GoldenCase& golden : plain::golden_cases()) {
    if (!golden.name.starts_with("segments_")) continue;
    const SegmentedValues expected = decompress_segments(golden.stream, decode_on_cpu()).value();
    const StreamInfo info = info_of(golden.stream);
    const RaggedOutcome outcome = decode_ragged(golden.stream, info, 0, info.chunks.size());
    if (outcome.status[0].code == static_cast<int>(Errc::needs_host)) {
      by_host.push_back(golden.name);
      continue;
    }
    expect_ragged(golden.stream, expected.offsets, golden.values, golden.name);
    ++decoded;
  }
  EXPECT_GT(decoded, 25);
  EXPECT_EQ(by_host, (std::vector<std::string>{"segments_of_orders_per_lane", "segments_by_zstd",
                                               "segments_with_states_of_order_8",
                                               "segments_with_states_tuple_5"}));
}

TEST(CudaSegmentsSmall, ARangeBeginsAnywhere) {
  GDELTA_NEEDS_GPU();
  const Segmentation segments{"", {3, 0, 700, 900, 1, 1, 0, 2000, 5, 0}};
  EncodeOptions options = for_device("u32", 1200);
  const Bytes values = rising_values(segments, *options.layout);
  const Bytes stream = compress_segments(segments.offsets(), values, options).value();
  const StreamInfo info = info_of(stream);
  ASSERT_GT(info.chunks.size(), 8u);
  const std::vector<std::uint64_t> all = segments.offsets();
  for (std::size_t first = 0; first < info.chunks.size(); ++first)
    for (const std::size_t count : {std::size_t{1}, std::size_t{3}}) {
      if (first + count > info.chunks.size()) continue;
      const RaggedOutcome outcome = decode_ragged(stream, info, first, count);
      const std::uint64_t begin = info.chunks[first].decoded_at;
      EXPECT_TRUE(std::equal(outcome.values.begin(), outcome.values.end(), values.begin() + begin));
      std::size_t before = 0;  // segments that begin in earlier chunks
      for (std::size_t i = 0; i < first; ++i)
        before += info.chunks[i].segments - (info.chunks[i].continues ? 1 : 0);
      for (std::size_t k = 0; k + 1 < outcome.offsets.size(); ++k)
        EXPECT_EQ(outcome.offsets[k] + begin / 4, all[before + k]) << first << ' ' << k;
      EXPECT_EQ(outcome.offsets.back(), outcome.values.size() / 4) << first << ' ' << count;
    }
}

TEST(CudaSegmentsSmall, OffsetsStayWithinTheirRoom) {
  GDELTA_NEEDS_GPU();
  const Segmentation segments{"", {3, 0, 70, 5}};
  const EncodeOptions options = for_device("u32", 1 << 16);
  const Bytes values = rising_values(segments, *options.layout);
  const Bytes stream = compress_segments(segments.offsets(), values, options).value();
  StreamInfo info = info_of(stream);
  const auto table = make_chunk_table(info).value();
  const DeviceBytes device_stream(stream), device_table(table.bytes), out(values.size()),
      scratch(device_decode_scratch_bytes(table, 0, 1).value()), status(sizeof(ChunkStatus)),
      offsets(4 * 8);
  DeviceDecode decode;
  decode.table = &table;
  decode.device_table = device_table.data();
  decode.stream = device_stream.data();
  decode.stream_bytes = stream.size();
  decode.num_chunks = 1;
  decode.out = out.data();
  decode.out_bytes = out.size();
  decode.status = reinterpret_cast<ChunkStatus*>(status.data());
  decode.scratch = scratch.data();
  decode.scratch_bytes = scratch.size();
  decode.offsets = reinterpret_cast<std::uint64_t*>(offsets.data());
  decode.num_offsets = 4;  // and the end makes five
  ASSERT_TRUE(device_decode(decode, nullptr));
  GDELTA_CUDA_OK(cudaDeviceSynchronize());
  EXPECT_TRUE(out.to_host() == values);
  std::uint64_t got[4];
  std::memcpy(got, offsets.to_host().data(), sizeof got);
  for (const std::uint64_t offset : got) EXPECT_EQ(offset, kUntouched);
}

// Whatever the CPU says about a flipped bit, the device says about the chunk that has it.
TEST(CudaSegmentsSmall, DamageIsReportedAsOnTheCpu) {
  GDELTA_NEEDS_GPU();
  const Segmentation segments{"", {0, 3, 0, 70, 1, 1, 200, 0, 0, 90, 0}};
  const EncodeOptions options = for_device("u16x2", 400);
  const Bytes values = rising_values(segments, *options.layout);
  const Bytes whole = compress_segments(segments.offsets(), values, options).value();
  const StreamInfo info = info_of(whole);
  int damaged = 0;
  for (const std::size_t number : {std::size_t{0}, info.chunks.size() - 2}) {
    const ChunkInfo& chunk = info.chunks[number];
    for (std::uint64_t bit = 8 * chunk.byte; bit < 8 * (chunk.byte + chunk.block_bytes);
         bit += 11) {
      Bytes stream = whole;
      stream[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
      const auto expected = decompress(stream, decode_on_cpu());
      ASSERT_FALSE(expected) << bit;
      if (expected.error().code == Errc::truncated) continue;  // the block seems to be longer
      const RaggedOutcome outcome = decode_ragged(stream, info, number, 1);
      EXPECT_EQ(outcome.status[0].code, static_cast<int>(expected.error().code)) << bit;
      EXPECT_EQ(outcome.status[0].byte, expected.error().byte) << bit;
      ++damaged;
    }
  }
  EXPECT_GT(damaged, 100);
}

TEST(CudaSegmentsSmall, FaultsAreReportedAsTheTableSays) {
  GDELTA_NEEDS_GPU();
  int judged = 0;
  for (const faults::FaultCase& fault : faults::fault_cases()) {
    if (!fault.at_fault || fault.at_fault->lengths == 0 || fault.has_index) continue;
    const faults::ChunkAtFault& at = *fault.at_fault;
    // The table says what the head says.
    const auto parsed = format::parse_chunk_block(at.block, at.at, at.layout);
    const std::uint64_t decoded_bytes =
        parsed ? parsed->records * at.layout.record_bytes() : at.decoded_bytes;
    const DeviceOutcome outcome = decode_on_device(
        {{at.block, Bytes(decoded_bytes), at.opaque, at.lengths}}, at.layout, 0, 1, at.at);
    const ChunkStatus& status = outcome.status.at(0);
    if (status.code == static_cast<int>(Errc::needs_host)) continue;  // a column of zstd
    EXPECT_STREQ(errc_name(static_cast<Errc>(status.code)), errc_name(fault.code)) << fault.name;
    if (fault.code != Errc::ok) {
      EXPECT_EQ(status.byte, fault.byte) << fault.name;
    }
    ++judged;
  }
  EXPECT_GT(judged, 20);
}

TEST(CudaSegmentsSmall, ATableThatLeavesSegmentsOutRefusesThem) {
  GDELTA_NEEDS_GPU();
  const Segmentation segments{"", {3, 0, 700, 5}};
  const EncodeOptions options = for_device("u32", 1 << 16);
  const Bytes values = rising_values(segments, *options.layout);
  const Bytes stream = compress_segments(segments.offsets(), values, options).value();
  const ChunkInfo place = info_of(stream).chunks[0];
  const auto begin = stream.begin() + static_cast<std::ptrdiff_t>(place.byte);
  const TestChunk chunk{
      .block = Bytes(begin, begin + static_cast<std::ptrdiff_t>(place.block_bytes)),
      .values = values,
      .opaque = false,
      .lengths = place.segments};
  ChunkKinds kinds;
  expect_decoded({chunk}, *options.layout);
  kinds.segments = false;
  const DeviceOutcome outcome = decode_on_device({chunk}, *options.layout, 0, 1, 6, 0, kinds);
  EXPECT_EQ(outcome.status[0].code, static_cast<int>(Errc::corrupt));
  EXPECT_EQ(outcome.status[0].byte, outcome.block_at[0]);
}

/// An array of one dimension as NPY has it.
format::FileMaker npy_of(const char* descr, std::uint64_t count, const Bytes& data) {
  const std::string shape = "(" + std::to_string(count) + ",)";
  return with_data(format::npy_file(format::npy_literal(descr, shape), data.size()), data);
}

Bytes write_segments(const Bytes& file, const EncodeOptions& options, std::uint64_t begin,
                     const Segmentation& segments) {
  Bytes stream;
  Writer writer(append_to(stream), options, {{begin, segments.offsets()}});
  EXPECT_TRUE(writer.write(file));
  EXPECT_TRUE(writer.finish());
  return stream;
}

TEST(CudaSegmentsSmall, BetweenOpaqueChunksComeBack) {
  GDELTA_NEEDS_GPU();
  const auto all = segmentations();
  for (const Segmentation& segments : {all[4], all.back()}) {
    EncodeOptions options = for_device("i32", 3000);
    const Bytes values = rising_values(segments, *options.layout);
    options.layout.reset();
    const Bytes file = npy_of("<i4", segments.records(), values).fill(3).bytes();
    const Bytes stream = write_segments(file, options, file.size() - 3 - values.size(), segments);
    expect_ragged(stream, segments.offsets(), file, segments.name);
  }
}

TEST(CudaSegmentsSmall, BesideOtherArraysComeBack) {
  GDELTA_NEEDS_GPU();
  const Segmentation segments = segmentations().back();
  const Bytes indices = rising_values(segments, parse_record("i32").value());
  const auto more = npy_of("<f8", 2000, random_bytes(16000));
  const auto rows = npy_of("<i4", segments.records(), indices);
  format::FileMaker file = more;
  file.append(rows).append(more);
  EncodeOptions options = encode_on_cpu();
  options.level = 1;
  options.chunk_bytes = 3000;
  const std::uint64_t begin = more.size() + rows.size() - indices.size();
  const Bytes stream = write_segments(file.bytes(), options, begin, segments);
  DecodeOptions on_gpu;
  on_gpu.device = "cuda";
  EXPECT_TRUE(decompress(stream, on_gpu).value() == file.bytes());
}

TEST(CudaSegmentsSmall, HostToHostGivesWhatTheCpuGives) {
  GDELTA_NEEDS_GPU();
  DecodeOptions on_gpu;
  on_gpu.device = "cuda";
  for (const Segmentation& segments : segmentations())
    for (const int level : {1, 9}) {
      EncodeOptions options = encode_on_cpu("i16x3");
      options.level = level;
      options.chunk_bytes = 3000;
      const Bytes values = rising_values(segments, *options.layout);
      const Bytes stream = compress_segments(segments.offsets(), values, options).value();
      const auto got = decompress_segments(stream, on_gpu);
      ASSERT_TRUE(got) << got.error().to_string();
      EXPECT_EQ(got->offsets, segments.offsets()) << segments.name;
      EXPECT_TRUE(got->values == values) << segments.name;
    }
}

}  // namespace
}  // namespace gdelta::test
#endif
