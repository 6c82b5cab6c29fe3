#include "codec/coders/lzma_section.h"

#include <lzma.h>

#include <algorithm>
#include <bit>
#include <new>

#include "codec/coders/byte_parts.h"
#include "codec/coders/coder.h"
#include "codec/coders/residual_bytes.h"
#include "formats/gdelta/column_head.h"

namespace gdelta {
namespace {

constexpr std::uint32_t kMostDictionary = 1 << 23;
// How far a long stream is is told after so many bytes.
constexpr std::size_t kPiece = 64 << 10;

/// One after another may use it: what liblzma has allocated for one stream serves the next.
class LzmaStream {
 public:
  LzmaStream() = default;
  ~LzmaStream() { lzma_end(&stream_); }
  LzmaStream(const LzmaStream&) = delete;
  LzmaStream& operator=(const LzmaStream&) = delete;
  lzma_stream* get() { return &stream_; }
  lzma_stream* operator->() { return &stream_; }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
};

/// The smallest dictionary of the sizes that the format has, 2^k and 3 × 2^(k-1), that holds all.
std::uint32_t dictionary_of(std::uint64_t bytes) {
  const auto wanted = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(bytes, LZMA_DICT_SIZE_MIN, kMostDictionary));
  const std::uint32_t power = std::bit_ceil(wanted);
  return wanted <= power / 4 * 3 ? power / 4 * 3 : power;
}

/// What a byte is foretold by: so many bits of the byte before it, and of its place.
struct Contexts {
  std::uint32_t before;
  std::uint32_t place;
  bool operator==(const Contexts&) const = default;
};

constexpr std::uint32_t kPlaceInFour = 2;  // bits

// How many of the lowest bits of a place are the same in all such stretches of bytes.
std::uint32_t place_bits(int bytes) {
  return std::min<std::uint32_t>(
      static_cast<std::uint32_t>(std::countr_zero(static_cast<unsigned>(bytes))), LZMA_LCLP_MAX);
}

/// Those that are tried, the usual ones first: place in a number, place in a tuple, none; of bytes, which may be numbers among
/// text, also the place in four of them.
std::vector<Contexts> all_contexts(LzmaTuples tuples) {
  const std::uint32_t of_number = place_bits(tuples.width);
  const std::uint32_t of_tuple = place_bits(tuples.width * tuples.tuple);
  std::vector<Contexts> all;
  const auto add = [&](std::uint32_t before, std::uint32_t place) {
    const Contexts next{std::min<std::uint32_t>(before, LZMA_LCLP_MAX - place), place};
    if (std::find(all.begin(), all.end(), next) == all.end()) all.push_back(next);
  };
  add(of_number > 0 ? 1 : LZMA_LCLP_MAX, of_number);
  const std::uint32_t of_any = of_tuple == 0 ? kPlaceInFour : 0;
  for (const std::uint32_t place : {of_number, of_tuple, of_any})
    for (const std::uint32_t before : {0u, 1u, 3u}) add(before, place);
  return all;
}

/// How matches are found, and from which length on one is taken without a look at what else there is.
struct Matches {
  lzma_match_finder finder;
  std::uint32_t nice_bytes;
};

// What the highest preset does, what else streams of middle length are tried with, and what short ones: short matches are most of what
// numbers have, and taking one for another changes what bytes behind it are foretold by.
constexpr Matches kMatches[] = {
    {LZMA_MF_BT4, 273}, {LZMA_MF_BT4, 64}, {LZMA_MF_BT3, 64}, {LZMA_MF_BT2, 56}};

/// The one filter of a stream of so many bytes, with what it is set to.
class Lzma2Filter {
 public:
  explicit Lzma2Filter(std::uint64_t bytes, LzmaEffort effort = LzmaEffort::most,
                       Contexts contexts = {LZMA_LC_DEFAULT, 0},
                       const Matches& matches = kMatches[0]) {
    lzma_lzma_preset(&options_, effort == LzmaEffort::quick ? 1 : 9 | LZMA_PRESET_EXTREME);
    if (effort == LzmaEffort::most) {
      options_.mf = matches.finder;
      options_.nice_len = matches.nice_bytes;
    }
    options_.dict_size = dictionary_of(bytes);
    options_.lc = contexts.before;
    options_.pb = options_.lp = contexts.place;
  }
  Lzma2Filter(const Lzma2Filter&) = delete;
  Lzma2Filter& operator=(const Lzma2Filter&) = delete;
  /// With the end that liblzma wants behind it.
  const lzma_filter* chain() const { return chain_; }

