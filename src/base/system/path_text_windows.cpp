#include <algorithm>
#include <iterator>

#include "base/system/path_text.h"
#include "base/system/text_windows.h"

namespace tokamak {
namespace {

/// Names that lead to devices in every folder.
bool is_device(std::string_view stem) {
  std::string name(stem);
  for (char& c : name) c = c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c;
  constexpr std::string_view kDevices[] = {"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"};
  if (std::ranges::find(kDevices, name) != std::end(kDevices)) return true;
  const bool is_port = name.size() == 4 && (name.starts_with("COM") || name.starts_with("LPT"));
  return is_port && name.back() >= '0' && name.back() <= '9';
}

}  // namespace

std::filesystem::path path_of(std::string_view text) {
  return wide_text(text);
}

/// With "/", which Windows takes as well: texts are joined and compared by it. Only after "\\\\?\\"
/// it does not.
std::string text_of(const std::filesystem::path& path) {
  std::string text = narrow_text(path.native());
  if (!text.starts_with(R"(\\?\)")) std::ranges::replace(text, '\\', '/');
  return text;
}

bool leads_below(std::string_view path) {
  // ":" names a drive or a second content of a file; the others stand for any character.
  constexpr std::string_view kForbidden = R"(\:<>"|?*)";
  if (path.find_first_of(kForbidden) != path.npos) return false;
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    const std::string_view name = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    // "a." and "a " are the file "a", and "NUL.txt" is the device.
    if (name.ends_with('.') || name.ends_with(' ')) return false;
    if (is_device(name.substr(0, name.find('.')))) return false;
  }
  return true;
}

std::string absolute_path(const std::string& path) {
  std::error_code failed;
  const std::filesystem::path absolute = std::filesystem::absolute(path_of(path), failed);
  return failed ? path : text_of(absolute);
}

}  // namespace tokamak
