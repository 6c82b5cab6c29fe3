// Writes streams to try gdelta on: an IMU, a piece of music, a lidar, and some shorter ones. The same bytes on every run.
// usage: make_samples DIR [SCALE]     SCALE 1, the default, gives about 12 MB a file, 4 MB for the shorter ones
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "sample_generators.h"

namespace {

class SampleFile {
 public:
  explicit SampleFile(const std::filesystem::path& path)
      : path_(path), file_(path, std::ios::binary) {}

  template <class Values>
  void write(const Values& values) {
    file_.write(reinterpret_cast<const char*>(values.data()),
                static_cast<std::streamsize>(values.size() * sizeof(values[0])));
  }
  void little_endian(std::uint32_t value, int num_bytes) {
    for (int i = 0; i < num_bytes; ++i) file_.put(static_cast<char>(value >> (8 * i) & 0xff));
  }
  void text(const char* four) { file_.write(four, 4); }
  void close() {
    file_.close();
    if (!file_) throw std::runtime_error("cannot write " + path_.string());
    std::printf("%12llu bytes  %s\n",
                static_cast<unsigned long long>(std::filesystem::file_size(path_)), path_.c_str());
  }

 private:
  std::filesystem::path path_;
  std::ofstream file_;
};

void write_stereo_wav(SampleFile& file, const std::vector<std::int16_t>& samples) {
  const auto data_bytes = static_cast<std::uint32_t>(samples.size() * 2);
  file.text("RIFF");
  file.little_endian(36 + data_bytes, 4);
  file.text("WAVE");
  file.text("fmt ");
  file.little_endian(16, 4);
  file.little_endian(1, 2);          // PCM
  file.little_endian(2, 2);          // channels
  file.little_endian(44100, 4);      // frames a second
  file.little_endian(44100 * 4, 4);  // bytes a second
  file.little_endian(4, 2);          // bytes a frame
  file.little_endian(16, 2);         // bits a sample
  file.text("data");
  file.little_endian(data_bytes, 4);
  file.write(samples);
}

template <class Values>
void write_values(const std::filesystem::path& path, const Values& values) {
  SampleFile file(path);
  file.write(values);
  file.close();
}

void make_all(const std::filesystem::path& folder, double scale) {
  std::filesystem::create_directories(folder);
  const auto scaled = [&](double count) { return static_cast<std::size_t>(count * scale) + 1; };

  SampleFile imu(folder / "imu.f32x6.bin");
  imu.write(make_imu(scaled(500'000)));
  imu.close();

  SampleFile music(folder / "music.wav");
  write_stereo_wav(music, make_music(scaled(3'000'000)));
  music.close();

  SampleFile lidar(folder / "lidar.f32x4.bin");
  lidar.write(make_lidar(scaled(6)));
  lidar.close();

  write_values(folder / "voice.i16x1.bin", make_voice(scaled(2'000'000)));
  write_values(folder / "temperatures.f64x1.bin", make_temperatures(scaled(500'000)));
  write_values(folder / "times.i64x1.bin", make_times(scaled(500'000)));
  write_values(folder / "sparse_columns.i32x1.bin", make_sparse_columns(scaled(1'000'000)));
  write_values(folder / "grid.i32x1.bin", make_grid(scaled(6'600)));
  write_values(folder / "table.csv", make_table(scaled(100'000)));
}

}  // namespace

int main(int argc, char** argv) {
  const double scale = argc > 2 ? std::atof(argv[2]) : 1.0;
  if (argc < 2 || argc > 3 || !(scale > 0.0 && scale <= 100.0)) {
    std::fprintf(stderr, "usage: make_samples DIR [SCALE]   SCALE is above 0, at most 100\n");
    return 1;
  }
  try {
    make_all(argv[1], scale);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_samples: %s\n", error.what());
    return 1;
  }
}
