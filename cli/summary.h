// What is said of a file that is done, and of several together.
#pragma once

#include <cstdint>
#include <string>

#include "console.h"

namespace gdelta::cli {

/// Bytes of numbers and bytes of the streams that hold them.
struct Sizes {
  std::uint64_t decoded = 0;
  std::uint64_t compressed = 0;

  /// 0 if nothing was written.
  double ratio() const;
  Sizes& operator+=(const Sizes& other);
};

/// Sums over the files of a run.
class Tally {
 public:
  void add(const Sizes& sizes);
  /// Says the sum, from the second file on.
  void tell_compressed(Console& console) const;
  void tell_decompressed(Console& console) const;

 private:
  std::uint64_t files_ = 0;
  Sizes sum_;
};

/// "97.3 MiB to 31.2 MiB, ratio 3.119".
std::string compressed_text(const Sizes& sizes);
std::string decompressed_text(const Sizes& sizes);

}  // namespace gdelta::cli
