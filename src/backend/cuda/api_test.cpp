// The numbers of api.h against a header of CUDA's, where there is one.
#include "backend/cuda/api.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "base/environment.h"

namespace tokamak::cuda {
namespace {

/// "" where there is no toolkit.
std::string header() {
  for (const std::string& home :
       {environment_variable("CUDA_HOME"), environment_variable("CUDA_PATH"),
        std::string("/usr/local/cuda")}) {
    std::ifstream file(home + "/include/cuda.h");
    std::stringstream text;
    text << file.rdbuf();
    if (!home.empty() && file) return text.str();
  }
  return "";
}

/// The number after "NAME = " in the header; -1 where there is none.
long number_of(const std::string& text, const std::string& name) {
  for (size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    const size_t value = text.find_first_not_of(' ', at + name.size());
    if (value == text.npos || text[value] != '=') continue;
    return std::strtol(text.c_str() + value + 1, nullptr, 0);
  }
  return -1;
}

TEST(CudaApi, NumbersAreThoseOfCudasHeader) {
  const std::string text = header();
  if (text.empty()) GTEST_SKIP() << "there is no cuda.h here";
  const std::map<std::string, long> ours = {
      {"CUDA_SUCCESS", long(Status::kSuccess)},
      {"CUDA_ERROR_OUT_OF_MEMORY", long(Status::kOutOfMemory)},
      {"CUDA_ERROR_DEVICE_UNAVAILABLE", long(Status::kDeviceUnavailable)},
      {"CUDA_ERROR_NO_DEVICE", long(Status::kNoDevice)},
      {"CUDA_ERROR_NOT_READY", long(Status::kNotReady)},
      {"CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", long(Status::kPeersAlready)},
      {"CU_DEVICE_ATTRIBUTE_WARP_SIZE", long(Attribute::kWarpSize)},
      {"CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT", long(Attribute::kMultiprocessors)},
      {"CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE", long(Attribute::kCacheBytes)},
      {"CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR", long(Attribute::kMajor)},
      {"CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR", long(Attribute::kMinor)},
      {"CU_STREAM_CAPTURE_MODE_RELAXED", long(kCaptureRelaxed)},
      {"CU_STREAM_NON_BLOCKING", long(kStreamNonBlocking)},
      {"CU_EVENT_DISABLE_TIMING", long(kEventDisableTiming)},
  };
  for (const auto& [name, number] : ours) EXPECT_EQ(number_of(text, name), number) << name;
}

}  // namespace
}  // namespace tokamak::cuda
