// device_decode and device_encode by shape of the values: device memory to device memory, beside a copy.
//
//   shapes_bench [decode|encode|gpus|all] [MiB of values] [SHAPES: i32x8,pack:i16x2,stride:i32,...]     prints CSV
//
// GB are 10^9 bytes of values, speeds the median of eleven runs behind two. `share_of_floor` is that of the time a copy
// would take for the values and the compressed bytes: 2 copy / (1 + 1/ratio). Energy is the driver's counter over
// half a second of runs. `pages` is the page kernel alone, launched again over what the kernels before it left. `order` of encode is the one asked for; none where the device chooses. Every output is
// compared with what was encoded, every stream decoded. Where a host has two GPUs, both decode at once, too.
#include <cuda_runtime.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "bench/cuda_check.h"
#include "bench/device_array.h"
#include "bench/device_decoding.h"
#include "bench/energy_meter.h"
#include "bench/launch_timing.h"
#include "bench/parsed_stream.h"
#include "bench/random_walks.h"
#include "bench/walk_stream.h"
#include "gdelta/device.h"

namespace gdelta::bench {
namespace {

constexpr std::uint64_t kMiB = 1ull << 20;
constexpr int kWarmups = 2, kRuns = 11, kRunsOfShort = 301;

struct Speed {
  double seconds;
  std::optional<double> joules;  // of a run
};

template <class Launch>
Speed speed_of(const Launch& launch) {
  static const EnergyMeter meter;
  Speed speed{median_seconds(kWarmups, kRuns, launch), {}};
  constexpr double kShortSeconds = 1e-4;  // of which the host takes its part, now more, now less
  if (speed.seconds < kShortSeconds) speed.seconds = median_seconds(kWarmups, kRunsOfShort, launch);
  const int runs = static_cast<int>(0.5 / speed.seconds) + 1;
  const auto before = meter.joules();
  for (int run = 0; run < runs; ++run) launch();
  GDELTA_CHECK(cudaDeviceSynchronize());
  const auto after = meter.joules();
  if (before && after) speed.joules = (*after - *before) / runs;
  return speed;
}

double copy_gb_s(std::uint64_t bytes) {
  std::byte* const from = device_array<std::byte>(bytes);
  std::byte* const to = device_array<std::byte>(bytes);
  GDELTA_CHECK(cudaMemset(from, 7, bytes));
  const double seconds = median_seconds(kWarmups, kRuns, [&] {
    GDELTA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice));
  });
  for (std::byte* memory : {from, to}) GDELTA_CHECK(cudaFree(memory));
  return static_cast<double>(bytes) / seconds / 1e9;
}

struct Row {
  const char* what;
  WalkShape shape;
  std::string order;
  std::uint64_t chunk_bytes, bytes;
  double ratio;
  const char* verify;
  bool finds_stride = false;
};

bool has_columns(const WalkShape& shape) { return std::strchr(shape.record, ',') != nullptr; }

void print_row(const Row& row, const Speed& speed, double copy, bool right) {
  const WalkShape& shape = row.shape;
  std::string coder(coder_name(shape.coder));
  if (!shape.map.empty()) coder += '+' + std::string(shape.map);
  if (shape.stride > 0)
    coder += (row.finds_stride ? "+found stride " : "+stride ") + std::to_string(shape.stride);
  const double gb = static_cast<double>(row.bytes) / 1e9, gb_s = gb / speed.seconds;
  const std::string joules = speed.joules ? std::to_string(*speed.joules / gb) : "";
  const std::string record =
      has_columns(shape) ? '"' + std::string(shape.record) + '"' : shape.record;
  std::printf("%s,%s,%s,%s,%.2f,%llu,%llu,%.2f,%s,%.1f,%.3f,%.3f,%.6s,%s\n", row.what,
              record.c_str(), coder.c_str(), row.order.c_str(), shape.exceptions,
              static_cast<unsigned long long>(row.chunk_bytes),
              static_cast<unsigned long long>(row.bytes), row.ratio, row.verify, gb_s, gb_s / copy,
              gb_s / (2 * copy / (1 + 1 / row.ratio)), joules.c_str(), right ? "ok" : "WRONG");
  std::fflush(stdout);
}

/// Whether all chunks are ok and hold the values.
bool is_right(const WalkStream& walks, const DeviceDecoding& decoding) {
  return decoding.is_whole() && holds_the_values(walks, decoding.out());
}

