#include "hub/settings.h"

#include <algorithm>
#include <fstream>
#include <initializer_list>

#include "base/environment.h"
#include "base/system/path_text.h"

namespace tokamak::hub {
namespace {

constexpr size_t kMaxTokenBytes = 4096;

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// "~", $NAME and ${NAME} replaced, the home folder first; a variable that is not set stays as it
/// is written.
std::string expanded(std::string_view path) {
  std::string out;
  if (path == "~" || path.starts_with("~/")) {
    out = environment_variable("HOME");
    while (out.ends_with('/')) out.pop_back();
    path.remove_prefix(1);
  }
  while (!path.empty()) {
    const bool is_braced = path.starts_with("${");
    const size_t start = is_braced ? 2 : 1;
    size_t end = start;
    if (path[0] == '$') {
      while (end < path.size() && (is_braced ? path[end] != '}' : is_name_character(path[end]))) {
        ++end;
      }
    }
    const std::string name(path.substr(start, end - start));
    if (is_braced && end < path.size()) ++end;
    const std::string value = name.empty() ? "" : environment_variable(name.c_str());
    out += value.empty() ? path.substr(0, end) : std::string_view(value);
    path.remove_prefix(end);
  }
  return out;
}

/// The first of these variables that is set to something.
std::string first_of(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (std::string value = environment_variable(name); !value.empty()) return value;
  }
  return "";
}

std::string home_folder() {
  if (const std::string own = environment_variable("HF_HOME"); !own.empty()) return expanded(own);
  if (const std::string xdg = environment_variable("XDG_CACHE_HOME"); !xdg.empty()) {
    return expanded(xdg + "/huggingface");
  }
  return environment_variable("HOME").empty() ? "" : expanded("~/.cache/huggingface");
}

bool is_true(std::string value) {
  for (char& c : value) c = c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c;
  return value == "1" || value == "ON" || value == "YES" || value == "TRUE";
}

/// Without line ends, and without blanks around.
std::string cleaned(std::string token) {
  std::erase_if(token, [](char c) { return c == '\r' || c == '\n'; });
  constexpr std::string_view kBlanks = " \t\v\f";
  const size_t begin = token.find_first_not_of(kBlanks);
  if (begin == token.npos) return "";
  return token.substr(begin, token.find_last_not_of(kBlanks) - begin + 1);
}

/// "" where the file is not there. What `hf auth login` stores beside it are tokens to choose from;
/// the chosen one is here.
std::string token_from_file() {
  std::string path = expanded(environment_variable("HF_TOKEN_PATH"));
  if (path.empty()) path = home_folder() + "/token";
  std::ifstream file(path_of(path));
  std::string text(kMaxTokenBytes, '\0');
  file.read(text.data(), std::streamsize(text.size()));
  text.resize(size_t(file.gcount()));
  return text;
}

std::string token_to_send() {
  if (is_true(environment_variable("HF_HUB_DISABLE_IMPLICIT_TOKEN"))) return "";
  const std::string own = cleaned(first_of({"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"}));
  return own.empty() ? cleaned(token_from_file()) : own;
}

}  // namespace

std::string cache_folder() {
  const std::string own = first_of({"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"});
  if (!own.empty()) return expanded(own);
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
  settings.token = token_to_send();
  // It becomes part of a header. The token itself stays out of the message.
  if (!std::ranges::all_of(settings.token, [](char c) { return c > 0x20 && c < 0x7f; })) {
    return fail(ErrorCode::kUsage,
                "The token (HF_TOKEN or the token file) has a character that no "
                "token has; copy it again from the settings page of the hub.");
  }
  settings.offline = is_true(first_of({"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"}));
  return settings;
}

}  // namespace tokamak::hub
