#include "backend/webgpu/web/pending.h"

#include <map>
#include <optional>
#include <vector>

namespace tokamak::web {
namespace {

/// Longer messages are cut: a compiler's begins with what is wrong.
constexpr uint32_t kMessageBytes = 4096;

struct Pending {
  WGPUCallbackMode mode;
  std::function<void(const Answer&)> callback;
};

struct Watched {
  WGPUDeviceLostCallbackInfo lost;
  WGPUUncapturedErrorCallbackInfo error;
};

std::map<Future, Pending>& pending() {
  static std::map<Future, Pending> all;
  return all;
}

std::map<Object, Watched>& watched() {
  static std::map<Object, Watched> all;
  return all;
}

Answer take_answer(Future future) {
  Answer answer;
  answer.outcome = Outcome(gpu_outcome(future));
  answer.object = gpu_object(future);
  answer.message.resize(kMessageBytes);
  answer.message.resize(gpu_message(future, answer.message.data(), kMessageBytes));
  gpu_forget(future);
  return answer;
}

/// REQUIRES: the future is done.
void run(Future future) {
  const auto found = pending().find(future);
  if (found == pending().end()) return;
  const auto callback = std::move(found->second.callback);
  pending().erase(found);
  callback(take_answer(future));
}

/// One event of the device; false when there is none.
bool deliver_event(Object number) {
  const auto found = watched().find(number);
  if (found == watched().end()) return false;
  std::string message(kMessageBytes, '\0');
  uint32_t length = 0;
  const auto kind = Outcome(gpu_take_event(number, message.data(), kMessageBytes, &length));
  if (kind == kFine) return false;
  const WGPUStringView text = {message.data(), length};
  const Watched to = found->second;
  const auto device = handle_of<WGPUDevice>(number);
  if (kind == kLost) {
    to.lost.callback(&device, WGPUDeviceLostReason_Unknown, text, to.lost.userdata1,
                     to.lost.userdata2);
  } else {
    to.error.callback(&device,
                      kind == kNoMemory   ? WGPUErrorType_OutOfMemory
                      : kind == kInternal ? WGPUErrorType_Internal
                                          : WGPUErrorType_Validation,
                      text, to.error.userdata1, to.error.userdata2);
  }
  return true;
}

}  // namespace

WGPUFuture call_later(Future future, WGPUCallbackMode mode,
                      std::function<void(const Answer&)> callback) {
  pending().emplace(future, Pending{mode, std::move(callback)});
  return {future};
}

void run_finished() {
  // Callbacks may ask for more.
  std::vector<Future> done;
  for (const auto& [future, owed] : pending()) {
    if (owed.mode != WGPUCallbackMode_WaitAnyOnly && gpu_ready(future) != 0) done.push_back(future);
  }
  for (const Future future : done) run(future);
  std::vector<Object> devices;
  for (const auto& [device, callbacks] : watched()) devices.push_back(device);
  for (const Object device : devices) {
    while (deliver_event(device)) {
    }
  }
}

void wait_until_run(Future future) {
  if (!pending().contains(future)) return;  // process_events has done it
  if (gpu_ready(future) == 0) gpu_wait(future);
  run(future);
}

void watch(Object device, const WGPUDeviceLostCallbackInfo& lost,
           const WGPUUncapturedErrorCallbackInfo& error) {
  watched().insert_or_assign(device, Watched{lost, error});
}

void forget(Object device) {
  watched().erase(device);
}

}  // namespace tokamak::web
