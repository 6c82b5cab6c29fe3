// A logger. Rows of six floats are compressed as they come and flushed every second, so that a logger that dies loses
// at most a second. Here it dies: the file is never finished, and is read back as far as it goes.
// usage: sensor_stream LOG.gdz
#include <gdelta/stream.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

using Row = std::array<float, 6>;  // gyroscope x y z, accelerometer x y z

constexpr int kRowsPerSecond = 200;
constexpr int kSeconds = 20;

/// Prints the error and ends the program, if there is one.
static void must(const gdelta::Result<void>& result) {
  if (result) return;
  std::fprintf(stderr, "sensor_stream: %s\n", result.error().to_string().c_str());
  std::exit(1);
}

static Row read_sensor(int row) {
  const float t = static_cast<float>(row) / kRowsPerSecond;
  const float sway = std::round(1000 * std::sin(5 * t)) / 1000,
              turn = std::round(1000 * std::cos(2 * t)) / 1000;
  return {sway, 0.5f * turn, 0.25f * sway, turn, 0.125f * sway, 9.75f + sway};
}

static std::vector<Row> log_until_the_battery_is_empty(const char* path) {
  std::ofstream file(path, std::ios::binary);
  const gdelta::Sink sink = [&](std::span<const std::byte> bytes) -> gdelta::Result<void> {
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    if (!file.flush()) return gdelta::fail(gdelta::Errc::io_error, "cannot write the log");
    return {};
  };
  gdelta::EncodeOptions options;
  options.layout = gdelta::parse_record("f32x6").value();
  gdelta::Writer writer(sink, options);

  std::vector<Row> rows;
  for (int i = 0; i < kSeconds * kRowsPerSecond + 50; ++i) {  // the last 50 rows are never flushed
    rows.push_back(read_sensor(i));
    must(writer.write(std::as_bytes(std::span(&rows.back(), 1))));
    if (rows.size() % kRowsPerSecond == 0) must(writer.flush());
  }
  return rows;  // no writer.finish(): the lights went out
}

static std::vector<Row> read_what_is_there(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const gdelta::Source source = [&](std::span<std::byte> buffer) -> gdelta::Result<std::size_t> {
    file.read(reinterpret_cast<char*>(buffer.data()), static_cast<std::streamsize>(buffer.size()));
    return static_cast<std::size_t>(file.gcount());
  };
  std::vector<std::byte> bytes;
  const gdelta::Sink sink = [&](std::span<const std::byte> decoded) -> gdelta::Result<void> {
    bytes.insert(bytes.end(), decoded.begin(), decoded.end());
    return {};
  };
  gdelta::Reader reader(source, {});
  const gdelta::SalvageReport report = reader.salvage(sink).value();
  std::printf("the log ends early: %s\n",
              report.error ? report.error->to_string().c_str() : "no, it is whole");

  std::vector<Row> rows(bytes.size() / sizeof(Row));
  std::copy(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(rows.size() * sizeof(Row)),
            std::as_writable_bytes(std::span(rows)).begin());
  return rows;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: sensor_stream LOG.gdz\n");
    return 1;
  }
  const std::vector<Row> logged = log_until_the_battery_is_empty(argv[1]);
  const std::vector<Row> found = read_what_is_there(argv[1]);
  std::printf("%zu rows logged, %zu found\n", logged.size(), found.size());
  const bool same = found.size() == kSeconds * kRowsPerSecond &&
                    std::equal(found.begin(), found.end(), logged.begin());
  std::printf("what was flushed came back: %s\n", same ? "yes" : "NO");
  return same ? 0 : 1;
}
