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

}  // namespace

std::string ModelName::text() const {
  std::string out = repo;
  if (revision != "main") out += "@" + revision;
  if (!choice.empty()) out += ":" + choice;
  return out;
}

Result<ModelName> parse_model_name(std::string_view text) {
  ModelName name;
  std::string_view rest = text;
  if (const size_t colon = rest.find(':'); colon != rest.npos) {
    name.choice = rest.substr(colon + 1);
    rest = rest.substr(0, colon);
    if (!is_inner_path(name.choice)) {
      return fail(ErrorCode::kUsage,
                  "\"{}\": behind \":\" stands no file of a repository and no quantization.", text);
    }
  }
  if (const size_t at = rest.find('@'); at != rest.npos) {
    name.revision = rest.substr(at + 1);
    rest = rest.substr(0, at);
    if (!is_revision(name.revision)) {
      return fail(ErrorCode::kUsage, "\"{}\": behind \"@\" stands no branch, tag or commit.", text);
    }
  }
  if (!is_repo(rest)) {
    return fail(ErrorCode::kUsage,
                "\"{}\" names no model of a hub; expected org/name[@revision][:file].", text);
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