void bench_decode(const WalkShape& shape, std::uint64_t total, std::uint64_t chunk_bytes,
                  double copy) {
  const WalkStream walks = make_walk_stream(shape, total, chunk_bytes);
  DeviceDecoding decoding(walks.stream, walks.info);
  const std::uint64_t bytes = walks.info.decoded_bytes;
  Row row{.what = "decode",
          .shape = shape,
          .order = std::to_string(shape.order),
          .chunk_bytes = chunk_bytes,
          .bytes = bytes,
          .ratio = static_cast<double>(bytes) / static_cast<double>(walks.stream.size()),
          .verify = "no"};
  for (const bool verify : {false, true}) {
    row.verify = verify ? "yes" : "no";
    const Speed speed = speed_of([&] { decoding.run(verify); });
    print_row(row, speed, copy, is_right(walks, decoding));
  }
  if (has_columns(shape)) return;
  const ParsedStream parsed(decoding.call(), nullptr);
  if (!parsed.is_warp_path() || !shape.map.empty() || shape.stride > 0) return;
  row.what = "pages";
  row.verify = "no";
  const auto chunks = static_cast<std::uint32_t>(walks.info.chunks.size());
  const Speed speed = speed_of([&] { parsed.launch_pages(0, chunks, nullptr); });
  print_row(row, speed, copy, is_right(walks, decoding));
}

/// Seconds that `num_gpus` threads take for so many runs each, begun at once.
double seconds_on(int num_gpus, const WalkStream& walks, int runs) {
  std::barrier ready(num_gpus + 1), done(num_gpus + 1);
  std::vector<std::thread> threads;
  for (int gpu = 0; gpu < num_gpus; ++gpu) {
    threads.emplace_back([&, gpu] {
      GDELTA_CHECK(cudaSetDevice(gpu));
      DeviceDecoding decoding(walks.stream, walks.info);
      decoding.run(true);
      GDELTA_CHECK(cudaDeviceSynchronize());
      ready.arrive_and_wait();
      for (int run = 0; run < runs; ++run) decoding.run(true);
      GDELTA_CHECK(cudaDeviceSynchronize());
      done.arrive_and_wait();
      if (!is_right(walks, decoding)) std::exit(1);
    });
  }
  ready.arrive_and_wait();
  const auto begin = std::chrono::steady_clock::now();
  done.arrive_and_wait();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  for (std::thread& thread : threads) thread.join();
  return seconds.count();
}

void bench_two_gpus(std::uint64_t total) {
  int num_gpus = 0;
  GDELTA_CHECK(cudaGetDeviceCount(&num_gpus));
  if (num_gpus < 2) return;
  const WalkStream walks = make_walk_stream({.record = "i32", .order = 1}, total, kMiB);
  constexpr int kManyRuns = 500;
  const double gb = static_cast<double>(walks.info.decoded_bytes) * kManyRuns / 1e9;
  const double one = gb / seconds_on(1, walks, kManyRuns);
  const double two = 2 * gb / seconds_on(2, walks, kManyRuns);
  std::printf("# i32, order 1, verified: one GPU %.1f GB/s, two GPUs %.1f, %.3f times one\n", one,
              two, two / one);
}

/// Whether the device reads its own stream back, contents verified.
bool decodes(const DeviceEncode& encode, const ChunkTable& table, std::uint64_t stream_bytes,
             std::span<const std::byte> values) {
  DeviceDecoding decoding(encode, table, stream_bytes);
  decoding.run(true);
  std::vector<std::byte> back(values.size());
  GDELTA_CHECK(cudaMemcpy(back.data(), decoding.out(), back.size(), cudaMemcpyDeviceToHost));
  return decoding.is_whole() && std::equal(back.begin(), back.end(), values.begin());
}

/// Adds the first lane to all others.
void follow_the_first(std::span<std::byte> values, Column column) {
  const auto width = static_cast<std::size_t>(value_bytes(column.type));
  for (auto tuple = values.begin(); tuple != values.end(); tuple += column.bytes()) {
    std::uint64_t first = 0;
    std::memcpy(&first, &*tuple, width);
    for (std::size_t lane = 1; lane < column.tuple; ++lane) {
      std::uint64_t own = 0;
      std::memcpy(&own, &tuple[static_cast<std::ptrdiff_t>(lane * width)], width);
      own += first;
      std::memcpy(&tuple[static_cast<std::ptrdiff_t>(lane * width)], &own, width);
    }
  }
}

