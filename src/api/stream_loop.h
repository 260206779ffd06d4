// StreamLoop: an engine's loop whose requests are streams.
#pragma once
#include <memory>
#include <vector>

#include "api/stream_state.h"
#include "engine/requests/engine_loop.h"

namespace tokamak {

class StreamLoop {
 public:
  /// Takes the same arguments as EngineLoop.
  StreamLoop(std::unique_ptr<Engine> engine, Scheduler* scheduler, bool has_thread);

  EngineLoop& loop() { return loop_; }
  const Engine& engine() const { return loop_.engine(); }

  /// Begins a request whose results `stream` receives; it ends as cancelled when the loop closes.
  /// Its images become part of its prompt first. False as EngineLoop::post().
  bool start(Request request, std::vector<FittedImage> images, std::shared_ptr<StreamState> stream);

 private:
  void publish();

  std::vector<std::shared_ptr<StreamState>> running_;  // of the thread that runs the engine
  EngineLoop loop_;                                    // the last: its thread uses the others
};

}  // namespace tokamak
