// The waiting for the browser's answers: futures of the page and the callbacks of webgpu.h that
// they owe.
//
// Callbacks run as in webgpu.h, only inside wgpuInstanceWaitAny and wgpuInstanceProcessEvents, so
// that the page never calls into a module that is suspended.
#pragma once
#include <webgpu/webgpu.h>

#include <functional>
#include <string>
#include <string_view>

#include "backend/webgpu/web/imports.h"

namespace tokamak::web {

/// The answer of a future.
struct Answer {
  Outcome outcome = kFine;
  Object object = 0;
  std::string message;

  WGPUStringView text() const { return {message.data(), message.size()}; }
};

/// `callback` runs once, when the future is done and `mode` allows it.
WGPUFuture call_later(Future future, WGPUCallbackMode mode,
                      std::function<void(const Answer&)> callback);

/// Runs what is done; the events of devices, too.
void run_finished();
/// Suspends until the callback of that future has run.
void wait_until_run(Future future);

/// From now on the events of the device are told, until it is forgotten.
void watch(Object device, const WGPUDeviceLostCallbackInfo& lost,
           const WGPUUncapturedErrorCallbackInfo& error);
void forget(Object device);

/// Handles of webgpu.h are the numbers of the page's table.
template <typename T>
Object number_of(T handle) {
  return Object(reinterpret_cast<uintptr_t>(handle));
}
template <typename T>
T handle_of(Object number) {
  return reinterpret_cast<T>(uintptr_t{number});
}

inline std::string_view view_of(WGPUStringView text) {
  if (text.data == nullptr) return {};
  return text.length == WGPU_STRLEN ? std::string_view(text.data)
                                    : std::string_view(text.data, text.length);
}

}  // namespace tokamak::web