 private:
  lzma_options_lzma options_{};
  lzma_filter chain_[2] = {{.id = LZMA_FILTER_LZMA2, .options = &options_},
                           {.id = LZMA_VLI_UNKNOWN, .options = nullptr}};
};

/// Only memory can be short where nothing else can go wrong.
void require_memory(bool ok) {
  if (!ok) throw std::bad_alloc();
}

void encode_stream(LzmaStream& stream, std::span<const unsigned char> bytes, Contexts contexts,
                   LzmaEffort effort, const Matches& matches, std::vector<std::byte>& section,
                   Work* work) {
  const Lzma2Filter filter(bytes.size(), effort, contexts, matches);
  require_memory(lzma_raw_encoder(stream.get(), filter.chain()) == LZMA_OK);
  const std::size_t start = section.size(), bound = bytes.size() + bytes.size() / 256 + 64;
  section.resize(start + bound);
  stream->next_out = reinterpret_cast<unsigned char*>(section.data() + start);
  stream->avail_out = bound;
  WorkPart of_stream(work, 1);
  for (std::size_t at = 0;;) {
    const std::size_t piece = std::min(kPiece, bytes.size() - at);
    stream->next_in = bytes.data() + at;
    stream->avail_in = piece;
    at += piece;
    const bool last = at == bytes.size();
    const lzma_ret ret = lzma_code(stream.get(), last ? LZMA_FINISH : LZMA_RUN);
    if (ret == LZMA_STREAM_END) break;
    require_memory(ret == LZMA_OK && !last);
    of_stream.add(static_cast<double>(piece) / static_cast<double>(bytes.size()));
  }
  section.resize(start + bound - stream->avail_out);
}

// Contexts are compared by so many bytes from each of two places, for a file may have two kinds of them. If that is not all,
// others than the usual ones have to save more than this part, and to tell more places apart: fewer contexts are learnt sooner,
// so of few bytes they look better than they are.
constexpr std::size_t kComparedBytes = 16 << 10;
constexpr std::size_t kLeastGainShare = 64;
// What is longer than wanted by more than this part of that is so by any contexts, about. Each trial has a table of half a MiB to clear,
// which takes far longer than so few bytes.
constexpr std::size_t kContextsShare = 4;
// Streams of so many bytes are short, and those that are not long.
constexpr std::size_t kShortStream = 64 << 10, kMiddleStream = 2 << 20;

std::span<const Matches> matches_for(std::size_t bytes, LzmaEffort effort) {
  const std::span<const Matches> all(kMatches);
  if (effort == LzmaEffort::quick || bytes > kMiddleStream) return all.first(1);
  return bytes > kShortStream ? all.first(2) : all;
}

/// Those that suit the bytes best; of equals the first; of few bytes the usual ones if they miss what is wanted by so much that no
/// others reach it. `made`: the stream by them and the first matches, if all of it was compared.
Contexts best_contexts(LzmaStream& stream, std::span<const unsigned char> bytes, LzmaTuples tuples,
                       LzmaEffort effort, std::uint64_t wanted, std::vector<std::byte>& made) {
  const std::size_t tuple_bytes = static_cast<std::size_t>(tuples.width) * tuples.tuple;
  std::vector<std::span<const unsigned char>> compared{bytes};
  const bool all = bytes.size() <= kComparedBytes;
  if (!all) {
    compared.clear();
    for (const std::size_t quarter : {1, 3})
      compared.push_back(
          bytes.subspan((bytes.size() - kComparedBytes) / 4 * quarter / tuple_bytes * tuple_bytes,
                        kComparedBytes));
  }
  Contexts best{};
  std::size_t least = ~std::size_t{0};
  const std::vector<Contexts> candidates = all_contexts(tuples);
  for (const Contexts& contexts : candidates) {
    const Contexts& usual = candidates.front();
    if (!all && contexts.place <= usual.place && contexts.before < usual.before) continue;
    std::vector<std::byte> coded;
    for (const auto& piece : compared)
      encode_stream(stream, piece, contexts, all ? effort : LzmaEffort::quick, kMatches[0], coded,
                    nullptr);
    if (coded.size() >= least) continue;
    const bool is_usual = &contexts == &usual;
    least = is_usual && !all ? coded.size() - coded.size() / kLeastGainShare : coded.size();
    best = contexts;
    if (all) made = std::move(coded);
    if (is_usual && all && least > wanted && least - wanted > wanted / kContextsShare) break;
  }
  return best;
}

}  // namespace

void encode_lzma_stream(std::span<const unsigned char> bytes, LzmaTuples tuples, LzmaEffort effort,
                        std::vector<std::byte>& section, Work* work, std::uint64_t wanted) {
  LzmaStream stream;
  std::vector<std::byte> best;
  const Contexts contexts = best_contexts(stream, bytes, tuples, effort, wanted, best);
  auto tried = matches_for(bytes.size(), effort);
  if (!best.empty()) tried = tried.subspan(1);
  for (const Matches& matches : tried) {
    WorkPart of_stream(work, 1 / static_cast<double>(tried.size()));
    std::vector<std::byte> coded;
    encode_stream(stream, bytes, contexts, effort, matches, coded, &of_stream);
    if (best.empty() || coded.size() < best.size()) best = std::move(coded);
  }
  section.insert(section.end(), best.begin(), best.end());
}

