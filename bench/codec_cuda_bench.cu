// Speed of the device API on device memory, beside a device-to-device copy in the same run, and of
// the CUDA backend from host memory to host memory beside the CPU backend.
//
// GB/s are 10^9 bytes of values a second, median of the runs; every output is compared with what
// was encoded. The data are random walks whose residuals need 4 to 12 bits, another width for every
// 128 values, with a share of outliers. `floor` is the time a copy would take to read the
// compressed bytes and write the values: 2 copy / (1 + 1/ratio). Rows `pages` are the page kernel
// alone, launched again over what the kernels before it left.
//
//   codec_cuda_bench [decode|ans|host|all] [MiB of values] [SHAPES: i32x8,pack:i16x2,...]
#include <cuda_runtime.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "bench/cuda_check.h"
#include "bench/device_array.h"
#include "bench/launch_timing.h"
#include "bench/parsed_stream.h"
#include "bench/wall_timing.h"
#include "codec/backend/backend.h"
#include "codec/chunk/chunk_encode.h"
#include "codec/coders/coder.h"
#include "formats/gdelta/chunk_block.h"
#include "gdelta/device.h"

namespace gdelta {
namespace {

using bench::device_array;

constexpr int kRuns = 11;

template <class Launch>
double median_seconds(const Launch& launch) {
  return bench::median_seconds(2, kRuns, launch);
}

double copy_gb_s(std::uint64_t bytes) {
  std::byte* from = device_array<std::byte>(bytes);
  std::byte* to = device_array<std::byte>(bytes);
  GDELTA_CHECK(cudaMemset(from, 7, bytes));
  const double seconds = median_seconds(
      [&] { GDELTA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice)); });
  GDELTA_CHECK(cudaFree(from));
  GDELTA_CHECK(cudaFree(to));
  return bytes / seconds / 1e9;
}

struct Case {
  const char* record;
  int order;
  double outliers;  // share of residuals
  Coder coder = Coder::pack;
  std::string_view map = {};  // decimal, of floats; differences, of lanes to the first
};

/// Numbers of hundredths.
void make_decimal(std::vector<std::byte>& values, ValueType type) {
  const auto each = [&](auto number, auto value) {
    for (std::size_t at = 0; at < values.size(); at += sizeof number) {
      std::memcpy(&number, values.data() + at, sizeof number);
      value = static_cast<decltype(value)>(static_cast<double>(number) / 100);
      std::memcpy(values.data() + at, &value, sizeof value);
    }
  };
  if (type == ValueType::f64) each(std::int64_t{}, double{});
  if (type == ValueType::f32) each(std::int32_t{}, float{});
}

ColumnMaps maps_of(const Case& what, int tuple) {
  ColumnMaps maps;
  if (what.map == "decimal")
    maps.lanes.assign(static_cast<std::size_t>(tuple),
                      {.map = static_cast<std::uint8_t>(ValueMap::decimal), .step = 2});
  for (int lane = tuple; what.map == "differences" && lane-- > 1;)
    maps.steps.push_back({static_cast<std::uint8_t>(lane), 0, LaneStepKind::minus});
  return maps;
}

std::vector<std::byte> random_walks(const Layout& layout, std::uint64_t records, int order,
                                    double outliers, std::uint64_t seed) {
  const Column column = layout.columns[0];
  const int bytes = value_bytes(column.type);
  std::vector<std::byte> out(records * layout.record_bytes());
  std::mt19937_64 random(seed);
  const auto rare = static_cast<std::uint64_t>(outliers * 65536);
  for (int lane = 0; lane < column.tuple; ++lane) {
    std::uint64_t sums[8] = {};
    int width = 4;
    for (std::uint64_t i = 0; i < records; ++i) {
      if (i % 128 == 0) width = 4 + static_cast<int>(random() % 9);
      const std::uint64_t bits = random();
      const int used = (bits >> 48) < rare ? width + 4 : width;
      const std::uint64_t z = bits & ((1ull << used) - 1);
      std::uint64_t value = (z >> 1) ^ (0 - (z & 1));
      for (int k = 0; k < order; ++k) value = sums[k] += value;
      std::memcpy(out.data() + (i * column.tuple + lane) * bytes, &value, bytes);
    }
  }
  return out;
}

struct Encoded {
  std::vector<std::vector<std::byte>> values;
  std::vector<std::byte> stream;
  StreamInfo info;
};

