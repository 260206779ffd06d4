#include "hub/reply.h"

#include <algorithm>

#include "base/json.h"
#include "base/utf8.h"
#include "hub/model_name.h"

namespace tokamak::hub {
namespace {

constexpr uint64_t kMaxFileBytes = uint64_t{1} << 50;

std::string shown(std::string_view path) {
  return Json(utf8_prefix(path, 200)).dump();  // quoted, control characters escaped
}

Result<std::string_view> text_of(const Json& object, std::string_view name, size_t digits) {
  const Json* value = object.find(name);
  if (value == nullptr || !value->is_string() || !is_hex(value->as_string(), digits)) {
    return invalid_input("\"{}\" is {}, expected {} hexadecimal digits", name,
                         value == nullptr ? "missing" : shown(value->dump()), digits);
  }
  return std::string_view(value->as_string());
}

Result<uint64_t> size_of(const Json& object) {
  const Json* value = object.find("size");
  if (value == nullptr || !value->is_integer() || value->as_integer() < 0 ||
      uint64_t(value->as_integer()) > kMaxFileBytes) {
    return invalid_input("\"size\" is {}, expected a number of bytes",
                         value == nullptr ? "missing" : shown(value->dump()));
  }
  return uint64_t(value->as_integer());
}

Result<RepoFile> parse_file(const Json& entry) {
  const Json* path = entry.find("rfilename");
  if (path == nullptr || !path->is_string()) {
    return invalid_input("a file of the list has no \"rfilename\"");
  }
  if (!is_inner_path(path->as_string())) {
    return invalid_input("the file {} would lie outside the repository", shown(path->as_string()));
  }
  RepoFile file{.path = path->as_string(), .size = 0, .hash = {}};
  const auto within = [&](const Error& error) {
    return Failure(error.within(fmt::format("file {}", shown(file.path))));
  };
  const Json* lfs = entry.find("lfs");
  const bool large = lfs != nullptr && lfs->is_object();
  const auto size = size_of(large ? *lfs : entry);
  if (!size) return within(size.error());
  const auto hash = large ? text_of(*lfs, "sha256", 64) : text_of(entry, "blobId", 40);
  if (!hash) return within(hash.error());
  file.size = *size;
  file.hash = *hash;
  return file;
}

}  // namespace

const RepoFile* RepoListing::find(std::string_view path) const {
  const auto at = std::ranges::lower_bound(files, path, {}, &RepoFile::path);
  return at != files.end() && at->path == path ? &*at : nullptr;
}

Result<RepoListing> parse_repo_reply(std::string_view text) {
  TOK_TRY(const Json root, Json::parse(text));
  RepoListing listing;
  TOK_TRY(listing.commit, text_of(root, "sha", 40));
  const Json* siblings = root.find("siblings");
  if (siblings == nullptr || !siblings->is_array()) {
    return invalid_input("\"siblings\" is {}, expected a list of files",
                         siblings == nullptr ? "missing" : kind_name(siblings->kind()));
  }
  uint64_t total = 0;
  for (const Json& entry : siblings->as_array()) {
    TOK_TRY(RepoFile file, parse_file(entry));
    total += file.size;
    if (total > kMaxFileBytes) return invalid_input("the files have more than {} bytes", total);
    listing.files.push_back(std::move(file));
  }
  std::ranges::sort(listing.files, {}, &RepoFile::path);
  const auto twice = std::ranges::adjacent_find(listing.files, {}, &RepoFile::path);
  if (twice != listing.files.end()) {
    return invalid_input("the file {} is listed twice", shown(twice->path));
  }
  return listing;
}

}  // namespace tokamak::hub