bool decode_lzma_stream(std::span<const unsigned char> stream_bytes, std::span<unsigned char> out,
                        Work* work) {
  const Lzma2Filter filter(out.size());
  LzmaStream stream;
  require_memory(lzma_raw_decoder(stream.get(), filter.chain()) == LZMA_OK);
  stream->next_in = stream_bytes.data();
  stream->avail_in = stream_bytes.size();
  WorkPart of_stream(work, 1);
  for (std::size_t at = 0;;) {
    const std::size_t piece = std::min(kPiece, out.size() - at);
    stream->next_out = out.data() + at;
    stream->avail_out = piece;
    const lzma_ret ret = lzma_code(stream.get(), LZMA_FINISH);
    require_memory(ret != LZMA_MEM_ERROR);
    at += piece - stream->avail_out;
    if (ret == LZMA_STREAM_END) return at == out.size() && stream->avail_in == 0;
    // Behind the last byte one more call finds the end, or that there is none.
    if (ret != LZMA_OK || stream->avail_out > 0) return false;
    of_stream.add(static_cast<double>(piece) / static_cast<double>(out.size()));
  }
}

namespace {

void encode_lzma(const ColumnToEncode& encode, std::vector<std::byte>& section,
                 format::SectionTable& table) {
  const LzmaTuples tuples{.width = value_bytes(encode.column.column.type),
                          .tuple = encode.column.column.tuple};
  encode_byte_parts(
      encode, section, table,
      [&](std::span<const unsigned char> bytes, std::vector<std::byte>& stream, Work* work) {
        encode_lzma_stream(bytes, tuples, LzmaEffort::most, stream, work);
      });
}

std::optional<Error> decode_streams(const SectionToDecode& section, std::span<unsigned char> out) {
  return decode_byte_parts(section, out, "an LZMA2 stream is damaged", decode_lzma_stream);
}

template <class Word>
std::optional<Error> decode_parts(const SectionToDecode& section, const ValueSink& sink) {
  return decode_residual_bytes<Word>(section, decode_streams, sink);
}

std::optional<Error> decode_lzma(const SectionToDecode& section) {
  return decode_residuals(section, decode_parts<std::uint32_t>, decode_parts<std::uint64_t>);
}

/// What decoding a stream of so many bytes holds.
std::uint64_t stream_scratch(std::uint64_t bytes) {
  return lzma_raw_decoder_memusage(Lzma2Filter(bytes).chain());
}

DecodeScratch lzma_scratch(const Column& column, const format::ColumnHead& head,
                           std::uint64_t records) {
  const std::uint64_t of_stream =
      stream_scratch(format::part_tuples(head.model.section, records) * column.bytes());
  return {.bytes = records * format::tuple_bytes(column) + of_stream, .more_bytes = of_stream};
}

std::uint64_t sampled_lzma_bytes(std::span<const unsigned char> residuals, const Column& column,
                                 std::uint64_t wanted) {
  std::vector<std::byte> stream;
  encode_lzma_stream(residuals, {.width = value_bytes(column.type), .tuple = column.tuple},
                     LzmaEffort::quick, stream, nullptr, wanted);
  return stream.size();
}

std::uint64_t lzma_encode_bytes(std::uint64_t chunk_bytes) {
  return lzma_raw_encoder_memusage(Lzma2Filter(chunk_bytes).chain());
}

constexpr TableCoder kTables{
    .encode =
        [](std::span<const unsigned char> numbers, int width, std::vector<std::byte>& coded) {
          encode_lzma_stream(numbers, {.width = width}, LzmaEffort::most, coded);
        },
    .decode = [](std::span<const unsigned char> coded,
                 std::span<unsigned char> numbers) { return decode_lzma_stream(coded, numbers); },
    .scratch = stream_scratch};

// The shortest stream of bytes that are compressed: a chunk's head, what a range coder begins with, and the end.
constexpr std::uint64_t kShortestStream = 12;

// The first time that a byte comes it is a literal, and the first time that its bits branch off from those of all literals before,
// nothing foretells that: each such bit takes a bit at least.
std::uint64_t least_lzma_bytes(std::span<const unsigned char> residuals) {
  constexpr std::uint64_t kRounding = 1;    // of a range coder
  constexpr std::uint64_t kCopiesHead = 4;  // of a chunk that is not compressed, with the end
  bool seen[512] = {};                      // bits from the highest on, behind a one
  std::uint64_t bits = 0;
  for (const unsigned char byte : residuals)
    for (unsigned prefix = 256u | byte; prefix > 1 && !seen[prefix]; prefix /= 2) {
      seen[prefix] = true;
      ++bits;
    }
  return std::min<std::uint64_t>(kShortestStream - kRounding + bits / 8,
                                 kCopiesHead + residuals.size());
}

// Of text and programs in chunks of 64 bytes it saves about a thousandth at most, of numbers nothing, and takes most of the time; in chunks
// of 128 bytes it saves up to a twentieth.
constexpr std::uint64_t kShortestColumn = 65;

}  // namespace

const ColumnCoder lzma_coder{.encode = encode_lzma,
                             .decode = decode_lzma,
                             .scratch = lzma_scratch,
                             .shortest = kShortestStream,
                             .tried_from_level = 9,
                             .sampled_bytes = sampled_lzma_bytes,
                             .shortest_column = kShortestColumn,
                             .least_bytes = least_lzma_bytes,
                             .encode_scratch = lzma_encode_bytes,
                             .tables = &kTables};

}  // namespace gdelta
