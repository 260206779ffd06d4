#include "download/pull.h"

#include "apps/cli/command.h"

namespace tokamak::cli {
namespace {

using download::Progress;
using download::Stage;

/// Progress for people: one line that redraws itself on a terminal, whole lines into anything else,
/// there not more often than a reader needs them.
class ProgressLine {
 public:
  void show(const Progress& progress) { talking_ ? redraw(progress) : write_lines(progress); }
  void end() const {
    if (talking_) note("\r\033[K");
  }

 private:
  static std::string amount(const Progress& progress) {
    return fmt::format("{:.1f} of {:.1f} MB", double(progress.done) / 1e6,
                       double(progress.total) / 1e6);
  }

  static std::string waiting(const Progress& progress) {
    switch (progress.stage) {
      case Stage::kLookUp:
        return fmt::format("looking up {}", progress.text);
      case Stage::kWait:
        return progress.text;
      case Stage::kCheck:
        return fmt::format("checking {}", progress.text);
      case Stage::kFetch:
        break;
    }
    return "";
  }

  void redraw(const Progress& progress) {
    const double now = clock_();
    if (progress.stage == stage_ && now - shown_ < 0.1) return;
    // A reason to wait stays to be read.
    if (stage_ == Stage::kWait && progress.stage == Stage::kFetch && now - shown_ < 1.5) return;
    shown_ = now;
    stage_ = progress.stage;
    if (progress.stage != Stage::kFetch) {
      note("\r\033[K" + waiting(progress) + " ...");
      return;
    }
    if (started_ < 0) started_ = now;
    std::string line = "fetching " + amount(progress);
    const double seconds = now - started_;
    if (seconds > 1 && progress.fetched > 0) {
      const double speed = double(progress.fetched) / seconds;
      const auto left = uint64_t(double(progress.total - progress.done) / speed);
      line += fmt::format(", {:.1f} MB/s, {}:{:02} left", speed / 1e6, left / 60, left % 60);
    }
    note("\r\033[K" + line);
  }

  void write_lines(const Progress& progress) {
    std::string line = waiting(progress);
    if (progress.stage == Stage::kFetch) {
      const uint64_t tenth = progress.total == 0 ? 10 : progress.done / (progress.total / 10 + 1);
      if (tenth == tenth_) return;
      tenth_ = tenth;
      line = "fetching: " + amount(progress);
    }
    if (line == line_) return;
    line_ = line;
    note(line + "\n");
  }

  const bool talking_ = stderr_is_terminal();
  const Clock clock_ = steady_clock();
  double shown_ = -10, started_ = -1;
  Stage stage_ = Stage::kLookUp;
  uint64_t tenth_ = UINT64_MAX;
  std::string line_;
};

Result<void> run(const std::string& model) {
  TOK_TRY(const hub::ModelName name, hub::parse_model_name(model));
  TOK_TRY(const hub::Settings settings, hub::read_settings());
  catch_interrupts();
  ProgressLine line;
  const auto pulled =
      download::pull(settings, name,
                     {.progress = [&](const Progress& progress) { line.show(progress); },
                      .cancelled = interrupted});
  line.end();
  if (!pulled) return Failure(pulled.error());
  note(fmt::format("{}: {} files, {:.1f} MB, of which {:.1f} MB were fetched\n", name.text(),
                   pulled->files, double(pulled->bytes) / 1e6, double(pulled->fetched) / 1e6));
  return print(pulled->path + "\n");
}

}  // namespace

void add_pull(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("pull", "fetch a model from a Hugging Face hub");
  command->footer(R"(Examples:
  tokamak pull org/name                   its texts and safetensors
  tokamak pull org/name@revision          of a branch, a tag or a commit
  tokamak pull org/name-GGUF:Q4_K_M       one .gguf file, by quantization or by name
  tokamak run org/name -p "Hello"         what was pulled goes by its name
Prints where it is. An interrupted pull goes on where it was, whatever interrupted it. Models are kept
where Hugging Face's own tools keep them, and each finds what the other has fetched: HF_HUB_CACHE,
HF_HOME, HF_TOKEN, HF_ENDPOINT and HF_HUB_OFFLINE mean the same.)");
  auto model = std::make_shared<std::string>();
  command->add_option("MODEL", *model, "org/name[@revision][:file or quantization]")->required();
  command->callback([model, &action] { action = [model] { return run(*model); }; });
}

}  // namespace tokamak::cli
