#include "decode_pass.h"

namespace gdelta::cli {

namespace {

constexpr std::size_t kMostGapsTold = 1000;

Source source_of(InputFile& input) {
  return [&input](std::span<std::byte> buffer) { return input.read(buffer); };
}

/// What the input decodes to, if that can be known beforehand and somebody wants to know.
std::optional<std::uint64_t> decoded_bytes(const InputFile& input, std::uint64_t memory_limit,
                                           const Console& console) {
  if (!console.is_watched() || !input.is_regular() || input.is_stdin()) return std::nullopt;
  const auto totals = visit_chunks(input.reader_at(), input.size(),
                                   [](const ChunkInfo&, const Layout&) { return Result<void>(); },
                                   {.models = false, .memory_limit = memory_limit});
  if (!totals) return std::nullopt;
  return totals->decoded_bytes;
}

/// One pass of a reader, with the progress line and the reader's warnings around it.
template <class Pass>
auto watched(InputFile& input, DecodeOptions options, Console& console, const Pass& pass) {
  console.follow(options);
  Reader reader(source_of(input), options);
  console.start_progress(input.name(), decoded_bytes(input, options.memory_limit, console));
  auto done = pass(reader);
  console.end_progress();
  for (const std::string& warning : reader.take_warnings()) console.warning(input.name(), warning);
  return done;
}

/// Whether its parts can be read in any order. What stdin has been read of already is not part of it.
bool is_a_whole_file(const InputFile& input) {
  return input.is_regular() && input.bytes_left() == input.size();
}

}  // namespace

Result<void> decode_file(InputFile& input, const Sink& sink, const DecodeOptions& options,
                         Console& console, const EndSink& ends) {
  return watched(input, options, console,
                 [&](Reader& reader) { return reader.run_segments(sink, ends); });
}

Result<SalvageReport> salvage_pass(InputFile& input, const Sink& sink, const DecodeOptions& options,
                                   bool fill, std::vector<SalvageGap>& gaps, Console& console) {
  SalvageOptions salvaging;
  salvaging.fill = fill;
  salvaging.on_gap = [&gaps](const SalvageGap& gap) {
    if (gaps.size() < kMostGapsTold) gaps.push_back(gap);
  };
  return watched(input, options, console, [&](Reader& reader) {
    if (!is_a_whole_file(input)) return reader.salvage(sink, salvaging);
    DecodeOptions followed = options;
    console.follow(followed);
    auto report = salvage_file(input.reader_at(), input.size(), sink, followed, salvaging);
    if (report) input.pass(input.size());
    return report;
  });
}

}  // namespace gdelta::cli
