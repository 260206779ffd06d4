// Here paths are bytes, and UTF-8 by agreement.
#include "base/system/path_text.h"

namespace tokamak {

std::filesystem::path path_of(std::string_view text) {
  return text;
}

std::string text_of(const std::filesystem::path& path) {
  return path.string();
}

bool leads_below(std::string_view) {
  return true;
}

std::string absolute_path(const std::string& path) {
  std::error_code failed;
  const std::filesystem::path absolute = std::filesystem::absolute(path, failed);
  return failed ? path : absolute.string();
}

}  // namespace tokamak
