#include "hub/repo_files.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "base/json.h"
#include "base/weight_files.h"
#include "hub/model_name.h"

namespace tokamak::hub {
namespace {

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = char(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

std::string_view file_name(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == path.npos ? path : path.substr(slash + 1);
}

/// "-00002-of-00003.gguf" at the end of a path; "" when it is named in another way.
std::string_view split_tail(std::string_view path) {
  constexpr std::string_view kTail = "-00001-of-00003.gguf";
  if (path.size() < kTail.size()) return "";
  const std::string_view tail = path.substr(path.size() - kTail.size());
  for (size_t i = 0; i < kTail.size(); ++i) {
    const bool digit = kTail[i] >= '0' && kTail[i] <= '9';
    if (digit ? std::isdigit(static_cast<unsigned char>(tail[i])) == 0 : tail[i] != kTail[i]) {
      return "";
    }
  }
  return tail;
}

/// "a-00002-of-00003.gguf" without its number: the same for all files of one model.
std::string split_group(std::string_view path) {
  const std::string_view tail = split_tail(path);
  if (tail.empty()) return std::string(path);
  return fmt::format("{}{}", path.substr(0, path.size() - tail.size()), tail.substr(6));
}

/// Projectors of images and importance matrices lie beside models and are none.
bool is_model(std::string_view path) {
  const std::string name = upper(file_name(path));
  return name.ends_with(".GGUF") && name.find("MMPROJ") == name.npos &&
         name.find("IMATRIX") == name.npos;
}

bool has_part(std::string_view path, std::string_view part) {
  const std::string all = upper(path), wanted = upper(part);
  const auto separates = [&](size_t at) {
    return at == all.size() || all[at] == '-' || all[at] == '.' || all[at] == '/';
  };
  // "name_Q4_K" has the part "Q4_K"; "Q4_K_M" has neither that nor "K_M" or "M".
  const bool whole = std::isalpha(static_cast<unsigned char>(wanted.front())) != 0 &&
                     wanted.find_first_of("0123456789") != wanted.npos;
  for (size_t at = all.find(wanted); at != all.npos; at = all.find(wanted, at + 1)) {
    const bool begins = at == 0 || separates(at - 1) || (whole && all[at - 1] == '_');
    if (begins && separates(at + wanted.size())) return true;
  }
  return false;
}

/// "a, b and 5 more".
std::string some_of(const std::set<std::string>& names) {
  constexpr size_t kShown = 8;
  std::string out;
  size_t count = 0;
  for (const std::string& name : names) {
    if (count++ == kShown) break;
    out += (out.empty() ? "" : ", ") + name;
  }
  if (names.size() > kShown) out += fmt::format(" and {} more", names.size() - kShown);
  return out;
}

/// BGE-M3's layer for sparse vectors, which is small.
bool is_sparse_layer(std::string_view path) {
  return path == "sparse_linear.safetensors" || path == "sparse_linear.pt";
}

bool is_text_file(std::string_view path) {
  if (path.starts_with("additional_chat_templates/")) return path.ends_with(".jinja");
  if (path.find('/') != path.npos) return false;
  // Indices of other copies of the weights; the one for safetensors comes with the weights.
  if (path.find(".index.") != path.npos) return false;
  return path.ends_with(".json") || path.ends_with(".jinja") || path.ends_with(".model") ||
         path == "vocab.txt" || path == "merges.txt";
}

Result<void> add_weights(const RepoListing& listing, const LookedUp& looked_up,
                         std::set<std::string>& chosen) {
  if (listing.find(kSingleWeights) != nullptr) {
    chosen.emplace(kSingleWeights);
    return {};
  }
  if (listing.find(kWeightsIndex) != nullptr) {
    chosen.emplace(kWeightsIndex);
    chosen.insert(looked_up.shards.begin(), looked_up.shards.end());
    return {};
  }
  std::set<std::string> others;
  for (const RepoFile& file : listing.files) {
    for (const char* ending : {".safetensors", ".gguf", ".bin", ".pth", ".onnx"}) {
      if (file.path.ends_with(ending)) others.insert(file.path);
    }
  }
  return unsupported("the repository has neither {} nor {}; weights: {}.", kSingleWeights,
                     kWeightsIndex, others.empty() ? "none" : some_of(others));
}

}  // namespace

Result<std::vector<std::string>> choose_gguf(std::span<const std::string> paths,
                                             std::string_view choice, std::string_view repo) {
  std::set<std::string> groups, all;
  for (const std::string& path : paths) {
    const std::string group = split_group(path);
    if (is_model(path)) all.insert(group);
    const bool named = choice == path || choice == file_name(path) || split_group(choice) == group;
    const bool matches = choice.empty() || has_part(path, choice);
    if (named || (is_model(path) && matches)) groups.insert(group);
  }
  if (groups.empty()) {
    if (all.empty()) return invalid_input("there is no .gguf file.");
    return invalid_input("no .gguf file goes with \"{}\"; there are {}.", choice, some_of(all));
  }
  if (groups.size() > 1 && choice.empty() && chooses_default(paths)) {
    return choose_gguf(paths, kDefaultQuantization, repo);
  }
  if (groups.size() > 1) {
    const auto some_file = std::ranges::find_if(
        paths, [&](const std::string& path) { return split_group(path) == *groups.begin(); });
    return fail(ErrorCode::kUsage, "{} .gguf files {}: {}; `tokamak pull {}:{}` takes the first.",
                groups.size(), choice.empty() ? "are there" : fmt::format("go with \"{}\"", choice),
                some_of(groups), repo, *some_file);
  }
  std::vector<std::string> chosen;
  for (const std::string& path : paths) {
    if (split_group(path) == *groups.begin()) chosen.push_back(path);
  }
  std::ranges::sort(chosen);
  return chosen;
}

std::vector<std::string> gguf_models(std::span<const std::string> paths) {
  std::map<std::string, std::string> first;  // by group
  for (const std::string& path : paths) {
    if (!is_model(path)) continue;
    std::string& own = first[split_group(path)];
    if (own.empty() || path < own) own = path;
  }
  std::vector<std::string> out;
  for (auto& [group, path] : first) out.push_back(std::move(path));
  std::ranges::sort(out);
  return out;
}

bool chooses_default(std::span<const std::string> paths) {
  std::set<std::string> groups, defaults;
  for (const std::string& path : paths) {
    if (!is_model(path)) continue;
    groups.insert(split_group(path));
    if (has_part(path, kDefaultQuantization)) defaults.insert(split_group(path));
  }
  return groups.size() > 1 && defaults.size() == 1;
}

bool is_whole_gguf(std::span<const std::string> files) {
  if (files.empty()) return false;
  const std::string_view tail = split_tail(files.front());
  return files.size() == (tail.empty() ? 1 : std::stoul(std::string(tail.substr(10, 5))));
}

bool have_whole_gguf(std::span<const std::string> paths) {
  std::map<std::string, std::vector<std::string>> groups;
  for (const std::string& path : paths) {
    if (is_model(path)) groups[split_group(path)].push_back(path);
  }
  return std::ranges::any_of(groups, [](const auto& one) { return is_whole_gguf(one.second); });
}

std::vector<std::string> files_to_look_up(const RepoListing& listing, std::string_view choice) {
  std::vector<std::string> paths;
  if (!choice.empty()) return paths;
  if (listing.find(kSingleWeights) == nullptr && listing.find(kWeightsIndex) != nullptr) {
    paths.emplace_back(kWeightsIndex);
  }
  if (listing.find("modules.json") != nullptr) paths.emplace_back("modules.json");
  return paths;
}

Result<std::vector<std::string>> parse_modules(std::string_view text) {
  TOK_TRY(const Json root, Json::parse(text));
  if (!root.is_array()) {
    return invalid_input("found {}, expected a list of modules.", kind_name(root.kind()));
  }
  std::vector<std::string> folders;
  for (const Json& module : root.as_array()) {
    const Json* path = module.find("path");
    if (path == nullptr || !path->is_string() ||
        (!path->as_string().empty() && !is_inner_path(path->as_string()))) {
      return invalid_input("\"path\" of a module is {}, expected a folder of the repository.",
                           path == nullptr ? "missing" : path->dump());
    }
    if (!path->as_string().empty()) folders.push_back(path->as_string());
  }
  return folders;
}

std::vector<RepoFile> text_files(const RepoListing& listing) {
  std::vector<RepoFile> files;
  for (const RepoFile& file : listing.files) {
    if (is_text_file(file.path) || is_sparse_layer(file.path)) files.push_back(file);
  }
  return files;
}

Result<std::vector<RepoFile>> needed_files(const RepoListing& listing, std::string_view choice,
                                           const LookedUp& looked_up) {
  std::set<std::string> chosen;
  std::vector<std::string> ggufs;
  for (const RepoFile& file : listing.files) {
    if (file.path.ends_with(".gguf")) ggufs.push_back(file.path);
  }
  const bool only_gguf = !ggufs.empty() && listing.find(kSingleWeights) == nullptr &&
                         listing.find(kWeightsIndex) == nullptr;
  if (!choice.empty() || only_gguf) {
    TOK_TRY(const std::vector<std::string> paths, choose_gguf(ggufs, choice, listing.repo));
    chosen.insert(paths.begin(), paths.end());
  } else {
    for (const RepoFile& file : text_files(listing)) chosen.insert(file.path);
    TOK_TRY(add_weights(listing, looked_up, chosen));
    for (const std::string& folder : looked_up.folders) {
      for (const RepoFile& file : listing.files) {
        const std::string_view path = file.path;
        if (!path.starts_with(folder + "/")) continue;
        const std::string_view inner = path.substr(folder.size() + 1);
        if (inner.ends_with(".json") || inner == kSingleWeights) chosen.insert(file.path);
      }
    }
  }
  std::vector<RepoFile> files;
  for (const std::string& path : chosen) {
    const RepoFile* file = listing.find(path);
    if (file == nullptr) {
      return invalid_input("{} names {}, which the repository does not hold.", kWeightsIndex,
                           Json(path).dump());
    }
    files.push_back(*file);
  }
  return files;
}

}  // namespace tokamak::hub
