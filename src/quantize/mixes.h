// The types that weights can be written in: one for all matrices, or mixes that give more bits to
// those that need them. Reference: llama.cpp, src/llama-quant.cpp.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tokamak {

/// The layers in which a rule counts.
enum class MixLayers : uint8_t {
  kAll,
  kFirstTwo,
  kFirstFour,
  kFirstSixteenth,
  kFirstEighth,
  kMoreBits,  // the first and the last eighth, and every third one between
};

/// Matrices whose names have this part are of this type.
struct MixRule {
  std::string_view part;
  MixLayers layers = MixLayers::kAll;
  std::string_view type;
};

struct TargetType {
  std::string_view name;       // "q4_k_m"
  std::string_view type;       // of matrices without a rule: "q4_k"
  std::string_view file_type;  // the label of general.file_type: "Q4_K_M"
  bool is_mix = false;         // the matrix of the output has q6_k then
  std::span<const MixRule> rules;
};

std::span<const TargetType> target_types();

/// The type of that name, in letters of any case. The error lists all.
Result<const TargetType*> find_target_type(std::string_view name);

/// Whether a rule for such layers counts in layer `layer` of `layers`.
bool is_in(MixLayers which, uint32_t layer, uint32_t layers);

}  // namespace tokamak
