// What tests of reliability start from: a recorded model on a device, a prompt, and tokens that are
// drawn behind it.
#pragma once
#include <functional>

#include "generate/sampler.h"
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

/// Feeds the prompt, then `count` drawn tokens: `see` gets each, and the logits that it was drawn
/// from. The logits behind the last one.
inline Result<std::span<const float>> feed_drawn(
    Session& session, std::span<const uint32_t> prompt, const SamplingParams& params,
    uint32_t count, const std::function<void(std::span<const float> logits, uint32_t id)>& see) {
  TOK_TRY(Sampler sampler, Sampler::make(params));
  std::vector<uint32_t> history(prompt.begin(), prompt.end());
  TOK_TRY(std::span<const float> logits, session.feed(prompt));
  for (uint32_t i = 0; i < count; ++i) {
    TOK_TRY(const uint32_t id, sampler.next(logits, history, i));
    see(logits, id);
    history.push_back(id);
    TOK_TRY(logits, session.feed({&id, 1}));
  }
  return logits;
}

}  // namespace tokamak::golden
