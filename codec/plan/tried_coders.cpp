#include "codec/plan/tried_coders.h"

#include "codec/coders/coder.h"

namespace gdelta {

std::vector<Coder> tried_coders(format::ChosenBy reason, std::optional<Coder> asked, int level,
                                bool device_decodable) {
  std::vector<Coder> coders;
  for (int number = 0; number < kNumCoders; ++number) {
    const auto coder = static_cast<Coder>(number);
    if (format::chosen_by(coder) != reason) continue;
    const int from = column_coder(coder).tried_from_level;
    const bool is_tried =
        asked ? *asked == coder
              : from > 0 && level >= from && !(device_decodable && !decodes_on_device(coder));
    if (is_tried) coders.push_back(coder);
  }
  return coders;
}

std::vector<Coder> table_coders(const format::ColumnModel& model, const EncodeSettings& settings) {
  std::vector<Coder> coders;
  if (format::decodes_on_device(model.section.coder, model.front.predictor)) return coders;
  for (const format::ChosenBy reason : {format::ChosenBy::trial, format::ChosenBy::patience})
    for (const Coder coder :
         tried_coders(reason, settings.coder, settings.level, settings.device_decodable))
      if (format::coder_traits(coder).codes_tables) coders.push_back(coder);
  return coders;
}

}  // namespace gdelta
