#include "backend/cuda/visible.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/environment.h"

namespace tokamak::cuda {

std::optional<std::string> visible_devices() {
  return given_variable("CUDA_VISIBLE_DEVICES");
}

uint32_t installed_gpus() {
  std::error_code failed;
  const std::filesystem::directory_iterator all("/proc/driver/nvidia/gpus", failed);
  return failed ? 0 : uint32_t(std::distance(begin(all), end(all)));
}

std::string no_device_text(const std::optional<std::string>& visible, uint32_t installed) {
  if (visible) {
    return fmt::format(
        "CUDA_VISIBLE_DEVICES is \"{}\", which leaves CUDA no GPU. It is a list of numbers from 0 "
        "on or of the names that nvidia-smi -L shows (GPU-..., MIG-...), and ends at the first one "
        "that does not exist.",
        *visible);
  }
  if (installed > 0) {
    return fmt::format(
        "The NVIDIA driver shows {} but gives CUDA none. Where MIG is on, a GPU has to be divided "
        "first (sudo nvidia-smi mig -cgi 0 -C); a container needs --gpus.",
        installed == 1 ? "a GPU" : fmt::format("{} GPUs", installed));
  }
  return "The NVIDIA driver has no GPU.";
}

std::string no_such_device_text(uint32_t number, uint32_t count,
                                const std::optional<std::string>& visible) {
  std::string text = fmt::format("There is no CUDA device {}; ", number);
  text += count == 1 ? "there is one, 0" : fmt::format("there are {}, from 0 on", count);
  if (visible) text += fmt::format(", since CUDA_VISIBLE_DEVICES is \"{}\"", *visible);
  return text + ".";
}

}  // namespace tokamak::cuda
