#include "encode_arguments.h"

#include <fmt/core.h>

#include <charconv>

#include "size_text.h"
#include "type_spelling.h"

namespace gdelta::cli {

const char* const kEncodeHelp =
    R"(Levels
  -1 is the fastest, -9 the smallest, -5 the default. What 20 recordings become, and the
  speed of the whole command on one core of a cloud machine:
    level    -1    -2    -3    -4    -5    -6    -7    -8    -9
    ratio  2.92  2.94  4.67  4.68  4.76  4.87  5.17  5.21  5.47
    MB/s    162   162   124   122   108    71    25   8.8   2.8
  -1 and -2 leave zstd out for numbers, so that they decode fast, on a GPU too. Text and
  other bytes that are no numbers go to zstd at every level where it makes them smaller,
  at -9 to LZMA where that saves 3 % more; it decodes as fast as xz does.
  --level N   the same as -N; GDELTA_LEVEL in the environment is compress's default
  --best      the same as -9
  --fast      the same as -1

What the numbers are
  A WAV, NPY or LAS file says it itself; so does each of several in one file, or in an .npz
  or tar archive that does not compress them. For any other file gdelta looks for type
  and tuple in a sample and says what it found; whoever knows better tells it:
    --type i16 --tuple 2            16-bit samples, left and right in turn
    --type f64:be                   big-endian doubles
    --record i32x3,u16,u8x2,f64     records of mixed types
    --type u8 --tuple 3 --stride 640    an image whose rows of 640 pixels resemble each other
    --type u8 --tuple 3 --stride auto   the same where -1 is to find out how long rows are
                                    (rows and planes of an NPY array are known from its shape)
  Types: i8 u8 i16 u16 i24 u24 i32 u32 i64 u64 f16 bf16 f32 f64, with :be for big-endian.
  int16, float32, double, '<f4', s16le and the like are understood too.
  Whatever is said or found, the same bytes come back.
  --meta unit=mV --meta place=roof    what gdelta list -v shows beside; any number of them
)";

namespace {

/// "raw, pack, ...".
Result<Coder> parse_coder(const std::string& text) {
  for (const Coder coder : asked_coders())
    if (text == coder_name(coder)) return coder;
  return fail(Errc::invalid_argument, "'" + text + "' is none of " + asked_coder_names());
}

Result<std::uint64_t> parse_stride(const std::string& text) {
  if (text == "auto") return kFindStride;
  std::uint64_t stride = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, stride);
  if (error == std::errc{} && stop == end && is_stride(stride)) return stride;
  return fail(
      Errc::invalid_argument,
      fmt::format("'{}' is neither a number of records, 2 to {}, nor auto", text, kMaxStride));
}

/// Lets `target` have what `result` holds, or hands the error on.
template <class Target, class Value>
Result<void> assign(Target& target, Result<Value> result) {
  if (!result) return tl::unexpected(result.error());
  target = std::move(*result);
  return {};
}

/// Reads types as others call them; an error is about the text as it was given.
template <class Parse>
auto with_own_names(const std::string& text, const Parse& parse) {
  auto result = parse(own_type_names(text));
  return result ? result : parse(text);
}

}  // namespace

void add_encode_arguments(CLI::App& app, EncodeArguments& arguments) {
  EncodeOptions& options = arguments.options;
  hide(*app.add_flag("-1{1},-2{2},-3{3},-4{4},-5{5},-6{6},-7{7},-8{8},-9{9}",
                     arguments.levels));  // the foot of the help page tells it shorter
  auto* type = add_parsed_option(app, "--type", "TYPE", "Type of every value, such as i16 or f32",
                                 [&arguments](const std::string& text) {
                                   return assign(arguments.type, with_own_names(text, parse_type));
                                 });
  app.add_option("--tuple", arguments.tuple, "Values that belong together (default 1)")
      ->option_text("N")
      ->check(number_in(1, kMaxTuple))
      ->needs(type);
  add_parsed_option(app, "--record", "LAYOUT", "Columns of a record, such as i32x3,u16",
                    [&options](const std::string& text) {
                      return assign(options.layout, with_own_names(text, parse_record));
                    })
      ->excludes(type);
  app.add_option("--order", options.order, "Times that differences are taken, 0 to 8")
      ->option_text("N")
      ->check(number_in(0, kMaxOrder));
  add_parsed_option(
      app, "--stride", "N", "Try differences to so many records before; or auto",
      [&options](const std::string& text) { return assign(options.stride, parse_stride(text)); });
  add_parsed_option(
      app, "--coder", "CODER", "For every chunk: " + asked_coder_names(),
      [&options](const std::string& text) { return assign(options.coder, parse_coder(text)); });
  add_parsed_option(app, "--chunk", "SIZE", "Bytes of a chunk, such as 64K or 1M, at most 256M",
                    [&options](const std::string& text) -> Result<void> {
                      const auto size = parse_size(text);
                      if (!size) return tl::unexpected(size.error());
                      if (*size == 0 || *size > kMaxChunkBytes)
                        return fail(Errc::invalid_argument, "a chunk has 1 to 256M bytes");
                      options.chunk_bytes = *size;
                      return {};
                    });
  app.add_option("--meta", arguments.metadata, "Say something in the file, such as unit=mV")
      ->option_text("KEY=VALUE")
      ->allow_extra_args(false);
  app.add_flag("--device-decodable", options.device_decodable,
               "Promise a stream that decodes wholly on a GPU");
  app.add_flag_callback(
      "--no-maps", [&options] { options.maps = false; },
      "Take numbers as they are: no decimals, no tables, no lanes less others");
}

std::optional<std::string> complete(EncodeArguments& arguments) {
  if (arguments.type) {
    Column column = *arguments.type;
    column.tuple = static_cast<std::uint8_t>(arguments.tuple.value_or(1));
    arguments.options.layout = Layout{{column}};
  }
  for (const std::string& text : arguments.metadata) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) return "--meta: '" + text + "' is no KEY=VALUE";
    arguments.options.metadata.push_back({text.substr(0, equals), text.substr(equals + 1)});
  }
  if (const auto checked = check_metadata(arguments.options.metadata); !checked)
    return "--meta: " + checked.error().message;
  if (const auto coder = arguments.options.coder;
      arguments.options.device_decodable && coder && !decodes_on_device(*coder))
    return fmt::format("--device-decodable leaves {} out, which --coder asks for",
                       coder_name(*coder));
  return std::nullopt;
}

}  // namespace gdelta::cli
