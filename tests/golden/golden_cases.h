// What the golden files hold: every case gives its stream and the values it decodes to. The files
// are written once by `write_golden` and then only decoded.
#pragma once

#include <vector>

#include "golden_case.h"

namespace gdelta::plain {

std::vector<GoldenCase> golden_cases();

}  // namespace gdelta::plain
