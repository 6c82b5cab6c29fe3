// Streams of the adaptive coder: any bytes as a stream of any length, and what was coded comes back, as the only stream
// that gives it.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "codec/coders/adaptive_section.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  constexpr gdelta::ValueType kTypes[] = {gdelta::ValueType::u8, gdelta::ValueType::i16,
                                          gdelta::ValueType::u24, gdelta::ValueType::f32,
                                          gdelta::ValueType::i64};
  const gdelta::Column column{kTypes[data[0] % 5], static_cast<std::uint8_t>(1 + data[1] % 4),
                              false};
  const auto tuple_bytes = static_cast<std::size_t>(column.bytes());
  const std::vector<unsigned char> bytes(data + 3, data + size);
  std::vector<unsigned char> out(data[2] * tuple_bytes);
  if (gdelta::decode_adaptive_stream(bytes, column, out)) {
    std::vector<std::byte> again;
    gdelta::encode_adaptive_stream(out, column, again);
    if (again.size() != bytes.size()) std::abort();
    for (std::size_t i = 0; i < again.size(); ++i)
      if (std::to_integer<unsigned char>(again[i]) != bytes[i]) std::abort();
  }

  const std::vector<unsigned char> values(bytes.begin(), bytes.end() - bytes.size() % tuple_bytes);
  std::vector<std::byte> stream;
  gdelta::encode_adaptive_stream(values, column, stream);
  std::vector<unsigned char> back(values.size());
  const std::span<const unsigned char> coded(reinterpret_cast<const unsigned char*>(stream.data()),
                                             stream.size());
  if (!gdelta::decode_adaptive_stream(coded, column, back) || back != values) std::abort();
  if (gdelta::decode_adaptive_stream(coded.first(coded.size() - 1), column, back) && back == values)
    std::abort();
  return 0;
}
