// Writes the golden files of a format version that has none yet. Files that exist are left alone:
// they are decoded forever, never written again.
//
// usage: write_golden FOLDER
#include <filesystem>
#include <fstream>
#include <iostream>

#include "golden_cases.h"

namespace {

bool write_file(const std::filesystem::path& path, const gdelta::plain::Bytes& bytes) {
  if (std::filesystem::exists(path)) return true;
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.close();
  return !file.fail();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: write_golden FOLDER\n";
    return 1;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  for (const auto& golden : gdelta::plain::golden_cases()) {
    if (!write_file(folder / (golden.name + ".gdz"), golden.stream) ||
        !write_file(folder / (golden.name + ".values"), golden.values)) {
      std::cerr << "cannot write " << golden.name << " into " << folder << '\n';
      return 1;
    }
  }
  return 0;
}