Encoded encode_case(const Case& what, std::uint64_t total, std::uint64_t chunk_bytes) {
  const Layout layout = parse_record(what.record).value();
  const std::uint64_t record_bytes = layout.record_bytes();
  const std::uint64_t records = chunk_bytes / record_bytes;
  const std::uint64_t chunks = (total + chunk_bytes - 1) / chunk_bytes;
  Encoded encoded;
  encoded.values.resize(chunks);
  std::vector<std::vector<std::byte>> blocks(chunks);
  format::ColumnModel model;
  model.section.coder = what.coder;
  std::fill_n(model.front.orders, kMaxTuple, static_cast<std::uint8_t>(what.order));
  const int tuple = layout.columns[0].tuple;
  model.section.part_groups = tuple <= 4 ? 32 / tuple : 8;
  if (const auto groups = column_coder(what.coder).page_groups)
    model.section.part_groups = groups(layout.columns[0], records);
  tbb::parallel_for(std::uint64_t{0}, chunks, [&](std::uint64_t i) {
    encoded.values[i] = random_walks(layout, records, what.order, what.outliers, i + 1);
    if (what.map == "decimal") make_decimal(encoded.values[i], layout.columns[0].type);
    ChunkPlan plan;
    plan.columns = {model};
    plan.maps = {maps_of(what, tuple)};
    blocks[i] = encode_chunk(encoded.values[i], layout, false, plan);
  });
  encoded.info.layouts = {layout};
  encoded.stream.resize(6);
  for (std::uint64_t i = 0; i < chunks; ++i) {
    ChunkInfo chunk;
    chunk.byte = encoded.stream.size();
    chunk.block_bytes = blocks[i].size();
    chunk.decoded_at = encoded.info.decoded_bytes;
    chunk.decoded_bytes = encoded.values[i].size();
    chunk.columns.resize(1);  // as `inspect` describes it, so that the table knows its kind
    chunk.columns[0].coder = model.section.coder;
    chunk.columns[0].page_groups = model.section.part_groups;
    chunk.columns[0].maps_in_a_pass = !what.map.empty();
    encoded.info.decoded_bytes += chunk.decoded_bytes;
    encoded.info.chunks.push_back(chunk);
    encoded.stream.insert(encoded.stream.end(), blocks[i].begin(), blocks[i].end());
  }
  return encoded;
}

/// Whether all chunks are ok and hold the values.
bool is_right(const Encoded& encoded, const std::byte* out, const std::byte* status) {
  std::vector<ChunkStatus> host(encoded.info.chunks.size());
  GDELTA_CHECK(
      cudaMemcpy(host.data(), status, host.size() * sizeof(ChunkStatus), cudaMemcpyDeviceToHost));
  std::vector<std::byte> values(encoded.info.decoded_bytes);
  GDELTA_CHECK(cudaMemcpy(values.data(), out, values.size(), cudaMemcpyDeviceToHost));
  for (std::size_t i = 0; i < host.size(); ++i) {
    const ChunkInfo& chunk = encoded.info.chunks[i];
    if (host[i].code != 0 || std::memcmp(values.data() + chunk.decoded_at, encoded.values[i].data(),
                                         chunk.decoded_bytes) != 0)
      return false;
  }
  return true;
}

