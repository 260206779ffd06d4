// Results on their way back: staging buffers that are made once and mapped again and again, because
// making one costs more than a decode step.
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "backend/webgpu/device.h"

namespace tokamak {

class Readback {
 public:
  struct Staging {
    BufferHandle buffer;
    uint64_t bytes = 0;
  };
  using Done = std::function<void(Result<std::span<const float>>)>;

  /// Staging for results of up to `bytes` bytes.
  Readback(std::shared_ptr<WebGpuDevice> device, uint64_t bytes, Checks& checks);
  Readback(Readback&&) = default;
  Readback& operator=(Readback&&) = delete;
  ~Readback();

  /// A free staging buffer to copy a result of `bytes` bytes into. There are three; a caller that
  /// runs further ahead gets more, so that submitting never blocks, and one whose result is larger
  /// than any before gets larger ones from then on.
  Staging take(uint64_t bytes);
  /// Takes back what is not in use.
  void give_back(Staging staging);
  /// Asks for the first `bytes` of `staging` once the queue has written them. `done` is called by
  /// deliver(), in the order of the requests.
  void read(Staging staging, uint64_t bytes, Done done);
  /// Calls back for what has arrived.
  void deliver();
  /// Blocks until the first of what was asked for has arrived and been delivered. Where that fails,
  /// everything asked for is answered with the error: callers may forget it.
  Result<void> wait_for_first();
  /// Blocks until everything asked for has arrived and been delivered.
  Result<void> wait();

 private:
  struct Request {
    Staging staging;
    uint64_t bytes = 0;
    Done done;
    WGPUFuture future = {};
    bool arrived = false;
    std::string problem;
  };

  Staging make_staging();
  void drop(Staging staging);
  /// Answers all that is asked for.
  void give_up(const Error& why);

  std::shared_ptr<WebGpuDevice> device_;
  uint64_t bytes_ = 0;
  int64_t counted_ = 0;
  std::vector<Staging> free_;
  std::deque<std::shared_ptr<Request>> waiting_;  // the map callback holds a reference, too
};

}  // namespace tokamak
