#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "apps/cli/line/terminal.h"

namespace tokamak::cli {
namespace {

// DEC's codes to keep the cursor's place and to go back there, and to cut a line at the terminal's
// edge: one that went on below might scroll, and the place would be another.
constexpr const char* kShowAfterText = "\0337\033[?7l";
constexpr const char* kBackToText = "\033[?7h\0338";
constexpr const char* kClearToEnd = "\033[K";

}  // namespace

struct Waiting::Line {
  std::mutex mutex;
  std::condition_variable changed;
  std::string what;
  Place place = Place::kOwnLine;
  bool done = false;
  std::thread thread;

  void redraw() {
    using std::chrono::seconds;
    const auto start = std::chrono::steady_clock::now();
    bool is_shown = false;
    std::unique_lock lock(mutex);
    for (int elapsed = 1;; ++elapsed) {
      if (changed.wait_until(lock, start + seconds(elapsed), [&] { return done; })) break;
      is_shown = true;
      show(elapsed);
    }
    if (!is_shown) return;
    if (place == Place::kOwnLine) {
      note("\r\033[K");
    } else {
      note_codes(kClearToEnd);
    }
  }

  void show(int seconds) const {
    if (place == Place::kOwnLine) return note(fmt::format("\r\033[K{} ... {} s", what, seconds));
    note_codes(fmt::format("{}{} [{} ... {} s]{}", kShowAfterText, kClearToEnd, what, seconds,
                           kBackToText));
  }
};

Waiting::Waiting(std::string what, Place place) {
  if (!stderr_is_terminal()) return;
  if (place == Place::kAfterText && !stdout_is_terminal()) place = Place::kOwnLine;
  line_ = std::make_unique<Line>();
  line_->what = std::move(what);
  line_->place = place;
  line_->thread = std::thread([line = line_.get()] { line->redraw(); });
}

Waiting::~Waiting() {
  if (!line_) return;
  {
    const std::scoped_lock lock(line_->mutex);
    line_->done = true;
  }
  line_->changed.notify_one();
  line_->thread.join();
}

void Waiting::say(std::string what) {
  if (!line_) return;
  const std::scoped_lock lock(line_->mutex);
  line_->what = std::move(what);
}

AnswerWaiting::AnswerWaiting(bool compiles) : compiles_(compiles) {
  read_prompt();
}

AnswerWaiting::AnswerWaiting(std::string what, bool compiles)
    : compiles_(compiles), waiting_(std::in_place, std::move(what)) {}

void AnswerWaiting::read_prompt() {
  waiting_.reset();
  waiting_.emplace(compiles_ ? "reading the prompt, compiling its kernels" : "reading the prompt");
}

void AnswerWaiting::hidden_token() {
  if (waiting_) waiting_->say(fmt::format("thinking ({} tokens)", ++hidden_));
}

void AnswerWaiting::token() {
  waiting_.reset();
  if (++tokens_ != 1) return;
  waiting_.emplace(compiles_ ? "compiling the kernels that decode" : "decoding",
                   Waiting::Place::kAfterText);
}

}  // namespace tokamak::cli
