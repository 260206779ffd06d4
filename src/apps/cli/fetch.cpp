// Models that are not there yet: fetched with a line of progress, or offered to be.
#include "apps/cli/command.h"
#include "base/table.h"
#include "download/pull.h"
#include "hub/cache.h"
#include "hub/repo_files.h"
#include "hub/settings.h"

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
    return fmt::format("{} of {}", bytes_text(progress.done), bytes_text(progress.total));
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
      line += fmt::format(", {}/s, {}", bytes_text(uint64_t(speed)),
                          time_left(double(progress.total - progress.done) / speed));
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

std::string counted(uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// Which of several .gguf files a name without a quantization means is said, not left to be
/// guessed.
void note_default_choice(const hub::ModelName& name) {
  note(fmt::format("note: {} has several .gguf files; {} is taken, {}:NAME takes another.\n",
                   name.text(), hub::kDefaultQuantization, name.text()));
}

}  // namespace

Result<std::string> fetch_model(const hub::ModelName& name) {
  TOK_TRY(const hub::Settings settings, hub::read_settings());
  const WhenInterrupted stop(OnInterrupt::kStop);
  ProgressLine line;
  const auto pulled =
      download::pull(settings, name,
                     {.progress = [&](const Progress& progress) { line.show(progress); },
                      .cancelled = interrupted});
  line.end();
  if (!pulled) {
    const Error& error = pulled.error();
    if (error.code == ErrorCode::kCancelled) note(fmt::format("{}\n", error.message));
    return Failure(error);
  }
  if (interrupted()) return Failure(Error{ErrorCode::kCancelled, ""});
  if (pulled->chose_default) note_default_choice(name);
  note(fmt::format("{}: {} of {}, {} of them fetched now\n", name.text(),
                   counted(pulled->files, "file"), bytes_text(pulled->bytes),
                   bytes_text(pulled->fetched)));
  return pulled->path;
}

Result<std::string> find_or_fetch(const std::string& model, bool pull) {
  auto found = find_model(model);
  const auto name = hub::parse_model_name(model);
  if (found) {
    const bool by_name = name && name->choice.empty() && *found != model;
    if (by_name && hub::is_default_choice(*found)) note_default_choice(*name);
    return found;
  }
  // A wrong name, or one that fits several files, cannot be fetched either.
  if (!name || found.error().code == ErrorCode::kUsage) return found;
  if (!pull) {
    const auto settings = hub::read_settings();
    if (!settings || settings->offline || !stdin_is_terminal() || !stderr_is_terminal()) {
      return found;
    }
    const std::string question =
        fmt::format("{} is not on this machine; pull it from {}", name->text(), settings->endpoint);
    if (!agreed(question, true)) return found;
  }
  return fetch_model(*name);
}

}  // namespace tokamak::cli
