// Faults in adaptively coded residuals; fault_cases.h says how they are made.
#include "codec/faults/fault_parts.h"
#include "golden/plain_adaptive.h"

namespace gdelta::faults {

void add_faults_of_adaptive(FaultTable& table) {
  const Bytes good = plain::adaptive_stream(frame_residuals(), 1, 1);
  const auto parts = [](const Bytes& first, const Bytes& second) {
    return two_frames(Coder::adaptive, {first, second});
  };
  table.add_good("adaptive streams", parts(good, good));
  const auto add = [&](const std::string& name, const Bytes& bytes) {
    table.add(name + " as the first adaptive stream", parts(good, good),
              put_chunk_of(parts(bytes, good)), Errc::corrupt, Place::first_part);
    table.add(name + " as the second adaptive stream", parts(good, good),
              put_chunk_of(parts(good, bytes)), Errc::corrupt, Place::second_part);
  };
  add("nothing", {});
  add("a stream without its last byte", Bytes(good.begin(), good.end() - 1));
  add("a stream without its first byte", Bytes(good.begin() + 1, good.end()));
  add("a stream with a zero behind it", with_zeros(good, 1));
  add("a stream with five zeros behind it", with_zeros(good, 5));
  add("a number with more digits than it needs", joined({good, bytes_of({1})}));
  add("a stream with five bytes behind it", joined({good, bytes_of({1, 1, 1, 1, 1})}));
  for (const int bit : {0, 7}) {
    Bytes other = good;
    other.back() ^= static_cast<std::byte>(1 << bit);
    add("a last byte of another bit " + std::to_string(bit), other);
  }
  add("the highest number", Bytes(good.size(), std::byte{0xff}));
}

}  // namespace gdelta::faults
