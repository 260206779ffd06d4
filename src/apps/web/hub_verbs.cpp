// Names of models on a Hugging Face hub, and which files of a repository a model needs.
#include <algorithm>

#include "apps/web/fields.h"
#include "apps/web/verbs.h"
#include "base/weight_files.h"
#include "formats/safetensors.h"
#include "hub/model_name.h"
#include "hub/repo_files.h"

namespace tokamak::web {
namespace {

Result<std::string> choice_of(const std::string& name) {
  TOK_TRY(hub::ModelName parsed, hub::parse_model_name(name));
  return std::move(parsed.choice);
}

/// Reads the files that had to be fetched first: `texts`, by their paths.
Result<hub::LookedUp> looked_up(const Json* texts) {
  hub::LookedUp found;
  const std::string index_name(kWeightsIndex);
  if (texts == nullptr) return found;
  if (const Json* const index = texts->find(index_name); index != nullptr && index->is_string()) {
    TOK_TRY(const SafetensorsIndex parsed, parse_safetensors_index(index_name, index->as_string()));
    found.shards = parsed.shards;
  }
  if (const Json* const modules = texts->find("modules.json");
      modules != nullptr && modules->is_string()) {
    TOK_TRY(found.folders, hub::parse_modules(modules->as_string()));
  }
  return found;
}

}  // namespace

/// {name} -> {repo, revision, file}: file is what stands after ":", a file or a quantization
Result<Json> hub_name(State&, const Json& options) {
  std::string text;
  TOK_TRY(Fields(options).take("name", text).done());
  TOK_TRY(const hub::ModelName name, hub::parse_model_name(text));
  Json out;
  out.set("repo", name.repo).set("revision", name.revision).set("file", name.choice);
  return out;
}

/// {name, listing[, texts]} -> {commit, lookUp, files}: `listing` is the hub's answer. Files that
/// `lookUp` names are to be read first and given in `texts`: {path: text}; `files` is right then.
Result<Json> hub_files(State&, const Json& options) {
  std::string name, text;
  Fields fields(options);
  const Json* const texts = fields.find("texts");
  TOK_TRY(fields.take("name", name).take("listing", text).done());
  TOK_TRY(const std::string choice, choice_of(name));
  TOK_TRY(const hub::RepoListing listing, hub::parse_repo_reply(text));
  Json out;
  out.set("commit", listing.commit);
  Json::Array look_up, files;
  for (const std::string& path : hub::files_to_look_up(listing, choice)) {
    if (texts == nullptr || texts->find(path) == nullptr) look_up.emplace_back(path);
  }
  if (look_up.empty()) {
    TOK_TRY(const hub::LookedUp found, looked_up(texts));
    TOK_TRY(const auto needed, hub::needed_files(listing, choice, found));
    for (const hub::RepoFile& file : needed) {
      Json one;
      one.set("path", file.path).set("size", file.size);
      one.set("sha256", file.large() ? Json(file.hash) : Json());
      files.push_back(std::move(one));
    }
  }
  out.set("lookUp", std::move(look_up)).set("files", std::move(files));
  return out;
}

}  // namespace tokamak::web
