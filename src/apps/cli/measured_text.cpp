#include "apps/cli/measured_text.h"

namespace tokamak::cli {
namespace {

/// The length of a window, which llama-perplexity has, too.
constexpr const char* kWindow = "512";
/// Fewer positions leave none that counts.
constexpr int kMinWindow = 4;

}  // namespace

void MeasuredText::add(App& command) {
  command_ = &command;
  command
      .add_option("TEXT-FILE,-f,--file", file_,
                  "a file or pipe with the text, such as wiki.test.raw; - is standard input")
      ->type_name("FILE")
      ->required()
      ->check(not_empty("the path of a file, or -"));
  command
      .add_option("--windows,--chunks", windows_,
                  "stop after N windows; default: as many as the text has")
      ->check(in_range(1, 1 << 24));
  command.get_option("--context")
      ->describe("tokens of a window, of which the second half counts")
      ->default_val(kWindow)
      ->check(in_range(kMinWindow, 1 << 24));
}

Result<void> MeasuredText::read() {
  TOK_TRY(std::string text, read_input(file_));
  text_ = without_line_end(std::move(text));
  return {};
}

OpenOptions MeasuredText::opening(OpenOptions options, uint32_t window) const {
  options.task = Task::kText;
  options.all_logits = true;
  options.context_is_limit = window == 0 && command_->count("--context") == 0;
  if (window != 0) options.context = window;
  return options;
}

PerplexityOptions MeasuredText::options(Waiting& waiting, std::string figure) const {
  const Clock clock = steady_clock();
  PerplexityOptions options;
  options.windows = windows_;
  options.cancelled = interrupted;
  options.progress = [&waiting, figure = std::move(figure), clock, begun = clock()](
                         size_t done, size_t total, double so_far) {
    const double left = (clock() - begun) / double(done) * double(total - done);
    waiting.say(fmt::format("window {} of {}: {} {:.4f}, {}", done, total, figure, so_far,
                            time_left(left)));
  };
  return options;
}

Json to_json(double value, double error) {
  return Json(Json::Object{{"value", value}, {"error", error}});
}

Json to_json(const Perplexity& perplexity) {
  Json json = to_json(perplexity.value(), perplexity.error());
  json.set("loss", to_json(perplexity.loss.mean, perplexity.loss.error));
  return json;
}

}  // namespace tokamak::cli
