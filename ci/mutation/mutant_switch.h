// Included before everything else in a tree that ci/mutants has changed: says which one of the planted faults is active.
#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

namespace gdelta_mutants {

inline const char* text_of(const char* name) {
  const char* text = getenv(name);
  return text != nullptr ? text : "";
}
// 0: none. Read before main() begins; what runs earlier still sees the original code.
inline const int active = atoi(text_of("GDELTA_MUTANT"));
inline const char* const reached_file = text_of("GDELTA_MUTANT_REACHED");

// Leaves a mark that the fault's place was come by at all.
inline bool reached() {
  static const bool marked = [] {
    const int fd =
        *reached_file != 0 ? open(reached_file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (fd >= 0) close(fd);
    return true;
  }();
  return marked;
}

// Whether fault `number` is active. Constant expressions keep the original code.
constexpr bool is(int number) {
  if (__builtin_is_constant_evaluated()) return false;
  return __builtin_expect(active == number, 0) && reached();
}

}  // namespace gdelta_mutants
