// The device that the tests of this folder share.
#pragma once
#include <gtest/gtest.h>

#include "backend/tiny_plan.h"
#include "backend/webgpu/adapters.h"

namespace tokamak {

inline std::shared_ptr<WebGpuDevice> tiny_device(const WebGpuOptions& options = {}) {
  auto device = open_webgpu_device(options);
  EXPECT_TRUE(device) << device.error().message;
  return device ? *device : nullptr;
}

}  // namespace tokamak
