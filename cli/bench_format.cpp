#include "bench_format.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

namespace gdelta::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kTableRow = "{:<9} {:<7} {:>13} {:>8} {:>7} {:>8} {:>8} {:>6} {:>6}\n";

std::string level_name(const Measurement& row) {
  return fmt::format("{} -{}", row.codec, row.level);
}

std::string fixed(double number) { return fmt::format("{:.3f}", number); }

// Seven places at most.
std::string speed_text(double gb_s) {
  return gb_s < 0.01 ? fmt::format("{:.5f}", gb_s) : fmt::format("{:.4g}", gb_s);
}

std::string search_text(const Measurement& row) {
  return row.search_seconds > 0 ? fmt::format("{:.1f}", row.search_seconds * 1e3) : "-";
}

std::string memory_text(const std::optional<std::uint64_t>& bytes) {
  return bytes ? fmt::format("{:.1f}", static_cast<double>(*bytes) / (1 << 20)) : "-";
}

Json memory_json(const std::optional<std::uint64_t>& bytes) {
  return bytes ? Json(*bytes) : Json();
}

/// The members that a file's row and a total share.
void add_results(Json& json, const Measurement& row) {
  json["decoded_bytes"] = row.decoded_bytes;
  json["compressed_bytes"] = row.compressed_bytes;
  json["ratio"] = row.ratio();
  json["search_seconds"] = row.search_seconds;
  json["encode_gb_s"] = row.encode_gb_s();
  json["decode_gb_s"] = row.decode_gb_s();
  json["encode_memory_bytes"] = memory_json(row.encode_memory);
  json["decode_memory_bytes"] = memory_json(row.decode_memory);
}

void add_name(Json& json, const Measurement& row) {
  json["codec"] = row.codec;
  json["level"] = row.level;
  json["device"] = row.device;
  json["threads"] = row.threads;
}

Json row_json(const Measurement& row) {
  Json json;
  json["file"] = row.file;
  add_name(json, row);
  json["layout"] = row.layout.empty() ? Json() : Json(row.layout);
  json["layout_origin"] = row.layout.empty() ? Json() : Json(row.layout_origin);
  add_results(json, row);
  return json;
}

Json total_json(const BenchTotal& total) {
  Json json;
  add_name(json, total.sum);
  json["files"] = total.files;
  add_results(json, total.sum);
  json["geomean_ratio"] = total.geomean_ratio;
  return json;
}

Json advice_json(const std::vector<BenchTotal>& totals) {
  const auto advice = bench_advice(totals);
  if (!advice) return {};
  Json json;
  const auto add = [&](const char* purpose, std::size_t row) {
    json[purpose] = {{"level", totals[row].sum.level}, {"device", totals[row].sum.device}};
  };
  add("speed", advice->speed);
  add("balance", advice->balance);
  add("size", advice->size);
  return json;
}

std::string csv_field(const Json& value) {
  if (value.is_null()) return {};
  if (!value.is_string()) return value.dump();
  std::string text = value.get<std::string>();
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  for (std::size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2)
    text.insert(at, 1, '"');
  return '"' + text + '"';
}

bool same_coder(const Measurement& a, const Measurement& b) {
  return a.codec == b.codec && a.level == b.level && a.device == b.device;
}

void add_to(Measurement& sum, const Measurement& row) {
  sum.decoded_bytes += row.decoded_bytes;
  sum.compressed_bytes += row.compressed_bytes;
  sum.search_seconds += row.search_seconds;
  sum.encode_seconds += row.encode_seconds;
  sum.decode_seconds += row.decode_seconds;
  // max() of optionals: one that is empty is the least.
  sum.encode_memory = std::max(sum.encode_memory, row.encode_memory);
  sum.decode_memory = std::max(sum.decode_memory, row.decode_memory);
}

double waiting_seconds(const Measurement& row) { return row.search_seconds + row.encode_seconds; }

}  // namespace

std::string bench_titles() {
  return fmt::format(kTableRow, "", "", "", "", "search", "encode", "decode", "memory", "MiB") +
         fmt::format(kTableRow, "coder", "device", "bytes", "ratio", "ms", "GB/s", "GB/s", "enc",
                     "dec");
}

std::string bench_row(const Measurement& row) {
  return fmt::format(kTableRow, level_name(row), row.device, row.compressed_bytes,
                     fixed(row.ratio()), search_text(row), speed_text(row.encode_gb_s()),
                     speed_text(row.decode_gb_s()), memory_text(row.encode_memory),
                     memory_text(row.decode_memory));
}

std::vector<BenchTotal> bench_totals(const std::vector<Measurement>& rows) {
  std::vector<BenchTotal> totals;
  for (const Measurement& row : rows) {
    const auto same = [&](const BenchTotal& total) { return same_coder(total.sum, row); };
    auto total = std::find_if(totals.begin(), totals.end(), same);
    if (total == totals.end()) {
      totals.push_back({row, 1, std::log(row.ratio())});
      continue;
    }
    add_to(total->sum, row);
    total->files += 1;
    total->geomean_ratio += std::log(row.ratio());
  }
  for (BenchTotal& total : totals)
    total.geomean_ratio = std::exp(total.geomean_ratio / static_cast<double>(total.files));
  return totals;
}

