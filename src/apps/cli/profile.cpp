#include "engine/profile.h"

#include "apps/cli/command.h"

namespace tokamak::cli {
namespace {

struct ProfileFlags {
  ModelFlags model;
  ProfileOptions options;
  bool json = false;
};

Result<void> run(const ProfileFlags& flags) {
  TOK_TRY(const OpenOptions open, flags.model.options());
  TOK_TRY(const std::unique_ptr<Engine> engine, Engine::open(open));
  TOK_TRY(const Profile found, profile(*engine, flags.options));
  return print(flags.json ? profile_json(found).dump(1) + "\n" : profile_text(found));
}

}  // namespace

void add_profile(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("profile", "the time of every kernel in a step");
  command->footer(R"(Examples:
  tokamak profile path/to/model -d 512           one token behind 512 others
  tokamak profile path/to/model --tokens 512     a chunk of a prompt
  tokamak profile --json > profile.json          the built-in model, for programs
Each launch is timed by itself with the device's clock, so the sum is a little more than the step
takes when launches follow one another without a stop.)");
  auto flags = std::make_shared<ProfileFlags>();
  flags->model.add(*command, ModelFlags::Model::kOptional);
  ProfileOptions& options = flags->options;
  command->add_option("--tokens", options.tokens, "tokens of the step")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command->add_option("-d,--depth", options.depth, "positions already taken")
      ->check(CLI::Range(0, 1 << 24))
      ->capture_default_str();
  command->add_option("-r,--repetitions", options.repetitions, "runs after the one to warm up")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_flag("--json", flags->json, "one JSON object");
  command->callback([flags, &action] { action = [flags] { return run(*flags); }; });
}

}  // namespace tokamak::cli
