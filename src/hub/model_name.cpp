#include "hub/model_name.h"

#include <algorithm>

namespace tokamak::hub {
namespace {

constexpr size_t kMaxRepoBytes = 96;
constexpr size_t kMaxFileNameBytes = 255, kMaxPathBytes = 2048;

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

/// One of the two words of "org/name".
bool is_repo_word(std::string_view word) {
  const auto edge = [](char c) { return c == '-' || c == '.'; };
  return !word.empty() && std::ranges::all_of(word, is_word_character) && !edge(word.front()) &&
         !edge(word.back()) && word.find("--") == word.npos && word.find("..") == word.npos &&
         !word.ends_with(".git");
}

bool is_repo(std::string_view repo) {
  const size_t slash = repo.find('/');
  return slash != repo.npos && repo.size() <= kMaxRepoBytes &&
         is_repo_word(repo.substr(0, slash)) && is_repo_word(repo.substr(slash + 1));
}

bool is_revision(std::string_view revision) {
  return is_inner_path(revision) &&
         std::ranges::all_of(revision, [](char c) { return c == '/' || is_word_character(c); });
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// The first part of a path, which `text` loses.
std::string_view take_part(std::string_view& text) {
  const size_t end = std::min(text.find('/'), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

constexpr std::string_view kHubs[] = {"huggingface.co/", "hf.co/"};

bool take_hub(std::string_view& text) {
  return std::ranges::any_of(kHubs, [&](std::string_view hub) { return take_prefix(text, hub); });
}

/// "https://huggingface.co/org/name/blob/main/a.gguf?download=true" -> "org/name@main:a.gguf"; a
/// text without the name of the hub stays as it is.
std::string without_address(std::string_view text) {
  std::string_view rest = text;
  const bool has_scheme = take_prefix(rest, "https://") || take_prefix(rest, "http://");
  take_prefix(rest, "www.");
  if (!take_hub(rest)) return std::string(text);
  if (has_scheme) rest = rest.substr(0, rest.find_first_of("?#"));
  while (rest.ends_with('/')) rest.remove_suffix(1);
  const std::string_view org = take_part(rest), name = take_part(rest);
  std::string out = fmt::format("{}/{}", org, name);
  if (rest.empty()) return out;
  const std::string_view view = take_part(rest);
  if (view != "tree" && view != "blob" && view != "resolve") return std::string(text);
  out += fmt::format("@{}", take_part(rest));
  if (!rest.empty()) out += fmt::format(":{}", rest);
  return out;
}

}  // namespace

std::string ModelName::text() const {
  std::string out = repo;
  if (revision != "main") out += "@" + revision;
  if (!choice.empty()) out += ":" + choice;
  return out;
}

Result<ModelName> parse_model_name(std::string_view text) {
  ModelName name;
  const std::string short_form = without_address(text);
  std::string_view rest = short_form;
  if (rest.find("://") != rest.npos) {
    return fail(ErrorCode::kUsage,
                "\"{}\" is no address of a model on huggingface.co; expected "
                "https://huggingface.co/org/name or org/name.",
                text);
  }
  if (const size_t colon = rest.find(':'); colon != rest.npos) {
    name.choice = rest.substr(colon + 1);
    rest = rest.substr(0, colon);
    if (!is_inner_path(name.choice)) {
      return fail(
          ErrorCode::kUsage,
          "\"{}\": What follows \":\" is neither a file of a repository nor a quantization.", text);
    }
  }
  if (const size_t at = rest.find('@'); at != rest.npos) {
    name.revision = rest.substr(at + 1);
    rest = rest.substr(0, at);
    if (!is_revision(name.revision)) {
      return fail(ErrorCode::kUsage, "\"{}\": What follows \"@\" is no branch, tag or commit.",
                  text);
    }
  }
  // An organisation of the hub's own name would be read as its address the next time.
  if (std::string_view org = rest; !is_repo(rest) || take_hub(org)) {
    return fail(ErrorCode::kUsage,
                "\"{}\" names no model on Hugging Face; expected org/name[@revision][:file].",
                text);
  }
  name.repo = rest;
  return name;
}

bool is_hex(std::string_view text, size_t digits) {
  return text.size() == digits && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

bool is_commit(std::string_view text) {
  return is_hex(text, 40);
}

bool is_inner_path(std::string_view path) {
  if (path.empty() || path.size() > kMaxPathBytes) return false;
  const auto forbidden = [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '\\';
  };
  if (std::ranges::any_of(path, forbidden)) return false;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    if (part.empty() || part == "." || part == ".." || part.size() > kMaxFileNameBytes) {
      return false;
    }
    begin = end + 1;
  }
  return true;
}

}  // namespace tokamak::hub
