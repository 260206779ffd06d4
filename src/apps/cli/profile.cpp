#include "report/profile/profile.h"

#include <ctime>
#include <optional>

#include "apps/cli/command.h"
#include "apps/cli/line/output_file.h"
#include "base/system/calendar.h"
#include "report/profile/profile_page.h"

namespace tokamak::cli {
namespace {

struct ProfileFlags {
  ModelFlags model;
  ProfileOptions options;
  std::string html, trace;
  bool json = false;
};

std::string now() {
  const std::tm utc = utc_time(std::time(nullptr)).value_or(std::tm{});
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02} UTC", utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min);
}

Result<void> run_profile(const ProfileFlags& flags) {
  TOK_TRY(check_output(flags.html));
  TOK_TRY(check_output(flags.trace));
  TOK_TRY(OpenOptions open, flags.model.options());
  open.self_test_first = true;
  open.sequences = std::max(open.sequences, flags.options.sequences);
  TOK_TRY(const std::unique_ptr<Engine> engine, ModelFlags::open(open));
  std::optional<Waiting> waiting("timing the kernels");
  TOK_TRY(const Profile found, profile(*engine, flags.options));
  if (!flags.trace.empty()) {
    TOK_TRY(write_output(flags.trace, profile_trace(*engine, found).dump() + "\n"));
  }
  if (!flags.html.empty()) {
    waiting->say("measuring what the device can do");
    TOK_TRY(const std::unique_ptr<Backend> backend, open_backend(open));
    TOK_TRY(const Roofline roofline, measure_roofline(*backend, steady_clock()));
    const PageOrigin origin{now(), TOKAMAK_VERSION, command_line()};
    TOK_TRY(const Json data, page_data(*engine, found, roofline, origin));
    TOK_TRY(write_output(flags.html, profile_page(data)));
  }
  waiting.reset();
  return print(flags.json ? profile_json(found).dump(1) + "\n" : profile_text(found));
}

}  // namespace

void add_profile(App& app, Action& action) {
  App* command = app.add_subcommand("profile", "the time of every kernel in a step");
  command->footer(R"(Examples:
  tokamak profile path/to/model -d 512           one token after 512 others
  tokamak profile path/to/model --n-tokens 512   a chunk of a prompt
  tokamak profile path/to/model --sequences 32   a token of each of 32 sequences
  tokamak profile path/to/model --html step.html a page that shows the step
  tokamak profile path/to/model --trace step.json for chrome://tracing
  tokamak profile --json > profile.json          the built-in model, for programs
Each launch is timed by itself with the device's clock, so the sum is a little more than the step
takes when launches follow one another without a stop.)");
  auto flags = std::make_shared<ProfileFlags>();
  flags->model.add(*command, ModelFlags::Model::kOptional);
  ProfileOptions& options = flags->options;
  Option* tokens = command->add_option("--n-tokens", options.tokens, "tokens of the step")
                       ->check(in_range(1, 1 << 20))
                       ->capture_default_str();
  command
      ->add_option("--sequences", options.sequences,
                   "instead: a step that decodes a token of each of that many sequences")
      ->check(in_range(1, kMaxSequences))
      ->excludes(tokens);
  command->add_option("-d,--depth", options.depth, "positions already taken")
      ->check(in_range(0, 1 << 24))
      ->capture_default_str();
  command->add_option("-r,--repetitions", options.repetitions, "runs after the one to warm up")
      ->check(in_range(1, 1000))
      ->capture_default_str();
  command
      ->add_option("--html", flags->html,
                   "write a page to look at: the timeline, the graph, memory, kernel sources")
      ->type_name("FILE")
      ->check(not_empty("the path of a file"));
  command
      ->add_option("--trace", flags->trace, "write a trace for chrome://tracing or ui.perfetto.dev")
      ->type_name("FILE")
      ->check(not_empty("the path of a file"));
  command->add_flag("--json", flags->json, "one JSON object");
  command->callback([flags, &action] { action = [flags] { return run_profile(*flags); }; });
}

}  // namespace tokamak::cli
