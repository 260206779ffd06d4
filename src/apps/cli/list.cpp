#include "apps/cli/command.h"
#include "engine/table.h"
#include "hub/cache.h"
#include "hub/settings.h"
#include "hub/stored.h"

namespace tokamak::cli {
namespace {

Result<void> run(bool json) {
  const std::string cache = hub::cache_folder();
  TOK_TRY(const std::vector<hub::StoredModel> models, hub::stored_models(cache));
  Table table;
  table.column("model", "model").column("revision", "revisions");
  table.column("commit", "commit").column("size", "bytes", Table::Align::kRight);
  table.column("files", "files", Table::Align::kRight).column("state", "complete");
  table.column("", "missing").column("", "partial_bytes").column("", "path");
  for (const hub::StoredModel& model : models) {
    Json::Array revisions;
    for (const std::string& revision : model.revisions) revisions.emplace_back(revision);
    std::string state = model.complete() ? "complete" : "partial: " + model.missing;
    if (model.partial_bytes > 0) state += ", " + bytes_text(model.partial_bytes) + " on the way";
    const std::string folder = hub::repo_folder(cache, model.repo);
    const std::string path = model.commit.empty() ? folder : folder + "/snapshots/" + model.commit;
    table.row({model.repo, Cell(joined(model.revisions), std::move(revisions)),
               Cell(model.commit.substr(0, 8), model.commit), bytes_cell(model.bytes),
               uint64_t{model.files.size()}, Cell(state, model.complete()), Cell("", model.missing),
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
missing; `tokamak pull` fetches the rest.)");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "a list of objects, sizes in bytes");
  command->callback([json, &action] { action = [json] { return run(*json); }; });
}

}  // namespace tokamak::cli