std::vector<std::byte> many_walks(const WalkShape& shape, const Layout& layout,
                                  std::uint64_t total) {
  const std::uint64_t bytes = total / layout.record_bytes() * layout.record_bytes();
  const std::uint64_t stretch = kMiB * layout.record_bytes();
  std::vector<std::byte> values(bytes);
  tbb::parallel_for(std::uint64_t{0}, (bytes + stretch - 1) / stretch, [&](std::uint64_t s) {
    const std::uint64_t begin = s * stretch;
    const auto own = std::span(values).subspan(begin, std::min(stretch, bytes - begin));
    fill_walks(own, shape, layout, s + 1);
    if (shape.map == "differences") follow_the_first(own, layout.columns[0]);
  });
  return values;
}

struct EncodeCase {
  WalkShape shape;
  int asked_order;  // < 0: the device chooses
  std::uint64_t chunk_bytes = kMiB;
  bool finds_stride = false;  // not told it
};

void bench_encode(const EncodeCase& what, std::uint64_t total, double copy) {
  const auto& [shape, asked_order, chunk_bytes, finds_stride] = what;
  const Layout layout = parse_record(shape.record).value();
  const std::vector<std::byte> values = many_walks(shape, layout, total);
  DeviceEncode encode;
  encode.layout = layout;
  encode.values_bytes = values.size();
  encode.chunk_bytes = chunk_bytes;
  if (asked_order >= 0) encode.order = asked_order;
  encode.stride = finds_stride ? kFindStride : shape.stride;
  if (shape.coder != Coder::pack) encode.coder = shape.coder;
  const ChunkTable table = device_encode_table(encode).value();
  encode.stream_room = device_encode_bound(encode).value();
  encode.scratch_bytes = device_encode_scratch_bytes(encode).value();
  std::byte* const device_values = device_array<std::byte>(values.size());
  std::byte* const stream = device_array<std::byte>(encode.stream_room + 16);
  std::byte* const scratch = device_array<std::byte>(encode.scratch_bytes);
  std::byte* const device_table =
      device_array<std::byte>(chunk_table_bytes(table.layout, table.num_chunks));
  std::byte* const size = device_array<std::byte>(sizeof(std::uint64_t));
  GDELTA_CHECK(cudaMemcpy(device_values, values.data(), values.size(), cudaMemcpyHostToDevice));
  encode.values = device_values;
  encode.stream = stream;
  encode.scratch = scratch;
  encode.table = device_table;
  encode.stream_bytes = reinterpret_cast<std::uint64_t*>(size);
  const Speed speed = speed_of([&] {
    if (!device_encode(encode, nullptr)) std::exit(1);
  });
  std::uint64_t stream_bytes = 0;
  GDELTA_CHECK(cudaMemcpy(&stream_bytes, size, sizeof stream_bytes, cudaMemcpyDeviceToHost));
  const Row row{.what = "encode",
                .shape = shape,
                .order = asked_order < 0 ? "" : std::to_string(asked_order),
                .chunk_bytes = chunk_bytes,
                .bytes = values.size(),
                .ratio = static_cast<double>(values.size()) / static_cast<double>(stream_bytes),
                .verify = "",
                .finds_stride = finds_stride};
  print_row(row, speed, copy, decodes(encode, table, stream_bytes, values));
  for (std::byte* memory : {device_values, stream, scratch, device_table, size})
    GDELTA_CHECK(cudaFree(memory));
}

/// Which rows are asked for: the shapes of their records, columns with plus signs between them, "pack", "ans" or "stride" before
/// a colon if only those of one coder, or with a stride, are. All if there are none.
class Selection {
 public:
  explicit Selection(std::string shapes) : shapes_(std::move(shapes)) {}

  bool has(const WalkShape& shape) const {
    std::string record = shape.record;
    std::ranges::replace(record, ',', '+');
    const std::string coder(coder_name(shape.coder));
    if (shape.stride > 0 && names("stride:" + record)) return true;
    return shapes_.empty() || names(record) || names(coder + ":" + record);
  }

 private:
  bool names(const std::string& shape) const {
    return ("," + shapes_ + ",").find("," + shape + ",") != std::string::npos;
  }
  std::string shapes_;  // with commas between them
};

constexpr Coder kAns = Coder::ans, kPack = Coder::pack;

