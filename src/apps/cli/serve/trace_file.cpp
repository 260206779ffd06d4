#include "apps/cli/serve/trace_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "apps/cli/line/terminal.h"
#include "base/system/path_text.h"
#include "engine/engine.h"

namespace tokamak::cli {

Result<std::unique_ptr<serve::Trace>> trace_into(const std::string& path) {
  // A function is copied where std::function is.
  const auto file = std::make_shared<std::ofstream>(path_of(path), std::ios::binary);
  if (!*file) {
    return output_failure("{}: The trace cannot be written: {}.", path, std::strerror(errno));
  }
  const auto write = [file](std::string_view text) { return (*file << text).flush().good(); };
  const auto failed = [path] {
    note(fmt::format("warning: {}: Writing the trace failed, and ends here.\n", path));
  };
  return std::make_unique<serve::Trace>(write, steady_clock(), failed);
}

}  // namespace tokamak::cli
