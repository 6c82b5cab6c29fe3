#include "read_back.h"

#include <fmt/core.h>

#include <algorithm>

#include "decode_pass.h"

namespace gdelta::cli {

namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

Error differs_at(std::uint64_t byte) {
  return {.code = Errc::corrupt,
          .message = fmt::format("read again, it differs from its input at decoded byte {}", byte),
          .chunk = std::nullopt,
          .byte = std::nullopt};
}

/// Takes values one after the other and compares them with a file.
class Comparison {
 public:
  explicit Comparison(const InputFile& input)
      : read_at_(input.reader_at()), wanted_(input.size()) {}

  Result<void> take(std::span<const std::byte> values) {
    while (!values.empty()) {
      piece_.resize(std::min(values.size(), kPieceBytes));
      const auto got = read_at_(at_, piece_);
      if (!got) return tl::unexpected(got.error());
      const auto same = static_cast<std::size_t>(
          std::mismatch(piece_.begin(), piece_.begin() + static_cast<std::ptrdiff_t>(*got),
                        values.begin())
              .second -
          values.begin());
      at_ += same;
      if (same < piece_.size()) return tl::unexpected(differs_at(at_));
      values = values.subspan(same);
    }
    return {};
  }
  Result<void> finish() const {
    if (at_ < wanted_) return tl::unexpected(differs_at(at_));
    return {};
  }

 private:
  ReadAt read_at_;
  std::uint64_t wanted_;
  std::uint64_t at_ = 0;
  std::vector<std::byte> piece_;
};

Result<void> compare(const InputFile& input, const std::string& output,
                     const DecodeOptions& options, Console& console) {
  auto file = InputFile::open(output);
  if (!file) return tl::unexpected(file.error());
  Comparison comparison(input);
  const auto done = decode_file(
      *file, [&](std::span<const std::byte> values) { return comparison.take(values); }, options,
      console);
  return done ? comparison.finish() : done;
}

}  // namespace

bool gives_back(const InputFile& input, const std::string& output, const DecodeOptions& options,
                Console& console) {
  const auto same = compare(input, output, options, console);
  if (same) return true;
  console.error(output, same.error());
  console.warning(input.name(), "kept: its output does not give it back");
  return false;
}

}  // namespace gdelta::cli
