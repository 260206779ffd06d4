#include <cctype>
#include <set>

#include "apps/cli/command.h"
#include "base/table.h"
#include "hub/cache.h"
#include "hub/settings.h"
#include "hub/stored.h"

namespace tokamak::cli {
namespace {

/// "Q4_K_M" of "model-Q4_K_M.gguf" or "model.q4_k_m-00001-of-00003.gguf": what may stand after the
/// ":" of a model's name; "" for other files.
std::string quantization_of(std::string path) {
  for (char& c : path) c = char(std::toupper(static_cast<unsigned char>(c)));
  if (!path.ends_with(".GGUF") || path.contains("MMPROJ")) return "";
  path.resize(path.size() - 5);
  constexpr std::string_view kPart = "-00001-OF-00003";
  if (path.size() > kPart.size() && path.substr(path.size() - 9, 4) == "-OF-") {
    path.resize(path.size() - kPart.size());
  }
  const std::string label = path.substr(path.find_last_of("-./") + 1);
  const size_t digit = label.find_first_of("0123456789");
  if (digit == label.npos) return "";
  for (const std::string_view kind : {"Q", "IQ", "TQ", "F", "BF", "FP", "MXFP"}) {
    if (label.substr(0, digit) == kind) return label;
  }
  return "";
}

Result<void> run_list(bool json) {
  TOK_TRY(const std::string cache, hub::known_cache_folder());
  TOK_TRY(const std::vector<hub::StoredModel> models, hub::stored_models(cache));
  Table table;
  table.column("model", "model").column("revision", "revisions");
  table.column("commit", "commit").column("size", "bytes", Table::Align::kRight);
  table.column("files", "files", Table::Align::kRight);
  table.column("quantizations", "quantizations").column("state", "complete");
  table.column("", "missing").column("", "partial_bytes").column("", "path");
  for (const hub::StoredModel& model : models) {
    Json::Array revisions;
    for (const std::string& revision : model.revisions) revisions.emplace_back(revision);
    std::set<std::string> labels;
    for (const std::string& file : model.files) labels.insert(quantization_of(file));
    labels.erase("");
    const std::vector<std::string> names(labels.begin(), labels.end());
    Json::Array quantizations(names.begin(), names.end());
    std::string state = model.complete() ? "complete" : "partial: " + model.missing;
    if (model.partial_bytes > 0) state += ", " + bytes_text(model.partial_bytes) + " on the way";
    const std::string folder = hub::repo_folder(cache, model.repo);
    const std::string path = model.commit.empty() ? folder : folder + "/snapshots/" + model.commit;
    table.row({model.repo, Cell(joined(model.revisions), std::move(revisions)),
               Cell(model.commit.substr(0, 8), model.commit), bytes_cell(model.bytes),
               uint64_t{model.files.size()}, Cell(joined(names), std::move(quantizations)),
               Cell(state, model.complete()), Cell("", model.missing),
               Cell("", model.partial_bytes), Cell("", path)});
  }
  if (json) return print(table.json().dump(1) + "\n");
  if (models.empty()) {
    return print(fmt::format("No models in {}; `tokamak pull org/name` fetches one.\n", cache));
  }
  return print(table.text());
}

}  // namespace

void add_list(App& app, Action& action) {
  App* command = app.add_subcommand("list", "which models are in the cache");
  command->footer(R"(Examples:
  tokamak list
  tokamak list --json
The cache is the one of Hugging Face's own tools (HF_HUB_CACHE, HF_HOME). "partial" names what is
missing; `tokamak pull` fetches the rest. The name of a quantization stands after the model's:
org/name:Q4_K_M.)");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "a list of objects, sizes in bytes");
  command->callback([json, &action] { action = [json] { return run_list(*json); }; });
}

}  // namespace tokamak::cli
