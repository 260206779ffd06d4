#include "kernels/sampling/sample_token.h"

#include <cmath>
#include <numeric>

#include "base/splitmix.h"
#include "kernels/launch.h"
#include "kernels/sampling/sampling.h"

namespace tokamak {
namespace {

/// The listed pairs with the penalty, best first again.
std::vector<float> penalized(std::span<const float> list, std::span<const uint32_t> occurred,
                             float penalty) {
  std::vector<std::pair<float, float>> tokens;
  for (size_t i = 0; i + 1 < list.size(); i += 2) {
    float logit = list[i];
    const float id = list[i + 1];
    if (id >= 0 && has_token(occurred, uint32_t(id))) {
      logit = logit < 0 ? logit * penalty : logit / penalty;
    }
    tokens.emplace_back(logit, id);
  }
  std::ranges::stable_sort(tokens, std::greater(), &std::pair<float, float>::first);
  std::vector<float> sorted;
  for (const auto& [logit, id] : tokens) sorted.insert(sorted.end(), {logit, id});
  sorted.push_back(list.back());
  return sorted;
}

/// exp((logit - best) * inverse_temperature) of the tokens that survive, 0 of the others.
std::vector<double> surviving_weights(std::span<const float> list, const SamplingRule& rule) {
  const size_t listed = list.size() / 2;
  const auto logit = [&](size_t i) { return double(list[2 * i]); };
  std::vector<double> weights(listed);
  for (size_t i = 0; i < listed && list[2 * i + 1] >= 0; ++i) {
    const bool is_among_first =
        rule.top_k == 0 || i < rule.top_k || logit(i) == logit(size_t(rule.top_k) - 1);
    if (!is_among_first) break;
    weights[i] = std::exp((logit(i) - logit(0)) * double(rule.inverse_temperature));
  }
  const double mass =
      rule.top_k == 0 ? double(list.back()) : std::accumulate(weights.begin(), weights.end(), 0.0);
  double before = 0;
  for (double& weight : weights) {
    const double own = weight;
    const bool is_beyond = rule.top_p < 1 && before >= double(rule.top_p) * mass;
    if (is_beyond || own < double(rule.min_p)) weight = 0;
    before += own;
  }
  return weights;
}

void sample_row(const CpuCall& call, uint32_t number, std::span<const float> list) {
  Slot& slot = call.batch.slot(number);
  const SamplingRule& rule = slot.rule;
  uint64_t state = rule.random();
  const double drawn = double(next_random(state) >> 40) * 0x1p-24;
  const std::span<uint32_t> occurred = call.outputs[1].of_slot(slot.index).u32();
  const std::vector<float> own_list = penalized(list, occurred, rule.repetition_penalty);
  const std::vector<double> weights = surviving_weights(own_list, rule);
  const bool is_limited = rule.top_k != 0 || rule.top_p < 1 || rule.min_p > 0;
  const double mass =
      is_limited ? std::accumulate(weights.begin(), weights.end(), 0.0) : double(list.back());
  float token = -1;
  double share = 0;
  for (size_t i = 0; i < weights.size() && token < 0; ++i) {
    share += weights[i];
    if (weights[i] > 0 && drawn * mass < share) token = own_list[2 * i + 1];
  }
  if (rule.repetition_penalty != 1 && token >= 0) add_token(occurred, uint32_t(token));
  const size_t row = list.size() + 1;
  const size_t place = slot.chosen % call.outputs[0].dims[0] * call.max_rows + number;
  float* own = reinterpret_cast<float*>(call.outputs[0].data) + place * row;
  std::ranges::copy(list, own);
  own[list.size()] = token;
  slot.rule.set_random(state);
  to_next_step(call.batch, number, token < 0 ? 0 : uint32_t(token));
}

void sample_token_reference(const CpuCall& call) {
  const size_t columns = call.inputs[0].dims[1];
  for (uint32_t row = 0; row < call.batch.rows(); ++row) {
    sample_row(call, row, call.inputs[0].f32().subspan(row * columns, columns));
  }
}

Launch sample_token_launch(const Problem& p, const DeviceInfo&) {
  return {.constants = {{"THREADS", kTopK},
                        {"LISTED", uint32_t(p.inputs[0].shape[1] / 2)},
                        {"MAX_ROWS", p.max_tokens},
                        {"WORDS", uint32_t(p.outputs[1].shape[0])},
                        {"LISTS", uint32_t(p.outputs[0].shape[0])}},
          .sources = {"wgsl/splitmix.wgsl", "sampling/sample_token.wgsl", "wgsl/entry.wgsl"},
          .grid = {.x = {1, 1}},
          .writes_batch = true};
}

constexpr KernelVariant kSampleTokenVariants[] = {
    {.name = "sample_token.wgsl",
     .op = op_index<SampleToken>(),
     .refuses = for_decoding,
     .launch = sample_token_launch},
    {.name = "sample_token.cpu",
     .op = op_index<SampleToken>(),
     .backend = BackendKind::kCpu,
     .refuses = for_decoding,
     .run = sample_token_reference},
};

}  // namespace

std::span<const KernelVariant> sample_token_variants() {
  return kSampleTokenVariants;
}

}  // namespace tokamak
