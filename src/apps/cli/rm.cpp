#include "apps/cli/command.h"
#include "base/table.h"
#include "download/lock.h"
#include "hub/settings.h"
#include "hub/stored.h"

namespace tokamak::cli {
namespace {

Result<void> run_rm(const std::string& model, bool yes) {
  TOK_TRY(const hub::ModelName name, hub::parse_model_name(model));
  if (!name.choice.empty()) {
    return fail(ErrorCode::kUsage, "\"{}\": single files are not removed; give {}.", model,
                name.repo);
  }
  TOK_TRY(const std::string cache, hub::known_cache_folder());
  const bool whole = model.find('@') == model.npos;
  TOK_TRY(hub::Removal removal, hub::plan_removal(cache, name, whole));
  if (!yes) {
    const std::string question = fmt::format("remove {} ({})", model, bytes_text(removal.bytes));
    if (!stdin_is_terminal()) {
      return fail(ErrorCode::kUsage, "Pass --yes to remove {} ({}).", model,
                  bytes_text(removal.bytes));
    }
    if (!agreed(question, false)) {
      note("Nothing was removed.\n");
      return {};
    }
  }
  bool busy = false;
  const auto lock = download::Lock::take_repo(cache, name.repo, [&] { return !(busy = true); });
  if (busy) {
    return invalid_input(
        "{} is being pulled; stop that with an interrupt or wait for its end, then remove it.",
        name.repo);
  }
  if (!lock) return Failure(lock.error());
  TOK_TRY(removal, hub::plan_removal(cache, name, whole));  // what is there now
  TOK_TRY(hub::remove(cache, removal));
  std::string kept;
  if (removal.kept_blobs > 0) {
    kept = fmt::format("; {}, which other revisions share",
                       removal.kept_blobs == 1 ? "1 file stays"
                                               : fmt::format("{} files stay", removal.kept_blobs));
  }
  return print(fmt::format("removed {}: {} freed{}\n", model, bytes_text(removal.bytes), kept));
}

}  // namespace

void add_rm(App& app, Action& action) {
  App* command = app.add_subcommand("rm", "remove a model from the cache");
  command->footer(R"(Examples:
  tokamak rm org/name             all of its revisions; asks before
  tokamak rm org/name@revision    one revision; files that others share stay
  tokamak rm org/name --yes       without asking
`tokamak list` shows what is there.)");
  auto model = std::make_shared<std::string>();
  auto yes = std::make_shared<bool>(false);
  add_model(*command, *model, "org/name[@revision]")->required();
  command->add_flag("-y,--yes", *yes, "do not ask");
  command->callback(
      [model, yes, &action] { action = [model, yes] { return run_rm(*model, *yes); }; });
}

}  // namespace tokamak::cli
