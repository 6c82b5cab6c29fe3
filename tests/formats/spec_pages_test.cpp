// Every stage of the format has a page.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "formats/gdelta/model.h"
#include "places.h"

namespace gdelta::format {
namespace {

namespace fs = std::filesystem;

const fs::path kSpecFolder = fs::path(test::kSourceDir) / "formats" / "gdelta";

std::string text_of(const fs::path& page) {
  std::ifstream file(page);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A page begins with the stage's name and says its number, and a table of the specification lists it.
void expect_page(const std::string& kind, const std::string& folder, const std::string& name,
                 int number) {
  const std::string page = folder + "/" + name + ".md";
  EXPECT_TRUE(fs::exists(kSpecFolder / page)) << page;
  std::string title = name + " (" + kind + " " + std::to_string(number) + ")";
  title[0] = static_cast<char>(std::toupper(title[0]));
  EXPECT_TRUE(text_of(kSpecFolder / page).starts_with("# " + title + "\n")) << title;
  const std::string row = "\n| " + std::to_string(number) + " | [" + name + "](" + page + ") |";
  EXPECT_NE(text_of(kSpecFolder / "spec.md").find(row), std::string::npos) << row;
}

TEST(SpecPages, EveryStageHasOne) {
  for (int coder = 0; coder < kNumCoders; ++coder)
    expect_page("coder", "coders", std::string(coder_name(static_cast<Coder>(coder))), coder);
  for (int map = 1; map < kNumValueMaps; ++map)
    expect_page("value map", "maps", std::string(map_name(static_cast<ValueMap>(map))), map);
#define GDELTA_EXPECT_PAGE(name, number, ...) expect_page("lane map", "maps", #name, number);
  GDELTA_LANE_MAPS(GDELTA_EXPECT_PAGE)
#undef GDELTA_EXPECT_PAGE
  for (int number = 1; number < kNumPredictors; ++number)
    expect_page("predictor", "predictors",
                std::string(predictor_name(static_cast<Predictor>(number))), number);
}

TEST(SpecPages, NoPageIsOfAStageThatIsNot) {
  const auto is_page = [](const auto& file) { return file.path().extension() == ".md"; };
  for (const auto& [folder, pages] : {std::pair{"coders", kNumCoders},
                                      {"maps", kNumValueMaps - 1 + kNumLaneMaps - 1},
                                      {"predictors", kNumPredictors - 1}})
    EXPECT_EQ(std::count_if(fs::directory_iterator(kSpecFolder / folder), {}, is_page), pages)
        << folder;
}

}  // namespace
}  // namespace gdelta::format
