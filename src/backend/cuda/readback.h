// Results on their way back: pinned memory that is filled again and again.
#pragma once
#include <deque>
#include <functional>
#include <span>
#include <vector>

#include "backend/cuda/memory.h"

namespace tokamak::cuda {

class Readback {
 public:
  using Done = std::function<void(Result<std::span<const float>>)>;

  /// For results of up to `bytes` bytes, and of more once there is a larger one.
  Readback(std::shared_ptr<CudaDevice> device, size_t bytes)
      : device_(std::move(device)), bytes_(bytes) {}

  /// Copies `bytes` bytes from `from` once the stream has written them. `done` is called by
  /// deliver() and those that wait, in the order of the requests.
  Result<void> read(DevicePointer from, size_t bytes, Done done);
  /// Calls back for what has arrived.
  Result<void> deliver();
  /// Blocks until the first of what was asked for has been delivered. Where that fails, everything
  /// asked for is answered with the error.
  Result<void> wait_for_first();
  Result<void> wait();
  /// Answers all that is asked for.
  Failure give_up(const Error& why);

 private:
  struct Staging {
    PinnedMemory memory;
    Mark arrived;
  };
  struct Request {
    Staging staging;
    size_t bytes = 0;
    Done done;
  };

  Result<Staging> take(size_t bytes);
  void deliver_first();

  std::shared_ptr<CudaDevice> device_;
  size_t bytes_;
  std::vector<Staging> free_;
  std::deque<Request> waiting_;
};

}  // namespace tokamak::cuda