std::string bench_totals_text(const std::vector<BenchTotal>& totals) {
  std::string text = bench_titles();
  for (const BenchTotal& total : totals) text += bench_row(total.sum);
  text += "\ngeometric mean of the ratios\n";
  for (const BenchTotal& total : totals)
    text += fmt::format("{:<9} {:<7} {:>22}\n", level_name(total.sum), total.sum.device,
                        fixed(total.geomean_ratio));
  return text;
}

std::optional<BenchAdvice> bench_advice(const std::vector<BenchTotal>& totals) {
  std::vector<std::size_t> own;
  for (std::size_t i = 0; i < totals.size(); ++i)
    if (totals[i].sum.codec == "gdelta") own.push_back(i);
  if (own.size() < 2) return std::nullopt;
  const auto sum = [&](std::size_t i) -> const Measurement& { return totals[i].sum; };
  const auto faster = [&](std::size_t a, std::size_t b) {
    return waiting_seconds(sum(a)) < waiting_seconds(sum(b));
  };
  const auto smaller = [&](std::size_t a, std::size_t b) {
    return std::pair(sum(a).compressed_bytes, waiting_seconds(sum(a))) <
           std::pair(sum(b).compressed_bytes, waiting_seconds(sum(b)));
  };
  BenchAdvice advice;
  advice.speed = *std::min_element(own.begin(), own.end(), faster);
  advice.size = *std::min_element(own.begin(), own.end(), smaller);
  const double most =
      static_cast<double>(sum(advice.size).compressed_bytes) * (1 + kBalancePercent / 100.0);
  std::erase_if(own,
                [&](std::size_t i) { return static_cast<double>(sum(i).compressed_bytes) > most; });
  advice.balance = *std::min_element(own.begin(), own.end(), faster);
  return advice;
}

std::string bench_advice_text(const std::vector<BenchTotal>& totals) {
  const auto advice = bench_advice(totals);
  if (!advice) return {};
  const auto is_other_device = [&](const BenchTotal& total) {
    return total.sum.codec == "gdelta" && total.sum.device != totals[advice->size].sum.device;
  };
  const bool devices = std::any_of(totals.begin(), totals.end(), is_other_device);
  // Purposes that the same row serves best are said together.
  std::vector<std::pair<std::size_t, std::string>> picks;
  for (const auto& [row, purpose] :
       {std::pair(advice->speed, "speed"), std::pair(advice->balance, "balance"),
        std::pair(advice->size, "size")}) {
    const auto same = [row = row](const auto& pick) { return pick.first == row; };
    const auto pick = std::find_if(picks.begin(), picks.end(), same);
    if (pick == picks.end()) {
      picks.emplace_back(row, purpose);
    } else {
      pick->second += fmt::format(" and {}", purpose);
    }
  }
  std::string text = "\nTake ";
  for (const auto& [row, purposes] : picks) {
    const Measurement& best = totals[row].sum;
    text += fmt::format("{}-{}{} for {}", row == picks.front().first ? "" : ", ", best.level,
                        devices ? fmt::format(" ({})", best.device) : "", purposes);
  }
  text += ".\n";
  const Measurement* smallest = nullptr;
  for (const BenchTotal& total : totals)
    if (total.sum.codec != "gdelta" &&
        (!smallest || total.sum.compressed_bytes < smallest->compressed_bytes))
      smallest = &total.sum;
  if (smallest && smallest->compressed_bytes < totals[advice->size].sum.compressed_bytes)
    text += fmt::format("{} is smaller than all of these.\n", level_name(*smallest));
  return text;
}

std::string bench_json(const std::vector<Measurement>& rows) {
  const std::vector<BenchTotal> totals = bench_totals(rows);
  Json json;
  json["results"] = Json::array();
  for (const Measurement& row : rows) json["results"].push_back(row_json(row));
  json["totals"] = Json::array();
  for (const BenchTotal& total : totals) json["totals"].push_back(total_json(total));
  json["advice"] = advice_json(totals);
  using Handler = Json::error_handler_t;
  return json.dump(2, ' ', false, Handler::replace) + "\n";  // names need not be UTF-8
}

std::string bench_csv_titles() {
  const Json json = row_json({});
  std::string text;
  for (const auto& [name, value] : json.items()) text += (text.empty() ? "" : ",") + name;
  return text + "\n";
}

std::string bench_csv_row(const Measurement& row) {
  const Json json = row_json(row);
  std::string text;
  for (const auto& [name, value] : json.items())
    text += (name == "file" ? "" : ",") + csv_field(value);
  return text + "\n";
}

}  // namespace gdelta::cli
