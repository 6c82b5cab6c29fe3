// gdelta devices: what --device may name.
#include <fmt/core.h>

#include "command_line.h"
#include "commands.h"
#include "size_text.h"

namespace gdelta::cli {

int devices_command(const Arguments& arguments) {
  CLI::App app("List the devices that --device may name.", "gdelta devices");
  app.footer("Example\n  gdelta devices\n");
  if (const auto status = parse(app, arguments)) return *status;
  std::string text;
  for (const DeviceInfo& device : list_devices()) {
    const std::string memory =
        device.memory_bytes > 0 ? readable_bytes(device.memory_bytes) : std::string("-");
    text += fmt::format("{:<8} {:>11}  {}\n", device.name, memory, device.description);
  }
  return print_to_stdout(text);
}

}  // namespace gdelta::cli
