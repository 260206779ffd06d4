#include "hub/cache.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/json.h"
#include "base/system/path_text.h"
#include "base/weight_files.h"
#include "hub/repo_files.h"

namespace tokamak::hub {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxRefBytes = 64;

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path_of(path), ignored);
}

/// At most `limit` bytes of a file; "" when there is none.
std::string beginning_of(const std::string& path, uintmax_t limit) {
  std::error_code failed;
  const uintmax_t size = fs::file_size(path_of(path), failed);
  if (failed || size > limit) return "";
  std::string text(size, '\0');
  std::ifstream file(path_of(path), std::ios::binary);
  file.read(text.data(), std::streamsize(size));
  text.resize(size_t(std::max<std::streamsize>(file.gcount(), 0)));
  return text;
}

bool contains(const std::vector<std::string>& sorted, std::string_view name) {
  return std::ranges::binary_search(sorted, name);
}

Failure not_there(const ModelName& name, const std::string& cache, std::string_view what) {
  return invalid_input("{}: There is no such folder, and {} in {}; `tokamak pull {}` fetches it.",
                       name.text(), what, cache, name.text());
}

/// Why a snapshot is no whole model in safetensors; "" when it is one.
std::string missing_weights(const std::string& snapshot, const std::vector<std::string>& files) {
  if (!contains(files, "config.json")) return "config.json is missing";
  if (contains(files, kSingleWeights)) return "";
  if (!contains(files, kWeightsIndex)) return "the weights are missing";
  const auto index = Json::parse(
      beginning_of(fmt::format("{}/{}", snapshot, kWeightsIndex), kMaxWeightsIndexBytes));
  const Json* map = index ? index->find("weight_map") : nullptr;
  if (map == nullptr || !map->is_object()) return "";  // whoever opens it says what is wrong
  std::set<std::string> missing;
  for (const auto& [tensor, file] : map->as_object()) {
    if (file.is_string() && !contains(files, file.as_string())) missing.insert(file.as_string());
  }
  if (missing.empty()) return "";
  return missing.size() == 1 ? fmt::format("{} is missing", Json(*missing.begin()).dump())
                             : fmt::format("{} files of weights are missing", missing.size());
}

std::vector<std::string> gguf_files(const std::string& snapshot) {
  std::vector<std::string> files = snapshot_files(snapshot);
  std::erase_if(files, [](const std::string& file) { return !file.ends_with(".gguf"); });
  return files;
}

/// Why nothing can be opened at a path: that it is not there, or that links lead nowhere.
Failure no_such_file(const std::string& model) {
  std::error_code failed, ignored;
  static_cast<void>(fs::status(path_of(model), failed));
  if (failed == std::errc::too_many_symbolic_link_levels) {
    return invalid_input("{}: The symbolic links lead in a circle.", model);
  }
  if (fs::is_symlink(fs::symlink_status(path_of(model), ignored))) {
    return invalid_input("{}: The symbolic link points to {}, which is not there.", model,
                         text_of(fs::read_symlink(path_of(model), ignored)));
  }
  if (failed && failed != std::errc::no_such_file_or_directory &&
      failed != std::errc::not_a_directory) {
    return invalid_input("{}: The file cannot be opened: {}.", model, failed.message());
  }
  // A bare word is what other programs call a model.
  const bool is_word = model.find_first_of("/. ") == model.npos;
  return invalid_input("{}: there is no such folder or file{}.", model,
                       is_word
                           ? "; models on Hugging Face have the form org/name, and `tokamak pull "
                             "org/name` fetches one"
                           : "");
}

}  // namespace

std::string repo_folder(const std::string& cache, const std::string& repo) {
  std::string folder = "models--" + repo;
  folder.replace(folder.find('/'), 1, "--");
  return cache + "/" + folder;
}

std::optional<std::string> parse_ref(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) {
    text.remove_suffix(1);
  }
  if (!is_commit(text)) return std::nullopt;
  return std::string(text);
}

std::optional<std::string> cached_commit(const std::string& folder, const std::string& revision) {
  if (is_commit(revision) && exists(folder + "/snapshots/" + revision)) return revision;
  return parse_ref(beginning_of(folder + "/refs/" + revision, kMaxRefBytes));
}

std::vector<std::string> snapshot_files(const std::string& snapshot) {
  std::vector<std::string> files;
  std::error_code failed;
  for (fs::recursive_directory_iterator at(path_of(snapshot), failed), end; !failed && at != end;
       at.increment(failed)) {
    std::error_code gone;
    if (!fs::is_regular_file(at->path(), gone)) continue;
    files.push_back(text_of(at->path()).substr(snapshot.size() + 1));
  }
  std::ranges::sort(files);
  return files;
}

std::string missing_part(const std::string& snapshot, const std::vector<std::string>& files) {
  return have_whole_gguf(files) ? "" : missing_weights(snapshot, files);
}

bool is_default_choice(const std::string& path) {
  constexpr std::string_view kSnapshots = "/snapshots/";
  const size_t at = path.rfind(kSnapshots);
  if (at == path.npos || !path.ends_with(".gguf")) return false;
  return chooses_default(gguf_files(path.substr(0, path.find('/', at + kSnapshots.size()))));
}

Result<std::string> resolve_model(const std::string& model, const std::string& cache) {
  if (exists(model)) return model;
  const auto name = parse_model_name(model);
  if (!name) {
    if (model.find_first_of("@:") != model.npos) return Failure(name.error());
    return no_such_file(model);
  }
  std::error_code ignored;
  if (cache.empty() || fs::is_symlink(fs::symlink_status(path_of(model), ignored))) {
    return no_such_file(model);
  }
  const std::string folder = repo_folder(cache, name->repo);
  if (!exists(folder)) return not_there(*name, cache, "no such model");
  const auto commit = cached_commit(folder, name->revision);
  const std::string snapshot = commit ? folder + "/snapshots/" + *commit : "";
  if (!commit || !exists(snapshot)) {
    return not_there(*name, cache, fmt::format("revision \"{}\" is not", name->revision));
  }
  const std::vector<std::string> files = snapshot_files(snapshot);
  const auto only_partly = [&](std::string_view missing) {
    return invalid_input("{} is only partly in {}: {}; `tokamak pull {}` fetches the rest.",
                         name->text(), cache, missing, name->text());
  };
  const std::vector<std::string> ggufs = gguf_files(snapshot);
  const bool has_weights = contains(files, kSingleWeights) || contains(files, kWeightsIndex);
  if (name->choice.empty() && (ggufs.empty() || (has_weights && contains(files, "config.json")))) {
    const std::string missing = missing_weights(snapshot, files);
    if (!missing.empty()) return only_partly(missing);
    return snapshot;
  }
  const auto chosen = choose_gguf(ggufs, name->choice, name->repo);
  if (!chosen && chosen.error().code == ErrorCode::kUsage) {
    return Failure(chosen.error().within(fmt::format("{} in {}", name->text(), cache)));
  }
  if (!chosen) {
    return invalid_input("{} in {}: {} `tokamak pull {}` fetches what the hub has.", name->text(),
                         cache, chosen.error().message, name->text());
  }
  if (!is_whole_gguf(*chosen)) {
    return only_partly(fmt::format("files beside {} are missing", chosen->front()));
  }
  return snapshot + "/" + chosen->front();
}

}  // namespace tokamak::hub
