// Looking at the machine: device nodes, drivers, and every device in turn.

#include <algorithm>
#include <filesystem>

#include "backend/cuda/device.h"
#include "backend/cuda/visible.h"
#include "backend/webgpu/adapters.h"
#include "base/environment.h"
#include "base/system/drivers.h"
#include "base/system/dynamic_library.h"
#include "base/system/file.h"
#include "base/system/path_text.h"
#include "formats/native_files.h"
#include "report/support/doctor.h"

namespace tokamak {
namespace {

/// Files in `folder` whose names start and end so, sorted.
std::vector<std::string> files_in(const char* folder, std::string_view start,
                                  std::string_view end) {
  std::vector<std::string> found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(path_of(folder), ignored)) {
    const std::string name = text_of(entry.path().filename());
    if (name.starts_with(start) && name.ends_with(end)) found.push_back(text_of(entry.path()));
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// Why the library does not load; "" when it does.
std::string load_problem(const char* library) {
  const auto opened = DynamicLibrary::open(library, DynamicLibrary::Linking::kWhenCalled);
  return opened ? "" : opened.error().message;
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
  DeviceReport report;
  report.index = index;
  report.device = std::move(found);
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
      progress(fmt::format("{}: kernel {} of {}", device_number(report), kernel, count));
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

/// Those numbers from 0 to `count` that are asked for.
std::vector<uint32_t> numbers(std::optional<uint32_t> only, uint32_t count) {
  std::vector<uint32_t> all;
  for (uint32_t i = 0; i < count; ++i) {
    if (!only || *only == i) all.push_back(i);
  }
  return all;
}

/// How many there are, of which those are examined that are asked for.
Result<uint32_t> examine_webgpu(std::optional<uint32_t> only, DoctorReport& report,
                                const Progress& progress) {
  auto found = list_webgpu_devices();
  if (!found) {
    report.webgpu_problem = found.error().message;
    return 0;
  }
  for (const uint32_t i : numbers(only, uint32_t(found->size()))) {
    TOK_TRY(DeviceReport one, examine_device(i, std::move((*found)[i]), progress));
    report.devices.push_back(std::move(one));
  }
  return uint32_t(found->size());
}

Result<uint32_t> examine_cuda(std::optional<uint32_t> only, DoctorReport& report,
                              const Progress& progress) {
  report.cuda_visible = cuda::visible_devices();
  report.cuda_order = environment_variable("CUDA_DEVICE_ORDER");
  report.nvidia_gpus = cuda::installed_gpus();
  auto found = list_cuda_devices();
  const auto compiler = cuda_compiler_text();
  if (found && found->empty()) {
    report.cuda_problem = cuda::no_device_text(report.cuda_visible, report.nvidia_gpus);
  } else if (!found || !compiler) {
    report.cuda_problem = found ? compiler.error().message : found.error().message;
  }
  if (!report.cuda_problem.empty()) return 0;
  report.cuda_compiler = *compiler;
  for (const uint32_t i : numbers(only, uint32_t(found->size()))) {
    CudaDeviceEntry& entry = (*found)[i];
    TOK_TRY(DeviceReport one, examine_device(i, std::move(entry.info), progress));
    one.place = std::move(entry.place);
    report.devices.push_back(std::move(one));
  }
  if (!only && found->size() > 1) {
    if (progress) progress("links between CUDA devices");
    // Why a device fails is in its own report.
    if (auto links = measure_cuda_links()) report.links = *std::move(links);
  }
  return uint32_t(found->size());
}

/// "There is no WebGPU device 9; the last one is 0."
Failure no_such_device(std::string_view backend, uint32_t number, uint32_t count,
                       const std::string& problem) {
  if (count > 0) {
    return fail(ErrorCode::kUsage, "There is no {} device {}; the last one is {}.", backend, number,
                count - 1);
  }
  return fail(ErrorCode::kUsage, "--device is {}, but there is no {} device{}", number, backend,
              problem.empty() ? "." : ". " + problem);
}

}  // namespace

GraphicsSystem look_at_system() {
  GraphicsSystem system;
  system.known = true;
  const GraphicsDrivers drivers = graphics_drivers();
  if (drivers.vulkan != nullptr) system.vulkan_problem = load_problem(drivers.vulkan);
  system.vulkan_advice = drivers.vulkan_advice;
  system.are_files = drivers.are_files;
  if (!system.are_files) return system;
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
    if (!is_readable(node) || !check_writable(node)) system.closed_nodes.push_back(node);
  }
  return system;
}

Result<DoctorReport> examine(const DoctorScope& scope, const Progress& progress) {
  DoctorReport report;
  // It shows why WebGPU has no device.
  if (scope.backend != BackendKind::kCuda) report.system = look_at_system();
  report.is_part = scope.device || scope.backend;
  const std::optional<uint32_t> only = scope.device;
  uint32_t webgpu = 0, cuda = 0;
  if (scope.backend != BackendKind::kCuda) {
    TOK_TRY(webgpu, examine_webgpu(only, report, progress));
  }
  if (scope.backend != BackendKind::kWebGpu) {
    TOK_TRY(cuda, examine_cuda(only, report, progress));
  }
  if (only && report.devices.empty()) {
    const bool is_of_cuda = scope.backend ? *scope.backend == BackendKind::kCuda : cuda > webgpu;
    if (is_of_cuda) return no_such_device("CUDA", *only, cuda, report.cuda_problem);
    return no_such_device("WebGPU", *only, webgpu, report.webgpu_problem);
  }
  TOK_TRY(const auto processor, open_backend({.backend = "cpu"}));
  DeviceReport cpu;
  cpu.device = processor->device();
  report.devices.push_back(std::move(cpu));
  return report;
}

}  // namespace tokamak
