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

#include "api/stream_state.h"
#include "engine/engine.h"

namespace tokamak {

class EngineLoop {
 public:
  /// `scheduler`: the engine's; null for an embedding model.
  EngineLoop(std::unique_ptr<Engine> engine, Scheduler* scheduler, bool has_thread);
  EngineLoop(const EngineLoop&) = delete;
  EngineLoop& operator=(const EngineLoop&) = delete;
  ~EngineLoop() { close(); }

  /// What any thread may use: its files, its tokenizer, what was compiled.
  const Engine& engine() const { return *engine_; }
  const Scheduler* scheduler() const { return scheduler_; }
  bool has_thread() const { return has_thread_; }
  bool is_closing() const { return is_closing_; }

  /// Runs `job` between two steps, after those that came before; also when the loop closes. False
  /// when it has closed: `job` will not run.
  bool post(std::function<void(Engine&)> job);
  /// Begins a request whose results `stream` receives. False as post().
  bool start(Request request, std::shared_ptr<StreamState> stream);

  /// Runs what was posted, then a step. False when nothing is left to do. `waits`: for the step's
  /// results too. REQUIRES: no thread of its own.
  bool turn(bool waits);
  /// Ends what runs as cancelled, and the thread.
  void close();

 private:
  void run();
  void add(Request request, std::shared_ptr<StreamState> stream);
  void publish();

  std::unique_ptr<Engine> engine_;
  Scheduler* scheduler_;
  const bool has_thread_;
  std::vector<std::shared_ptr<StreamState>> running_;  // of the thread that runs the engine

  std::mutex mutex_;
  std::condition_variable wakes_;
  std::vector<std::function<void(Engine&)>> jobs_;
  std::atomic<bool> is_closing_ = false;  // changes under the mutex, is read without it
  std::mutex closing_;                    // who closes
  std::thread thread_;
};

}  // namespace tokamak
