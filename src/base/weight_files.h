// How a folder or a repository names its weights in safetensors: one file, or an index of several.
#pragma once
#include <cstdint>
#include <string_view>

namespace tokamak {

inline constexpr std::string_view kSingleWeights = "model.safetensors";
inline constexpr std::string_view kWeightsIndex = "model.safetensors.index.json";
// The largest known index has some 200,000 tensors of about 100 bytes each.
inline constexpr uint64_t kMaxWeightsIndexBytes = 64'000'000;

}  // namespace tokamak
