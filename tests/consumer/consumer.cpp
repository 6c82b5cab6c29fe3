// Uses the installed headers and the installed library, nothing else.
#include <gdelta/error.h>

#include <cstring>

int main() {
  const gdelta::Result<int> result = gdelta::fail_at(gdelta::Errc::corrupt, 7, "a check failed");
  if (result || result.error().byte != 7) return 1;
  return std::strcmp(gdelta::errc_name(result.error().code), "corrupt") == 0 ? 0 : 1;
}
