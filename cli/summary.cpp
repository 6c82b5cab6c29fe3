#include "summary.h"

#include <fmt/core.h>

#include "size_text.h"

namespace gdelta::cli {

double Sizes::ratio() const {
  return compressed > 0 ? static_cast<double>(decoded) / static_cast<double>(compressed) : 0;
}

Sizes& Sizes::operator+=(const Sizes& other) {
  decoded += other.decoded;
  compressed += other.compressed;
  return *this;
}

void Tally::add(const Sizes& sizes) {
  ++files_;
  sum_ += sizes;
}

void Tally::tell_compressed(Console& console) const {
  if (files_ > 1) console.note(fmt::format("{} files: {}", files_, compressed_text(sum_)));
}

void Tally::tell_decompressed(Console& console) const {
  if (files_ > 1) console.note(fmt::format("{} files: {}", files_, decompressed_text(sum_)));
}

std::string compressed_text(const Sizes& sizes) {
  return fmt::format("{} to {}, ratio {:.3f}", readable_bytes(sizes.decoded),
                     readable_bytes(sizes.compressed), sizes.ratio());
}

std::string decompressed_text(const Sizes& sizes) {
  return fmt::format("{} to {}, ratio {:.3f}", readable_bytes(sizes.compressed),
                     readable_bytes(sizes.decoded), sizes.ratio());
}

}  // namespace gdelta::cli
