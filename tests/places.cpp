#include "places.h"

namespace gdelta::test {

const char* const kSourceDir = GDELTA_SOURCE_DIR;
const char* const kBinaryDir = GDELTA_BINARY_DIR;
const char* const kCommand = GDELTA_BINARY_DIR "/gdelta";

}  // namespace gdelta::test
