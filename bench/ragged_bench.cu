// gdelta.bench.ragged: chunks that say their segments decoded in device memory, beside the same values without segments.
//
// usage: ragged_bench [MIB [FOLDER [WORKLOAD]]]   prints CSV; MIB of values (1024); FOLDER holds ragged_csr_* and
// ragged_postings* (none if it is empty); of all workloads, or of one.
// A stretch of values is compressed once, its chunks are repeated. Speeds on the device are the median of nine runs
// after two, contents verified; GB are 10^9 bytes of values, and of offsets (8 bytes each) where they are made. On the
// host, and from host memory to host memory where segments are encoded: the best of three, all threads. A row whose values or
// offsets differ says WRONG.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "bench/cuda_check.h"
#include "bench/device_decoding.h"
#include "bench/launch_timing.h"
#include "bench/repeated_stream.h"
#include "bench/wall_timing.h"
#include "gdelta/device.h"
#include "gdelta/segment_stream.h"

namespace gdelta {
namespace {

using bench::device_array;
using Bytes = std::vector<std::byte>;

constexpr std::uint64_t kUnitBytes = 64 << 20;  // of made-up values

struct Workload {
  std::string name;
  Layout layout;
  std::vector<std::uint64_t> offsets{0};
  Bytes values = {};
};

/// Column indices that rise inside each segment, i32; `length` is asked for the length of each.
Workload rising(const std::string& name,
                const std::function<std::uint64_t(std::mt19937&)>& length) {
  Workload made{.name = name, .layout = parse_record("i32").value()};
  std::mt19937 random(7);
  std::vector<std::uint32_t> values;
  while (values.size() < kUnitBytes / 4) {
    const std::uint64_t records =
        std::min<std::uint64_t>(length(random), kUnitBytes / 4 - values.size());
    std::uint32_t value = random() % 100000;
    for (std::uint64_t i = 0; i < records; ++i) values.push_back(value += random() % 30);
    made.offsets.push_back(values.size());
  }
  made.values.resize(4 * values.size());
  std::memcpy(made.values.data(), values.data(), made.values.size());
  return made;
}

Bytes read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto* const begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

template <class Offset>
Workload recorded(const std::string& name, const char* record, const std::string& values,
                  const std::string& offsets) {
  Workload read{.name = name,
                .layout = parse_record(record).value(),
                .offsets = {},
                .values = read_file(values)};
  const Bytes bytes = read_file(offsets);
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(Offset)) {
    Offset offset;
    std::memcpy(&offset, bytes.data() + at, sizeof offset);
    read.offsets.push_back(static_cast<std::uint64_t>(offset));
  }
  return read;
}

std::vector<Workload> workloads(const std::string& folder) {
  std::vector<Workload> all;
  all.push_back(rising("length_1", [](std::mt19937&) { return 1; }));
  all.push_back(rising("uniform_32", [](std::mt19937& random) { return random() % 64 + 1; }));
  all.push_back(rising("power_law", [](std::mt19937& random) {
    const double part = (random() + 1.0) / 4294967297.0;
    return static_cast<std::uint64_t>(std::min(4 / part, 1e6));
  }));
  all.push_back(rising("one_huge", [first = true](std::mt19937& random) mutable -> std::uint64_t {
    return std::exchange(first, false) ? kUnitBytes / 8 : random() % 4 + 1;
  }));
  if (folder.empty()) return all;
  all.push_back(recorded<std::int32_t>("csr_colidx", "i32", folder + "/ragged_csr_colidx.i32x1.bin",
                                       folder + "/ragged_csr_rowptr.i32x1.bin"));
  all.push_back(recorded<std::uint64_t>("postings", "u32", folder + "/ragged_postings.u32x1.bin",
                                        folder + "/ragged_postings_offsets.u64x1.bin"));
  return all;
}

struct Speed {
  double seconds = 0;
  bool right = true;
};

/// `num_segments`: 0 for a stream without.
Speed decode(const bench::RepeatedStream& stream, const Workload& work,
             std::uint64_t num_segments) {
  bench::DeviceDecoding decoding(stream.bytes, stream.info);
  if (num_segments > 0) decoding.want_offsets(num_segments);
  Speed speed;
  speed.seconds = bench::median_seconds(2, 9, [&] { decoding.run(true); });
  speed.right = decoding.is_whole();
  // The last repetition, and its offsets.
  Bytes values(work.values.size());
  GDELTA_CHECK(cudaMemcpy(values.data(), decoding.out() + stream.info.decoded_bytes - values.size(),
                          values.size(), cudaMemcpyDeviceToHost));
  speed.right &= values == work.values;
  if (num_segments > 0) {
    std::vector<std::uint64_t> got(work.offsets.size());
    GDELTA_CHECK(cudaMemcpy(got.data(), decoding.offsets() + num_segments + 1 - got.size(),
                            8 * got.size(), cudaMemcpyDeviceToHost));
    const std::uint64_t before = got.front();
    for (std::size_t i = 0; i < got.size(); ++i) speed.right &= got[i] - before == work.offsets[i];
  }
  return speed;
}

void bench_level(const Workload& work, int level, std::optional<Coder> coder, std::uint64_t total) {
  EncodeOptions options{.layout = work.layout,
                        .level = level,
                        .coder = coder,
                        .device_decodable = true,
                        .device = "cpu"};
  const Bytes dense = compress(work.values, options).value();
  const Bytes ragged = compress_segments(work.offsets, work.values, options).value();
  const std::uint64_t count = (total + work.values.size() - 1) / work.values.size();
  const std::uint64_t segments = count * (work.offsets.size() - 1);
  const Speed of_dense = decode(bench::RepeatedStream(dense, count), work, 0);
  const bench::RepeatedStream repeated(ragged, count);
  const Speed of_ragged = decode(repeated, work, segments);
  const double values = static_cast<double>(count * work.values.size()) / 1e9;
  const double both = values + 8e-9 * static_cast<double>(segments);
  DecodeOptions on_host;
  on_host.device = "cpu";
  const double unit = static_cast<double>(work.values.size()) / 1e9;
  const double host_dense =
      unit / bench::best_wall_seconds([&] { (void)decompress(dense, on_host).value(); });
  const double unit_and_offsets = unit + 8e-9 * static_cast<double>(work.offsets.size());
  const double host_ragged = unit_and_offsets / bench::best_wall_seconds([&] {
                               (void)decompress_segments(ragged, on_host).value();
                             });
  const auto encode_on = [&](const char* device) {
    options.device = device;
    const Bytes stream = compress_segments(work.offsets, work.values, options).value();
    if (stream != ragged) std::exit(1);
  };
  const double host_encode = unit_and_offsets / bench::best_wall_seconds([&] { encode_on("cpu"); });
  encode_on("cuda");  // which is open from here on
  const double cuda_encode =
      unit_and_offsets / bench::best_wall_seconds([&] { encode_on("cuda"); });
  const ColumnInfo& column = repeated.info.chunks[0].columns[0];
  std::printf(
      "%s,%d,%s,%d,%d,%.1f,%zu,%zu,%zu,%.1f,%.1f,%.3f,%.2f,%.2f,%.2f,%.2f,%s\n", work.name.c_str(),
      level, std::string(coder_name(column.coder)).c_str(), column.predictor == Predictor::segments,
      column.orders.empty() ? 0 : column.orders[0],
      static_cast<double>(work.offsets.back()) / static_cast<double>(work.offsets.size() - 1),
      work.values.size(), dense.size(), ragged.size(), values / of_dense.seconds,
      both / of_ragged.seconds, both / of_ragged.seconds / (values / of_dense.seconds), host_dense,
      host_ragged, host_encode, cuda_encode, of_dense.right && of_ragged.right ? "ok" : "WRONG");
  std::fflush(stdout);
}

}  // namespace
}  // namespace gdelta

int main(int argc, char** argv) {
  const std::uint64_t total = (argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1024) << 20;
  std::printf(
      "workload,level,coder,inside,order,mean_length,bytes,dense_bytes,ragged_bytes,dense_gb_s,"
      "ragged_gb_s,of_dense,"
      "host_dense_gb_s,host_ragged_gb_s,host_encode_gb_s,cuda_encode_gb_s,right\n");
  for (const auto& work : gdelta::workloads(argc > 2 ? argv[2] : "")) {
    if (argc > 3 && work.name != argv[3]) continue;
    gdelta::bench_level(work, 1, {}, total);
    // Predicted where that saves 6 %, however short segments are.
    gdelta::bench_level(work, 2, {}, total);
    // Predicted inside segments where that saves a fiftieth.
    gdelta::bench_level(work, 3, gdelta::Coder::pack, total);
    gdelta::bench_level(work, 5, {}, total);
  }
}
