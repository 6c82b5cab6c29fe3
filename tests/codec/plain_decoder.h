// The plain decoder of the samples, a program that shares no code with the library, on many streams in one run.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codec/stream/stream_tools.h"
#include "places.h"

namespace gdelta::test {

inline std::filesystem::path plain_decoder() {
  return std::filesystem::path(kBinaryDir) / "samples" / "plain_decoder";
}

struct PlainAnswer {
  std::optional<Bytes> values;  // nothing if it refuses the stream
  std::string complaint;        // what it prints behind the file's name
};

/// What the plain decoder makes of each stream.
inline std::vector<PlainAnswer> decode_plainly(std::span<const Bytes> streams) {
  namespace fs = std::filesystem;
  constexpr std::size_t kOfOneRun = 2000;  // as many names as a shell takes
  const fs::path folder = fs::temp_directory_path() / ("gdelta_plain_" + std::to_string(getpid()));
  std::vector<PlainAnswer> answers(streams.size());
  for (std::size_t first = 0; first < streams.size(); first += kOfOneRun) {
    const std::size_t last = std::min(streams.size(), first + kOfOneRun);
    fs::create_directories(folder);
    std::string command = "cd '" + folder.string() + "' && '" + plain_decoder().string() + "'";
    for (std::size_t i = first; i < last; ++i) {
      const std::string name = std::to_string(i);
      std::ofstream(folder / name, std::ios::binary)
          .write(reinterpret_cast<const char*>(streams[i].data()),
                 static_cast<std::streamsize>(streams[i].size()));
      command += ' ' + name + ' ' + name + ".out";
    }
    const int status = std::system((command + " 2>complaints").c_str());
    for (std::size_t i = first; i < last; ++i) {
      const fs::path out = folder / (std::to_string(i) + ".out");
      if (fs::exists(out))
        answers[i].values = read_file(out);
      else
        answers[i].complaint = "nothing, but it ended with status " + std::to_string(status);
    }
    std::ifstream complaints(folder / "complaints");
    for (std::string line; std::getline(complaints, line);) {
      std::size_t number = 0;
      int behind = 0;
      if (std::sscanf(line.c_str(), "plain_decoder: %zu: %n", &number, &behind) == 1 &&
          number >= first && number < last)
        answers[number].complaint = line.substr(static_cast<std::size_t>(behind));
    }
    fs::remove_all(folder);
  }
  return answers;
}

}  // namespace gdelta::test
