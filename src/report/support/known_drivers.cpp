#include "report/support/known_drivers.h"

#include <algorithm>
#include <iterator>

namespace tokamak {
namespace {

constexpr KnownFault kFaults[] = {
    {"Adreno", "", "pipelines that are refused",
     "https://github.com/ggml-org/llama.cpp/issues/12421"},
    {"Adreno", "", "wrong texts", "https://github.com/ggml-org/llama.cpp/issues/16881"},
    {"Intel", "Mesa", "subgroups with 8 active lanes of 32",
     "https://github.com/ggml-org/llama.cpp/issues/17389"},
    {"Intel", "", "wrong texts on Iris Xe and Arc",
     "https://github.com/ggml-org/llama.cpp/issues/17106"},
    {"Intel", "", "corrupt tiles of f16 by Dawn",
     "https://github.com/ggml-org/llama.cpp/issues/25748"},
    {"AMD", "", "resets during long submissions on APUs",
     "https://github.com/ggml-org/llama.cpp/issues/21724"},
};

}  // namespace

std::vector<KnownFault> known_faults(const DeviceInfo& device) {
  std::vector<KnownFault> found;
  if (device.software || device.backend != BackendKind::kWebGpu) return found;
  std::ranges::copy_if(kFaults, std::back_inserter(found), [&](const KnownFault& fault) {
    return device.name.find(fault.device) != std::string::npos &&
           device.driver.find(fault.driver) != std::string::npos;
  });
  return found;
}

}  // namespace tokamak
