#include "tokamak/hub.h"

#include "download/pull.h"
#include "engine/open_options.h"
#include "hub/cache.h"
#include "hub/stored.h"

namespace tokamak {

Result<std::vector<StoredModel>> list_models() {
  TOK_TRY(const std::string cache, hub::known_cache_folder());
  TOK_TRY(std::vector<hub::StoredModel> stored, hub::stored_models(cache));
  std::vector<StoredModel> models;
  for (hub::StoredModel& own : stored) {
    const std::string folder = hub::repo_folder(cache, own.repo);
    models.push_back({.name = own.repo,
                      .commit = own.commit,
                      .revisions = std::move(own.revisions),
                      .folder = own.commit.empty() ? folder : folder + "/snapshots/" + own.commit,
                      .files = std::move(own.files),
                      .bytes = own.bytes,
                      .partial_bytes = own.partial_bytes,
                      .missing = std::move(own.missing)});
  }
  return models;
}

Result<std::string> locate_model(const std::string& model) {
  return find_model(model);
}

Result<PulledModel> pull_model(std::string_view name, const PullOptions& options) {
  TOK_TRY(const hub::ModelName parsed, hub::parse_model_name(name));
  TOK_TRY(const hub::Settings settings, hub::read_settings());
  bool is_cancelled = false;
  download::PullHooks hooks;
  hooks.cancelled = [&] { return is_cancelled; };
  hooks.progress = [&](const download::Progress& progress) {
    if (!options.progress || is_cancelled) return;
    is_cancelled = !options.progress({.stage = PullStage(progress.stage),
                                      .text = progress.text,
                                      .done = progress.done,
                                      .total = progress.total});
  };
  TOK_TRY(download::Pulled pulled, download::pull(settings, parsed, hooks));
  if (is_cancelled) return fail(ErrorCode::kCancelled, "Fetching {} was cancelled.", name);
  return PulledModel{.path = std::move(pulled.path),
                     .commit = std::move(pulled.commit),
                     .files = pulled.files,
                     .bytes = pulled.bytes,
                     .fetched = pulled.fetched};
}

static_assert(int(PullStage::kCheck) == int(download::Stage::kCheck));

}  // namespace tokamak