void bench_decode(const Case& what, std::uint64_t total, std::uint64_t chunk_bytes, double copy) {
  const Encoded encoded = encode_case(what, total, chunk_bytes);
  const ChunkTable table = make_chunk_table(encoded.info).value();
  const std::uint64_t chunks = encoded.info.chunks.size(), bytes = encoded.info.decoded_bytes;
  const std::uint64_t scratch_bytes = device_decode_scratch_bytes(table, 0, chunks).value();
  std::byte* stream = device_array<std::byte>(encoded.stream.size() + 16);
  std::byte* device_table = device_array<std::byte>(table.bytes.size());
  std::byte* out = device_array<std::byte>(bytes);
  std::byte* scratch = device_array<std::byte>(scratch_bytes);
  std::byte* status = device_array<std::byte>(chunks * sizeof(ChunkStatus));
  GDELTA_CHECK(
      cudaMemcpy(stream, encoded.stream.data(), encoded.stream.size(), cudaMemcpyHostToDevice));
  GDELTA_CHECK(
      cudaMemcpy(device_table, table.bytes.data(), table.bytes.size(), cudaMemcpyHostToDevice));
  DeviceDecode decode;
  decode.table = &table;
  decode.device_table = device_table;
  decode.stream = stream;
  decode.stream_bytes = encoded.stream.size();
  decode.num_chunks = chunks;
  decode.out = out;
  decode.out_bytes = bytes;
  decode.status = reinterpret_cast<ChunkStatus*>(status);
  decode.scratch = scratch;
  decode.scratch_bytes = scratch_bytes;
  const double ratio = static_cast<double>(bytes) / encoded.stream.size();
  const double floor = 2 * copy / (1 + 1 / ratio);
  const auto row = [&](const char* name, const char* verified, const auto& run) {
    GDELTA_CHECK(cudaMemset(out, 0xa5, bytes));
    const double speed = bytes / median_seconds(run) / 1e9;
    std::string coder(coder_name(what.coder));
    if (!what.map.empty()) coder += '+' + std::string(what.map);
    std::printf("%s,%s,%s,%d,%.3f,%llu,%llu,%.2f,%s,%.1f,%.3f,%.3f,%s\n", name, what.record,
                coder.c_str(), what.order, what.outliers,
                static_cast<unsigned long long>(chunk_bytes),
                static_cast<unsigned long long>(bytes), ratio, verified, speed, speed / copy,
                speed / floor, is_right(encoded, out, status) ? "ok" : "WRONG");
    std::fflush(stdout);
  };
  for (const bool verify : {false, true}) {
    decode.verify = verify;
    row("decode", verify ? "yes" : "no", [&] {
      if (!device_decode(decode, nullptr)) std::exit(1);
    });
  }
  const bench::ParsedStream parsed(decode, nullptr);
  if (parsed.is_warp_path() && what.map.empty())
    row("pages", "no",
        [&] { parsed.launch_pages(0, static_cast<std::uint32_t>(chunks), nullptr); });
  for (std::byte* memory : {stream, device_table, out, scratch, status})
    GDELTA_CHECK(cudaFree(memory));
}

/// Which rows are asked for: the shapes of their records, "pack" or "ans" before a colon if only those
/// of one coder are. All if there are none.
class Selection {
 public:
  explicit Selection(std::string shapes) : shapes_(std::move(shapes)) {}

  bool has(const Case& what) const {
    const std::string record = what.record, coder(coder_name(what.coder));
    return shapes_.empty() || names(record) || names(coder + ":" + record);
  }

 private:
  bool names(const std::string& shape) const {
    return ("," + shapes_ + ",").find("," + shape + ",") != std::string::npos;
  }
  std::string shapes_;  // with commas between them
};

std::vector<Case> ans_cases() {
  std::vector<Case> cases = {{"i32", 1, 0},   {"i32", 2, 0},   {"i32", 1, 0.01}, {"i16", 1, 0},
                             {"i32x2", 1, 0}, {"i16x2", 1, 0}, {"i32x3", 2, 0},  {"i32x4", 1, 0},
                             {"u8", 1, 0},    {"i64", 1, 0},   {"i32x8", 1, 0}};
  for (Case& what : cases) what.coder = Coder::ans;
  return cases;
}

const std::vector<Case> kPackCases = {{"i32", 1, 0},
                                      {"i32", 2, 0},
                                      {"i32", 3, 0},
                                      {"i32x2", 1, 0},
                                      {"i32x2", 2, 0},
                                      {"i32x4", 1, 0},
                                      {"i32x4", 2, 0},
                                      {"i32", 1, 0.01},
                                      {"i32", 2, 0.01},
                                      {"i32", 4, 0.01},
                                      {"i32x2", 1, 0.01},
                                      {"i32x4", 1, 0.01},
                                      {"i32x4", 4, 0.01},
                                      {"i16x2", 1, 0},
                                      {"i16x2", 1, 0.01},
                                      {"u8", 1, 0},
                                      {"u8x3", 1, 0},
                                      {"i24x2", 1, 0.01},
                                      {"i64", 1, 0},
                                      {"i64", 1, 0.01},
                                      {"i64x3", 2, 0.01},
                                      {"f32x5", 1, 0.01},
                                      {"f32x7", 1, 0.01},
                                      {"i32x8", 1, 0.01},
                                      {"i32x8", 2, 0},
                                      {"i32x9", 1, 0.01},
                                      {"f32x32", 1, 0.01},
                                      {"i64x5", 1, 0.01},
                                      {"i64x16", 1, 0.01},
                                      {"i64x64", 1, 0.01},
                                      {"i16x6", 1, 0.01},
                                      {"f16x64", 1, 0.01},
                                      {"i24x8", 1, 0.01},
                                      {"u8x5", 1, 0},
                                      {"u8x64", 1, 0},
                                      {"f64", 1, 0, Coder::pack, "decimal"},
                                      {"f32", 1, 0, Coder::pack, "decimal"},
                                      {"f64", 1, 0, Coder::ans, "decimal"},
                                      {"i32x2", 1, 0, Coder::pack, "differences"},
                                      {"i16x2", 1, 0, Coder::pack, "differences"}};

