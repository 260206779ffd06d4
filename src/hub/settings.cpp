#include "hub/settings.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/environment.h"

namespace tokamak::hub {
namespace {

std::string expanded(std::string path) {
  if (path == "~" || path.starts_with("~/")) {
    path = environment_variable("HOME") + path.substr(1);
  }
  return path;
}

std::string home_folder() {
  if (const std::string own = environment_variable("HF_HOME"); !own.empty()) return expanded(own);
  if (const std::string xdg = environment_variable("XDG_CACHE_HOME"); !xdg.empty()) {
    return expanded(xdg) + "/huggingface";
  }
  const std::string home = environment_variable("HOME");
  return home.empty() ? "" : home + "/.cache/huggingface";
}

bool is_true(std::string value) {
  for (char& c : value) c = c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c;
  return value == "1" || value == "ON" || value == "YES" || value == "TRUE";
}

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == text.npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

/// The first line of a file that is not there is "".
std::string token_from_file() {
  std::string path = expanded(environment_variable("HF_TOKEN_PATH"));
  if (path.empty()) path = home_folder() + "/token";
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

std::string cache_folder() {
  for (const char* name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"}) {
    if (const std::string own = environment_variable(name); !own.empty()) return expanded(own);
  }
  const std::string home = home_folder();
  return home.empty() ? "" : home + "/hub";
}

Result<std::string> known_cache_folder() {
  std::string folder = cache_folder();
  if (folder.empty()) {
    return fail(ErrorCode::kUsage,
                "Neither HF_HUB_CACHE nor HF_HOME nor HOME is set: there is no place for models.");
  }
  return folder;
}

Result<Settings> read_settings() {
  Settings settings;
  TOK_TRY(settings.cache, known_cache_folder());
  settings.endpoint = environment_variable("HF_ENDPOINT");
  if (settings.endpoint.empty()) settings.endpoint = "https://huggingface.co";
  while (settings.endpoint.ends_with('/')) settings.endpoint.pop_back();
  if (!settings.endpoint.starts_with("http://") && !settings.endpoint.starts_with("https://")) {
    return fail(ErrorCode::kUsage, "HF_ENDPOINT is \"{}\", expected an http or https address.",
                settings.endpoint);
  }
  settings.token = trimmed(environment_variable("HF_TOKEN"));
  if (settings.token.empty()) settings.token = trimmed(token_from_file());
  // It becomes part of a header. The token itself stays out of the message.
  if (!std::ranges::all_of(settings.token, [](char c) { return c > 0x20 && c < 0x7f; })) {
    return fail(ErrorCode::kUsage,
                "The token (HF_TOKEN or the token file) has a character that no "
                "token has; copy it again from the settings page of the hub.");
  }
  settings.offline = is_true(environment_variable("HF_HUB_OFFLINE"));
  return settings;
}

}  // namespace tokamak::hub
