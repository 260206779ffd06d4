#include "report/profile.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "apps/cli/command.h"
#include "report/bench.h"
#include "report/profile_page.h"

namespace tokamak::cli {
namespace {

struct ProfileFlags {
  ModelFlags model;
  ProfileOptions options;
  std::string html, trace;
  bool json = false;
};

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
/// Opened before anything is measured, so that a bad path costs no measurement; what an earlier run
/// has left there is kept until there is something in its place.
struct OutputFile {
  std::string path;
  std::unique_ptr<std::FILE, CloseFile> file;  // none without a path
};

Failure cannot_write(const std::string& path) {
  return invalid_input("{}: The file cannot be written: {}.", path, std::strerror(errno));
}

Result<OutputFile> open_output(const std::string& path) {
  OutputFile out{.path = path, .file = nullptr};
  if (path.empty()) return out;
  out.file.reset(std::fopen(path.c_str(), "ab"));
  if (!out.file) return cannot_write(path);
  return out;
}

Result<void> write(OutputFile& out, std::string_view text) {
  // What is no plain file, as /dev/stdout, has no length to cut.
  if (ftruncate(fileno(out.file.get()), 0) != 0 && errno != EINVAL) return cannot_write(out.path);
  const size_t written = std::fwrite(text.data(), 1, text.size(), out.file.get());
  if (written != text.size() || std::fflush(out.file.get()) != 0) return cannot_write(out.path);
  return {};
}

Result<void> run(const ProfileFlags& flags) {
  TOK_TRY(OutputFile html, open_output(flags.html));
  TOK_TRY(OutputFile trace, open_output(flags.trace));
  TOK_TRY(const OpenOptions open, flags.model.options());
  TOK_TRY(const std::unique_ptr<Engine> engine, Engine::open(open));
  TOK_TRY(const Profile found, profile(*engine, flags.options));
  if (trace.file) TOK_TRY(write(trace, profile_trace(*engine, found).dump() + "\n"));
  if (html.file) {
    Floor floor;
    const Clock clock = steady_clock();
    TOK_TRY(const std::unique_ptr<Backend> backend, open_backend(open));
    TOK_TRY(floor.bandwidth, measure_bandwidth(*backend, clock));
    TOK_TRY(floor.launch_seconds, measure_launch(*backend, clock));
    TOK_TRY(const Json data, page_data(*engine, found, floor));
    TOK_TRY(write(html, profile_page(data)));
  }
  return print(flags.json ? profile_json(found).dump(1) + "\n" : profile_text(found));
}

}  // namespace

void add_profile(App& app, Action& action) {
  App* command = app.add_subcommand("profile", "the time of every kernel in a step");
  command->footer(R"(Examples:
  tokamak profile path/to/model -d 512           one token after 512 others
  tokamak profile path/to/model --tokens 512     a chunk of a prompt
  tokamak profile path/to/model --html step.html a page that shows the step
  tokamak profile path/to/model --trace step.json for chrome://tracing
  tokamak profile --json > profile.json          the built-in model, for programs
Each launch is timed by itself with the device's clock, so the sum is a little more than the step
takes when launches follow one another without a stop.)");
  auto flags = std::make_shared<ProfileFlags>();
  flags->model.add(*command, ModelFlags::Model::kOptional);
  ProfileOptions& options = flags->options;
  command->add_option("--tokens", options.tokens, "tokens of the step")
      ->check(Range(1, 1 << 20))
      ->capture_default_str();
  command->add_option("-d,--depth", options.depth, "positions already taken")
      ->check(Range(0, 1 << 24))
      ->capture_default_str();
  command->add_option("-r,--repetitions", options.repetitions, "runs after the one to warm up")
      ->check(Range(1, 1000))
      ->capture_default_str();
  command
      ->add_option("--html", flags->html,
                   "write a page to look at: the timeline, the graph, memory, kernel sources")
      ->check(not_empty("the path of a file"));
  command
      ->add_option("--trace", flags->trace, "write a trace for chrome://tracing or ui.perfetto.dev")
      ->check(not_empty("the path of a file"));
  command->add_flag("--json", flags->json, "one JSON object");
  command->callback([flags, &action] { action = [flags] { return run(*flags); }; });
}

}  // namespace tokamak::cli
