#include "backend/cuda/readback.h"

namespace tokamak::cuda {

Result<Readback::Staging> Readback::take(size_t bytes) {
  if (bytes > bytes_) {
    bytes_ = bytes;
    free_.clear();
  }
  if (!free_.empty()) {
    Staging staging = std::move(free_.back());
    free_.pop_back();
    return staging;
  }
  Staging staging;
  TOK_TRY(staging.memory, PinnedMemory::make(device_, bytes_));
  TOK_TRY(staging.arrived, Mark::make(device_));
  return staging;
}

Result<void> Readback::read(DevicePointer from, size_t bytes, Done done) {
  TOK_TRY(Staging staging, take(bytes));
  TOK_TRY(device_->check(
      device_->api().copy_to_host_async(staging.memory.data(), from, bytes, device_->stream()),
      "A result cannot be copied"));
  TOK_TRY(staging.arrived.record(device_->stream()));
  waiting_.push_back({std::move(staging), bytes, std::move(done)});
  return {};
}

void Readback::deliver_first() {
  Request request = std::move(waiting_.front());
  waiting_.pop_front();  // first, because `done` may submit again
  request.done(std::span(reinterpret_cast<const float*>(request.staging.memory.data()),
                         request.bytes / sizeof(float)));
  if (request.staging.memory.size() >= bytes_) free_.push_back(std::move(request.staging));
}

Result<void> Readback::deliver() {
  while (!waiting_.empty()) {
    const Result<bool> arrived = waiting_.front().staging.arrived.has_passed();
    if (!arrived) return give_up(arrived.error());
    if (!*arrived) break;
    deliver_first();
  }
  return {};
}

Result<void> Readback::wait_for_first() {
  if (waiting_.empty()) return {};
  const Result<void> arrived = waiting_.front().staging.arrived.wait();
  if (!arrived) return give_up(arrived.error());
  deliver_first();
  return {};
}

Result<void> Readback::wait() {
  while (!waiting_.empty()) TOK_TRY(wait_for_first());
  return {};
}

Failure Readback::give_up(const Error& why) {
  for (Request& request : std::exchange(waiting_, {})) request.done(Failure(why));
  return Failure(why);
}

}  // namespace tokamak::cuda
