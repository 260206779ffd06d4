// The activations that ops carry as an attribute.
#pragma once
#include <cstdint>
#include <string_view>

namespace tokamak {

/// kGeluErf is x * P(X <= x) of a normal X, by the error function; kGeluTanh its approximation.
/// kReluSquared is max(x, 0)^2 (arXiv:2109.08668); kGeluQuick is x sigmoid(1.702 x), as CLIP has
/// it.
enum class Activation : uint8_t {
  kSilu,
  kGeluTanh,
  kSigmoid,
  kIdentity,
  kGeluErf,
  kTanh,
  kRelu,
  kReluSquared,
  kElu,  // x, or exp(x) - 1 below 0
  kGeluQuick
};
inline constexpr Activation kActivations[] = {
    Activation::kSilu,    Activation::kGeluTanh, Activation::kSigmoid, Activation::kIdentity,
    Activation::kGeluErf, Activation::kTanh,     Activation::kRelu,    Activation::kReluSquared,
    Activation::kElu,     Activation::kGeluQuick};

constexpr std::string_view activation_name(Activation activation) {
  constexpr std::string_view kNames[] = {"silu", "gelu_tanh", "sigmoid", "identity", "gelu_erf",
                                         "tanh", "relu",      "relu2",   "elu",      "gelu_quick"};
  return kNames[uint32_t(activation)];
}

}  // namespace tokamak