const std::vector<WalkShape> kDecodeShapes = {{"i32", 1},
                                              {"i32", 2},
                                              {"i32", 3},
                                              {"i32x2", 1},
                                              {"i32x2", 2},
                                              {"i32x3", 1},
                                              {"i32x3", 2},
                                              {"i32x3", 2, .01},
                                              {"i32x4", 1},
                                              {"i32x4", 2},
                                              {"i32", 1, .01},
                                              {"i32", 2, .01},
                                              {"i32", 4, .01},
                                              {"i32x2", 1, .01},
                                              {"i32x4", 1, .01},
                                              {"i32x4", 4, .01},
                                              {"i16x2", 1},
                                              {"i16x2", 1, .01},
                                              {"u8", 1},
                                              {"u8x3", 1},
                                              {"i24x2", 1, .01},
                                              {"i64", 1},
                                              {"i64", 1, .01},
                                              {"i64x3", 2, .01},
                                              {"f32x5", 1, .01},
                                              {"f32x7", 1},
                                              {"f32x7", 1, .01},
                                              {"i32x8", 1, .01},
                                              {"i32x8", 2},
                                              {"i32x9", 1, .01},
                                              {"f32x32", 1, .01},
                                              {"i64x5", 1, .01},
                                              {"i64x16", 1},
                                              {"i64x16", 1, .01},
                                              {"i64x64", 1, .01},
                                              {"i16x6", 1, .01},
                                              {"f16x64", 1},
                                              {"f16x64", 1, .01},
                                              {"i24x8", 1, .01},
                                              {"u8x5", 1},
                                              {"u8x64", 1},
                                              {"i32x3,u16,u8x2", 1, .01},
                                              {"f32,f32,f32,u32", 1, .01},
                                              {"i64,i32x2,i16x4,u8x4", 1, .01},
                                              {"i64x4,i32x8", 1, .01},
                                              {"i32", 1, 0, kPack, "", 24},
                                              {"i32x3", 1, 0, kPack, "", 24},
                                              {"i24x2", 1, 0, kPack, "", 24},
                                              {"i16x2", 1, 0, kPack, "", 24},
                                              {"u8", 1, 0, kPack, "", 24},
                                              {"i64", 1, 0, kPack, "", 24},
                                              {"i32", 1, 0, kPack, "", 101},
                                              {"i32", 1, 0, kPack, "", 1617},
                                              {"i16x2", 1, 0, kPack, "", 1617},
                                              {"f64", 1, 0, kPack, "decimal"},
                                              {"f32", 1, 0, kPack, "decimal"},
                                              {"i32x2", 1, 0, kPack, "differences"},
                                              {"i16x2", 1, 0, kPack, "differences"},
                                              {"u8x3", 1, 0, kPack, "differences"},
                                              {"f32x3", 1, 0, kPack, "decimal"},
                                              {"f32", 1, 0, kPack, "scaled"},
                                              {"i64", 1, 0, kPack, "multiple"},
                                              {"i32", 1, 0, kPack, "multiple"},
                                              {"i32x4", 1, 0, kPack, "differences"},
                                              {"i32", 1, 0, kAns},
                                              {"i32", 2, 0, kAns},
                                              {"i32", 1, .01, kAns},
                                              {"i16", 1, 0, kAns},
                                              {"i32x2", 1, 0, kAns},
                                              {"i16x2", 1, 0, kAns},
                                              {"i32x3", 2, 0, kAns},
                                              {"i32x4", 1, 0, kAns},
                                              {"u8", 1, 0, kAns},
                                              {"i64", 1, 0, kAns},
                                              {"i64x2", 1, 0, kAns},
                                              {"i32x8", 1, 0, kAns},
                                              {"f64", 1, 0, kAns, "decimal"},
                                              {"f32", 1, 0, kAns, "decimal"},
                                              {"i32x2", 1, 0, kAns, "differences"},
                                              {"i32x3,u16,u8x2", 1, .01, kAns}};

void bench_all_decode(std::uint64_t total, double copy, const Selection& selection) {
  const auto bench = [&](const WalkShape& shape, std::uint64_t bytes, std::uint64_t chunk_bytes) {
    if (selection.has(shape)) bench_decode(shape, bytes, chunk_bytes, copy);
  };
  for (const WalkShape& shape : kDecodeShapes) bench(shape, total, kMiB);
  for (const std::uint64_t small : {kMiB / 16, kMiB / 4, kMiB, 4 * kMiB, 16 * kMiB, 64 * kMiB})
    bench({"i32", 1, .01}, small, std::min(small, kMiB));
}

