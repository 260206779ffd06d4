// Looking at the machine: device nodes, drivers, and every WebGPU device in turn.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "backend/cuda/device.h"
#include "backend/webgpu/adapters.h"
#include "formats/native_files.h"
#include "report/doctor.h"

namespace tokamak {
namespace {

/// Files in `folder` whose names start and end so, sorted.
std::vector<std::string> files_in(const char* folder, std::string_view start,
                                  std::string_view end) {
  std::vector<std::string> found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(start) && name.ends_with(end)) found.push_back(entry.path().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// Why the library does not load; "" when it does.
std::string load_problem(const char* library) {
  void* handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = dlerror();
    return reason == nullptr ? fmt::format("{} does not load", library) : reason;
  }
  dlclose(handle);
  return "";
}

/// "580.95.05" of "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  ...".
std::string nvidia_version() {
  const std::string path = "/proc/driver/nvidia/version";
  if (!file_exists(path)) return "";
  FILE* file = std::fopen(path.c_str(), "r");
  if (file == nullptr) return "of unknown version";
  char line[512] = {};
  const bool read = std::fgets(line, sizeof line, file) != nullptr;
  std::fclose(file);
  const std::string_view text = read ? line : "";
  for (size_t at = 0; at + 1 < text.size(); ++at) {
    const size_t end = std::min(text.find_first_not_of("0123456789.", at), text.size());
    if (end > at && text.substr(at, end - at).find('.') != std::string_view::npos) {
      return std::string(text.substr(at, end - at));
    }
  }
  return "of unknown version";
}

using Progress = std::function<void(const std::string& doing)>;

Result<DeviceReport> examine_device(uint32_t index, DeviceInfo found, const Progress& progress) {
  DeviceReport report{.index = index, .device = std::move(found), .self_test = {}, .error = {}};
  OpenOptions options;
  options.backend = backend_name(report.device.backend);
  options.device = index;
  const auto backend = open_backend(options);
  if (!backend && backend.error().code == ErrorCode::kUsage) return Failure(backend.error());
  if (!backend) {
    report.error = backend.error().message;
    return report;
  }
  report.device = (*backend)->device();
  SelfTestProgress tells;
  if (progress) {
    tells = [&](size_t kernel, size_t count) {
      progress(fmt::format("device {}: kernel {} of {}", index, kernel, count));
    };
  }
  auto tested = self_test(**backend, steady_clock(), tells);
  if (tested) {
    report.self_test = *std::move(tested);
  } else {
    report.error = tested.error().message;
  }
  return report;
}

Result<void> examine_cuda(DoctorReport& report, const Progress& progress) {
  auto found = list_cuda_devices();
  const auto compiler = cuda_compiler_text();
  if (!found || !compiler) {
    report.cuda_problem = found ? compiler.error().message : found.error().message;
    return {};
  }
  report.cuda_compiler = *compiler;
  for (uint32_t i = 0; i < found->size(); ++i) {
    TOK_TRY(DeviceReport one, examine_device(i, std::move((*found)[i]), progress));
    report.devices.push_back(std::move(one));
  }
  return {};
}

}  // namespace

GraphicsSystem look_at_system() {
  GraphicsSystem system;
  system.known = true;
  system.vulkan_problem = load_problem("libvulkan.so.1");
  for (const char* folder :
       {"/etc/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/usr/share/vulkan/icd.d"}) {
    for (std::string& path : files_in(folder, "", ".json")) {
      system.manifests.push_back(std::move(path));
    }
  }
  system.nvidia_version = nvidia_version();
  if (!system.nvidia_version.empty()) {
    system.nvidia_problem = load_problem("libGLX_nvidia.so.0");
  }
  system.render_nodes = files_in("/dev/dri", "renderD", "");
  for (const std::string& node : system.render_nodes) {
    if (access(node.c_str(), R_OK | W_OK) != 0) system.closed_nodes.push_back(node);
  }
  return system;
}

Result<DoctorReport> examine(std::optional<uint32_t> only, const Progress& progress) {
  DoctorReport report;
  report.system = look_at_system();
  auto found = list_webgpu_devices();
  if (!found) report.webgpu_problem = found.error().message;
  const uint32_t count = found ? uint32_t(found->size()) : 0;
  if (only && *only >= count) {
    if (count == 0) {
      return fail(ErrorCode::kUsage, "--device is {}, but there is no WebGPU device.", *only);
    }
    return fail(ErrorCode::kUsage, "There is no WebGPU device {}; the last one is {}.", *only,
                count - 1);
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (only && *only != i) continue;
    TOK_TRY(DeviceReport one, examine_device(i, std::move((*found)[i]), progress));
    report.devices.push_back(std::move(one));
  }
  if (!only) TOK_TRY(examine_cuda(report, progress));
  DeviceReport cpu;
  cpu.device = make_cpu_backend()->device();
  report.devices.push_back(std::move(cpu));
  return report;
}

}  // namespace tokamak
