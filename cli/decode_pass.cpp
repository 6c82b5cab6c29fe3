#include "decode_pass.h"

namespace gdelta::cli {

namespace {

Source source_of(InputFile& input) {
  return [&input](std::span<std::byte> buffer) { return input.read(buffer); };
}

/// What the input decodes to, where that can be known beforehand and somebody wants to know.
std::optional<std::uint64_t> decoded_bytes(const InputFile& input, std::uint64_t memory_limit,
                                           const Console& console) {
  if (!console.is_watched() || !input.is_regular() || input.is_stdin()) return std::nullopt;
  const auto totals =
      visit_chunks(input.reader_at(), static_cast<std::uint64_t>(input.status().st_size),
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

}  // namespace

Result<void> decode_file(InputFile& input, const Sink& sink, const DecodeOptions& options,
                         Console& console) {
  return watched(input, options, console, [&](Reader& reader) { return reader.run(sink); });
}

Result<SalvageReport> salvage_file(InputFile& input, const Sink& sink, const DecodeOptions& options,
                                   Console& console) {
  return watched(input, options, console, [&](Reader& reader) { return reader.salvage(sink); });
}

}  // namespace gdelta::cli
