#include "quantize/mixes.h"

#include <algorithm>

#include "base/ascii.h"

namespace tokamak {
namespace {

using enum MixLayers;

constexpr std::string_view kValues = "attn_v.weight", kDown = "ffn_down";
constexpr std::string_view kAfter = "attn_output.weight", kJoined = "attn_qkv.weight";

constexpr MixRule kQ3Medium[] = {
    {kValues, kFirstTwo, "q5_k"}, {kValues, kAll, "q4_k"}, {kDown, kFirstSixteenth, "q5_k"},
    {kDown, kAll, "q4_k"},        {kAfter, kAll, "q4_k"},  {kJoined, kAll, "q4_k"},
};
constexpr MixRule kQ3Large[] = {
    {kValues, kAll, "q5_k"},
    {kDown, kAll, "q5_k"},
    {kAfter, kAll, "q5_k"},
    {kJoined, kAll, "q4_k"},
};
constexpr MixRule kQ4Small[] = {{kValues, kFirstFour, "q5_k"}, {kDown, kFirstEighth, "q5_k"}};
constexpr MixRule kQ4Medium[] = {
    {kValues, kMoreBits, "q6_k"}, {kDown, kMoreBits, "q6_k"}, {kJoined, kAll, "q5_k"}};
constexpr MixRule kQ5Medium[] = {
    {kValues, kMoreBits, "q6_k"}, {kDown, kMoreBits, "q6_k"}, {kJoined, kAll, "q6_k"}};

constexpr TargetType kTargets[] = {
    {"q2_k", "q2_k", "Q2_K", false, {}},           {"q3_k", "q3_k", "Q3_K_S", false, {}},
    {"q3_k_s", "q3_k", "Q3_K_S", true, {}},        {"q3_k_m", "q3_k", "Q3_K_M", true, kQ3Medium},
    {"q3_k_l", "q3_k", "Q3_K_L", true, kQ3Large},  {"q4_0", "q4_0", "Q4_0", false, {}},
    {"q4_1", "q4_1", "Q4_1", false, {}},           {"q4_k", "q4_k", "Q4_K_S", false, {}},
    {"q4_k_s", "q4_k", "Q4_K_S", true, kQ4Small},  {"q4_k_m", "q4_k", "Q4_K_M", true, kQ4Medium},
    {"q5_0", "q5_0", "Q5_0", false, {}},           {"q5_1", "q5_1", "Q5_1", false, {}},
    {"q5_k", "q5_k", "Q5_K_S", false, {}},         {"q5_k_s", "q5_k", "Q5_K_S", true, {}},
    {"q5_k_m", "q5_k", "Q5_K_M", true, kQ5Medium}, {"q6_k", "q6_k", "Q6_K", false, {}},
    {"q8_0", "q8_0", "Q8_0", false, {}},           {"f16", "f16", "F16", false, {}},
    {"bf16", "bf16", "BF16", false, {}},           {"f32", "f32", "F32", false, {}},
};

}  // namespace

std::span<const TargetType> target_types() {
  return kTargets;
}

Result<const TargetType*> find_target_type(std::string_view name) {
  const std::string lower = ascii_lower(name);
  const auto* found = std::ranges::find(kTargets, lower, &TargetType::name);
  if (found != std::end(kTargets)) return found;
  std::string all;
  for (const TargetType& target : kTargets) {
    all += fmt::format("{}{}", all.empty() ? "" : ", ", target.name);
  }
  return fail(ErrorCode::kUsage,
              "The type \"{}\" is not one that weights can be written in: {}; of a folder mlx2 to "
              "mlx6, mlx8.",
              name, all);
}

bool is_in(MixLayers which, uint32_t layer, uint32_t layers) {
  const uint32_t eighth = layers / 8;
  switch (which) {
    case kAll:
      return true;
    case kFirstTwo:
      return layer < 2;
    case kFirstFour:
      return layer < 4;
    case kFirstSixteenth:
      return layer < layers / 16;
    case kFirstEighth:
      return layer < eighth;
    case kMoreBits:
      break;
  }
  return layer < eighth || layer >= 7 * layers / 8 || (layer - eighth) % 3 == 2;
}

}  // namespace tokamak
