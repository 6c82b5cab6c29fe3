// A file in one call: compress a WAV, see what gdelta took it for, decode one second of it alone, then all of it.
// usage: audio_stream IN.wav OUT.gdz
#include <gdelta/codec.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

static std::vector<std::byte> read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  const auto view = std::as_bytes(std::span(bytes));
  return {view.begin(), view.end()};
}

/// Prints the error and ends the program, if there is one.
template <class T>
static T value_of(gdelta::Result<T> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "audio_stream: %s\n", result.error().to_string().c_str());
  std::exit(1);
}

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: audio_stream IN.wav OUT.gdz\n");
    return 1;
  }
  const std::vector<std::byte> wav = read_file(argv[1]);
  const std::vector<std::byte> stream = value_of(gdelta::compress(wav));
  std::ofstream(argv[2], std::ios::binary)
      .write(reinterpret_cast<const char*>(stream.data()),
             static_cast<std::streamsize>(stream.size()));

  const gdelta::StreamInfo info = value_of(gdelta::inspect(stream));
  for (const gdelta::Layout& layout : info.layouts)
    std::printf("numbers: %s\n", gdelta::to_string(layout).c_str());
  std::printf("%zu bytes, compressed %zu, %zu chunks\n", wav.size(), stream.size(),
              info.chunks.size());

  // The second in the middle: only the chunks that hold it are decoded.
  const std::uint64_t begin = wav.size() / 2,
                      end = std::min<std::uint64_t>(begin + 44100 * 4, wav.size());
  const std::vector<std::byte> second = value_of(gdelta::decompress_range(stream, begin, end));
  const std::vector<std::byte> all = value_of(gdelta::decompress(stream));

  const bool same = all == wav && std::equal(second.begin(), second.end(),
                                             wav.begin() + static_cast<std::ptrdiff_t>(begin),
                                             wav.begin() + static_cast<std::ptrdiff_t>(end));
  std::printf("one second and the whole came back: %s\n", same ? "yes" : "NO");
  return same ? 0 : 1;
}
