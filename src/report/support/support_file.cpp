#include "report/support/support_file.h"

#include <fstream>
#include <thread>

#include "backend/cpu/processor_name.h"
#include "base/environment.h"
#include "base/system/machine.h"
#include "base/system/path_text.h"
#include "report/bench/bench.h"

namespace tokamak {
namespace {

// Those that decide which devices there are and what runs on them; never a key.
constexpr const char* kVariables[] = {"TOKAMAK_CPU",
                                      "TOKAMAK_CUDA_LAUNCHES",
                                      "TOKAMAK_CUDA_LIBRARIES",
                                      "TOKAMAK_MULTIPROCESSORS",
                                      "TOKAMAK_SUBMIT_DISPATCHES",
                                      "CUDA_DEVICE_ORDER",
                                      "CUDA_VISIBLE_DEVICES",
                                      "LD_LIBRARY_PATH",
                                      "NVIDIA_DRIVER_CAPABILITIES",
                                      "VK_ADD_DRIVER_FILES",
                                      "VK_DRIVER_FILES",
                                      "VK_ICD_FILENAMES",
                                      "VK_INSTANCE_LAYERS"};

std::string first_line(const char* path, std::string_view prefix = "") {
  std::ifstream file(path_of(path));
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(prefix)) return line.substr(prefix.size());
  }
  return "";
}

Json system_json() {
  Json system;
  std::string name = first_line("/etc/os-release", "PRETTY_NAME=");
  std::erase(name, '"');
  system.set("name", name).set("kernel", first_line("/proc/sys/kernel/osrelease"));
  system.set("processor", processor_name()).set("threads", std::thread::hardware_concurrency());
  return system.set("free_memory_bytes", free_machine_memory());
}

Json bench_of(const DeviceReport& device) {
  OpenOptions open;
  const Result<std::string> model = builtin_model_folder();
  if (!model) return Json().set("error", model.error().message);
  open.model = *model;
  open.backend = backend_name(device.device.backend);
  if (device.index) open.device = *device.index;
  BenchOptions options;
  options.prompts = {256};
  options.generate = {32};
  options.repetitions = 3;
  const Result<BenchReport> measured = bench(open, options);
  return measured ? bench_json(*measured) : Json().set("error", measured.error().message);
}

/// `text` with "~" for the folder `home`, where that is not "": paths are in messages and names of
/// models, too.
std::string without_home(std::string text, const std::string& home) {
  if (home.empty() || home == "/") return text;
  for (size_t at = 0; (at = text.find(home, at)) != text.npos; ++at)
    text.replace(at, home.size(), "~");
  return text;
}

}  // namespace

std::string support_file(const DoctorReport& report, std::string_view version,
                         const std::function<void(const std::string& doing)>& progress) {
  Json variables(Json::Object{});
  for (const char* name : kVariables) {
    if (const auto value = given_variable(name)) variables.set(name, *value);
  }
  Json::Array benchmarks;
  for (const DeviceReport& device : report.devices) {
    if (!device.works() || device.device.software) continue;
    const std::string name = device.index ? device_number(device) : "the processor";
    if (progress) progress("measuring " + name);
    benchmarks.push_back(bench_of(device).set("on", name));
  }
  Json out;
  out.set("tokamak", version).set("system", system_json()).set("variables", std::move(variables));
  out.set("doctor", doctor_json(report)).set("benchmarks", std::move(benchmarks));
  return without_home(out.dump(1) + "\n", environment_variable("HOME"));
}

}  // namespace tokamak
