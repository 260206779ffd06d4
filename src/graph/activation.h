// The activations that ops carry as an attribute.
#pragma once
#include <cstdint>
#include <string_view>

namespace tokamak {

enum class Activation : uint8_t { kSilu, kGeluTanh, kSigmoid, kIdentity };
inline constexpr Activation kActivations[] = {Activation::kSilu, Activation::kGeluTanh,
                                              Activation::kSigmoid, Activation::kIdentity};

constexpr std::string_view activation_name(Activation activation) {
  constexpr std::string_view kNames[] = {"silu", "gelu_tanh", "sigmoid", "identity"};
  return kNames[uint32_t(activation)];
}

}  // namespace tokamak
