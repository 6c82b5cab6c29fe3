// Where things lie. Told to one source file alone, so that the others are compiled to the same in any folder, and what one
// clone compiled is found by the next.
#pragma once

namespace gdelta::test {

extern const char* const kSourceDir;  ///< of the project
extern const char* const kBinaryDir;  ///< of its build
extern const char* const kCommand;    ///< the gdelta that was built

}  // namespace gdelta::test
