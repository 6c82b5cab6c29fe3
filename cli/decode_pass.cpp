#include "decode_pass.h"

namespace gdelta::cli {

namespace {

Source source_of(InputFile& input, Console& console) {
  return [&input, &console, total = input.bytes_left()](std::span<std::byte> buffer) {
    console.progress(input.name(), input.bytes_read(), total);
    return input.read(buffer);
  };
}

void pass_on_warnings(Reader& reader, const InputFile& input, Console& console) {
  for (const std::string& warning : reader.take_warnings()) console.warning(input.name(), warning);
  console.clear_progress();
}

}  // namespace

Result<void> decode_file(InputFile& input, const Sink& sink, const DecodeOptions& options,
                         Console& console) {
  Reader reader(source_of(input, console), options);
  auto done = reader.run(sink);
  pass_on_warnings(reader, input, console);
  return done;
}

Result<SalvageReport> salvage_file(InputFile& input, const Sink& sink, const DecodeOptions& options,
                                   Console& console) {
  Reader reader(source_of(input, console), options);
  auto report = reader.salvage(sink);
  pass_on_warnings(reader, input, console);
  return report;
}

}  // namespace gdelta::cli