void bench_all_decode(std::uint64_t total, bool ans_alone, const Selection& selection) {
  const double copy = copy_gb_s(total);
  std::printf(
      "what,record,coder,order,outliers,chunk_bytes,bytes,ratio,verify,gb_s,of_copy,of_floor,"
      "right\ncopy,,,,,,%llu,,,%.1f,1,,\n",
      static_cast<unsigned long long>(total), copy);
  const auto bench = [&](const Case& what, std::uint64_t bytes, std::uint64_t chunk_bytes) {
    if (selection.has(what)) bench_decode(what, bytes, chunk_bytes, copy);
  };
  const std::uint64_t mib = 1ull << 20, whole = 12 * 128 * 680;
  for (const Case& what : ans_cases()) bench(what, total, mib);
  if (ans_alone) return;
  for (const Case& what : std::vector<Case>{{"i32x3", 1, 0}, {"i32x3", 2, 0}, {"i32x3", 2, 0.01}})
    for (const std::uint64_t chunk : {mib, whole}) bench(what, total, chunk);
  for (const Case& what : kPackCases) bench(what, total, mib);
  for (const std::uint64_t small : {1ull << 20, 1ull << 24, 1ull << 26})
    bench({"i32", 1, 0.01}, small, mib);
  bench({"i32", 1, 0}, 4 * total, mib);
  bench({"i32x3", 2, 0}, 4 * total, whole);
}

void bench_host(Backend& backend, const char* name, const Encoded& encoded) {
  ProgressMeter progress;
  std::vector<std::vector<std::byte>> out(encoded.values.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i].resize(encoded.values[i].size());
  const double decode = bench::best_wall_seconds([&] {
    std::vector<DecodeJob> jobs(out.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      const ChunkInfo& chunk = encoded.info.chunks[i];
      jobs[i].block = std::span(encoded.stream).subspan(chunk.byte, chunk.block_bytes);
      jobs[i].parsed =
          format::parse_chunk_block(jobs[i].block, chunk.byte, encoded.info.layouts[0]).value();
      jobs[i].layout = &encoded.info.layouts[0];
      jobs[i].out = out[i];
    }
    if (!backend.decode(jobs, true, progress)) std::exit(1);
  });
  EncodeSettings settings;
  settings.level = 1;
  const double encode = bench::best_wall_seconds([&] {
    std::vector<EncodeJob> jobs(out.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      jobs[i].values = encoded.values[i];
      jobs[i].layout = &encoded.info.layouts[0];
    }
    if (!backend.encode(jobs, settings, progress)) std::exit(1);
  });
  const double bytes = static_cast<double>(encoded.info.decoded_bytes);
  std::printf("host,%s,%.0f,%.3f,%.2f,%.3f,%.2f,%s\n", name, bytes, decode * 1e3,
              bytes / decode / 1e9, encode * 1e3, bytes / encode / 1e9,
              out == encoded.values ? "ok" : "WRONG");
  std::fflush(stdout);
}

void bench_all_host(std::uint64_t total) {
  std::printf("what,backend,bytes,decode_ms,decode_gb_s,encode_ms,encode_gb_s,right\n");
  const auto open_begin = std::chrono::steady_clock::now();
  auto gpu = make_cuda_backend({0}, 0);
  if (!gpu) std::exit(1);
  std::printf("open,cuda,,%.1f,,,,\n", std::chrono::duration<double, std::milli>(
                                           std::chrono::steady_clock::now() - open_begin)
                                           .count());
  const auto cpu = make_cpu_backend(0);
  for (std::uint64_t bytes = 1ull << 20; bytes <= total; bytes *= 4) {
    const Encoded encoded = encode_case({"i32x3", 2, 0.01}, bytes, 1ull << 20);
    bench_host(*cpu, "cpu", encoded);
    bench_host(**gpu, "cuda", encoded);
  }
}

}  // namespace
}  // namespace gdelta

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "all";
  const std::uint64_t mib = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1024;
  const gdelta::Selection selection(argc > 3 ? argv[3] : "");
  if (what == "host" || what == "all") gdelta::bench_all_host(mib << 20);
  if (what == "decode" || what == "all") gdelta::bench_all_decode(mib << 20, false, selection);
  if (what == "ans") gdelta::bench_all_decode(mib << 20, true, selection);
  return 0;
}