void bench_all_encode(std::uint64_t total, double copy, const Selection& selection) {
  for (const EncodeCase& what :
       std::vector<EncodeCase>{{{"i32", 1, .01}, 1},
                               {{"i32", 1, .01}, -1},
                               {{"i32", 1, .01}, -1, 16 * kMiB},
                               {{"i32", 4, .01}, 4},
                               {{"i32x3", 2, .01}, 2},
                               {{"i32x3", 2, .01}, -1},
                               {{"f32", 1, .01}, -1},
                               {{"i16x2", 1, .01}, 1},
                               {{"i16x2", 1, .01}, -1},
                               {{"u8", 1, .01}, 1},
                               {{"u8", 1, .01}, -1},
                               {{"i64", 2, .01}, 2},
                               {{"i64", 2, .01}, -1},
                               {{"f32x7", 1, .01}, -1},
                               {{"i32x16", 1, .01}, -1},
                               {{"i64x16", 1, .01}, -1},
                               {{"f16x64", 1, .01}, -1},
                               {{"u8x64", 1, .01}, -1},
                               {{"i32x3,u16,u8x2", 1, .01}, -1},
                               {{"f32,f32,f32,u32", 1, .01}, -1},
                               {{"i64,i32x2,i16x4,u8x4", 1, .01}, -1},
                               {{"f32", 1, 0, kPack, "decimal"}, -1},
                               {{"f64", 1, 0, kPack, "decimal"}, -1},
                               {{"f32x3", 1, 0, kPack, "decimal"}, -1},
                               {{"f32", 1, 0, kPack, "scaled"}, -1},
                               {{"i64", 1, 0, kPack, "multiple"}, -1},
                               {{"i32", 1, 0, kPack, "multiple"}, -1},
                               {{"i16x2", 1, .01, kPack, "differences"}, -1},
                               {{"i32x3", 1, .01, kPack, "differences"}, -1},
                               {{"u8x3", 1, .01, kPack, "differences"}, -1},
                               {{"i32x8", 1, .01, kPack, "differences"}, -1},
                               {{"f64x2", 1, 0, kPack, "decimal"}, -1},
                               {{"i32", 1, .01, kPack, "", 24}, 1},
                               {{"i32", 1, .01, kPack, "", 24}, -1},
                               {{"i32", 1, .01, kPack, "", 24}, -1, kMiB, true},
                               {{"i16x2", 1, .01, kPack, "", 24}, -1},
                               {{"i16x2", 1, .01, kPack, "", 24}, -1, kMiB, true},
                               {{"i32x3", 1, .01, kPack, "", 24}, -1},
                               {{"u8", 1, .01, kPack, "", 24}, -1},
                               {{"i64", 1, .01, kPack, "", 24}, -1},
                               {{"i32", 1, .01, kAns}, 1},
                               {{"i32", 1, .01, kAns}, -1},
                               {{"i32x3", 2, .01, kAns}, 2},
                               {{"i16x2", 1, .01, kAns}, 1},
                               {{"u8", 1, .01, kAns}, 1},
                               {{"i64", 2, .01, kAns}, 2},
                               {{"f32x7", 1, .01, kAns}, -1},
                               {{"i64x16", 1, .01, kAns}, -1},
                               {{"f16x64", 1, .01, kAns}, -1},
                               {{"u8x64", 1, .01, kAns}, -1},
                               {{"f64", 1, 0, kAns, "decimal"}, -1},
                               {{"i16x2", 1, .01, kAns, "differences"}, -1},
                               {{"i32x3,u16,u8x2", 1, .01, kAns}, -1},
                               {{"i32", 1, .01, kAns, "", 24}, -1}})
    if (selection.has(what.shape)) bench_encode(what, total, copy);
}

}  // namespace
}  // namespace gdelta::bench

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "all";
  const std::uint64_t total = (argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1024) << 20;
  const gdelta::bench::Selection selection(argc > 3 ? argv[3] : "");
  const double copy = gdelta::bench::copy_gb_s(total);
  std::printf(
      "what,record,coder,order,exceptions,chunk_bytes,bytes,ratio,verify,gb_s,share_of_copy,"
      "share_of_floor,joules_per_gb,right\ncopy,,,,,,%llu,,,%.1f,1,,,\n",
      static_cast<unsigned long long>(total), copy);
  if (what == "decode" || what == "all") gdelta::bench::bench_all_decode(total, copy, selection);
  if (what == "encode" || what == "all") gdelta::bench::bench_all_encode(total, copy, selection);
  if (what == "gpus" || what == "all") gdelta::bench::bench_two_gpus(total);
  return 0;
}
