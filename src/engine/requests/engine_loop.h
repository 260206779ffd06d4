// EngineLoop: runs an engine, by a thread of its own or by whoever calls turn(). Everything that
// touches the device comes here as a job or as a request of the scheduler.
#pragma once
#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/engine.h"

namespace tokamak {

class EngineLoop {
 public:
  struct Options {
    bool has_thread = true;
    /// Called at the end of every turn, on the thread that runs the engine: what jobs and requests
    /// have brought can be handed on, a whole step at once.
    std::function<void()> turned;
  };

  /// `scheduler`: the engine's; null for an embedding model.
  EngineLoop(std::unique_ptr<Engine> engine, Scheduler* scheduler, Options options);
  EngineLoop(const EngineLoop&) = delete;
  EngineLoop& operator=(const EngineLoop&) = delete;
  ~EngineLoop() { close(); }

  /// The parts that any thread may use: its files, its tokenizer, its compiled phases.
  const Engine& engine() const { return *engine_; }
  const Scheduler* scheduler() const { return scheduler_; }
  bool has_thread() const { return options_.has_thread; }
  bool is_closing() const { return is_closing_; }

  /// Runs `job` between two steps, after those that came before; also when the loop closes. False
  /// when it has closed: `job` will not run.
  bool post(std::function<void(Engine&)> job);

  /// Runs what was posted, then a step. False when nothing is left to do. `waits`: for the step's
  /// results too. REQUIRES: no thread of its own.
  bool turn(bool waits);
  /// Runs what was posted, then the requests that are there to their ends, and ends the thread. Who
  /// wants them to end at once cancels them when is_closing().
  void close();

 private:
  void run();
  /// Runs the work. Where memory runs out in it, all requests end with that error: what they share
  /// may be half changed. The loop goes on.
  void contained(const std::function<void()>& work);

  std::unique_ptr<Engine> engine_;
  Scheduler* scheduler_;
  const Options options_;

  std::mutex mutex_;
  std::condition_variable wakes_;
  std::vector<std::function<void(Engine&)>> jobs_;
  std::atomic<bool> is_closing_ = false;  // changes under the mutex, is read without it
  std::mutex closing_;                    // who closes
  std::thread thread_;
};

}  // namespace tokamak
