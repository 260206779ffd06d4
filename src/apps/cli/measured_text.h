// The text that `perplexity` and `compare` measure models on, and its windows.
#pragma once
#include <memory>
#include <string>

#include "apps/cli/command.h"
#include "report/bench/perplexity.h"

namespace tokamak::cli {

class MeasuredText {
 public:
  /// Adds TEXT-FILE and --windows, and makes --context the length of a window. REQUIRES: the
  /// command has the options of ModelFlags.
  void add(App& command);

  /// Reads the file. Errors: it is not there.
  Result<void> read();
  /// The options to open a model with for the logits of a window's tokens, which has `window` of
  /// them; 0: --context, and without that no more than the model allows.
  OpenOptions opening(OpenOptions options, uint32_t window = 0) const;
  Result<std::unique_ptr<Engine>> open(OpenOptions options, uint32_t window = 0) const {
    return ModelFlags::open(opening(std::move(options), window));
  }
  /// Errors: a text that is too short.
  Result<TextWindows> windows(const Engine& engine) const {
    return windows_of(engine, text_, file_);
  }
  const std::string& text() const { return text_; }
  const std::string& file() const { return file_; }
  /// Gives --windows and a line of progress in `waiting`, which must outlive them: the window,
  /// `figure` until then, and how long it will take.
  PerplexityOptions options(Waiting& waiting, std::string figure) const;

 private:
  const App* command_ = nullptr;
  std::string file_, text_;
  uint32_t windows_ = 0;
};

/// {"value": 12.5, "error": 0.25}
Json to_json(double value, double error);
Json to_json(const Perplexity& perplexity);

}  // namespace tokamak::cli
