#include "report/support/doctor.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/table.h"
#include "report/support/known_drivers.h"

namespace tokamak {
namespace {

bool is_gpu(const DeviceReport& report) {
  return report.index && !report.device.software;
}

bool any_device(const DoctorReport& report, auto&& is) {
  return std::any_of(report.devices.begin(), report.devices.end(), is);
}

bool has_manifest(const GraphicsSystem& system, std::string_view word) {
  return std::any_of(system.manifests.begin(), system.manifests.end(),
                     [&](const std::string& path) { return path.find(word) != std::string::npos; });
}

void advise_nvidia(const DoctorReport& report, std::vector<std::string>& out) {
  const GraphicsSystem& system = report.system;
  const bool listed = any_device(report, [](const DeviceReport& one) {
    return is_gpu(one) && one.device.name.find("NVIDIA") != std::string::npos;
  });
  if (system.nvidia_version.empty() || listed) return;
  const std::string here =
      fmt::format("An NVIDIA GPU is here (kernel driver {})", system.nvidia_version);
  if (!system.nvidia_problem.empty()) {
    out.push_back(fmt::format(
        "{}, but NVIDIA's Vulkan library does not load ({}). Install the package that has "
        "libGLX_nvidia.so.0 (libnvidia-gl-{} on Ubuntu, nvidia-vulkan-icd on Debian) and what it "
        "says is missing; start a container with NVIDIA_DRIVER_CAPABILITIES=all.",
        here, system.nvidia_problem,
        system.nvidia_version.substr(0, system.nvidia_version.find('.'))));
  } else if (!has_manifest(system, "nvidia")) {
    out.push_back(fmt::format(
        "{} and its Vulkan library loads, but no nvidia_icd.json tells Vulkan so. Put one into "
        "/etc/vulkan/icd.d, or name it in VK_DRIVER_FILES.",
        here));
  } else {
    out.push_back(fmt::format(
        "{} and its Vulkan driver is installed, but WebGPU does not offer it. VK_DRIVER_FILES, if "
        "set, must name its nvidia_icd.json; vulkaninfo --summary shows what Vulkan sees.",
        here));
  }
}

void advise_drivers(const DoctorReport& report, std::vector<std::string>& out) {
  const GraphicsSystem& system = report.system;
  const bool any =
      any_device(report, [](const DeviceReport& one) { return one.index.has_value(); });
  if (!any && !system.vulkan_problem.empty()) {
    out.push_back(fmt::format("The Vulkan loader is missing ({}). {}", system.vulkan_problem,
                              system.vulkan_advice));
  }
  if (!system.are_files) return;
  advise_nvidia(report, out);
  for (const std::string& node : system.closed_nodes) {
    out.push_back(
        fmt::format("{} is a graphics device that you may not open. Join its group: "
                    "sudo usermod -aG render,video $USER, then log in again.",
                    node));
  }
  if (any_device(report, is_gpu)) return;
  if (!any && system.vulkan_problem.empty() && system.manifests.empty()) {
    out.push_back(
        "No Vulkan driver is installed. For AMD and Intel install mesa-vulkan-drivers; ./dev setup "
        "fetches a software driver, which ./dev run and ./dev test then use.");
  } else if (!any && system.vulkan_problem.empty()) {
    out.push_back(fmt::format(
        "A Vulkan driver is installed ({}), but WebGPU takes no device of it. Mesa 22.3, which "
        "Debian 12 has, is too old; 25.0 from bookworm-backports works, and ./dev setup fetches "
        "its software driver.",
        joined(system.manifests)));
  }
  const bool hardware = !system.render_nodes.empty() || !system.nvidia_version.empty();
  if (!hardware) {
    out.emplace_back(
        "This machine shows no GPU (neither /dev/dri/renderD* nor an NVIDIA driver is there); "
        "models run on the processor.");
  } else if (any) {
    out.push_back(
        "Only a software device is offered; models run on the processor. Install the Vulkan driver "
        "of the GPU: mesa-vulkan-drivers for AMD and Intel, NVIDIA's own for NVIDIA.");
  }
}

/// The advice that follows from what the failing kernels share.
void advise_failures(const DeviceReport& report, std::vector<std::string>& out) {
  std::string who = report.index ? device_number(report) : "the CPU";
  who.front() = char(std::toupper(who.front()));
  who += fmt::format(" ({})", report.device.name);
  if (!report.error.empty()) {
    out.push_back(fmt::format("{} cannot be used: {} Update its driver.", who, report.error));
    return;
  }
  Features common = kAllFeatures;
  std::vector<std::string> names;
  for (const KernelCheck& check : report.self_test.kernels) {
    if (check.failure.empty()) continue;
    names.emplace_back(check.kernel);
    common &= find_variant(check.kernel)->needs;
  }
  if (names.empty()) return;
  const char* way = (common & kFeatureSubgroupMatrix) != 0 ? "run with --no-matrix"
                    : (common & kFeatureF16) != 0          ? "run with --no-f16"
                    : (common & kFeatureSubgroups) != 0    ? "run with --no-subgroups"
                                                           : "do not use it";
  out.push_back(fmt::format("{} computes wrongly in {}. Update its driver; until then {}.", who,
                            joined(names), way));
}

void advise_features(const DeviceReport& report, std::vector<std::string>& out) {
  if (!is_gpu(report) || !report.works() || (report.device.features & kFeatureF16) != 0) return;
  out.push_back(fmt::format(
      "Device {} ({}) offers no f16: models run, in f32 arithmetic. A newer driver may offer it.",
      *report.index, report.device.name));
}

/// The numbers that CUDA gives a machine's GPUs.
void advise_cuda_numbers(const DoctorReport& report, std::vector<std::string>& out) {
  size_t count = 0;
  for (const DeviceReport& one : report.devices) {
    if (!one.place) continue;
    ++count;
    if (!one.place->is_slice) continue;
    out.push_back(fmt::format(
        "CUDA device {} is a slice of a divided GPU (MIG), and its multiprocessors and memory are "
        "those of the slice. A program sees one slice; CUDA_VISIBLE_DEVICES=MIG-... chooses "
        "another of those that nvidia-smi -L shows.",
        *one.index));
  }
  if (count > 0 && report.cuda_visible) {
    out.push_back(fmt::format(
        "CUDA_VISIBLE_DEVICES is \"{}\": CUDA numbers what it names, from 0 on in its order{}. "
        "WebGPU does not read it.",
        *report.cuda_visible,
        report.nvidia_gpus > 0 ? fmt::format(" ({} in the machine)", report.nvidia_gpus) : ""));
  }
  if (count > 1 && !report.cuda_visible && report.cuda_order != "PCI_BUS_ID") {
    out.push_back(
        "CUDA numbers its devices by speed and nvidia-smi by address, which the lines \"place\" "
        "show; with CUDA_DEVICE_ORDER=PCI_BUS_ID both count alike.");
  }
}

Json limits_json(const DeviceLimits& limits) {
  Json out;
  out.set("workgroup_threads", limits.workgroup_threads);
  out.set("workgroup_bytes", limits.workgroup_bytes);
  out.set("storage_buffers", limits.storage_buffers);
  out.set("grid_dimension", limits.grid_dimension);
  out.set("binding_bytes", limits.binding_bytes);
  return out.set("buffer_bytes", limits.buffer_bytes);
}

Json self_test_json(const SelfTest& test) {
  Json out, kernels{Json::Array{}};
  out.set("passed", uint64_t{test.passed()}).set("failed", uint64_t{test.failed()});
  out.set("skipped", uint64_t{test.skipped()}).set("seconds", test.seconds);
  const CompileReport& compiled = test.compiled;
  out.set("pipelines_compiled", compiled.pipelines - compiled.cached);
  out.set("pipelines_cached", compiled.cached);
  for (const KernelCheck& check : test.kernels) {
    Json one;
    one.set("kernel", check.kernel).set("cases", check.cases);
    one.set("result", !check.failure.empty()   ? "failed"
                      : !check.skipped.empty() ? "skipped"
                                               : "passed");
    one.set("reason", check.failure.empty() ? check.skipped : check.failure);
    kernels.as_array().push_back(std::move(one));
  }
  return out.set("kernels", std::move(kernels));
}

std::string device_title(const DeviceReport& report) {
  if (!report.index) return "cpu: " + report.device.name;
  return fmt::format("{}: {}{}", device_number(report), report.device.name,
                     report.device.software ? " (software)" : "");
}

std::string place_text(const CudaPlace& place) {
  return fmt::format("{}, {}, {} of memory", place.address, place.name, bytes_text(place.bytes));
}

std::string limits_text(const DeviceLimits& limits) {
  return fmt::format(
      "{} threads and {} per workgroup, {} buffers per kernel, {} per binding, {} "
      "per buffer",
      limits.workgroup_threads, bytes_text(limits.workgroup_bytes), limits.storage_buffers,
      bytes_text(limits.binding_bytes), bytes_text(limits.buffer_bytes));
}

std::string size_text(const DeviceSize& size) {
  std::string text = fmt::format("{} multiprocessors", size.multiprocessors);
  if (size.cache_bytes != 0) {
    text += fmt::format(", {} of second-level cache", bytes_text(size.cache_bytes));
  }
  text += fmt::format(" ({})", size.source);
  if (size.source != DeviceSize().source) return text;
  return text + "; if it has others, TOKAMAK_MULTIPROCESSORS=n says so";
}

/// The order in which backend "auto" takes devices: the highest. A software driver comes after the
/// processor that it computes on.
int rank(const DeviceReport& report) {
  if (report.is_cuda()) return 3;
  if (is_gpu(report)) return 2;
  return report.index ? 0 : 1;
}

std::string self_test_text(const DeviceReport& report) {
  const SelfTest& test = report.self_test;
  if (!report.index)
    return "the others are compared with its reference kernels (--backend cpu-reference)";
  std::string text = fmt::format("{} kernels right", test.passed());
  if (test.failed() > 0) text += fmt::format(", {} WRONG", test.failed());
  if (test.skipped() > 0) text += fmt::format(", {} not for this device", test.skipped());
  return text + fmt::format(", {:.2f} s", test.seconds);
}

std::string device_text(const DeviceReport& report, bool kernels) {
  const DeviceInfo& device = report.device;
  Facts facts;
  facts.add("  driver", "", device.driver);
  if (report.index) {
    std::string tier = fmt::format("{}: {}", device.tier(), features_text(device.features));
    if (device.subgroup_max > 0) {
      tier += device.subgroup_min == device.subgroup_max
                  ? fmt::format(" of {}", device.subgroup_max)
                  : fmt::format(" of {} to {}", device.subgroup_min, device.subgroup_max);
    }
    facts.add("  tier", "", tier);
    if (report.place) facts.add("  place", "", place_text(*report.place));
    facts.add("  size", "", size_text(device.size));
    facts.add("  limits", "", limits_text(device.limits));
  }
  if (report.error.empty()) facts.add("  self-test", "", self_test_text(report));
  if (report.self_test.compiled.pipelines > 0) {
    facts.add("  pipelines", "", pipelines_text(report.self_test.compiled));
  }
  std::string seen;
  for (const KnownFault& fault : known_faults(device)) {
    seen += fmt::format("{}{} ({})", seen.empty() ? "" : "; ", fault.symptom, fault.link);
  }
  if (!seen.empty()) facts.add("  others saw", "", seen);
  facts.add("  verdict", "",
            !report.error.empty()           ? "does not work: " + report.error
            : report.self_test.failed() > 0 ? "DOES NOT COMPUTE RIGHTLY"
            : device.software               ? "works, slowly"
                                            : "works");
  std::string out = device_title(report) + "\n" + facts.text();
  for (const KernelCheck& check : report.self_test.kernels) {
    if (!check.failure.empty()) {
      out += fmt::format("    wrong    {}: {}\n", check.kernel, check.failure);
    } else if (kernels && !check.skipped.empty()) {
      out += fmt::format("    skipped  {}: {}\n", check.kernel, check.skipped);
    } else if (kernels) {
      out += fmt::format("    right    {}: {} cases\n", check.kernel, check.cases);
    }
  }
  return out;
}

std::string links_text(const std::vector<CudaLink>& links) {
  std::string out = "links between CUDA devices, for models that run on several (--gpus)\n";
  for (const CudaLink& link : links) {
    out +=
        fmt::format("  {} from {}   {}\n", link.reader, link.owner,
                    link.problem.empty() ? fmt::format("{:.0f} GB/s", link.bytes_per_second / 1e9)
                                         : "none: " + link.problem);
  }
  return out;
}

Json links_json(const std::vector<CudaLink>& links) {
  Json::Array all;
  for (const CudaLink& link : links) {
    Json json;
    json.set("reader", link.reader).set("owner", link.owner);
    json.set("bytes_per_second", std::round(link.bytes_per_second));
    all.push_back(json.set("problem", link.problem.empty() ? Json() : Json(link.problem)));
  }
  return Json(std::move(all));
}

}  // namespace

std::string device_number(const DeviceReport& report) {
  return fmt::format("{}device {}", report.is_cuda() ? "CUDA " : "", *report.index);
}

bool DoctorReport::healthy() const {
  return std::all_of(devices.begin(), devices.end(),
                     [](const DeviceReport& one) { return one.works(); });
}

std::vector<std::string> advice(const DoctorReport& report) {
  std::vector<std::string> out;
  for (const DeviceReport& one : report.devices) advise_failures(one, out);
  if (report.system.known) advise_drivers(report, out);
  for (const DeviceReport& one : report.devices) advise_features(one, out);
  advise_cuda_numbers(report, out);
  return out;
}

std::string doctor_text(const DoctorReport& report, bool kernels) {
  std::string out;
  if (!report.webgpu_problem.empty()) {
    out += fmt::format("no WebGPU device\n  {}\n\n", report.webgpu_problem);
  }
  if (!report.cuda_problem.empty()) {
    out += fmt::format("CUDA is not used\n  {}\n\n", report.cuda_problem);
  }
  if (!report.cuda_compiler.empty()) {
    out += fmt::format("CUDA is compiled by {}\n\n", report.cuda_compiler);
  }
  for (const DeviceReport& one : report.devices) out += device_text(one, kernels) + "\n";
  if (!report.links.empty()) out += links_text(report.links) + "\n";
  for (const std::string& sentence : advice(report)) out += "* " + sentence + "\n";
  if (report.is_part) return out;
  const DeviceReport* chosen = nullptr;
  for (const DeviceReport& one : report.devices) {
    if (one.works() && (chosen == nullptr || rank(one) > rank(*chosen))) chosen = &one;
  }
  if (chosen == nullptr) return out;
  return out + fmt::format("Models run on {} unless --backend or --device says otherwise.\n",
                           chosen->index ? device_number(*chosen) : "the CPU");
}

Json doctor_json(const DoctorReport& report) {
  Json::Array devices, sentences;
  for (const DeviceReport& one : report.devices) {
    const DeviceInfo& device = one.device;
    Json json;
    json.set("index", one.index ? Json(*one.index) : Json());
    json.set("name", device.name).set("driver", device.driver);
    json.set("backend", backend_name(device.backend)).set("software", device.software);
    json.set("tier", device.tier());
    json.set("f16", (device.features & kFeatureF16) != 0);
    json.set("subgroups", (device.features & kFeatureSubgroups) != 0);
    json.set("matrix_units", (device.features & kFeatureSubgroupMatrix) != 0);
    json.set("subgroup_min", device.subgroup_min).set("subgroup_max", device.subgroup_max);
    if (one.index) {
      json.set("multiprocessors", device.size.multiprocessors);
      json.set("cache_bytes", device.size.cache_bytes).set("size_source", device.size.source);
      json.set("limits", limits_json(device.limits));
    }
    if (one.place) {
      json.set("uuid", one.place->name).set("address", one.place->address);
      json.set("memory_bytes", one.place->bytes).set("is_slice", one.place->is_slice);
    }
    json.set("works", one.works());
    json.set("error", one.error.empty() ? Json() : Json(one.error));
    Json::Array faults;
    for (const KnownFault& fault : known_faults(device)) {
      faults.push_back(Json().set("symptom", fault.symptom).set("link", fault.link));
    }
    json.set("seen_by_others", std::move(faults));
    devices.push_back(json.set("self_test", self_test_json(one.self_test)));
  }
  for (const std::string& sentence : advice(report)) sentences.emplace_back(sentence);
  Json out;
  out.set("links", links_json(report.links));
  out.set("healthy", report.healthy()).set("devices", std::move(devices));
  out.set("webgpu_problem", report.webgpu_problem.empty() ? Json() : Json(report.webgpu_problem));
  out.set("cuda_problem", report.cuda_problem.empty() ? Json() : Json(report.cuda_problem));
  out.set("cuda_visible_devices", report.cuda_visible ? Json(*report.cuda_visible) : Json());
  return out.set("advice", std::move(sentences));
}

}  // namespace tokamak
