// Uses the installed headers and the installed library, nothing else.
#include <gdelta/stream.h>

#include <algorithm>
#include <cstdio>
#include <vector>

int main() {
  std::vector<int> values;
  for (int i = 0; i < 30000; ++i) values.push_back(i * i % 1000 + i);
  gdelta::EncodeOptions options;
  options.layout = gdelta::parse_record("i32x3").value();

  const auto bytes = std::as_bytes(std::span(values));
  const auto stream = gdelta::compress(bytes, options);
  if (!stream) return std::puts(stream.error().to_string().c_str()), 1;
  const auto restored = gdelta::decompress(*stream);
  if (!restored) return std::puts(restored.error().to_string().c_str()), 1;
  const bool same = std::equal(restored->begin(), restored->end(), bytes.begin(), bytes.end());

  const std::string version(gdelta::library_version());
  std::printf("gdelta %s: %zu bytes, compressed %zu, %s\n", version.c_str(), bytes.size(),
              stream->size(), same ? "same" : "DIFFERENT");
  return same ? 0 : 1;
}
