#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "apps/cli/terminal.h"

namespace tokamak::cli {

struct Waiting::Line {
  std::mutex mutex;
  std::condition_variable changed;
  std::string what;
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
      note(fmt::format("\r\033[K{} ... {} s", what, elapsed));
    }
    if (is_shown) note("\r\033[K");
  }
};

Waiting::Waiting(std::string what) {
  if (!stderr_is_terminal()) return;
  line_ = std::make_unique<Line>();
  line_->what = std::move(what);
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

}  // namespace tokamak::cli
