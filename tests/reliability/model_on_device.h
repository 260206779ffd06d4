// The start of tests of reliability: a recorded model on a device and a prompt.
#pragma once
#include "golden/reference.h"

namespace tokamak::golden {

inline std::vector<uint32_t> prompt_ids() {
  std::vector<uint32_t> ids;
  for (uint32_t i = 0; i < 40; ++i) ids.push_back((i * 37 + 11) % 500);
  return ids;
}

struct ModelOnDevice : testing::TestWithParam<std::tuple<std::string, DeviceSetup>> {
  const std::string& model = std::get<0>(GetParam());
  const DeviceSetup& setup = std::get<1>(GetParam());
  const std::vector<uint32_t> ids = prompt_ids();

  void SetUp() override { require_device(setup); }
};

inline std::string model_and_device(const testing::TestParamInfo<ModelOnDevice::ParamType>& param) {
  return std::get<0>(param.param) + "_" + std::get<1>(param.param).name;
}

}  // namespace tokamak::golden
